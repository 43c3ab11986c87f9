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
// elements. c and st depend on weights alone, and are made before the runs. Bytes of the
// right side without a sign are 128 less first, and so is their zero. If it has one then, each
// element is off by that, and each sum by as much of the sum of the left side's row, which is
// added up in each run:
//
//	%r = sum %q {axis=[-1], keepdims=true}     %0 + %r * d        d = 128 - zero of %v, or less the zero
//	                                           c = -z * (sum of %v by column + K * d)

// maxQuantizedSum is the longest sum of differences of two bytes, at most 255, times bytes
// with a sign, that no i32 overflows, and maxZeroSum the longest of two such differences.
const (
	maxQuantizedSum = (1<<31 - 1) / (255 * 128)
	maxZeroSum      = (1<<31 - 1) / (255 * 255)
)

// A quantizedSide is an operand of a product as bytes that stand for it.
type quantizedSide struct {
	bytes, scale *ir.Value
	zero         *ir.Value // nil: 0
}

// multiplyBytes is the rule's builder.
func multiplyBytes(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v := m.Root
	left, ok := quantizedOf(v.Args[0])
	if !ok || v.Type.DType != tensor.F32 || v.Args[1].Type.Rank() != 2 || v.Args[0].Type.Rank() < 2 {
		return nil
	}
	right, ok := quantizedOf(v.Args[1])
	n, longest := sumLength(v), int64(maxQuantizedSum)
	if ok && !right.centred() {
		longest = maxZeroSum
	}
	if !ok || n == 0 || n > longest || !m.Alike(v.Args[0], v.Args[1]) {
		return nil
	}
	if !madeOfWeights(right.bytes) && (!right.centred() || left.zero != nil || right.bytes.Type.DType == tensor.U8) {
		return nil // what is made of the right side would be made in each run
	}
	columns := v.Type.Shape[v.Type.Rank()-1]
	by, ok := columnVector(b, right.scale, columns, v.Op == ir.Linear)
	if !ok || !left.alongRows() {
		return nil
	}
	less, ok := signedRight(b, v, &right, columns)
	if !ok {
		return nil
	}
	y := b.Call(v.Op, []*ir.Value{left.bytes, right.bytes}, set("dtype", ir.DTypeLit(tensor.I32)))
	if less != nil {
		rows := b.Call(ir.Sum, []*ir.Value{asI32(b, left.bytes)}, kept(left.bytes.Type.Rank()-1)...)
		y = b.Op("add", y, b.Op("mul", rows, less))
	}
	if left.zero != nil {
		y = b.Call(ir.BiasAdd, []*ir.Value{y, offsets(b, v, &left, &right, less)})
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

// centred reports whether bytes of the right side stand for what they are as bytes with a
// sign.
func (s *quantizedSide) centred() bool {
	if s.bytes.Type.DType == tensor.I8 {
		return s.zero == nil
	}
	return s.zero != nil && allOf(s.zero, 128)
}

// signedRight gives the right side bytes with a sign. less is what is to be added to each of
// them, of all columns or of each; nil: nothing is.
func signedRight(b *rewrite.Builder, v *ir.Value, s *quantizedSide, columns ir.Dim) (less *ir.Value, ok bool) {
	centred, signed := s.centred(), s.bytes.Type.DType == tensor.I8
	if centred && signed {
		return nil, true
	}
	middle := b.Const(tensor.Scalar(int32(128)))
	if !signed {
		s.bytes = b.Call(ir.Cast, []*ir.Value{b.Op("sub", asI32(b, s.bytes), middle)}, set("dtype", ir.DTypeLit(tensor.I8)))
	}
	switch {
	case centred:
		return nil, true
	case s.zero == nil:
		return middle, true
	}
	zero, ok := columnVector(b, s.zero, columns, v.Op == ir.Linear)
	if !ok {
		return nil, false
	}
	if zero = asI32(b, zero); signed {
		return b.Op("neg", zero), true
	}
	return b.Op("sub", middle, zero), true
}

func asI32(b *rewrite.Builder, x *ir.Value) *ir.Value {
	return b.Call(ir.Cast, []*ir.Value{x}, set("dtype", ir.DTypeLit(tensor.I32)))
}

// offsets are what the zero of the left side adds to the sums of each column, to whose
// elements less is to be added.
func offsets(b *rewrite.Builder, v *ir.Value, left, right *quantizedSide, less *ir.Value) *ir.Value {
	sums := b.Call(ir.Sum, []*ir.Value{asI32(b, right.bytes)}, set("axis", ir.IntsLit(int64(sumAxis(v)))))
	if less != nil {
		k := b.Const(tensor.Scalar(int32(sumLength(v))))
		sums = b.Op("add", sums, b.Op("mul", less, k))
	}
	return b.Op("neg", b.Op("mul", sums, asI32(b, numberOf(b, left.zero))))
}
