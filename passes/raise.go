package passes

import (
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// raiseRules make one operator again of what exporters write as many.
//
//	%0 = mean %x {axis=[-1], keepdims=true}
//	%1 = sub %x, %0
//	%2 = square %1
//	%3 = mean %2 {axis=[-1], keepdims=true}
//	%4 = add %3, 1e-05                       =>   %8 = layernorm %x, %w, %b
//	%5 = sqrt %4
//	%6 = div %1, %5
//	%7 = mul %6, %w
//	%8 = add %7, %b
//
// The patterns are written for the canonical form (square, reciprocal, a constant
// on the right), and each for as small a form as there is: what an inner rule
// has raised is one operator for the next, since a sweep goes from arguments to
// readers. Constants have to be the right ones to the last bit, as their dtype
// stores them.
//
// An operator rounds once what its form rounds at every step. So nearly all of
// these rules let results be off by 1e-5, see rewrite.Differ: some eighty
// roundings of the largest element, or of 1. That is said of forms whose steps
// are finite numbers. Where a step overflows though no input is infinite, an
// exponential or a square in f16, the operator keeps the value that its form has
// lost; where an input is infinite or NaN, both give the same infinities and NaNs.
// A form that loses digits by cancellation, such as a mean that is far larger
// than what deviates from it, is off from the operator by what it has lost.
//
// Nothing is raised while something else reads a step inside: that would have to
// be computed all the same.
var raiseRules = sync.OnceValue(func() []*rewrite.Rule {
	return slices.Concat(activationForms(), softmaxForms(), normForms(), channelNormForms(), attentionForms(), ropeForms(), embeddingForms())
})

// embeddingForms take the row of a table for each index.
//
//	%0 = gather %table, %ids {axis=0}   =>   %0 = embedding %table, %ids
//
// Both read the same rows and refuse the same indices. A table is a float matrix
// from which more than one row is taken: a single row is a slice.
func embeddingForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		guarded(rewrite.Own("raise-embedding", "the rows of a table",
			"gather(x, i, axis=0)  =>  embedding(x, i)"), isTable),
	}
}

func isTable(m *rewrite.Match) bool {
	x := m.Value("x")
	return x.Type.Rank() == 2 && x.Type.DType.IsFloat() && m.Value("i").Type.Rank() > 0
}

// raised makes the rule of an operator of one argument, x, by its forms.
func raised(name, doc, operator string, forms ...string) *rewrite.Rule {
	return closed(roughly(rewrite.Own(name, doc, forms[0]+"  =>  "+operator).Or(forms[1:]...)))
}

// raisedBy makes a rule whose operator a function builds.
func raisedBy(build builder, name, doc string, forms ...string) *rewrite.Rule {
	return closed(roughly(built(name, doc, build, forms...)))
}

// each writes every pattern once for each part that may stand for the sign %.
func each(patterns []string, parts ...string) []string {
	var out []string
	for _, p := range patterns {
		for _, part := range parts {
			out = append(out, strings.ReplaceAll(p, "%", part))
		}
	}
	return out
}

// isAnyOf reports whether v is a constant that is one of the numbers, as its dtype
// stores them.
func isAnyOf(v *ir.Value, numbers ...float64) bool {
	c, ok := floatOf(v)
	return ok && slices.ContainsFunc(numbers, func(x float64) bool { return c == tensor.Round(v.Type.DType, x) })
}

// floatOf is the one number of which a float constant is made.
func floatOf(v *ir.Value) (float64, bool) {
	if v == nil {
		return 0, false
	}
	t := rewrite.Splat(v)
	if t == nil || !t.DType.IsFloat() {
		return 0, false
	}
	return t.FloatAt(0), true
}
