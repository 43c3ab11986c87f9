package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Products of numbers that bytes stand for, as exporters of quantised models write them.
//
//	%0 = dequantize_linear %q, %s, %z         %0 = matmul %q, %v {dtype=i32}
//	%1 = dequantize_linear %v, %t        =>   %1 = bias_add %0, %c           c = -z * sum of v by column
//	%y = matmul %0, %1 : f32[M,N]             %2 = cast %1 {dtype=f32}
//	                                          %y = mul %2, %st               st = s * t
//
// What stands for the numbers is multiplied, exactly, in place of the numbers, each of
// which was rounded, and whose products and sums were. So the result is off by what the
// form before had lost, which the tolerance is for, and scales are multiplied once for all
// elements. c and st depend on weights alone, and are made before the runs.

// maxQuantizedSum is the longest sum of differences of two bytes, at most 255, times bytes
// with a sign, that no i32 overflows.
const maxQuantizedSum = (1<<31 - 1) / (255 * 128)

// A quantizedSide is an operand of a product as bytes that stand for it.
type quantizedSide struct {
	bytes, scale, zero *ir.Value // zero is nil where it is 0, or of the right side what makes its bytes signed
}

// multiplyBytes is the rule's builder.
func multiplyBytes(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v := m.Root
	left, ok := quantizedOf(v.Args[0])
	if !ok || v.Type.DType != tensor.F32 || v.Args[1].Type.Rank() != 2 || v.Args[0].Type.Rank() < 2 {
		return nil
	}
	right, ok := quantizedOf(v.Args[1])
	if n := sumLength(v); !ok || n == 0 || n > maxQuantizedSum || !m.Alike(v.Args[0], v.Args[1]) {
		return nil
	}
	if !madeOfWeights(right.bytes) && (left.zero != nil || right.bytes.Type.DType == tensor.U8) {
		return nil // what is made of the right side would be made in each run
	}
	columns := v.Type.Shape[v.Type.Rank()-1]
	by, ok := columnVector(b, right.scale, columns, v.Op == ir.Linear)
	if !ok || !left.alongRows() || !signedRight(b, &right) {
		return nil
	}
	y := b.Call(v.Op, []*ir.Value{left.bytes, right.bytes}, set("dtype", ir.DTypeLit(tensor.I32)))
	if left.zero != nil {
		y = b.Call(ir.BiasAdd, []*ir.Value{y, offsets(b, v, &left, &right, columns)})
	}
	y = b.Call(ir.Cast, []*ir.Value{y}, set("dtype", ir.DTypeLit(tensor.F32)))
	if isOne(left.scale) {
		by = b.Op("mul", by, numberOf(b, left.scale))
	} else {
		y = b.Op("mul", y, left.scale)
	}
	y = b.Op("mul", y, by)
	if bias := biasOf(v); bias != nil {
		y = b.Call(ir.BiasAdd, []*ir.Value{y, bias})
	}
	return y
}

// quantizedOf finds the bytes that stand for floats.
func quantizedOf(v *ir.Value) (s quantizedSide, ok bool) {
	if v.Op != ir.DequantizeLinear || v.Type.DType != tensor.F32 || !ir.SameShape(v.Type.Shape, v.Args[0].Type.Shape) {
		return s, false
	}
	s = quantizedSide{bytes: v.Args[0], scale: v.Args[1]}
	if len(v.Args) > 2 && v.Args[2] != nil && !allOf(v.Args[2], 0) {
		s.zero = v.Args[2]
	}
	d := s.bytes.Type.DType
	return s, d == tensor.I8 || d == tensor.U8
}

// allOf reports whether v is a constant of which every element is a whole number.
func allOf(v *ir.Value, n int64) bool {
	t := constOf(v)
	if t == nil || !t.DType.IsInt() {
		return false
	}
	for i := range t.Len() {
		if t.IntAt(i) != n {
			return false
		}
	}
	return true
}

// madeOfWeights reports whether v is a weight or a constant, seen or moved as a whole.
func madeOfWeights(v *ir.Value) bool {
	for v.Op.Class == ir.Move && len(v.Args) == 1 {
		v = v.Args[0]
	}
	return leaf(v)
}

// alongRows reports whether the left side has one scale for each row or for all, and one
// zero.
func (s *quantizedSide) alongRows() bool {
	shape := s.scale.Type.Shape
	return (len(shape) == 0 || shape[len(shape)-1].Is(1)) && (s.zero == nil || isOne(s.zero))
}

// isOne reports whether v has one element.
func isOne(v *ir.Value) bool { return allAre(v.Type.Shape, 1) }

// numberOf is the only element of v without axes.
func numberOf(b *rewrite.Builder, v *ir.Value) *ir.Value {
	if v.Type.Rank() == 0 {
		return v
	}
	return reshaped(b, v, nil)
}

// columnVector brings scales of the right side, of which each column of the product or all
// have one, to one axis, or to none. linear has columns as rows.
func columnVector(b *rewrite.Builder, scale *ir.Value, columns ir.Dim, linear bool) (by *ir.Value, ok bool) {
	shape, axis := scale.Type.Shape, scale.Type.Rank()-1
	if linear {
		axis--
	}
	if isOne(scale) {
		return numberOf(b, scale), true
	}
	for i, d := range shape {
		if i != axis && !d.Is(1) {
			return nil, false
		}
	}
	if axis < 0 || !shape[axis].Equal(columns) {
		return nil, false
	}
	if len(shape) == 1 {
		return scale, true
	}
	return reshaped(b, scale, []ir.Dim{columns}), true
}

// signedRight gives the right side bytes with a sign and no zero: those without one stand
// for the same numbers if 128 is taken off them and off their zero.
func signedRight(b *rewrite.Builder, s *quantizedSide) bool {
	if s.bytes.Type.DType == tensor.I8 {
		return s.zero == nil
	}
	if s.zero == nil || !allOf(s.zero, 128) {
		return false
	}
	wide := b.Call(ir.Cast, []*ir.Value{s.bytes}, set("dtype", ir.DTypeLit(tensor.I32)))
	less := b.Op("sub", wide, b.Const(tensor.Scalar(int32(128))))
	s.bytes, s.zero = b.Call(ir.Cast, []*ir.Value{less}, set("dtype", ir.DTypeLit(tensor.I8))), nil
	return true
}

// offsets are what the zero of the left side adds to the sums of each column.
func offsets(b *rewrite.Builder, v *ir.Value, left, right *quantizedSide, columns ir.Dim) *ir.Value {
	wide := func(x *ir.Value) *ir.Value {
		return b.Call(ir.Cast, []*ir.Value{x}, set("dtype", ir.DTypeLit(tensor.I32)))
	}
	sums := b.Call(ir.Sum, []*ir.Value{wide(right.bytes)}, set("axis", ir.IntsLit(int64(sumAxis(v)))))
	return b.Op("neg", b.Op("mul", sums, wide(numberOf(b, left.zero))))
}
