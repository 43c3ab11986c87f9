package rewrite

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// A Rule is a rewrite or a fusion, the compiler's own or a user's.
type Rule struct {
	Name  string
	Doc   string // one line
	Match *Pattern
	Also  []*Pattern        // further forms of Match, tried after it; each binds all its names, or the guards do without
	Where []*Test           // all have to hold
	When  func(*Match) bool // a guard in Go, of the compiler's own rules; nil: none

	// Replace, or Build, makes what stands for the root afterwards. A rule that
	// has neither is a fusion: it puts the matched operators into one kernel.
	Replace *Pattern
	// Build makes what Replace has no words for. Nil as its result leaves the
	// match as it is.
	Build func(*Builder, *Match) *ir.Value

	Closed  bool     // of a rewrite: no value inside is read outside, lest work be done twice; fusions ask that always
	Safe    bool     // may run under all_safe
	Within  float64  // how far results may be off, see Differ; 0: not a bit
	Liberty string   // not empty: what the rule takes for granted that IEEE 754 does not; runs with fast-math, or in a pass that is named
	Pos     diag.Loc // of a user's rule

	name diag.Span // where a user's rule is named
}

// Span is where the source of a user's rule names it; nowhere for one that was
// made in Go.
func (r *Rule) Span() diag.Span { return r.name }

// Fusion reports whether the rule gives the matched operators to one kernel.
func (r *Rule) Fusion() bool { return r.Replace == nil && r.Build == nil }

// Kind is the word with which the language declares such a rule.
func (r *Rule) Kind() string {
	if r.Fusion() {
		return "fusion"
	}
	return "rewrite"
}

// maxTolerance bounds what a rule may call safe: beyond it a result has lost
// its meaning.
const maxTolerance = 0.1

// Compile checks a rule that a user wrote. The rule is nil if there is an error;
// all the errors of a rule are reported.
func Compile(d *syntax.RuleDecl) (*Rule, diag.List) {
	c := newCompiler()
	r := &Rule{Name: d.Name.Name, Doc: d.Doc, Pos: d.Span().Loc(), name: d.Name.At}
	if r.Match = c.pattern(d.Pattern); r.Match != nil {
		// What follows a wrong pattern would only repeat its errors.
		r.Where = c.tests(d.Where)
		if d.Replacement != nil {
			r.Replace = c.replacement(d.Replacement)
		}
	}
	r.Safe = d.Safe
	if d.Within != nil {
		r.Within = c.tolerance(d.Within)
	}
	if c.errs.Err() != nil {
		return nil, c.errs.Sort()
	}
	return r, nil
}

func (c *compiler) tolerance(e syntax.Expr) float64 {
	n, ok := c.constant(e)
	if !ok || !(n.float() > 0 && n.float() <= maxTolerance) {
		c.fail(e.Span(), "a tolerance is a number above 0, at most %v", maxTolerance).
			help("write safe within 1e-5, or safe alone for the same bits")
	}
	return n.float()
}

// Find matches the rule at v, whose function's readers uses has counted. The
// match fulfils the rule's tests and the engine's guards; nil: there is none.
func (r *Rule) Find(v *ir.Value, uses *Uses) *Match {
	if m := r.find(r.Match, v, uses); m != nil {
		return m
	}
	for _, p := range r.Also {
		if m := r.find(p, v, uses); m != nil {
			return m
		}
	}
	return nil
}

func (r *Rule) find(p *Pattern, v *ir.Value, uses *Uses) *Match {
	return p.find(v, uses, func(m *Match) bool {
		return p.takes(m) && m.firstResults() && m.alike() && (!r.Fusion() && !r.Closed || m.Closed()) && r.holds(m)
	})
}

// FindOpen is Find without the guard that nothing inside is read outside: what
// a report of refused matches asks for.
func (r *Rule) FindOpen(v *ir.Value, uses *Uses) *Match {
	for _, p := range r.Forms() {
		if m := p.find(v, uses, func(m *Match) bool { return p.takes(m) && m.firstResults() && r.holds(m) }); m != nil {
			return m
		}
	}
	return nil
}

// Forms lists the patterns of the rule in the order in which they are tried.
func (r *Rule) Forms() []*Pattern { return append([]*Pattern{r.Match}, r.Also...) }

// Roots lists the operators that the root of a match may be of.
func (r *Rule) Roots() []*ir.Op {
	var out []*ir.Op
	seen := map[*ir.Op]bool{}
	for _, p := range r.Forms() {
		for _, op := range p.Roots() {
			if !seen[op] {
				seen[op] = true
				out = append(out, op)
			}
		}
	}
	return out
}

func (r *Rule) holds(m *Match) bool {
	for _, t := range r.Where {
		if !t.Holds(m) {
			return false
		}
	}
	return r.When == nil || r.When(m)
}
