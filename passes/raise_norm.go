package passes

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Means, variances and the norms made of them.
//
//	%2 = square %1                                     (%1 = sub %x, mean %x)
//	%3 = mean %2 {axis=[-1], keepdims=true}
//	%4 = add %3, 1e-05
//	%5 = rsqrt %4                          =>          %8 = layernorm %x, %w, %b
//	%6 = mul %1, %5
//	%7 = mul %6, %w
//	%8 = add %7, %b
//
// The norm itself is raised first, without weight and bias; these go inside one
// after the other. What is divided by sqrt is also multiplied by rsqrt, by the
// reciprocal of sqrt, or by a power of -0.5; JAX multiplies that by the weight
// first. The epsilon is a number, not negative.
func normForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		exactly(raisedBy(keepDims, "raise-keepdims", "a reduction whose axes are put back has kept them", keptForms()...)),
		guarded(raisedBy(meanOfSum, "raise-mean", "a sum divided by the number of its elements",
			"sum(x, axis=a, keepdims=k) / n", "sum(x, axis=a, keepdims=k) * n"), isCount),
		raised("raise-rsqrt", "one over a square root",
			"rsqrt(x)", "reciprocal(sqrt(x))"),
		raisedBy(variance, "raise-variance", "the mean square distance from the mean",
			"mean(square(x - mean(x, axis=a, keepdims=true)), axis=a, keepdims=k)"),
		freely(open(raisedBy(variance, "raise-naive-variance", "the mean of squares less the square of the mean, which JAX holds above 0",
			"mean(square(x), axis=a, keepdims=k) - square(mean(x, axis=a, keepdims=k))", "relu(variance(x, axis=a, keepdims=k))")),
			"no digit is lost where the square of a mean is taken off the mean of squares"),
		guarded(raisedBy(layerNorm, "raise-layernorm", "what is brought to mean 0 and variance 1",
			each(divided(centred), "variance(x, axis=a, keepdims=true)", "mean(square("+centred+"), axis=a, keepdims=true)")...), hasEps),
		guarded(raisedBy(rmsNorm, "raise-rmsnorm", "what is divided by the root of its mean square",
			each(divided("x"), "mean(square(x), axis=a, keepdims=true)")...), isLastEps),
		raisedBy(centredNorm, "raise-centred-rmsnorm", "what is brought to mean 0, and to variance 1 by rmsnorm",
			"rmsnorm("+centred+", w?, eps=e)"),
		guarded(raisedBy(weighted, "raise-norm-weight", "a weight that is multiplied to a norm along its axes",
			"layernorm(x, axis=a, eps=e) * w", "rmsnorm(x, eps=e) * w"), fitsNorm("w")),
		guarded(raisedBy(biased, "raise-norm-bias", "a bias that is added to a norm along its axes",
			"layernorm(x, w?, axis=a, eps=e) + b"), fitsNorm("b")),
		guarded(roughly(anyOf("raise-narrow", "an operator that rounds once needs no wider dtype around it", []string{"cast"}, narrowed)), isWidened),
	}
}

const centred = "(x - mean(x, axis=a, keepdims=true))"

// divided are the ways to divide by the root of % plus an epsilon.
func divided(x string) []string {
	return []string{
		x + " / sqrt(% + e)", x + " * rsqrt(% + e)", x + " / pow(% + e, 0.5)", x + " * pow(% + e, -0.5)", x + " * (rsqrt(% + e) * w)",
	}
}

// keptForms are reductions whose axes come back with size 1.
func keptForms() []string {
	var forms []string
	for _, op := range []string{"sum", "mean", "max", "min", "variance", "std", "sum_square", "logsumexp"} {
		forms = append(forms, "unsqueeze("+op+"(x, axis=a), axis=d)", "reshape("+op+"(x, axis=a), dims=d)")
	}
	return forms
}

