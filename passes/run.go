package passes

import (
	"fmt"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// Options choose what Run does. The zero value runs the passes of level O2.
type Options struct {
	Level  Level
	Passes []string // not nil: run exactly these, in this order
	Verify bool     // check the function after each pass

	// Fuel, if not 0, is the number of rewrites after which the rest is left as
	// it is: what a search for a wrong rewrite turns.
	Fuel int
	// MaxBytes, if not 0, bounds what folding may add to the function, below the
	// bound that it has of its own.
	MaxBytes int64

	// After, if not nil, sees the function after each pass.
	After func(pass string, f *ir.Func)
}

// A Report tells what Run did.
type Report struct {
	Rewrites []Rewrite
	Stats    []Stat // one for each pass that ran
}

// A Rewrite is one change, in the order in which they were made.
type Rewrite struct {
	Pass  string
	Rule  string
	Value string   // the printed name of the value that was rewritten, before the pass
	Pos   diag.Loc // where the source computes it
}

// A Stat is what one pass did.
type Stat struct {
	Pass          string
	Rewrites      int
	Before, After int // values, those of regions included
	Time          time.Duration
}

// Run applies the passes to f and the regions inside, in place. The error is of
// the user's making (an unknown pass) or, with Options.Verify, the report of a
// pass that broke the function.
func Run(f *ir.Func, o Options) (*Report, error) {
	rows, err := o.selected()
	if err != nil {
		return nil, err
	}
	t := &Trace{fuel: o.Fuel, limited: o.Fuel != 0, folded: newFoldBudget(o.MaxBytes)}
	report := &Report{}
	for _, p := range rows {
		report.Stats = append(report.Stats, t.apply(p, f))
		if o.Verify {
			if err := ir.Verify(f); err != nil {
				return report, fmt.Errorf("after pass %s: %w", p.Name, err)
			}
		}
		if o.After != nil {
			o.After(p.Name, f)
		}
	}
	report.Rewrites = t.rewrites
	return report, nil
}

func (t *Trace) apply(p *Pass, f *ir.Func) Stat {
	s := Stat{Pass: p.Name, Before: size(f)}
	start, made := time.Now(), len(t.rewrites)
	for _, g := range functions(f) {
		t.enter(p, g)
		p.Run(g, t)
	}
	s.Time = time.Since(start)
	s.Rewrites = len(t.rewrites) - made
	s.After = size(f)
	return s
}

// functions lists f and its regions before a pass changes which there are.
func functions(f *ir.Func) []*ir.Func {
	var fs []*ir.Func
	for g := range f.Funcs() {
		fs = append(fs, g)
	}
	return fs
}

func size(f *ir.Func) int {
	n := 0
	for g := range f.Funcs() {
		n += len(g.Body)
	}
	return n
}
