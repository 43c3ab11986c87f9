package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// A Match is one place of a graph where a pattern fits.
type Match struct {
	Root   *ir.Value
	Inside []*ir.Value // what the pattern's operators matched, the root first, each once

	pattern *Pattern
	uses    *Uses
	bound   []bound
}

// A bound is what a name stands for in a match.
type bound struct {
	value *ir.Value // a value, or
	owner *ir.Value // an attribute of this value,
	lit   ir.Lit    // with this content
	set   bool
}

// Value is what a name of the pattern stands for; nil if it is unbound, or the
// name of an attribute.
func (m *Match) Value(name string) *ir.Value {
	if id := m.pattern.id(name); id >= 0 {
		return m.bound[id].value
	}
	return nil
}

// Attr is what the name of an attribute stands for.
func (m *Match) Attr(name string) (ir.Lit, bool) {
	if id := m.pattern.id(name); id >= 0 && m.bound[id].owner != nil {
		return m.bound[id].lit, true
	}
	return ir.None, false
}

// Ops lists the operators of Inside.
func (m *Match) Ops() []*ir.Op {
	var out []*ir.Op
	for _, v := range m.Inside {
		out = append(out, v.Op)
	}
	return out
}

func (p *Pattern) id(text string) int {
	for i := range p.names {
		if p.names[i].text == text {
			return i
		}
	}
	return -1
}

// maxSteps bounds one match. A pattern of n operators takes about n steps, and
// twice as many for each that has to be tried the other way round; a pattern
// that would take more than this does not match.
const maxSteps = 10_000

// A search is a match that is being looked for. Alternatives are tried by
// continuations: each step binds what it sees, calls what is left to do, and
// undoes the binding if that fails.
type search struct {
	Match
	steps int
}

// find looks for a match at v that accept takes; nil if there is none.
func (p *Pattern) find(v *ir.Value, uses *Uses, accept func(*Match) bool) *Match {
	if !p.root.plausible(v, plausibleDepth) {
		return nil
	}
	s := &search{Match: Match{Root: v, pattern: p, uses: uses, bound: uses.lend(len(p.names))}}
	defer func() { uses.giveBack(s.bound) }()
	var found *Match
	s.node(p.root, v, func() bool {
		m := s.snapshot()
		if len(m.Inside) == 0 || m.Inside[0] != v || !accept(m) {
			return false
		}
		found = m
		return true
	})
	return found
}

// Find matches the pattern alone at v, without tests and guards.
func (p *Pattern) Find(v *ir.Value, uses *Uses) *Match {
	return p.find(v, uses, func(*Match) bool { return true })
}

// snapshot copies the match, since the search goes on to undo its own.
func (s *search) snapshot() *Match {
	m := s.Match
	m.bound = slices.Clone(s.bound)
	m.Inside = make([]*ir.Value, 0, len(s.Inside))
	for _, v := range s.Inside {
		if !slices.Contains(m.Inside, v) {
			m.Inside = append(m.Inside, v)
		}
	}
	return &m
}

// node matches n at v, and then what is left to do.
func (s *search) node(n *node, v *ir.Value, rest func() bool) bool {
	if s.steps++; s.steps > maxSteps {
		return false
	}
	if n == nil || v == nil {
		return v == nil && (n == nil || n.maybe) && rest()
	}
	switch n.kind {
	case nameNode:
		return s.name(n.id, bound{value: v, set: true}, rest)
	case numberNode:
		return n.number.is(v) && rest()
	}
	if s.operator(n, v, rest) {
		return true
	}
	return n.optional && s.node(n.args[0], v, rest) // the operator is not there
}

// name binds a name, or finds it bound to the same.
func (s *search) name(id int, b bound, rest func() bool) bool {
	if old := s.bound[id]; old.set {
		return old.same(b) && rest()
	}
	s.bound[id] = b
	if rest() {
		return true
	}
	s.bound[id] = bound{}
	return false
}

func (b bound) same(c bound) bool {
	if b.value != nil || c.value != nil {
		return b.value == c.value
	}
	return sameLit(b.lit, c.lit)
}

// operator matches an operator that is there.
func (s *search) operator(n *node, v *ir.Value, rest func() bool) bool {
	if v.Op != n.op || !n.open && len(v.Args) > len(n.args) {
		return false
	}
	s.Inside = append(s.Inside, v)
	depth := len(s.Inside)
	if n.open {
		if rest() {
			return true
		}
	} else if s.attrs(n, v, 0, func() bool { return s.operands(n, v, rest) }) {
		return true
	}
	s.Inside = s.Inside[:depth-1]
	return false
}

// operands matches the arguments, both ways round if the operator commutes.
func (s *search) operands(n *node, v *ir.Value, rest func() bool) bool {
	depth := len(s.Inside)
	if s.args(n.args, v.Args, rest) {
		return true
	}
	s.Inside = s.Inside[:depth]
	if n.op.Flags&ir.Commutative == 0 || len(v.Args) != 2 || v.Args[0] == v.Args[1] {
		return false
	}
	if s.args(n.args, []*ir.Value{v.Args[1], v.Args[0]}, rest) {
		return true
	}
	s.Inside = s.Inside[:depth]
	return false
}

// args matches arguments in order; those that the call has not are absent.
func (s *search) args(ns []*node, vs []*ir.Value, rest func() bool) bool {
	if len(ns) == 0 {
		return rest()
	}
	var v *ir.Value
	if len(vs) > 0 {
		v, vs = vs[0], vs[1:]
	}
	return s.node(ns[0], v, func() bool { return s.args(ns[1:], vs, rest) })
}

// attrs matches the attributes from i on.
func (s *search) attrs(n *node, v *ir.Value, i int, rest func() bool) bool {
	for ; i < len(n.attrs); i++ {
		if a := n.attrs[i]; a.named {
			b := bound{owner: v, lit: fromFront(v.Attrs[i], countedAxes(v, n.op.Attrs[i].Axis)), set: true}
			return s.name(a.id, b, func() bool { return s.attrs(n, v, i+1, rest) })
		}
		rank := countedAxes(v, n.op.Attrs[i].Axis)
		if !sameLit(fromFront(n.attrs[i].lit, rank), fromFront(v.Attrs[i], rank)) {
			return false
		}
	}
	return rest()
}

// countedAxes is how many axes an attribute of v counts; 0 if it holds none.
func countedAxes(v *ir.Value, axis ir.AxisOf) int {
	switch {
	case axis == ir.OfResult:
		return v.Type.Rank()
	case axis == ir.OfArgument && len(v.Args) > 0 && v.Args[0] != nil:
		return v.Args[0].Type.Rank()
	}
	return 0
}
