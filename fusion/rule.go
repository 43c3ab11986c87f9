package fusion

import (
	"fmt"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// A Rule is one row of the table of fusions.
type Rule struct {
	*rewrite.Rule
	Unit ir.Unit // that runs the kernel
}

// Rules holds the compiler's own fusions, the most valuable first. It is empty
// until regions are outlined: a row that nothing follows would only cost time.
var Rules []*Rule

// A Set is the rules of one compilation: a user's before the compiler's own,
// since who writes a rule means it.
type Set struct {
	rules  []*Rule
	byRoot map[*ir.Op][]*Rule // indexed by the operators that the root may be
}

// NewSet joins a user's fusions with Rules. Rewrites among them are left out:
// they are a pass's. Two rules of one name are an error at the second.
func NewSet(user []*rewrite.Rule) (*Set, diag.List) {
	s := &Set{byRoot: map[*ir.Op][]*Rule{}}
	var errs diag.List
	seen := map[string]diag.Loc{}
	add := func(r *Rule) {
		if first, twice := seen[r.Name]; twice {
			errs = append(errs, duplicate(r, first))
			return
		}
		seen[r.Name] = r.Pos
		s.rules = append(s.rules, r)
		for _, op := range r.Roots() {
			s.byRoot[op] = append(s.byRoot[op], r)
		}
	}
	for _, r := range user {
		if r.Fusion() {
			add(&Rule{r, unitOf(r.Match)})
		}
	}
	for _, r := range Rules {
		add(r)
	}
	return s, errs
}

func duplicate(r *Rule, first diag.Loc) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: "duplicate-name", Loc: r.Pos, Message: fmt.Sprintf("two fusions are named %s", r.Name)}
	if first != (diag.Loc{}) {
		d.Notes = []string{fmt.Sprintf("the other is at %s", first)}
	} else {
		d.Notes = []string{"the other is one of the compiler's own"}
	}
	return d
}

// unitOf is the unit of a user's rule: Cube if one of its operators needs it,
// since the others can ride in a product's epilogue.
func unitOf(p *rewrite.Pattern) ir.Unit {
	for _, op := range p.Ops() {
		if op.Unit == ir.Cube {
			return ir.Cube
		}
	}
	return ir.Vector
}

// Rules lists the set in order of priority.
func (s *Set) Rules() []*Rule { return s.rules }

// Names lists the compiler's own rules that a switch may name, those of growth
// too.
func Names() []string {
	var names []string
	for _, r := range Rules {
		names = append(names, r.Name)
	}
	return names
}
