package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Of several ways to write one thing one is left, so that later rules need to
// know that one only.
//
//	%0 = matmul %x, %w : f32[B,4]            %0 = matmul %x, %w : f32[B,4]
//	%1 = add %bias, %0 : f32[B,4]            %1 = bias_add %0, %bias : f32[B,4]
//	%2 = pow %1, 2.0 : f32[B,4]         =>   %2 = square %1 : f32[B,4]
//	%3 = add 1.0, %2 : f32[B,4]              %3 = add %2, 1.0 : f32[B,4]
//	%4 = div %3, 8.0 : f32[B,4]              %4 = mul %3, 0.125 : f32[B,4]
//
// What is canonical, and why:
//
//   - A vector along the last axis of a product's result is added by bias_add.
//     Three forms of a product with a bias are left: bias_add(matmul(a, b), c),
//     linear(a, b, c), and bias_add(linear(a, b), c) where something else reads
//     the product, or where the product became a linear later on. The bias of a
//     linear may go inside since it is added to the rounded product there too.
//   - The bias of a convolution's channels, [C,1,1] for two spatial axes, stays
//     add(conv(x, w), c). It cannot go inside as conv's own b, which is added
//     before the sum is rounded; and bias_add takes vectors along the last axis,
//     which is one of the spatial axes here. So a rule about it matches the add,
//     and asks for the shape of c.
//   - A transposed convolution is plain ones; see conv_transpose.go.
//   - An einsum is a product, a transposition or a sum; see einsum.go.
//   - A square is square, 1/x is reciprocal, a division by a power of two a
//     product, a number that is negated and added a difference; two bounds are
//     clip, and relu or relu6 where they are 0 and 6.
//   - A constant stands on the right of an operator that commutes, and of a
//     comparison.
//
// A difference x - c is not made a sum with -c: nothing asks for it, and it would
// read worse. maximum(x, 0) is relu for integers alone: of -0 the first makes 0.
var canonicalRules = sync.OnceValue(func() []*rewrite.Rule {
	return append(einsumRules(), []*rewrite.Rule{
		guarded(built("bias-add", "a vector that is added along the last axis of a product is its bias", addBias,
			"add(matmul(a, b, dtype=t), c)", "add(linear(a, b, d?, dtype=t), c)",
			"add(conv(a, b, d?, stride=s, pad=p, dilation=l, groups=g, auto_pad=o), c)"), isBias),
		anyOf("conv-transpose-to-conv", "a transposed convolution is one convolution without stride, or some, whose results come in turns", []string{"conv_transpose"}, convTransposeToConv),
		closed(rewrite.Own("join-bias", "a bias after linear goes inside",
			`bias_add(linear(x, w, dtype=d), c)  =>  linear(x, w, c, dtype=d)`)),
		guarded(anyOf("turn-constants", "a constant stands on the right of what commutes, and of a comparison", sided(), turned), constantLeft),
		rewrite.Own("make-square", "what is multiplied by itself is squared",
			`mul(x, x)  =>  square(x)`).Or(`pow(x, 2)`),
		rewrite.Own("make-reciprocal", "one over x",
			`1 / x  =>  reciprocal(x)`),
		guarded(built("multiply-by-inverse", "a division by a power of two is a product", byInverse, "x / c"), hasInverse),
		rewrite.Own("make-sub", "what is negated and added is subtracted",
			`x + neg(y)  =>  x - y`),
		rewrite.Own("make-add", "what is negated and subtracted is added",
			`x - neg(y)  =>  x + y`),
		guarded(rewrite.Own("make-neg", "a factor of -1, and a difference from zero",
			`x * -1  =>  neg(x)`).Or(`x / -1`, `-0.0 - x`, `0 - x`), trueNegation),
		rewrite.Own("make-relu6", "x held between 0 and 6",
			`clip(x, 0, 6)  =>  relu6(x)`).Or(`minimum(relu(x), 6)`, `clip(relu(x), hi=6)`, `hardtanh(x, lo=0, hi=6)`, `relu6(relu(x))`),
		guarded(built("make-clip", "x held between two constants", clipped,
			"minimum(maximum(x, lo), hi)", "maximum(minimum(x, hi), lo)", "minimum(relu(x), hi)"), bounded),
		guarded(rewrite.Own("make-relu", "x held above 0",
			`clip(x, 0)  =>  relu(x)`).Or(`where(x < 0, 0, x)`, `maximum(x, 0)`), truePositive),
	}...)
})

