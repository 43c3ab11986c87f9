package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// cast is f16(x): a literal of that dtype, or a conversion.
func (e *elaborator) cast(d tensor.DType, call *syntax.CallOp, at diag.Span) value {
	if len(call.Args) != 1 || call.Args[0].Name.Name != "" {
		diagnosis := e.errorf("wrong-arguments", at, "%s(x) takes one argument, got %d", d, len(call.Args))
		help(diagnosis, "write cast(x, %s), or %s([...]) for a literal", d, d)
		return poison{}
	}
	return e.castTo(d, e.operand(call.Args[0].Value), at)
}

// castMethod is x.f16(), which is f16(x).
func (e *elaborator) castMethod(d tensor.DType, x operand, at diag.Span, call *syntax.CallOp) value {
	if len(call.Args) > 0 {
		labelled(e.errorf("wrong-arguments", at, "x.%s() takes nothing more, got %s", d, count(len(call.Args), "argument")), x)
		return poison{}
	}
	return e.castTo(d, x, at)
}

// castTo makes a literal of what is written as one: its numbers are checked against
// the dtype. What has a dtype already is converted, and wraps or saturates.
func (e *elaborator) castTo(d tensor.DType, o operand, at diag.Span) value {
	switch v := o.val.(type) {
	case poison:
		return v
	case listVal:
		if v.strong || v.tuple || !tensorLike(v) {
			break
		}
		return e.wrap(e.listTensor(o, v, d))
	case intVal, floatVal, lateVal:
		return e.wrap(e.scalar(o, d))
	case boolVal:
		if d == tensor.Bool {
			return e.wrap(e.scalar(o, d))
		}
	}
	row := ir.Lookup("cast")
	s := site{name: "cast", at: at, args: []operand{o}}
	vs, ok := e.arguments(s, row, s.args)
	if !ok {
		return poison{}
	}
	return e.add(s, row, vs, []ir.Lit{ir.DTypeLit(d)})[0]
}

// wrap makes a value of a tensor that was made, or poison.
func (e *elaborator) wrap(v *ir.Value, ok bool) value {
	if !ok || v == nil {
		return poison{}
	}
	return e.tensor(v)
}
