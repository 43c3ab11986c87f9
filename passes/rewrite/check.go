package rewrite

import "github.com/npulang/npu/ir"

// Check tests a rule against the graph that it changes.
//
//	rewrite mul_zero {            %x = f32[] nan
//	    x * 0  =>  0        =>    before: f32[] nan
//	}                             after:  f32[] 0
//
// A case is a small graph that the pattern fits: every name an input or a
// constant, every number a constant, optional parts there or not, attributes and
// types drawn from the samples of the operators. The rule is applied to it by the
// engine itself, and both graphs are interpreted on the same values, special
// ones among them: NaN, infinities, -0, the ends of the integers, tensors without
// elements. Some cases have symbols for their sizes, which then stand for other
// numbers as well. Of a fusion it is checked that what it matches makes a legal
// region with the same results.
//
// The same rule, effort and seed give the same verdict.
func Check(r *Rule, e Effort, seed uint64) *Verdict {
	c := &checker{rule: r, effort: e, verdict: &Verdict{Rule: r, Seed: seed, Forms: make([]int, len(r.Forms()))}}
	c.own = usable(r.about())
	c.samples = e.Cases * samplesPerCase
	for i := 0; i < e.Cases && c.verdict.Compared < e.Enough && c.samples > 0; i++ {
		if failed := c.one(newStyle(r, seed, i, i < smallCases || i%4 == 0)); failed != nil {
			c.verdict.Counter = shrink(c.lighter(failed, seed))
			break
		}
	}
	return c.verdict
}

// smallCases come first, so that a counterexample is small where it can be.
const smallCases = 16

// An Effort bounds a check. It counts cases rather than time, so that a verdict
// does not depend on the machine.
type Effort struct {
	Cases  int // graphs that are tried
	Enough int // comparisons after which a rule is believed
}

// Efforts of a check: Quick takes some ten milliseconds, as part of a compilation,
// and Thorough a second.
var (
	Quick    = Effort{Cases: 600, Enough: 240}
	Thorough = Effort{Cases: 8000, Enough: 1500}
)

// samplesPerCase bounds, in the mean, the calls that are drawn for one graph: most
// patterns need less, and one of two hundred operators must not hold up a
// compilation.
const samplesPerCase = 100

// A Verdict is what a check has found.
type Verdict struct {
	Rule *Rule
	Seed uint64

	Cases    int   // graphs that were made of the pattern
	Matched  int   // of these, where the rule matched and made a legal change
	Forms    []int // the matches by the rule's forms
	Compared int   // runs of which both sides were compared, several for each match
	// Skipped counts runs without a comparison: the graph as it was could not run,
	// or computed, within a tolerance, with infinities that the inputs do not have.
	Skipped int

	Counter *Counterexample // where the sides differ; nil: nowhere
}

// A Result is a verdict in a word.
type Result string

const (
	Passed    Result = "passed"
	Failed    Result = "failed"
	Unchecked Result = "unchecked" // in no case did the rule match and run
)

// Result sums the verdict up.
func (v *Verdict) Result() Result {
	switch {
	case v.Counter != nil:
		return Failed
	case v.Compared == 0:
		return Unchecked
	}
	return Passed
}

// A checker is a check under way.
type checker struct {
	rule    *Rule
	effort  Effort
	verdict *Verdict
	own     []*ir.Op // of the rule's forms
	liked   []*ir.Op // of which graphs were made that the rule has changed
	samples int      // calls that may still be drawn
}

// moreCases is how many small cases are tried to find a lighter counterexample.
const moreCases = 400

// lighter looks for a trial among small cases that fails too and has fewer axes
// and elements.
func (c *checker) lighter(t *trial, seed uint64) *trial {
	more := &checker{rule: c.rule, own: c.own, liked: c.liked, samples: moreCases * samplesPerCase, verdict: &Verdict{Forms: make([]int, len(c.verdict.Forms))}}
	for i := range moreCases {
		if u := more.one(newStyle(c.rule, seed+1, i, true)); u != nil && u.weight() < t.weight() {
			t = u
		}
	}
	return t
}

// runsPerCase is how many sets of values one graph is run with.
const runsPerCase = 3

// one drafts one graph and tries the rule on it; nil: nothing is wrong.
func (c *checker) one(s *style) *trial {
	forms := c.rule.Forms()
	s.own, s.liked, s.samples = c.own, c.liked, &c.samples
	f, known := draftOf(forms[s.IntN(len(forms))], s)
	if f == nil {
		return nil
	}
	c.verdict.Cases++
	if s.symbolic {
		if g := symbols(f, s); g != nil {
			f = g
		}
	}
	t := c.rule.apply(f)
	if t == nil {
		return nil
	}
	c.like(f)
	c.verdict.Matched++
	c.verdict.Forms[t.form]++
	for range runsPerCase {
		t.inputs = s.inputs(f, known)
		if t.inputs == nil {
			return nil
		}
		switch t.run(); {
		case t.err != nil:
			return t
		case t.skipped:
			c.verdict.Skipped++
		default:
			c.verdict.Compared++
		}
	}
	return nil
}