// isBias takes a vector along the last axis, perhaps under leading axes of size
// 1. What has the product's own type repeats nothing: it is another summand,
// unless it is a weight, or a vector of which no product is made. That the sizes
// agree, and that the product is not repeated, is for the call to prove.
func isBias(m *rewrite.Match) bool {
	x, c := m.Inside[1], m.Value("c")
	rank := c.Type.Rank()
	if c.Op.Class == ir.Contract || rank == 0 || rank > x.Type.Rank() {
		return false
	}
	for _, d := range c.Type.Shape[:rank-1] {
		if !d.Is(1) {
			return false
		}
	}
	return rank == 1 || !c.Type.Equal(x.Type) || c.Op == ir.Param || c.Op == ir.Const
}

func addBias(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c := m.Value("c")
	return b.Call(ir.BiasAdd, []*ir.Value{m.Inside[1], reshaped(b, c, c.Type.Shape[c.Type.Rank()-1:])})
}

// mirrored are the comparisons from the other side.
var mirrored = map[*ir.Op]*ir.Op{
	ir.Less: ir.Greater, ir.Greater: ir.Less, ir.LessEqual: ir.GreaterEqual, ir.GreaterEqual: ir.LessEqual,
}

// sided lists the operators whose arguments may change places.
func sided() []string {
	return opsWhere(func(op *ir.Op) bool { return op.Flags&ir.Commutative != 0 || mirrored[op] != nil })
}

func constantLeft(m *rewrite.Match) bool { return known(m.Root.Args[0]) && !known(m.Root.Args[1]) }

func turned(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	op := m.Root.Op
	if other := mirrored[op]; other != nil {
		op = other
	}
	return b.With(op, []*ir.Value{m.Root.Args[1], m.Root.Args[0]}, m.Root.Attrs)
}

// hasInverse asks for a power of two whose inverse the dtype holds: both forms
// then round the same number.
func hasInverse(m *rewrite.Match) bool {
	c := m.Value("c")
	if _, ok := powerOfTwo(c); !ok || !ofFloats(m) {
		return false
	}
	return holds(operand(m), 1/rewrite.Splat(c).FloatAt(0))
}

func byInverse(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c := m.Value("c")
	return b.Call(ir.Mul, []*ir.Value{m.Value("x"), b.Scalar(operand(m), 1/rewrite.Splat(c).FloatAt(0))})
}

// trueNegation refuses 0 - x of floats, which makes 0 of 0 where neg makes -0.
func trueNegation(m *rewrite.Match) bool {
	return m.Root.Op != ir.Sub || noFloats(m) || isZero(m.Root.Args[0], true)
}

// truePositive refuses maximum(x, 0) of floats.
func truePositive(m *rewrite.Match) bool { return m.Root.Op != ir.Maximum || noFloats(m) }

// bounded asks for bounds with which clip makes the same of every x: they do not
// cross, for one form applies the upper one first. clip leaves a zero that is
// equal to a bound as it is, while maximum and minimum choose between the two
// zeros: so the lower bound may not be 0, nor the upper one -0. (relu leaves
// zeros, too.)
func bounded(m *rewrite.Match) bool {
	lo, hi := m.Value("lo"), m.Value("hi")
	if lo == nil {
		lo = hi
	} else if ofFloats(m) && isZero(lo, false) {
		return false
	}
	return !(ofFloats(m) && isZero(hi, true)) && isSet(computed(ir.LessEqual, lo, hi))
}

func clipped(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	lo := m.Value("lo")
	if lo == nil {
		lo = b.Const(tensor.FromInts(operand(m), nil, []int64{0}))
	}
	return b.Call(ir.Clip, []*ir.Value{m.Value("x"), lo, m.Value("hi")})
}
