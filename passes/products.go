package passes

import (
	"math"
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Fewer and larger products.
//
//	%b = expand %w {dims=[B,K,N]}            %y = matmul %x, %w : f32[B,M,N]
//	%y = matmul %x, %b : f32[B,M,N]      =>  %d = conv %c, %f', %g'
//	%c = conv %y, %f
//	%d = batchnorm %c, %g, %h, %m, %v
//
// A product whose right side is one matrix is one product of as many rows as its
// left side has in all batches: the evaluation and the kernels take it so, and
// reshaping it would change nothing but the listing. So it is enough that the
// right side has no batch axes; it has none that matter if all are 1, or if they
// have been put there by expand. Each element of the result is the sum that it
// was.
//
// A batch norm behind a convolution scales and shifts each channel, which filters
// and biases can do beforehand, if all of them are constants. The filters are
// rounded once more and the sums once less, within the tolerance of the rule. (That
// depends on the numbers; those of weights are not known here, so there a fusion has
// the norm ride behind the convolution.)

var productRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("fold-batch", "a batch of one matrix is that matrix", []string{"matmul"}, foldBatch),
		roughly(built("multiply-bytes", "a product of numbers that bytes stand for is one of the bytes", multiplyBytes,
			"matmul(dequantize_linear(q, s, z?), dequantize_linear(w, t, o?), dtype=d)",
			"linear(dequantize_linear(q, s, z?), dequantize_linear(w, t, o?), c?, dtype=d)")),
		roughly(anyOf("conv-batchnorm", "a batch norm of constants behind a convolution is in its filters and biases", []string{"batchnorm"}, foldBatchNorm)),
	}
})

func foldBatch(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	left, right := unrepeated(m, m.Root.Args[0]), unrepeated(m, m.Root.Args[1])
	if !broadcasts(left, right, m.Root) {
		left = m.Root.Args[0]
	}
	if !broadcasts(left, right, m.Root) {
		right = m.Root.Args[1]
	}
	if batch := right.Type.Rank() - 2; batch > 0 && batch <= left.Type.Rank()-2 && allAre(right.Type.Shape[:batch], 1) {
		right = reshaped(b, right, right.Type.Shape[batch:])
	}
	if left == m.Root.Args[0] && right == m.Root.Args[1] {
		return nil
	}
	return b.With(ir.MatMul, []*ir.Value{left, right}, m.Root.Attrs)
}

// unrepeated is a side of a product without an expand of its batch axes.
func unrepeated(m *rewrite.Match, v *ir.Value) *ir.Value {
	if v.Op != ir.Expand || !m.Alike(v) || v.Args[0].Type.Rank() < 2 {
		return v
	}
	x := v.Args[0].Type.Shape
	if out := v.Type.Shape; !ir.SameShape(x[len(x)-2:], out[len(out)-2:]) {
		return v
	}
	return v.Args[0]
}

// broadcasts reports whether two sides of a product have the batch axes of its
// result.
func broadcasts(left, right, product *ir.Value) bool {
	if left.Type.Rank() < 2 || right.Type.Rank() < 2 {
		return left == product.Args[0] && right == product.Args[1]
	}
	batch := func(v *ir.Value) []ir.Dim { return v.Type.Shape[:v.Type.Rank()-2] }
	shape, ok := ir.Broadcast(batch(left), batch(right))
	return ok && ir.SameShape(shape, batch(product))
}

const (
	// maxMeanBySpread bounds how many standard deviations from 0 a channel may
	// lie: the sums that a convolution rounds are as many times larger than what
	// the norm makes of them, and so is the error. Eight lose three bits, of the
	// six that the tolerance has.
	maxMeanBySpread = 8
	// maxFilterBytes bounds the filters that are computed anew: a fraction of a
	// second. Larger ones than folding may add take the place of those before.
	maxFilterBytes = 64 << 20
)

func foldBatchNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	conv := m.Root.Args[0]
	if conv.Op != ir.Conv || m.Uses(conv) > 1 || !m.Alike(conv) || !knownFrom(m.Root.Args, 1) || !knownFrom(conv.Args, 1) {
		return nil
	}
	filters := constOf(conv.Args[1])
	if n := len(filters.Data); n > maxFilterBytes || n > maxFoldBytes && m.Uses(conv.Args[1]) > 1 {
		return nil
	}
	scale, shift, ok := affineOf(m.Root)
	if !ok {
		return nil
	}
	if len(conv.Args) > 2 {
		for i, c := range constOf(conv.Args[2]).Floats() {
			shift[i] += c * scale[i]
		}
	}
	scaled, ok := scaledBy(filters, scale)
	bias := tensor.FromFloats(filters.DType, []int{len(shift)}, shift)
	if !ok || !allFinite(bias.Floats()) {
		return nil
	}
	return b.With(ir.Conv, []*ir.Value{conv.Args[0], b.Const(scaled), b.Const(bias)}, conv.Attrs)
}

// constOf is the tensor of a constant; nil if v is none.
func constOf(v *ir.Value) *tensor.T {
	if v == nil || v.Op != ir.Const {
		return nil
	}
	return v.Attrs[0].Tensor
}

// knownFrom reports whether the arguments from i on are constants or absent.
func knownFrom(args []*ir.Value, i int) bool {
	return !slices.ContainsFunc(args[i:], func(a *ir.Value) bool { return a != nil && constOf(a) == nil })
}

// affineOf writes a batch norm as x * scale + shift for each channel, in float64:
// scale = weight / sqrt(var + eps), shift = bias - mean * scale.
func affineOf(norm *ir.Value) (scale, shift []float64, ok bool) {
	mean, variance := constOf(norm.Args[3]).Floats(), constOf(norm.Args[4]).Floats()
	weight, bias := constOf(norm.Args[1]), constOf(norm.Args[2])
	eps := attrOf(norm, "eps").Float
	for i := range mean {
		root := math.Sqrt(variance[i] + eps)
		w, c := 1.0, 0.0
		if weight != nil {
			w = weight.FloatAt(i)
		}
		if bias != nil {
			c = bias.FloatAt(i)
		}
		if !(math.Abs(mean[i]) <= maxMeanBySpread*root) || root == 0 {
			return nil, nil, false
		}
		scale = append(scale, w/root)
		shift = append(shift, c-mean[i]*w/root)
	}
	return scale, shift, allFinite(scale)
}

// scaledBy multiplies each filter by its factor. It is false if an element leaves
// the range in which the dtype has all its digits, so that rounding moves it by
// half of the last one at most.
func scaledBy(filters *tensor.T, scale []float64) (*tensor.T, bool) {
	exact := filters.Floats()
	each := len(exact) / max(len(scale), 1)
	for i := range exact {
		exact[i] *= scale[i/each]
	}
	out := tensor.FromFloats(filters.DType, filters.Shape, exact)
	for i, x := range out.Floats() {
		if !(math.Abs(x-exact[i]) <= math.Ldexp(math.Abs(exact[i]), -spreads[out.DType].digits)) {
			return nil, false
		}
	}
	return out, true
}

func allFinite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
