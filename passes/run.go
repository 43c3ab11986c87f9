package passes

import (
	"fmt"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// Options choose what Run does. The zero value runs the passes of level O2,
// without fusion, which Fuse hands in.
type Options struct {
	Level  Level
	Passes []string // not nil: run exactly these, in this order
	Until  string   // not empty: the last pass to run
	Verify bool     // check the function after each pass

	// Rules are a user's rewrites, for the pass user-rules.
	Rules []*rewrite.Rule
	// Enabled, if not nil, says whether the rule of that name takes part.
	Enabled func(rule string) bool
	// FastMath lets rules take part that take a Liberty.
	FastMath bool
	// Fuse does the work of the pass fuse; nil: nothing is fused.
	Fuse func(*ir.Func, *Trace)

	// Fuel, if not 0, is the number of rewrites after which the rest is left as
	// it is: what a search for a wrong rewrite turns. Negative: there are none.
	Fuel int
	// MaxBytes, if not 0, bounds what folding may add to the function, below the
	// bound that it has of its own.
	MaxBytes int64

	// Precision is what the pass precision goes by.
	Precision Precision

	// After, if not nil, sees the function after each pass.
	After func(pass string, f *ir.Func)
}

// A Report tells what Run did.
type Report struct {
	Rewrites []Rewrite
	Stats    []Stat    // one for each pass that ran
	Products []Product // all that the pass precision met
}

// Within is the largest tolerance that a rule has used; 0: results are the same
// bit for bit.
func (r *Report) Within() float64 {
	most := 0.0
	for i := range r.Rewrites {
		most = max(most, r.Rewrites[i].Within)
	}
	return most
}

// A Rewrite is one change, in the order in which they were made.
type Rewrite struct {
	Pass   string
	Rule   string
	Value  string   // the printed name of the value that was rewritten, before the pass
	Pos    diag.Loc // where the source computes it
	Within float64  // how far the rule lets results be off; 0: not a bit
}

// A Stat is what one pass did.
type Stat struct {
	Pass          string
	Rewrites      int
	Before, After int // values, those of regions included
	Time          time.Duration
}

// Run applies the passes to f and the regions inside, in place. The error is of
// the user's making (an unknown pass, a rule without end) or, with
// Options.Verify, the report of a pass that broke the function.
func Run(f *ir.Func, o Options) (*Report, error) {
	rows, err := o.selected()
	if err != nil {
		return nil, err
	}
	t := &Trace{Options: &o, fuel: max(o.Fuel, 0), limited: o.Fuel != 0, folded: newFoldBudget(o.MaxBytes), top: f}
	report := &Report{}
	for _, p := range rows {
		report.Stats = append(report.Stats, t.run(p, f))
		report.Rewrites, report.Products = t.rewrites, t.products
		if r := t.endless; r != nil && (o.Verify || t.runaway) {
			return report, endless(r)
		}
		if o.Verify {
			if err := ir.Verify(f); err != nil {
				return report, fmt.Errorf("after pass %s: %w", p.Name, err)
			}
		}
		if o.After != nil {
			o.After(p.Name, f)
		}
	}
	return report, nil
}

func endless(r *rewrite.Rule) error {
	return &diag.Diagnostic{
		Code: "limit", Span: r.Span(), Loc: r.Pos, Subject: r.Name,
		Message: "the rule does not come to an end: what it makes is rewritten again and again",
		Helps:   []string{"let the replacement be something that no rule matches, or add a test with where"},
	}
}

func (t *Trace) run(p *Pass, f *ir.Func) Stat {
	s := Stat{Pass: p.Name, Before: size(f)}
	start, made := time.Now(), len(t.rewrites)
	for _, g := range functions(f) {
		t.enter(p, g)
		p.run(g, t)
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
