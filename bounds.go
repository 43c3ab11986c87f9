package npu

import (
	"fmt"
	"strings"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
)

// bound lowers a function for the upper bounds of its symbols. It is nil where a
// symbol has none, or there are no symbols.
func (o *Options) bound(f *ir.Func) (*lower.Plan, error) {
	names := symbolsOf(f)
	env := ir.Env{}
	for _, name := range names {
		if n, ok := o.MaxDims[name]; ok {
			env[name] = n
		}
	}
	if len(names) == 0 || len(env) < len(names) {
		return nil, nil
	}
	most, err := lower.Lower(f, env, o.lowering())
	if err != nil {
		d := *AsDiagnostic(runError(err))
		d.Notes = append(d.Notes, "this is so for the upper bounds "+strings.TrimSpace(envKey(env)))
		d.Helps = append(d.Helps, "give bounds that are sizes which the graph can have")
		return nil, Diagnostics{&d}
	}
	return most, nil
}

// A bounded is the plan for the upper bounds of a program, made once.
type bounded struct {
	once sync.Once
	plan *lower.Plan
	err  error
}

// bound is the plan for the upper bounds of the program's symbols; nil: not all
// have one.
func (p *Program) bound() (*lower.Plan, error) {
	p.most.once.Do(func() { p.most.plan, p.most.err = p.opts.bound(p.fn) })
	return p.most.plan, p.most.err
}

// lowerWithin lowers a function for sizes below the upper bounds, if there are any. known
// is of the function; it may be nil.
func (o *Options) lowerWithin(f *ir.Func, env ir.Env, most *lower.Plan, known *lower.Known) (*lower.Plan, error) {
	with := o.lowering()
	with.Known = known
	if most == nil {
		return lower.Lower(f, env, with)
	}
	return lower.LowerWithin(f, env, with, most)
}

// checkBounds refuses sizes that are larger than MaxDims allows.
func (o *Options) checkBounds(graph string, env ir.Env) error {
	for _, name := range sortedKeys(o.MaxDims) {
		if n, most := env[name], o.MaxDims[name]; n > most {
			return Diagnostics{{Code: "limit", Subject: graph,
				Message: fmt.Sprintf("%s is %d here, and the program is planned for at most %d", name, n, most),
				Helps:   []string{fmt.Sprintf("give smaller inputs, or raise the bound: --max %s=%d (Options.MaxDims)", name, n)}}}
		}
	}
	return nil
}
