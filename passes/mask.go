package passes

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// What is known of masks before they are computed.

// isTriangle reports whether a bool mask is yes up to the main diagonal of the
// scores, and not beyond. One that is repeated along rows or columns only looks so.
func isTriangle(mask *ir.Value, yes bool, scores []ir.Dim) bool {
	s, ok := shadeOf(mask)
	if !ok || mask.Type.DType != tensor.Bool || s.kind != lower || s.k != 0 || mask.Type.Rank() < 2 {
		return false
	}
	n := len(scores)
	return s.in.BoolAt(0) == yes && s.out.BoolAt(0) != yes &&
		dimAt(mask.Type, 2).Equal(scores[n-2]) && dimAt(mask.Type, 1).Equal(scores[n-1])
}

// maxMasked bounds what a mask adds to the largest score of a row. What is added to a
// whole row costs its scores digits, which softmax then lacks: at 16, f32 keeps them
// to a millionth.
const maxMasked = 16

// showsAll reports whether in every row of a mask something is seen: true or, where
// the mask says what is hidden, false. Of a mask that is added, each row has to
// have a number near 0 and none far above: the others may be as low as -inf.
func showsAll(mask *ir.Value, hides bool) bool {
	if mask.Type.DType.IsFloat() {
		return staysNear(mask)
	}
	if s, ok := shadeOf(mask); ok && (s.kind == uniform || s.kind == lower) {
		return s.in.BoolAt(0) != hides && (s.kind == uniform || s.k >= 0 || s.out.BoolAt(0) != hides)
	}
	if mask.Op == ir.LogicalOr && !hides {
		return showsAll(mask.Args[0], false) || showsAll(mask.Args[1], false)
	}
	return mask.Op == ir.Const && eachRow(mask.Attrs[0].Tensor, func(row []float64) bool {
		return slices.ContainsFunc(row, func(x float64) bool { return (x != 0) != hides })
	})
}

// staysNear reports whether the largest number of every row of a mask is near 0.
func staysNear(mask *ir.Value) bool {
	if s, ok := shadeOf(mask); ok && (s.kind == uniform || s.kind == lower) {
		in, out := s.in.FloatAt(0), s.out.FloatAt(0)
		return math.Abs(in) <= maxMasked && (out <= maxMasked && (s.kind == uniform || s.k >= 0) || math.Abs(out) <= maxMasked)
	}
	if mask.Op == ir.Const {
		return eachRow(mask.Attrs[0].Tensor, func(row []float64) bool { return math.Abs(slices.Max(row)) <= maxMasked })
	}
	return isSmall(mask)
}

// isSmall reports whether every element of v is proved to be near 0, or NaN.
func isSmall(v *ir.Value) bool {
	r, ok := rangeOf(v, maxShade)
	return ok && r.lo >= -maxMasked && r.hi <= maxMasked
}

// eachRow reports whether something holds of each row of a tensor. A row without
// elements has nothing to go wrong.
func eachRow(t *tensor.T, holds func(row []float64) bool) bool {
	columns := 1
	if n := len(t.Shape); n > 0 {
		columns = t.Shape[n-1]
	}
	row := make([]float64, columns)
	for at := 0; at < t.Len(); at += columns {
		t.LoadFloats(row, at)
		if !holds(row) {
			return false
		}
	}
	return true
}
