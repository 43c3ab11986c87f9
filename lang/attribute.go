package lang

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// attributes converts what was given for the row's attributes.
func (c *rowCall) attributes() ([]ir.Lit, bool) {
	attrs := c.row.Defaults()
	ok := true
	for _, s := range c.slots {
		if s.attr == nil || len(s.given) == 0 && !s.listed {
			continue
		}
		l, good := c.attribute(s.attr, culprit(s))
		if good {
			attrs[s.index] = l
		}
		ok = ok && good
	}
	return attrs, ok
}

// culprit is what a slot was given, or the one element of it that cannot be meant.
func culprit(s slot) operand {
	if convert := attrKinds[s.attr.Kind].convert; convert != nil && len(s.given) > 1 {
		for _, o := range s.given {
			if _, ok := convert(o.val); !ok {
				return o
			}
		}
	}
	return listOperand(s)
}

// listOperand joins what a variadic attribute was given.
func listOperand(s slot) operand {
	if len(s.given) == 1 && !s.listed {
		return s.given[0]
	}
	l := listVal{}
	var at diag.Span
	for _, o := range s.given {
		l.elems = append(l.elems, o.val)
		at = at.To(o.at)
	}
	return operand{l, at}
}

// attribute makes a literal of one attribute's kind.
func (c *rowCall) attribute(a *ir.Attr, o operand) (ir.Lit, bool) {
	row := attrKinds[a.Kind]
	if row.convert != nil {
		if l, ok := row.convert(o.val); ok {
			return l, true
		}
	}
	if v, ok := o.val.(intVal); ok && v.big != nil {
		d := c.e.errorf("out-of-range", o.at, "argument %s is too large: integers here are at most 2^62", a.Name)
		c.explain(d)
		return ir.None, false
	}
	var d *diag.Diagnostic
	if unknownYet(o.val) {
		d = c.e.errorf("not-constant", o.at, "argument %s must be known when the program is compiled: %s", a.Name, row.noun)
	} else {
		d = c.e.errorf("wrong-arguments", o.at, "argument %s must be %s, not %s", a.Name, row.noun, o.val.noun())
	}
	labelled(d, o)
	c.explain(d)
	return ir.None, false
}

// unknownYet reports whether a value, or an element of a list, is one that only a
// run knows.
func unknownYet(v value) bool {
	if l, ok := v.(listVal); ok {
		return slices.ContainsFunc(l.elems, unknownYet)
	}
	return isTensor(v) || isLate(v)
}

// attrKinds converts compile-time values to the kinds of attributes.
var attrKinds = map[ir.AttrKind]struct {
	noun    string
	convert func(v value) (ir.Lit, bool)
}{
	ir.KInt: {"an integer", func(v value) (ir.Lit, bool) {
		n, ok := constInt(v)
		return ir.IntLit(n), ok
	}},
	ir.KInts: {"an integer or a list of integers", func(v value) (ir.Lit, bool) {
		var ns []int64
		ok := eachElem(v, func(el value) bool {
			n, ok := constInt(el)
			ns = append(ns, n)
			return ok
		})
		return ir.IntsLit(ns...), ok
	}},
	ir.KFloat: {"a number", func(v value) (ir.Lit, bool) {
		f, ok := asFloat(v)
		return ir.FloatLit(f), ok
	}},
	ir.KBool: {"true or false", func(v value) (ir.Lit, bool) {
		b, ok := v.(boolVal)
		return ir.BoolLit(bool(b)), ok
	}},
	ir.KString: {"a string", func(v value) (ir.Lit, bool) {
		s, ok := v.(stringVal)
		return ir.StrLit(string(s)), ok
	}},
	ir.KDType: {"a dtype", func(v value) (ir.Lit, bool) {
		d, ok := v.(dtypeVal)
		return ir.DTypeLit(tensor.DType(d)), ok
	}},
	ir.KType: {"a type, as in zeros(f32[2, 3])", func(v value) (ir.Lit, bool) {
		switch v := v.(type) {
		case typeVal:
			return ir.TypeLit(ir.Type(v)), true
		case dtypeVal:
			return ir.TypeLit(ir.T(tensor.DType(v))), true
		}
		return ir.None, false
	}},
	ir.KDim: {"an integer", func(v value) (ir.Lit, bool) {
		n, ok := v.(intVal)
		return ir.DimLit(n.d), ok && n.big == nil
	}},
	ir.KDims: {"an integer or a list of integers", func(v value) (ir.Lit, bool) {
		ds := []ir.Dim{}
		ok := eachElem(v, func(el value) bool {
			n, ok := el.(intVal)
			ds = append(ds, n.d)
			return ok && n.big == nil
		})
		return ir.DimsLit(ds...), ok
	}},
	ir.KNum: {"a number", func(v value) (ir.Lit, bool) {
		switch v := v.(type) {
		case intVal:
			return ir.DimLit(v.d), v.big == nil
		case floatVal:
			return ir.FloatLit(v.f), true
		case boolVal:
			return ir.DimLit(ir.N(int64(boolInt(bool(v))))), true
		}
		return ir.None, false
	}},
}

// constInt is the value of an integer without symbols.
func constInt(v value) (int64, bool) {
	n, ok := v.(intVal)
	if !ok || n.big != nil {
		return 0, false
	}
	return n.d.Const()
}

// eachElem visits the elements of a list, or a single value.
func eachElem(v value, visit func(value) bool) bool {
	l, ok := v.(listVal)
	if !ok {
		return visit(v)
	}
	for _, el := range l.elems {
		if !visit(el) {
			return false
		}
	}
	return true
}

// obligations adds the conditions under which a call is legal and that its
// types alone do not prove.
func (e *elaborator) obligations(row *ir.Op, args []*ir.Value, out *ir.Value, at diag.Span) {
	if rule, ok := obliged[row.Name]; ok {
		rule(e, args, out, at)
	}
}
