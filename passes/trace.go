package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A Trace records the rewrites of one run, and stops them when the fuel is
// spent. Statistics, the report page, the directives of golden files and the
// search for a wrong rewrite all read this one list.
type Trace struct {
	Options *Options // of the run

	rewrites []Rewrite
	fuel     int
	limited  bool

	products []Product // that the pass precision has met

	folded foldBudget
	top    *ir.Func // the graph; others are regions of it

	last    *rewrite.Rule // applied last
	endless *rewrite.Rule // that did not come to an end
	runaway bool          // it is the user's

	pass  *Pass // running now
	fn    *ir.Func
	names map[*ir.Value]string // of fn, made for its first rewrite
}

// noEnd records that the rule that was applied last does not come to an end. One
// of the user's makes the run fail, and there is no use in going on.
func (t *Trace) noEnd() {
	t.endless = t.last
	t.runaway = t.runaway || slices.Contains(t.Options.Rules, t.last)
}

func (t *Trace) enter(p *Pass, f *ir.Func) { t.pass, t.fn, t.names = p, f, nil }

// inside lets a pass look into a body on its way through the function around it.
func (t *Trace) inside(body *ir.Func, look func()) {
	fn, names := t.fn, t.names
	t.enter(t.pass, body)
	look()
	t.fn, t.names = fn, names
}

// Rewrite records that a rule changes v, and reports whether it may: false
// means that v has to stay as it is. A pass puts a new body in place only when
// it is through, so that the names are those from before it.
func (t *Trace) Rewrite(rule string, v *ir.Value) bool {
	return t.enabled(rule) && t.record(rule, v, 0)
}

func (t *Trace) record(rule string, v *ir.Value, within float64) bool {
	if t.limited && t.fuel == 0 {
		return false
	}
	t.fuel--
	t.rewrites = append(t.rewrites, Rewrite{t.pass.Name, rule, t.name(v), v.Pos, within})
	return true
}

// name is the printed name of v before the pass.
func (t *Trace) name(v *ir.Value) string {
	if t.names == nil {
		t.names = t.fn.Names()
	}
	return t.names[v]
}

// apply records that a rule makes a change of v, and reports whether it may.
// What is made anew goes by the name of what it stands for.
func (t *Trace) apply(r *rewrite.Rule, v *ir.Value, c *rewrite.Change) bool {
	if !t.record(r.Name, v, r.Within) {
		return false
	}
	t.last = r
	name := t.name(v)
	for _, n := range c.Made {
		t.names[n] = name
	}
	return true
}

// takesLiberty reports whether the options of the run let a rule take the liberty
// that it takes, if it takes one. Who names a pass that runs only then takes its
// liberties with it.
func (t *Trace) takesLiberty(r *rewrite.Rule) bool {
	return r.Liberty == "" || t.Options.FastMath || t.pass.Level == Asked
}

// enabled reports whether no switch is off for a rule.
func (t *Trace) enabled(rule string) bool {
	return t.Options.Enabled == nil || t.Options.Enabled(rule)
}
