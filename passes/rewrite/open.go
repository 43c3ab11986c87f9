package rewrite

import "github.com/npulang/npu/ir"

// Any is the pattern of every call of an operator, whatever its arguments and
// attributes: the root of a rule of the compiler's own that the language has no
// words for, since it takes any number of operands, counts axes, or follows a
// chain. What is to hold of the call is for When and Build to see to: the match
// holds the root alone. A name may be that of a further result, "result".
//
//	%y = concat %a, %b, %c {axis=1}     matches Any("concat") with Root = %y
func Any(op string) *Pattern {
	row := ir.Lookup(op)
	if row == nil {
		panic("rewrite: there is no operator " + op)
	}
	return &Pattern{root: &node{kind: opNode, op: row, open: true}}
}

// AnyOf is Any for several operators: the pattern of a rule, and its further
// forms.
func AnyOf(ops ...string) (match *Pattern, also []*Pattern) {
	for _, op := range ops[1:] {
		also = append(also, Any(op))
	}
	return Any(ops[0]), also
}

// Open reports whether the pattern is one made by Any.
func (p *Pattern) Open() bool { return p.root.open }

// Uses is how often a value is read: as an argument, or as a result of the
// function.
func (m *Match) Uses(v *ir.Value) int { return m.uses.Count(v) }

// Readers lists some of the values that read v, each once, in no order that may be
// relied on for anything but a guess at what a rewrite brings: among them may
// be some that are being rewritten.
func (m *Match) Readers(v *ir.Value) []*ir.Value { return m.uses.Readers(v) }

// Alike reports whether values that a rule looks at beyond its pattern carry the
// annotations of the root, which the new values get.
func (m *Match) Alike(vs ...*ir.Value) bool {
	more := Match{Root: m.Root, Inside: vs}
	return more.alike()
}
