package rewrite

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// A Rule is a rewrite or a fusion, the compiler's own or a user's.
type Rule struct {
	Name    string
	Doc     string
	Match   *Pattern
	Replace *Pattern          // nil: a fusion, which puts the matched operators into one kernel
	Where   []*Test           // all have to hold
	When    func(*Match) bool // a guard in Go, of the compiler's own rules; nil: none
	Safe    bool              // may run under all_safe
	Within  float64           // how far results may be off then; 0: not a bit
	Pos     diag.Loc          // of a user's rule
}

// Fusion reports whether the rule gives the matched operators to one kernel.
func (r *Rule) Fusion() bool { return r.Replace == nil }

// maxTolerance bounds what a rule may call safe: beyond it a result has lost
// its meaning.
const maxTolerance = 0.1

// Compile checks a rule that a user wrote. The rule is nil if there is an error;
// all the errors of a rule are reported.
func Compile(d *syntax.RuleDecl) (*Rule, diag.List) {
	c := newCompiler()
	r := &Rule{Name: d.Name.Name, Doc: d.Doc, Pos: d.Span().Loc()}
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
// match fulfils the rule's tests and the engine's guards.
func (r *Rule) Find(v *ir.Value, uses *Uses) *Match {
	return r.Match.find(v, uses, func(m *Match) bool {
		return m.firstResults() && (!r.Fusion() || m.closed()) && r.holds(m)
	})
}

func (r *Rule) holds(m *Match) bool {
	for _, t := range r.Where {
		if !t.Holds(m) {
			return false
		}
	}
	return r.When == nil || r.When(m)
}
