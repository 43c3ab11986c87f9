package passes

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// decomposeRules take composed operators apart, into the forms that raiseRules know.
//
//	                                   %0 = neg %x
//	                                   %1 = exp %0
//	%0 = silu %x            =>         %2 = add %1, 1.0
//	                                   %3 = reciprocal %2
//	                                   %4 = mul %x, %3
//
// They are for targets without these operators, and run only when the pass is
// named. What an operator computes in float64 and rounds once is then rounded at
// every step, and may overflow on the way: an exponential in f16 beyond 11, a
// square beyond 256. Who names the pass takes that liberty.
var decomposeRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		apart("decompose-sigmoid", "1 / (1 + exp(-x))", "sigmoid(x)", "reciprocal(exp(neg(x)) + 1)"),
		apart("decompose-silu", "x * sigmoid(x)", "silu(x)", "x * sigmoid(x)"),
		apart("decompose-hardswish", "x * relu6(x + 3) / 6", "hardswish(x)", "x * relu6(x + 3) / 6"),
		apart("decompose-gelu", "x times the normal distribution function, by erf", "gelu(x)", "x * 0.5 * (erf(x / sqrt(2)) + 1)"),
		apart("decompose-gelu-tanh", "x times an approximation of the normal distribution function, by tanh",
			`gelu(x, approx="tanh")`, "x * 0.5 * (tanh((x + pow(x, 3) * 0.044715) * 0.7978845608028654) + 1)"),
		takenApart(softmaxParts, "decompose-softmax", "exponentials, the largest taken off, divided by their sum", "softmax(x, axis=a)"),
		takenApart(logSoftmaxParts, "decompose-log-softmax", "elements, the largest taken off, less the logarithm of the sum of their exponentials", "log_softmax(x, axis=a)"),
		takenApart(layerNormParts, "decompose-layernorm", "mean, variance and root", "layernorm(x, w?, b?, axis=a, eps=e)"),
		takenApart(rmsNormParts, "decompose-rmsnorm", "mean square and root", "rmsnorm(x, w?, eps=e)"),
		takenApart(ropeParts, "decompose-rope", "halves, or neighbours, turned by angles", "rope(x, c, s, interleaved=i)"),
		built("decompose-linear", "a product with a transposed matrix, and a bias", linearParts, "linear(x, w, b?, dtype=d)"),
		freely(takenApart(attentionParts, "decompose-attention", "scores, mask, softmax and the weighted sum", "attention(q, k, v, mask?, scale=s, causal=c)"),
			noOverflow+", and no value is infinite: one that meets a weight which is rounded to 0 makes NaN"),
	}
})

// apart makes the rule of an operator that the language has words for.
func apart(name, doc, operator, form string) *rewrite.Rule {
	return freely(roughly(rewrite.Own(name, doc, operator+"  =>  "+form)), noOverflow)
}

const noOverflow = "no step overflows in the dtype where the operator, which rounds once, does not"

// takenApart makes that of one whose form a function builds.
func takenApart(build builder, name, doc, operator string) *rewrite.Rule {
	return freely(roughly(built(name, doc, build, operator)), noOverflow)
}

// lessTop is x with the largest element along the axis taken off.
func lessTop(b *rewrite.Builder, m *rewrite.Match) (less *ir.Value, along []rewrite.Set) {
	axis, _ := m.Attr("a")
	along = kept(int(axis.Int))
	x := m.Value("x")
	return b.Call(ir.Sub, []*ir.Value{x, b.Call(ir.Max, []*ir.Value{x}, along...)}), along
}

// kept are the attributes of a reduction whose axes stay.
func kept(axes ...int) []rewrite.Set {
	return []rewrite.Set{set("axis", ints(axes)), set("keepdims", ir.BoolLit(true))}
}

func softmaxParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	less, along := lessTop(b, m)
	e := b.Call(ir.Exp, []*ir.Value{less})
	return b.Call(ir.Div, []*ir.Value{e, b.Call(ir.Sum, []*ir.Value{e}, along...)})
}

func logSoftmaxParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	less, along := lessTop(b, m)
	total := b.Call(ir.Sum, []*ir.Value{b.Call(ir.Exp, []*ir.Value{less})}, along...)
	return b.Call(ir.Sub, []*ir.Value{less, b.Call(ir.Log, []*ir.Value{total})})
}

func layerNormParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, axes := m.Value("x"), normAxes(m.Root)
	if len(axes) == 0 {
		return nil // of elements that are normalised each by itself
	}
	sorted := slices.Sorted(slices.Values(axes))
	d := b.Call(ir.Sub, []*ir.Value{x, b.Call(ir.Mean, []*ir.Value{x}, kept(sorted...)...)})
	return affine(b, m, overRoot(b, m, d, sorted), axes)
}

func rmsNormParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	axes := normAxes(m.Root)
	return affine(b, m, overRoot(b, m, m.Value("x"), axes), axes)
}

// overRoot divides d by the root of its mean square and the epsilon; not if the dtype
// stores 0 for that.
func overRoot(b *rewrite.Builder, m *rewrite.Match, d *ir.Value, axes []int) *ir.Value {
	e, _ := m.Attr("e")
	if e.Float != 0 && tensor.Round(m.Root.Type.DType, e.Float) == 0 {
		return nil
	}
	spread := b.Call(ir.Mean, []*ir.Value{b.Call(ir.Square, []*ir.Value{d})}, kept(axes...)...)
	return b.Call(ir.Div, []*ir.Value{d, b.Op("sqrt", b.Op("add", spread, b.Scalar(m.Root.Type.DType, e.Float)))})
}

// affine multiplies the weight of a norm to n, and adds the bias.
func affine(b *rewrite.Builder, m *rewrite.Match, n *ir.Value, axes []int) *ir.Value {
	if w := m.Value("w"); w != nil {
		n = b.Op("mul", n, inPlaceOf(b, m, w, axes))
	}
	if bias := m.Value("b"); bias != nil {
		n = b.Op("add", n, inPlaceOf(b, m, bias, axes))
	}
	return n
}

// inPlaceOf brings the axes of w, which are those of x in the order given, to where x
// has them.
func inPlaceOf(b *rewrite.Builder, m *rewrite.Match, w *ir.Value, axes []int) *ir.Value {
	order := identity(len(axes))
	slices.SortFunc(order, func(i, j int) int { return axes[i] - axes[j] })
	x := m.Value("x").Type.Shape
	first := axes[order[0]]
	shape := make([]ir.Dim, len(x)-first)
	for i := range shape {
		shape[i] = ir.N(1)
		if slices.Contains(axes, first+i) {
			shape[i] = x[first+i]
		}
	}
	return reshaped(b, transposed(b, w, order), shape)
}

// linearParts: the product is rounded before the bias is added, as in linear.
func linearParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	product := b.With(ir.MatMul, []*ir.Value{m.Value("x"), b.Op("transpose", m.Value("w"))}, m.Root.Attrs)
	if bias := m.Value("b"); bias != nil {
		return b.Call(ir.BiasAdd, []*ir.Value{product, bias})
	}
	return product
}

// ropeParts turns the parts if there is one angle for both, and the whole by itself
// and by its partners if each has one of its own.
func ropeParts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, c, s := m.Value("x"), m.Value("c"), m.Value("s")
	i, _ := m.Attr("i")
	depth, ok := x.Type.Shape[x.Type.Rank()-1].Const()
	if !ok || !dimAt(c.Type, 1).Equal(dimAt(s.Type, 1)) {
		return nil
	}
	first, second := ropeHalves(b, x, depth, i.Int != 0)
	if dimAt(c.Type, 1).Is(depth) {
		partners := ropeJoined(b, x, b.Op("neg", second), first, i.Int != 0)
		return b.Op("add", b.Op("mul", x, c), b.Op("mul", partners, s))
	}
	return ropeJoined(b, x,
		b.Op("sub", b.Op("mul", first, c), b.Op("mul", second, s)),
		b.Op("add", b.Op("mul", second, c), b.Op("mul", first, s)), i.Int != 0)
}

// ropeHalves are the two parts of the last axis: its halves, or every other element.
func ropeHalves(b *rewrite.Builder, x *ir.Value, depth int64, interleaved bool) (first, second *ir.Value) {
	last, half := x.Type.Rank()-1, depth/2
	bounds, steps := [2][2]int64{{0, half}, {half, depth}}, ir.None
	if interleaved {
		bounds, steps = [2][2]int64{{0, depth}, {1, depth}}, ir.IntsLit(2)
	}
	var parts [2]*ir.Value
	for i, at := range bounds {
		parts[i] = b.Call(ir.Slice, []*ir.Value{x}, set("starts", ir.DimsLit(ir.N(at[0]))), set("ends", ir.DimsLit(ir.N(at[1]))),
			set("axes", ir.IntsLit(int64(last))), set("steps", steps))
	}
	return parts[0], parts[1]
}

// ropeJoined lays two parts together again.
func ropeJoined(b *rewrite.Builder, x, first, second *ir.Value, interleaved bool) *ir.Value {
	if interleaved {
		return reshaped(b, b.Call(ir.Stack, []*ir.Value{first, second}, set("axis", ir.IntLit(-1))), x.Type.Shape)
	}
	return b.Call(ir.Concat, []*ir.Value{first, second}, set("axis", ir.IntLit(-1)))
}
