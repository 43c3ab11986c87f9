package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// How the tables write their rules: by patterns alone (rewrite.Own), or by what is
// made here, and with what the other functions say of a rule.
//
//	closed(guarded(built("drop-this", "why", build, "f(x)"), when))

// A builder makes what stands for a match; nil leaves it as it is.
type builder = func(*rewrite.Builder, *rewrite.Match) *ir.Value

// built makes a rule of patterns, of which the first gives the names, and of a
// builder.
func built(name, doc string, build builder, patterns ...string) *rewrite.Rule {
	r := &rewrite.Rule{Name: name, Doc: doc, Safe: true, Match: rewrite.Must(patterns[0]), Build: build}
	return r.Or(patterns[1:]...)
}

// anyOf makes a rule whose roots are any calls of some operators.
func anyOf(name, doc string, ops []string, build builder) *rewrite.Rule {
	match, also := rewrite.AnyOf(ops...)
	return &rewrite.Rule{Name: name, Doc: doc, Match: match, Also: also, Safe: true, Build: build}
}

// opsWhere names the operators of which something holds: the roots of a rule.
func opsWhere(holds func(*ir.Op) bool) []string {
	var ops []string
	for _, op := range ir.Ops() {
		if holds(op) {
			ops = append(ops, op.Name)
		}
	}
	return ops
}

// guarded sets a rule's guard.
func guarded(r *rewrite.Rule, when func(*rewrite.Match) bool) *rewrite.Rule {
	r.When = when
	return r
}

// closed lets nobody else read what a rule matches inside: it would be computed
// twice.
func closed(r *rewrite.Rule) *rewrite.Rule {
	r.Closed = true
	return r
}

// open lets others read what a closed rule matches: that is not computed twice.
func open(r *rewrite.Rule) *rewrite.Rule {
	r.Closed = false
	return r
}

// tolerance is how far results may be off by a rule that rounds at fewer steps than
// its pattern, or in another order: some eighty roundings of f32, see
// rewrite.Differ.
const tolerance = 1e-5

// roughly gives a rule the tolerance.
func roughly(r *rewrite.Rule) *rewrite.Rule {
	r.Within = tolerance
	return r
}

// exactly says that a rule with the tolerance changes no bit.
func exactly(r *rewrite.Rule) *rewrite.Rule {
	r.Within = 0
	return r
}

// freely says what a rule takes for granted: it runs with fast-math or, in a pass
// that only runs when it is named, with that.
func freely(r *rewrite.Rule, liberty string) *rewrite.Rule {
	r.Liberty = liberty
	return r
}

// set gives an attribute of a call.
func set(name string, l ir.Lit) rewrite.Set { return rewrite.Set{Name: name, Lit: l} }