// keepDims makes the reduction of a type in which every element has its place; if
// that is not the root's, Apply refuses it.
func keepDims(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	axis, _ := m.Attr("a")
	return b.Call(m.Inside[1].Op, []*ir.Value{m.Value("x")}, set("axis", axis), set("keepdims", ir.BoolLit(true)))
}

// axesOf are the axes a of a match, counted from the front and sorted; absent, all.
func axesOf(m *rewrite.Match) []int {
	rank := m.Value("x").Type.Rank()
	switch a, _ := m.Attr("a"); a.Kind {
	case ir.KInts:
		axes := make([]int, len(a.Ints))
		for i, n := range a.Ints {
			axes[i] = front(n, rank)
		}
		slices.Sort(axes)
		return axes
	case ir.KInt:
		return []int{front(a.Int, rank)}
	}
	return identity(rank)
}

// isCount asks that n is the number of elements of each sum or, as a factor, its
// inverse.
func isCount(m *rewrite.Match) bool {
	x, n, count := m.Value("x"), m.Value("n"), ir.N(1)
	for _, a := range axesOf(m) {
		count = count.Mul(x.Type.Shape[a])
	}
	size, known := count.Const()
	switch {
	case !known:
		return m.Root.Op == ir.Div && isSize(n, count)
	case size == 0:
		return false
	case m.Root.Op == ir.Div:
		return isAnyOf(n, float64(size))
	}
	return isAnyOf(n, 1/float64(size))
}

// isSize reports whether v is a symbolic size, as a number of some float dtype.
func isSize(v *ir.Value, size ir.Dim) bool {
	if v.Op == ir.Cast && v.Args[0].Type.DType.IsFloat() {
		v = v.Args[0]
	}
	if v.Op != ir.Full {
		return false
	}
	value := attrOf(v, "value")
	return value.Kind == ir.KDim && value.Dims[0].Equal(size)
}

func meanOfSum(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	return reduced(b, m, ir.Mean)
}

func variance(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	return reduced(b, m, ir.Variance)
}

// reduced reduces x along the axes a of the match.
func reduced(b *rewrite.Builder, m *rewrite.Match, op *ir.Op) *ir.Value {
	axis, _ := m.Attr("a")
	keep, _ := m.Attr("k")
	return b.Call(op, []*ir.Value{m.Value("x")}, set("axis", axis), set("keepdims", keep))
}

// hasEps asks for an epsilon that is a number, with which a norm without it stays
// what it is: not negative, and finite.
func hasEps(m *rewrite.Match) bool {
	eps, ok := floatOf(m.Value("e"))
	return ok && eps >= 0 && !math.IsInf(eps, 1) && fitsAxes(m.Value("x"), m.Value("w"), axesOf(m))
}

// isLastEps is hasEps for a norm that knows the last axis only.
func isLastEps(m *rewrite.Match) bool {
	axes := axesOf(m)
	return len(axes) == 1 && axes[0] == m.Value("x").Type.Rank()-1 && hasEps(m)
}

func eps(m *rewrite.Match) rewrite.Set {
	e, _ := floatOf(m.Value("e"))
	return set("eps", ir.FloatLit(e))
}

func layerNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, axes := m.Value("x"), axesOf(m)
	return b.Call(ir.LayerNorm, []*ir.Value{x, alongAxes(b, x, m.Value("w"), axes)}, set("axis", axesLit(x, axes)), eps(m))
}

// axesLit is a list of axes; the last one alone is -1, as it is by default.
func axesLit(x *ir.Value, axes []int) ir.Lit {
	if len(axes) == 1 && axes[0] == x.Type.Rank()-1 {
		return ir.IntsLit(-1)
	}
	return ints(axes)
}

func rmsNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Value("x")
	return b.Call(ir.RMSNorm, []*ir.Value{x, alongAxes(b, x, m.Value("w"), axesOf(m))}, eps(m))
}

