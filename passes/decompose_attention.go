package passes

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// attentionParts takes attention apart.
//
//	                                                %0 = transpose %k
//	                                                %1 = matmul %q, %0
//	                                                %2 = mul %1, 0.5
//	%0 = attention %q, %k, %v, %mask        =>      %3 = where %mask, %2, -inf
//	                                                %4 = softmax %3
//	                                                %5 = matmul %4, %v
//	                                                %6 = any %mask {axis=[-1], keepdims=true}
//	                                                %7 = where %6, %5, 0.0
//
// A query that attends to nothing gets 0, which softmax does not give by itself. The
// guard is left out where a mask is known to leave something to every query.
func attentionParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	q, v := m.Value("q"), m.Value("v")
	s, _ := m.Attr("s")
	scale := s.Float
	if s.IsNone() {
		depth, ok := dimAt(q.Type, 1).Const()
		if !ok {
			return nil
		}
		scale = 1 / math.Sqrt(float64(depth))
	}
	keys := b.Op("transpose", allHeads(b, q, m.Value("k")))
	scores := b.Op("matmul", q, keys)
	if scale != 1 {
		scores = b.Op("mul", scores, b.Scalar(q.Type.DType, scale))
	}
	if scores == nil {
		return nil // a scale beyond the dtype
	}
	return masked(b, m, scores, allHeads(b, q, v))
}

// allHeads is x with as many heads as q.
func allHeads(b *rewrite.Builder, q, x *ir.Value) *ir.Value {
	heads := q.Type.Rank() - 3
	if q.Type.Shape[heads].Equal(x.Type.Shape[heads]) {
		return x
	}
	times := q.Type.Shape[heads].Div(x.Type.Shape[heads])
	return b.Call(ir.Repeat, []*ir.Value{x}, set("n", ir.DimLit(times)), set("axis", ir.IntLit(int64(heads))))
}

// masked is the weighted sum of the values by the scores that the mask of the match
// leaves.
func masked(b *rewrite.Builder, m *rewrite.Match, scores, v *ir.Value) *ir.Value {
	mask := m.Value("mask")
	hide := func(choice, x *ir.Value) *ir.Value { return b.Op("where", choice, x, none(b, scores)) }
	sum := func(scores *ir.Value) *ir.Value { return b.Op("matmul", b.Op("softmax", scores), v) }
	var earlier *ir.Value
	if c, _ := m.Attr("c"); c.Int != 0 {
		earlier = triangle(b, scores)
	}
	switch {
	case mask == nil && earlier == nil:
		return sum(scores)
	case mask == nil:
		return sum(hide(earlier, scores))
	case mask.Type.Rank() == 0:
		mask = reshaped(b, mask, []ir.Dim{ir.N(1)})
	}
	if mask.Type.DType == tensor.Bool {
		if earlier != nil {
			mask = b.Op("logical_and", mask, earlier)
		}
		return orZero(b, b.Call(ir.Any, []*ir.Value{mask}, kept(mask.Type.Rank()-1)...), sum(hide(mask, scores)))
	}
	scores = b.Op("add", scores, mask)
	small := isSmall(mask)
	if earlier != nil {
		scores, mask = hide(earlier, scores), hide(earlier, mask)
	}
	if small || showsAll(mask, false) {
		return sum(scores)
	}
	top := b.Call(ir.Max, []*ir.Value{mask}, kept(mask.Type.Rank()-1)...)
	return orZero(b, b.Op("not_equal", top, none(b, scores)), sum(scores))
}

// none is the score of what is not attended to.
func none(b *rewrite.Builder, scores *ir.Value) *ir.Value {
	return b.Scalar(scores.Type.DType, math.Inf(-1))
}

// orZero is y where a row has something, and 0 elsewhere.
func orZero(b *rewrite.Builder, some, y *ir.Value) *ir.Value {
	return b.Op("where", some, y, b.Scalar(y.Type.DType, 0))
}

// triangle is true up to the main diagonal of the scores.
func triangle(b *rewrite.Builder, scores *ir.Value) *ir.Value {
	rows, columns := dimAt(scores.Type, 2), dimAt(scores.Type, 1)
	count := func(n ir.Dim) *ir.Value { return b.Call(ir.Iota, nil, set("n", ir.DimLit(n))) }
	return b.Op("less_equal", count(columns), reshaped(b, count(rows), []ir.Dim{rows, ir.N(1)}))
}
