package passes

import (
	"math"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Softmax and its kin, written with the largest element taken off.
//
//	%0 = max %x {axis=[-1], keepdims=true}
//	%1 = sub %x, %0
//	%2 = exp %1                                  =>   %4 = softmax %x
//	%3 = sum %2 {axis=[-1], keepdims=true}
//	%4 = div %2, %3
//
// Without the largest element taken off, exponentials overflow and vanish where
// softmax has a value; and a logarithm of their sum, taken off at the end, hides
// small differences behind large numbers. These forms are raised with fast-math
// only.
func softmaxForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		exactly(guarded(raisedBy(theFirst, "drop-no-bound", "an infinite bound, which JAX sets to the largest element, is none",
			"maximum(x, c)", "minimum(x, c)"), boundsNothing)),
		guarded(raisedBy(alongOne(ir.Softmax), "raise-softmax", "exponentials, the largest taken off, divided by their sum",
			about("exp($) / sum(exp($), axis=a, keepdims=true)", "exp($) * reciprocal(sum(exp($), axis=a, keepdims=true))")...), hasOneAxis),
		guarded(raisedBy(alongOne(ir.LogSoftmax), "raise-log-softmax", "elements, the largest taken off, less the logarithm of the sum of their exponentials",
			about("$ - log(sum(exp($), axis=a, keepdims=true))")...), hasOneAxis),
		freely(guarded(raisedBy(alongOne(ir.Softmax), "raise-naive-softmax", "exponentials divided by their sum",
			"exp(x) / sum(exp(x), axis=a, keepdims=true)", "exp(x) * reciprocal(sum(exp(x), axis=a, keepdims=true))", "exp(x - logsumexp(x, axis=a, keepdims=true))"), hasOneAxis),
			"no element is infinite, and exponentials neither overflow nor vanish"),
		freely(guarded(raisedBy(alongOne(ir.LogSoftmax), "raise-naive-log-softmax", "elements less the logarithm of the sum of their exponentials, and the logarithm of softmax",
			"x - logsumexp(x, axis=a, keepdims=true)", "log(softmax(x, axis=a))"), hasOneAxis),
			"no element is infinite, no probability vanishes, and no digit is lost where the logarithm of a sum of exponentials is taken off"),
		freely(raisedBy(logSumExp, "raise-logsumexp", "the logarithm of a sum of exponentials",
			append(about("log(sum(exp($), axis=a, keepdims=true)) + max(x, axis=a, keepdims=true)"), "log(sum(exp(x), axis=a, keepdims=k))")...),
			"no element is infinite, and exponentials neither overflow nor vanish"),
	}
}

func boundsNothing(m *rewrite.Match) bool {
	sign := 1
	if m.Root.Op == ir.Maximum {
		sign = -1
	}
	return isAnyOf(m.Value("c"), math.Inf(sign))
}

func theFirst(_ *rewrite.Builder, m *rewrite.Match) *ir.Value { return m.Value("x") }

// about writes x with its largest element taken off for the sign $.
func about(patterns ...string) []string {
	for i, p := range patterns {
		patterns[i] = strings.ReplaceAll(p, "$", "(x - max(x, axis=a, keepdims=true))")
	}
	return patterns
}

// hasOneAxis asks that a reduction was along one axis.
func hasOneAxis(m *rewrite.Match) bool {
	_, ok := oneAxis(m)
	return ok
}

// oneAxis is the axis a of a match, if it is just one.
func oneAxis(m *rewrite.Match) (int64, bool) {
	switch a, _ := m.Attr("a"); {
	case a.Kind == ir.KInt:
		return a.Int, true
	case a.IsNone() && m.Value("x").Type.Rank() == 1:
		return 0, true
	case len(a.Ints) == 1:
		return a.Ints[0], true
	}
	return 0, false
}

// alongOne builds an operator along the axis of the match.
func alongOne(op *ir.Op) builder {
	return func(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
		x := m.Value("x")
		axis, _ := oneAxis(m)
		if front(axis, x.Type.Rank()) == x.Type.Rank()-1 {
			axis = -1 // as it is by default
		}
		return b.Call(op, []*ir.Value{x}, set("axis", ir.IntLit(axis)))
	}
}

func logSumExp(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	axis, _ := m.Attr("a")
	keep, ok := m.Attr("k")
	if !ok {
		keep = ir.BoolLit(true)
	}
	return b.Call(ir.LogSumExp, []*ir.Value{m.Value("x")}, set("axis", axis), set("keepdims", keep))
}