// centredNorm: the mean has to be that of the last axis, as rmsnorm's square is.
func centredNorm(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, axes := m.Value("x"), axesOf(m)
	if len(axes) != 1 || axes[0] != x.Type.Rank()-1 {
		return nil
	}
	e, _ := m.Attr("e")
	return b.Call(ir.LayerNorm, []*ir.Value{x, m.Value("w")}, set("axis", axesLit(x, axes)), set("eps", e))
}

// fitsAxes reports whether w, broadcast to x, has the sizes of the axes there and
// is the same along all others. An absent one fits.
func fitsAxes(x, w *ir.Value, axes []int) bool {
	if w == nil {
		return true
	}
	lead := x.Type.Rank() - w.Type.Rank()
	if lead < 0 {
		return false
	}
	for i, d := range x.Type.Shape {
		own := ir.N(1)
		if i >= lead {
			own = w.Type.Shape[i-lead]
		}
		if slices.Contains(axes, i) && !own.Equal(d) || !slices.Contains(axes, i) && !own.Is(1) {
			return false
		}
	}
	return true
}

// alongAxes is w, which fits, with the sizes of the axes alone.
func alongAxes(b *rewrite.Builder, x, w *ir.Value, axes []int) *ir.Value {
	return reshaped(b, w, permuted(x.Type.Shape, axes))
}

// normAxes are the axes along which a norm has its weight and bias: those that are
// normalised, or the channels.
func normAxes(norm *ir.Value) []int {
	switch norm.Op {
	case ir.LayerNorm:
		return axesAttr(norm, "axis", norm.Type.Rank())
	case ir.RMSNorm:
		return []int{norm.Type.Rank() - 1}
	}
	return []int{1}
}

// fitsNorm asks that a factor or summand of a norm lies along its axes, which are
// in order.
func fitsNorm(name string) func(*rewrite.Match) bool {
	return func(m *rewrite.Match) bool {
		axes := normAxes(m.Inside[1])
		return slices.IsSorted(axes) && fitsAxes(m.Value("x"), m.Value(name), axes)
	}
}

func weighted(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, norm := m.Value("x"), m.Inside[1]
	return b.With(norm.Op, []*ir.Value{x, alongAxes(b, x, m.Value("w"), normAxes(norm))}, norm.Attrs)
}

func biased(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, norm := m.Value("x"), m.Inside[1]
	return b.With(norm.Op, []*ir.Value{x, m.Value("w"), alongAxes(b, x, m.Value("b"), normAxes(norm))}, norm.Attrs)
}

// isWidened asks for a norm or an activation whose arguments have all come from the
// narrower dtype that the result is brought back to.
func isWidened(m *rewrite.Match) bool {
	y, narrow := m.Root.Args[0], m.Root.Type.DType
	if y.Op.Group != "normalisation" && y.Op.Group != "activation" || !narrow.IsFloat() || narrow.Size() >= y.Type.DType.Size() {
		return false
	}
	if m.Uses(y) != 1 || !m.Alike(y) || y.Args[0].Op != ir.Cast {
		return false
	}
	for _, a := range y.Args {
		if a != nil && !cameFrom(a, narrow) {
			return false
		}
	}
	return true
}

// cameFrom reports whether v holds numbers of a narrower dtype only.
func cameFrom(v *ir.Value, narrow tensor.DType) bool {
	if v.Op == ir.Const {
		t := v.Attrs[0].Tensor
		back := tensor.Cast(tensor.Cast(t, narrow), t.DType)
		return tensor.BitEqual(back, t)
	}
	return v.Op == ir.Cast && v.Args[0].Type.DType == narrow
}

func narrowed(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	y, narrow := m.Root.Args[0], m.Root.Type.DType
	args := make([]*ir.Value, len(y.Args))
	for i, a := range y.Args {
		switch {
		case a == nil:
		case a.Op == ir.Cast:
			args[i] = a.Args[0]
		default:
			args[i] = b.Const(tensor.Cast(a.Attrs[0].Tensor, narrow))
		}
	}
	return b.With(y.Op, args, y.Attrs)
}
