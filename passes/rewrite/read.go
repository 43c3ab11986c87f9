package rewrite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Read makes a pattern of what Func has become since the instance was drawn: of
// the same expression in another form.
//
//	%0 = square %x : f32[3,2]
//	%1 = exp %0 : f32[3,2]       =>   exp(square(x))
//	return %1
//
// Names stand for what they stood for, so that the rule's tests hold of the new
// form as they did of the old one. The form is taken for operands of the kinds of
// dtypes (float, signed, ...) that the instance has, since some rewrites are right
// for those alone. Whether it means the same whatever the shapes, Instance.As and
// Same help to find out. The error says why there is no such pattern: a name has gone, or an
// attribute has come that only this instance has.
func (e *Instance) Read() (*Pattern, error) {
	r := &reader{Instance: e, used: make([]bool, len(e.match.bound))}
	root := e.Func.Results[0]
	p := &Pattern{root: r.node(root), names: e.match.pattern.names, of: e.match.pattern}
	for id, b := range e.match.bound {
		if b.set && !r.used[id] {
			r.fail("nothing of it is %s any more", p.names[id].text)
		}
	}
	if r.err == nil && p.root.kind != opNode {
		r.fail("no operator is left")
	}
	if r.err != nil {
		return nil, r.err
	}
	p.kinds = []string{e.match.kinds()}
	if e.rule.find(p, root, NewUses(e.Func)) == nil {
		return nil, errors.New("the tests of the rule do not hold any more")
	}
	return p, nil
}

// Fits is the match of a form of the rule with what Func has become; nil: none.
func (r *Rule) Fits(e *Instance) *Match { return r.Find(e.Func.Results[0], NewUses(e.Func)) }

// Join adds a form that was read of an instance to others. Of two that are the
// same one is left, for what both are taken for.
func Join(forms []*Pattern, p *Pattern) []*Pattern {
	text := p.String()
	for _, f := range forms {
		if f.of != p.of || f.String() != text {
			continue
		}
		for _, k := range p.kinds {
			if !slices.Contains(f.kinds, k) {
				f.kinds = append(f.kinds, k)
			}
		}
		return forms
	}
	return append(forms, p)
}

// kinds tells the kinds of dtypes that the names stand for, in the order of the
// names: 0 for a float, and so on; - is no tensor.
func (m *Match) kinds() string {
	var b strings.Builder
	for _, x := range m.bound {
		if x.value == nil {
			b.WriteByte('-')
			continue
		}
		b.WriteString(strconv.Itoa(int(x.value.Type.DType.Kind())))
	}
	return b.String()
}

