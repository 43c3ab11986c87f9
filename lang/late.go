package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A number that the dimensions of a graph determine, sqrt(N) or 1.0 / N, has a
// value only when the program runs. It is as weak as a number that is known: both
// are computed in f64, and rounded once to the dtype of the tensor that they meet.
//
//	x / sqrt(N)  =>  full {value=N} : f64[], sqrt, cast to the dtype of x, div

// A lateVal is such a number: a scalar of dtype f64.
type lateVal struct{ t tensorVal }

func (lateVal) noun() string { return "a number that depends on dimensions" }

// isLate reports whether a number has no value yet: it is a lateVal, or an integer
// with symbols.
func isLate(v value) bool {
	if n, ok := v.(intVal); ok {
		return n.big == nil && !n.d.IsConst()
	}
	_, ok := v.(lateVal)
	return ok
}

// late adds an operator of numbers that are not all known. A comparison gives a
// bool tensor.
func (e *elaborator) late(s site, row *ir.Op, args []operand) value {
	vs := make([]*ir.Value, len(args))
	for i, a := range args {
		v, ok := e.scalar(a, tensor.F64)
		if !ok {
			return poison{}
		}
		vs[i] = v
	}
	out := e.add(s, row, vs, row.Defaults())[0]
	if t, ok := out.(tensorVal); ok && t.v.Type.DType == tensor.F64 {
		return lateVal{t}
	}
	return out
}

// settle gives a late number a dtype.
func (e *elaborator) settle(o operand, l lateVal, d tensor.DType) (*ir.Value, bool) {
	v := e.use(l.t)
	if d == tensor.F64 {
		return v, true
	}
	t, ok := e.add(site{name: "cast", at: o.at}, ir.Lookup("cast"), []*ir.Value{v}, []ir.Lit{ir.DTypeLit(d)})[0].(tensorVal)
	return t.v, ok
}
