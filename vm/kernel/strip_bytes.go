package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// Numbers of one byte are integers of four in a lane. They are made, read and moved;
// arithmetic on them, which would have to wrap, is another kernel's.

func isByte(d tensor.DType) bool { return d == tensor.I8 || d == tensor.U8 }

// hasBytes reports whether a call has an argument or a result of bytes.
func hasBytes(c *ir.Call) bool {
	bytes := func(t ir.Type) bool { return isByte(t.DType) }
	return slices.ContainsFunc(c.In, bytes) || slices.ContainsFunc(c.Out, bytes)
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
