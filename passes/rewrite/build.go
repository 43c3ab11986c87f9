package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A Builder makes the values that stand for a match afterwards. After a call
// that is not legal it makes nothing more, and the match stays as it is: a
// rule's author need not foresee every shape.
type Builder struct {
	made   ir.Func // the new values in order, and what they take on trust
	failed bool
}

// A Set gives an attribute of a call; the others have their defaults.
type Set struct {
	Name string
	Lit  ir.Lit
}

// Call makes a call of an operator and returns its first result; nil, like an
// argument of a call that failed, if it is not legal. Trailing nils of optional
// arguments may be left out.
func (b *Builder) Call(op *ir.Op, args []*ir.Value, set ...Set) *ir.Value {
	attrs := op.Defaults()
	for _, s := range set {
		i := slices.IndexFunc(op.Attrs, func(a ir.Attr) bool { return a.Name == s.Name })
		if i < 0 {
			panic("rewrite: operator " + op.Name + " has no attribute " + s.Name)
		}
		attrs[i] = s.Lit
	}
	return b.With(op, args, attrs)
}

// With is Call with every attribute given: those of a value that is moved.
func (b *Builder) With(op *ir.Op, args []*ir.Value, attrs []ir.Lit) *ir.Value {
	if b.failed {
		return nil
	}
	out, err := b.made.Add(op, slices.Clone(args), slices.Clone(attrs))
	if err != nil || len(out) > 1 {
		b.failed = true
		return nil
	}
	return out[0]
}

// Op is Call by the operator's name.
func (b *Builder) Op(name string, args ...*ir.Value) *ir.Value {
	return b.Call(ir.Lookup(name), args)
}

// Const makes a constant.
func (b *Builder) Const(t *tensor.T) *ir.Value {
	return b.Call(ir.Const, nil, Set{"value", ir.TensorLit(t)})
}

// Scalar makes a constant of dtype d without axes; not if d cannot hold x.
func (b *Builder) Scalar(d tensor.DType, x float64) *ir.Value {
	t, ok := number{isFloat: true, f: x}.tensor(d)
	if !ok {
		b.failed = true
		return nil
	}
	return b.Const(t)
}

// A Change is what a rule makes of a match.
type Change struct {
	Made []*ir.Value // new values, definitions before uses
	Root *ir.Value   // what stands for the match's root: the last of Made, or a value that was there
}

// Apply makes what stands for the match afterwards, without touching the
// function. It is nil if the rule does not fit after all: the replacement is no
// legal call, has another type than the root, or takes on trust what no assert
// of the function grants.
func (r *Rule) Apply(m *Match, granted []ir.Assert) *Change {
	b := &Builder{}
	var root *ir.Value
	if r.Build != nil {
		root = r.Build(b, m)
	} else {
		root = b.replace(r.Replace.root, m)
	}
	if b.failed || root == nil || root == m.Root || !root.Type.Equal(m.Root.Type) || !within(b.made.Asserts, granted) {
		return nil
	}
	if b.reads(m.Root) {
		return nil // what stands for a value cannot be made of it
	}
	b.dress(m, root)
	return &Change{b.made.Body, root}
}

func (b *Builder) reads(v *ir.Value) bool {
	return slices.ContainsFunc(b.made.Body, func(n *ir.Value) bool { return slices.Contains(n.Args, v) })
}

// dress gives the new values the place and the annotations of the match, and
// the name of its root to the new root.
func (b *Builder) dress(m *Match, root *ir.Value) {
	for _, v := range b.made.Body {
		v.Pos, v.Annots = m.Root.Pos, m.Root.Annots
		if v == root {
			v.Name = m.Root.Name
		}
	}
}

// within reports whether all that a needs is granted.
func within(needs, granted []ir.Assert) bool {
	for _, a := range needs {
		if !slices.ContainsFunc(granted, a.Follows) {
			return false
		}
	}
	return true
}

