package passes

import (
	"math"

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

// showsAll reports whether in every row of a mask something is seen: true, or not
// true if it says what is hidden, or a number above -inf. NaN counts, since
// softmax makes NaN of the whole row with or without the operator's care.
func showsAll(mask *ir.Value, hides bool) bool {
	sees := func(t *tensor.T, i int) bool {
		if t.DType == tensor.Bool {
			return t.BoolAt(i) != hides
		}
		return !math.IsInf(t.FloatAt(i), -1)
	}
	if s, ok := shadeOf(mask); ok && (s.kind == uniform || s.kind == lower) {
		return sees(s.in, 0) && (s.kind == uniform || s.k >= 0 || sees(s.out, 0))
	}
	if mask.Op == ir.Const {
		return eachRow(mask.Attrs[0].Tensor, sees)
	}
	if mask.Op == ir.LogicalOr && !hides {
		return showsAll(mask.Args[0], false) || showsAll(mask.Args[1], false)
	}
	return mask.Type.DType.IsFloat() && staysAbove(mask, math.Inf(-1))
}

// eachRow reports whether each row of a tensor has an element that is seen.
func eachRow(t *tensor.T, sees func(t *tensor.T, i int) bool) bool {
	columns := 1
	if n := len(t.Shape); n > 0 {
		columns = t.Shape[n-1]
	}
	seen := false
	for i := range t.Len() {
		seen = seen || sees(t, i)
		if (i+1)%columns == 0 {
			if !seen {
				return false
			}
			seen = false
		}
	}
	return true
}

// staysAbove reports whether every element of v is proved to be above a number, or
// NaN.
func staysAbove(v *ir.Value, low float64) bool {
	r, ok := rangeOf(v, maxShade)
	return ok && r.lo > low
}