// A reader reads one instance.
type reader struct {
	*Instance
	used  []bool // the names that were met
	nodes int
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// node reads a value; after an error it is nil.
func (r *reader) node(v *ir.Value) *node {
	if r.nodes++; r.nodes > maxNodes {
		r.fail("it is too large for a pattern")
	}
	if r.err != nil || v == nil {
		return nil
	}
	if id, ok := r.name(v); ok {
		r.used[id] = true
		return &node{kind: nameNode, id: id}
	}
	if elem := Splat(v); elem != nil {
		return &node{kind: numberNode, number: r.number(v, elem)}
	}
	if v.Op == ir.Const || len(v.Bodies) > 0 || v.Op.Flags&(ir.Unbound|ir.Impure|ir.Projection) != 0 {
		r.fail("a pattern has no words for %s", v.Op.Name)
		return nil
	}
	return r.call(v)
}

func (r *reader) call(v *ir.Value) *node {
	n := &node{kind: opNode, op: v.Op}
	for _, a := range v.Args {
		n.args = append(n.args, r.node(a))
	}
	if k := len(v.Op.Args); len(n.args) < k {
		n.args = append(n.args, make([]*node, k-len(n.args))...) // optional ones that are left out
	}
	for i := range v.Attrs {
		n.attrs = append(n.attrs, r.attr(v, i))
	}
	return n
}

// name finds the name that stands for a value: an input, or a constant with
// elements of its own.
func (r *reader) name(v *ir.Value) (int, bool) {
	id := slices.IndexFunc(r.match.bound, func(b bound) bool {
		return b.value != nil && (b.value == v || b.value.Op == ir.Const && v.Op == ir.Const && sameTensor(b.value, v))
	})
	return id, id >= 0
}

func sameTensor(a, b *ir.Value) bool {
	return a.Type.Equal(b.Type) && tensor.BitEqual(a.Attrs[0].Tensor, b.Attrs[0].Tensor)
}

// number is the number of a constant, as the pattern writes it if it does, else
// in as few digits as tell it from its neighbours.
func (r *reader) number(v *ir.Value, elem *tensor.T) number {
	var out number
	found := false
	r.match.pattern.root.walk(func(n *node) {
		if !found && n.kind == numberNode && n.number.is(v) {
			out, found = n.number, true
		}
	})
	if found {
		return out
	}
	switch {
	case elem.DType == tensor.Bool:
		return boolean(elem.IntAt(0) != 0)
	case !elem.DType.IsFloat():
		return number{i: elem.IntAt(0)}
	}
	x := elem.FloatAt(0)
	if n := (number{i: int64(x)}); small(n.i) && n.is(v) {
		return n
	}
	for digits := 1; digits < 17; digits++ {
		f, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
		if n := (number{isFloat: true, f: f}); err == nil && n.is(v) {
			return n
		}
	}
	return number{isFloat: true, f: x}
}

// attr reads attribute i of a value: a name that is bound to it, a literal of
// the pattern, or one of its own.
func (r *reader) attr(v *ir.Value, i int) attr {
	decl, rank := &v.Op.Attrs[i], countedAxes(v, v.Op.Attrs[i].Axis)
	lit := fromFront(v.Attrs[i], rank)
	if id, ok := r.attrName(v.Op, decl, lit); ok {
		r.used[id] = true
		return attr{named: true, id: id}
	}
	if l, ok := r.written(v.Op, i, lit, rank); ok {
		return attr{lit: l}
	}
	switch lit.Kind {
	case ir.KDim, ir.KDims, ir.KType, ir.KTensor:
		if !lit.Equal(decl.Default) {
			r.fail("the %s of %s is that of one graph", decl.Name, v.Op.Name)
		}
	}
	return attr{lit: v.Attrs[i]}
}

// attrName finds the name of an attribute with this content: one of the same
// operator, else the only one of an attribute called the same.
func (r *reader) attrName(op *ir.Op, decl *ir.Attr, lit ir.Lit) (int, bool) {
	near, far := -1, -1
	many := false
	r.match.pattern.root.walk(func(n *node) {
		for i, a := range n.attrs {
			if !a.named || n.op.Attrs[i].Name != decl.Name || !sameLit(r.match.bound[a.id].lit, lit) || !r.match.bound[a.id].set {
				continue
			}
			if n.op == op && near < 0 {
				near = a.id
			}
			many = many || far >= 0 && far != a.id
			far = a.id
		}
	})
	switch {
	case near >= 0 && !many:
		return near, true
	case many:
		r.fail("two attributes have the same content")
	}
	return far, far >= 0
}

// written finds a literal that the pattern writes for the attribute, or for one
// of another operator that is called the same: axis=-1, which in the graph may be
// any axis that is the last.
func (r *reader) written(op *ir.Op, i int, lit ir.Lit, rank int) (ir.Lit, bool) {
	var out ir.Lit
	found := false
	r.match.pattern.root.walk(func(n *node) {
		for j, a := range n.attrs {
			if n.op.Attrs[j].Name != op.Attrs[i].Name || a.named || !sameLit(fromFront(a.lit, rank), lit) {
				continue
			}
			if n.op == op || !found && a.lit.Kind == lit.Kind {
				out, found = a.lit, true
			}
		}
	})
	return out, found
}

// takes reports whether the form is taken for what the names stand for.
func (p *Pattern) takes(m *Match) bool { return p.kinds == nil || slices.Contains(p.kinds, m.kinds()) }
