package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// index is x[...] for a tensor, a list, or a dtype that becomes a type.
func (e *elaborator) index(x operand, op *syntax.IndexOp) value {
	switch v := x.val.(type) {
	case poison:
		return v
	case dtypeVal:
		return e.typeIndex(v, op)
	case listVal:
		if v.tuple || !tensorLike(v) || len(op.Subs) == 1 && (op.Subs[0].Kind == syntax.IndexSub || op.Subs[0].Kind == syntax.SliceSub) {
			out := e.listIndex(x, v, op)
			if l, ok := out.(listVal); !ok || len(l.elems) > 0 || !v.strong || len(v.elems) == 0 {
				return out
			}
			// Nothing of a tensor has the dtype and the other sizes of the tensor.
		}
	}
	if !isTensor(x.val) {
		t, ok := e.toTensor(x, tensor.Invalid, "a subscript")
		if !ok {
			return poison{}
		}
		x.val = e.tensor(t)
	}
	s := &subscripts{e: e, x: x, at: op.At}
	if !s.read(op) {
		return poison{}
	}
	return s.apply()
}

// typeIndex is T[2, 3] for a dtype T.
func (e *elaborator) typeIndex(d dtypeVal, op *syntax.IndexOp) value {
	t := ir.Type{DType: tensor.DType(d)}
	for i, s := range op.Subs {
		switch {
		case s.Kind == syntax.IndexSub:
			n, ok := e.intOf(s.Index, "a dimension")
			if !ok {
				return poison{}
			}
			t.Shape = append(t.Shape, n)
		case s.Kind == syntax.EllipsisSub && i == 0 && e.act.spread:
			t.Shape = append(t.Shape, e.act.ellipsis...)
		default:
			e.errorf("wrong-arguments", s.At, "a shape is a list of integers")
			return poison{}
		}
	}
	t, ok := e.checkType(t, op.At)
	if !ok {
		return poison{}
	}
	return typeVal(t)
}

// listIndex is l[i] or l[a:b] for a list that is known.
func (e *elaborator) listIndex(x operand, l listVal, op *syntax.IndexOp) value {
	if len(op.Subs) != 1 {
		e.errorf("wrong-arguments", op.At, "a list has one subscript")
		return poison{}
	}
	switch s := op.Subs[0]; s.Kind {
	case syntax.IndexSub:
		return e.elementOf(x, l, s)
	case syntax.SliceSub:
		return e.listSlice(l, s)
	}
	e.errorf("wrong-arguments", op.At, "the subscript of a list is an integer or a slice")
	return poison{}
}

// elementOf is l[i]. With a tensor or list as index the list is a tensor too.
func (e *elaborator) elementOf(x operand, l listVal, s syntax.Subscript) value {
	o := e.operand(s.Index)
	if _, several := o.val.(listVal); (several || isTensor(o.val)) && tensorLike(l) && !l.tuple {
		t, ok := e.toTensor(x, tensor.Invalid, "a subscript")
		if !ok {
			return poison{}
		}
		return e.callRow(builtinVal{name: "gather", op: ir.Lookup("gather")}, s.At, []argument{{operand: operand{e.tensor(t), x.at}}, {operand: o}})
	}
	n, ok := e.asInt(o, "the index of a list")
	if !ok {
		return poison{}
	}
	i, known := n.Const()
	if !known {
		labelled(e.errorf("not-constant", o.at, "the index of a list must be known when the program is compiled"), o)
		return poison{}
	}
	size := int64(len(l.elems))
	if i < -size || i >= size {
		d := e.errorf("out-of-range", o.at, "index %d is outside a list of %s", i, count(len(l.elems), "element"))
		d.Label = show(o.val)
		return poison{}
	}
	if i < 0 {
		i += size
	}
	el := l.elems[i]
	if inner, isList := el.(listVal); isList {
		inner.strong = l.strong
		return inner
	}
	return el
}

// listSlice is l[a:b:c], with Python's rules for bounds.
func (e *elaborator) listSlice(l listVal, s syntax.Subscript) value {
	size := int64(len(l.elems))
	step, ok := e.constBound(s.Step, 1)
	if ok && step == 0 {
		e.errorf("out-of-range", s.At, "the step is 0")
		return poison{}
	}
	first, last := int64(0), size
	if step < 0 {
		first, last = size-1, -size-1
	}
	from, okFrom := e.constBound(s.Start, first)
	to, okTo := e.constBound(s.End, last)
	if !ok || !okFrom || !okTo {
		return poison{}
	}
	out := listVal{strong: l.strong}
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	from, to = clampIndex(from, size, low, high), clampIndex(to, size, low, high)
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out.elems = append(out.elems, l.elems[i])
	}
	out.size = sizeOf(out.elems)
	return out
}

// clampIndex counts negative positions from the end and brings them into
// bounds.
func clampIndex(i, size, low, high int64) int64 {
	if i < 0 {
		i += size
	}
	return max(low, min(high, i))
}

// constBound evaluates a bound or step that must be known; absent stands for one
// that is not written.
func (e *elaborator) constBound(x syntax.Expr, absent int64) (int64, bool) {
	if x == nil {
		return absent, true
	}
	o := e.operand(x)
	n, ok := e.asInt(o, "a bound of a slice")
	if !ok {
		return 0, false
	}
	c, known := n.Const()
	if !known {
		labelled(e.errorf("not-constant", o.at, "a bound in a list must be known when the program is compiled"), o)
	}
	return max(-farAway, min(farAway, c)), known
}
