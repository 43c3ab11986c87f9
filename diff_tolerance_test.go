package npu

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes"
)

// checkTolerant is check where rules with a tolerance were applied. What follows
// them may make a great difference of a small one, so three things are compared:
// the graph without these rules, bit for bit; the machine with the interpreter, on
// the optimised graph; and each value that these rules have changed, computed
// from the values before it.
func (c *trialCase) checkTolerant(p *Program) (*trialCase, error) {
	exact := *c
	exact.opts.Switches = untolerant(c.opts.Switches)
	q, err := exact.program(exact.opts)
	if err != nil {
		return &exact, err
	}
	defer q.Close()
	if err := q.compare(c.f, c.inputs); err != nil {
		return &exact, err
	}
	optimised := trialCase{f: p.fn, inputs: c.inputs, opts: Options{Level: O2, Verify: true, Passes: []string{}}}
	r, err := optimised.program(optimised.opts)
	if err != nil {
		return &optimised, err
	}
	defer r.Close()
	if err := r.compare(p.fn, c.inputs); err != nil {
		return &optimised, err
	}
	for _, part := range c.parts(p.record.Rewrites) {
		if err := part.checkPart(); err != nil {
			return part, err
		}
	}
	return nil, nil
}

// untolerant switches the rules off that have a tolerance, or take a liberty.
func untolerant(switches map[string]bool) map[string]bool {
	out := map[string]bool{}
	maps.Copy(out, switches)
	for _, r := range OwnRules() {
		if r.Within > 0 || r.Liberty != "" {
			out[r.Name] = false
		}
	}
	return out
}

// parts are cases of the values that rules with a tolerance have changed: each as
// the only result, computed from the values of the others.
func (c *trialCase) parts(rewrites []Rewrite) []*trialCase {
	changed := map[*ir.Value]bool{}
	var order []*ir.Value
	for _, r := range rewrites {
		if r.Within == 0 || r.Pos.File != "case" {
			continue
		}
		if v := c.f.Body[r.Pos.Line-1]; !changed[v] {
			changed[v] = true
			order = append(order, v)
		}
	}
	known := map[*ir.Value][]*tensor.T{}
	run := ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) { known[v] = out }}
	if _, err := run.Run(c.f, c.inputs...); err != nil {
		return nil
	}
	var parts []*trialCase
	for _, v := range order {
		if part := c.part(v, changed, known); part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// part is the case of one value.
func (c *trialCase) part(v *ir.Value, changed map[*ir.Value]bool, known map[*ir.Value][]*tensor.T) *trialCase {
	f, copies := c.f.Clone()
	out := &trialCase{f: f, inputs: append([]*tensor.T{}, c.inputs...), opts: c.opts}
	with := map[*ir.Value]*ir.Value{}
	for _, a := range c.f.Body {
		if a == v {
			break
		}
		if !changed[a] || len(known[a]) != 1 {
			continue
		}
		in := f.NewInput(fmt.Sprintf("cut%d", len(out.inputs)), copies[a].Type)
		out.inputs = append(out.inputs, known[a][0])
		with[copies[a]] = in
	}
	f.Replace(with)
	f.Results, f.ResultNames = []*ir.Value{copies[v]}, nil
	if _, err := passes.Run(f, passes.Options{Passes: []string{"drop-dead"}}); err != nil || ir.Verify(f) != nil {
		return nil
	}
	out.number()
	return out
}

// checkPart compares one value within the tolerance of the rules that changed it,
// if it is computed from ordinary numbers.
func (c *trialCase) checkPart() error {
	if !c.ordinary() || !c.steady() {
		return nil
	}
	p, err := c.program(c.opts)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, r := range p.record.Rewrites {
		c.tolerance += r.Within
	}
	p.within = c.tolerance
	return p.compare(c.f, c.inputs)
}

// largest bounds the numbers with which a tolerance is tried: a softmax of
// numbers of which the last digit stands for more than 1 has no digit right.
const largest = 16

// ordinary reports whether what is finite of the inputs and constants is not
// large; single numbers, as of masks, may be.
func (c *trialCase) ordinary() bool {
	given := slices.Clone(c.inputs)
	for _, v := range c.f.Body {
		if v.Op == ir.Const && v.Attrs[0].Tensor.Len() > 1 {
			given = append(given, v.Attrs[0].Tensor)
		}
	}
	for _, t := range given {
		for i := range t.Len() {
			if t.DType.IsFloat() && math.Abs(t.FloatAt(i)) > largest && finite(t.FloatAt(i)) || !t.DType.IsFloat() && uint64(t.IntAt(i)+largest) > 2*largest {
				return false
			}
		}
	}
	return true
}

// steady reports whether no step makes an infinity or NaN of finite numbers: a
// rule with a tolerance may keep a finite number there. Of operators that are not
// computed element by element only those are known that read nothing else.
func (c *trialCase) steady() bool {
	steady := true
	known := map[*ir.Value][]*tensor.T{}
	for i, p := range c.f.Params {
		known[p] = c.inputs[i : i+1]
	}
	run := ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) {
		known[v] = out
		for _, t := range out {
			for i := 0; steady && v.Op != ir.Const && t.DType.IsFloat() && i < t.Len(); i++ {
				steady = finite(t.FloatAt(i)) || !finiteArgs(v, known, i)
			}
		}
	}}
	_, err := run.Run(c.f, c.inputs...)
	return err == nil && steady
}

// finiteArgs reports whether all that element i of a value is computed from is
// finite; if in doubt, whether all of its arguments are.
func finiteArgs(v *ir.Value, known map[*ir.Value][]*tensor.T, i int) bool {
	for _, a := range v.Args {
		if a == nil {
			continue
		}
		t := resultIn(known, a)
		switch {
		case !t.DType.IsFloat():
		case v.Op.Class != ir.Elementwise || t.Len() != known[v][0].Len() && t.Len() != 1:
			if !allFinite(t) {
				return false
			}
		case !finite(t.FloatAt(i % t.Len())):
			return false
		}
	}
	return true
}

// resultIn is what a value is, or what it projects from.
func resultIn(known map[*ir.Value][]*tensor.T, v *ir.Value) *tensor.T {
	if v.Op.Flags&ir.Projection != 0 {
		return known[v.Args[0]][v.Index()]
	}
	return known[v][0]
}

func allFinite(t *tensor.T) bool {
	return !slices.ContainsFunc(t.Floats(), func(x float64) bool { return !finite(x) })
}

func finite(x float64) bool { return x-x == 0 }
