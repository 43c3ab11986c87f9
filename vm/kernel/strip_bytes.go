package kernel

import (
	"maps"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// Numbers of one byte are integers of four in a lane, on which arithmetic wraps.

func isByte(d tensor.DType) bool { return d == tensor.I8 || d == tensor.U8 }

// onBytes are the operators on bytes: those of integers. What may leave the range of a byte
// is brought back.
var onBytes = func() map[string]lowering {
	of := maps.Clone(byKind[tensor.Signed])
	for _, name := range []string{"abs", "neg", "square", "add", "bias_add", "sub", "mul", "prelu", "bit_not"} {
		f := of[name]
		of[name] = func(l *lowerer, a []strip.Value) strip.Value { return l.wrapped(f(l, a), l.call.Out[0].DType) }
	}
	return of
}()

// wrapped is the lowest byte of integers, as a number of a type of one byte.
func (l *lowerer) wrapped(v strip.Value, d tensor.DType) strip.Value {
	if d == tensor.I8 {
		return l.Op(vec.WrapI8, v)
	}
	return l.Op(vec.WrapU8, v)
}

// byteEnds are the least and the greatest number of a type of one byte.
func byteEnds(d tensor.DType) (lo, hi int32) {
	if d == tensor.I8 {
		return -128, 127
	}
	return 0, 255
}

// held keeps integers within a type of one byte.
func (l *lowerer) held(v strip.Value, d tensor.DType) strip.Value {
	lo, hi := byteEnds(d)
	return l.Op(vec.MinInt, l.Op(vec.MaxInt, v, l.Int(lo)), l.Int(hi))
}

// farQuotient is beyond what any zero brings back into a byte.
const farQuotient = 512

// quantizeOf rounds the quotient to the type of its operands first, as the operator
// does. A quotient that is off by its last bit may be off by one when it is whole.
func quantizeOf(l *lowerer, a []strip.Value) strip.Value {
	if l.within > 0 {
		l.within++
	}
	v := l.Op(vec.Div, a[0], a[1])
	if code, ok := roundTo[l.call.In[0].DType]; ok {
		v = l.Op(code, v)
	}
	v = l.Op(vec.ToInt, l.Op(vec.Round, v))
	if len(a) > 2 && a[2] != none {
		v = l.Op(vec.MinInt, l.Op(vec.MaxInt, v, l.Int(-farQuotient)), l.Int(farQuotient))
		v = l.Op(vec.AddInt, v, a[2])
	}
	return l.held(v, l.call.Out[0].DType)
}

// dequantizeFits leaves out differences of 32 bits and their second rounding to a half
// float.
func dequantizeFits(c *ir.Call) bool {
	return c.In[0].DType != tensor.I32 || c.Out[0].DType == tensor.F32 && (len(c.In) < 3 || c.In[2].Absent())
}

func dequantizeOf(l *lowerer, a []strip.Value) strip.Value {
	v := a[0]
	if len(a) > 2 && a[2] != none {
		v = l.Op(vec.SubInt, v, a[2])
	}
	return l.Op(vec.Mul, l.Op(vec.FromInt, v), a[1])
}