// alike reports whether all that is matched carries the same annotations: those
// of the new values.
func (m *Match) alike() bool {
	for _, v := range m.Inside {
		if !slices.Equal(v.Annots, m.Root.Annots) {
			return false
		}
	}
	return true
}

// replace builds one node of a replacement.
func (b *Builder) replace(n *node, m *Match) *ir.Value {
	switch {
	case n == nil:
		return nil
	case n.kind == nameNode:
		return m.bound[n.id].value
	case n.kind == numberNode:
		return b.number(n.number, m.Root.Type.DType)
	case n.optional && !m.has(n.op):
		return b.replace(n.args[0], m)
	}
	args := make([]*ir.Value, len(n.args))
	for i, a := range n.args {
		if a != nil && a.kind != numberNode {
			args[i] = b.replace(a, m)
		}
	}
	attrs := make([]ir.Lit, len(n.attrs))
	for i, a := range n.attrs {
		attrs[i] = m.attr(a, n.op.Attrs[i].Kind)
	}
	b.numbers(n, args, attrs, m.Root.Type.DType)
	return b.With(n.op, args, attrs)
}

// number is a number of a replacement, as a constant of dtype d.
func (b *Builder) number(n number, d tensor.DType) *ir.Value {
	t, ok := n.tensor(d)
	if !ok {
		b.failed = true
		return nil
	}
	return b.Const(t)
}

// numbers makes the numbers among the operands of a call: of the dtype of the
// root if the call is legal then, else of that of another operand, as in x < 1.
func (b *Builder) numbers(n *node, args []*ir.Value, attrs []ir.Lit, root tensor.DType) {
	if b.failed || !slices.ContainsFunc(n.args, isNumber) {
		return
	}
	d := root
	for _, other := range append([]*ir.Value{nil}, args...) {
		if other != nil {
			d = other.Type.DType
		}
		if legalOf(n, args, attrs, d) {
			break
		}
		d = root
	}
	for i, a := range n.args {
		if isNumber(a) {
			args[i] = b.number(a.number, d)
		}
	}
}

func isNumber(n *node) bool { return n != nil && n.kind == numberNode }

// legalOf reports whether a call is legal if its numbers are of dtype d.
func legalOf(n *node, args []*ir.Value, attrs []ir.Lit, d tensor.DType) bool {
	c := ir.Call{Op: n.op, In: make([]ir.Type, len(args)), Known: make([]*tensor.T, len(args)), Attrs: slices.Clone(attrs)}
	for i, a := range n.args {
		switch {
		case isNumber(a):
			t, ok := a.number.tensor(d)
			if !ok {
				return false
			}
			c.In[i], c.Known[i] = ir.Type{DType: d, Shape: []ir.Dim{}}, t
		case args[i] != nil:
			c.In[i] = args[i].Type
		}
	}
	return ir.InferCall(&c) == nil
}

func (m *Match) has(op *ir.Op) bool {
	return slices.ContainsFunc(m.Inside, func(v *ir.Value) bool { return v.Op == op })
}

// attr is an attribute of a replacement: written, matched, or computed from
// matched ones.
func (m *Match) attr(a attr, kind ir.AttrKind) ir.Lit {
	switch {
	case a.fn != nil:
		var of []bound
		for _, id := range a.of {
			of = append(of, m.bound[id])
		}
		return a.fn.eval(of)
	case a.named:
		return convert(m.bound[a.id].lit, kind)
	}
	return a.lit
}

// convert brings what one attribute holds into the kind of another.
func convert(l ir.Lit, kind ir.AttrKind) ir.Lit {
	if l.Kind == kind || l.Kind == ir.KNone {
		return l
	}
	if list, ok := litList(l); ok && kind == ir.KDims {
		return ir.DimsLit(list...)
	}
	if n, ok := litNumber(l); ok {
		if out, ok := n.lit(kind); ok {
			return out
		}
	}
	return l // which no operator takes: the call is not legal
}
