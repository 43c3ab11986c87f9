package passes

import (
	"math"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Attention from its products.
//
//	%0 = transpose %k {perm=[0, 2, 3, 1]}
//	%1 = matmul %q, %0
//	%2 = mul %1, 0.125                             %0 = transpose %k {perm=[0, 2, 1, 3]}
//	%3 = add %2, %mask                 =>          %5 = attention %q, %0, %v, %mask
//	%4 = softmax %3
//	%5 = matmul %4, %v
//
// Numbers that scale the scores, before or after the product, become the scale;
// other factors of q and k stay theirs. k has to be transposed in the form, since
// the operator wants it as it was before.
//
// What may go wrong is a query that attends to nothing: softmax of a row of -inf is
// NaN, and the operator gives 0; and of a row to which -10000 is added throughout,
// the sum has lost the digits of the scores. So a mask is taken only if no row of it
// hides everything, see showsAll; one that chooses also if the form itself puts 0
// into such a row. Scores that a mask replaces are hidden only if they become -inf: softmax
// gives any other number a share, if only in a row of its likes. A mask that
// arrives when the program runs is not raised, then, but with fast-math.
//
// A weight that the form has rounded to 0 is still above it in the operator: what it
// adds of a finite value is nothing, but an infinite one stays infinite, which the
// form turns into NaN.
func attentionForms() []*rewrite.Rule {
	proved := guarded(raisedBy(attention, "raise-attention", "scores, mask, softmax and the weighted sum",
		attentionPatterns()...), isAttention)
	trusted := *proved // the same patterns
	trusted.Name, trusted.Doc, trusted.When = "raise-masked-attention", "attention whose mask may hide everything from a query", isMaskedAttention
	return []*rewrite.Rule{
		proved,
		freely(&trusted, "every query attends to something: one that attends to nothing gives 0 instead of NaN, and a row to which a mask adds large numbers throughout keeps the digits that its form loses"),
		exactly(guarded(raisedBy(causalAttention, "raise-causal-attention", "attention whose bool mask is the lower triangle, perhaps of another mask",
			"attention(q, k, v, mask, scale=s, causal=c)"), hidesLater)),
		exactly(raisedBy(groupedAttention, "raise-grouped-attention", "attention whose keys and values are repeated for several heads",
			repeatedPatterns()...)),
	}
}

// attentionPatterns are the products with a mask that is added, which is a bias of the
// product if it is of keys alone, with one that chooses, or none; and with one that
// chooses and the rows that it hides made 0 afterwards.
func attentionPatterns() []string {
	scores := "div?(mul?(matmul(div?(mul?(q, s1), d1), div?(mul?(transpose(k, perm=p), s2), d2)), s3), d3)"
	out := each([]string{"matmul(softmax(%, axis=-1), v)"}, "add?($, m)", "bias_add($, m)", "where(c, add?($, m), hidden)", "where(c, hidden, add?($, m))")
	out = append(out, "where(alive, matmul(softmax(where(c, $, hidden), axis=-1), v), 0)")
	for i, p := range out {
		out[i] = strings.ReplaceAll(p, "$", scores)
	}
	return out
}

// A masking is what a form of attention does to its scores.
type masking struct {
	scores *ir.Value // as the product makes them
	added  *ir.Value // nil: nothing is
	choice *ir.Value // bool; nil: nothing is hidden
	hides  bool      // choice is true where scores are hidden, not where they are seen
}

func maskingOf(m *rewrite.Match) masking {
	k := masking{added: m.Value("m"), choice: m.Value("c")}
	for _, v := range m.Inside {
		switch {
		case v.Op == ir.MatMul && !(v.Args[0].Op == ir.Softmax && slices.Contains(m.Inside, v.Args[0])):
			k.scores = v // q may be a softmax, but none of the form
		case v.Op == ir.Where && v.Args[0] == k.choice:
			k.hides = v.Args[1] == m.Value("hidden")
		}
	}
	return k
}

// causal reports whether the choice hides what comes later, and nothing else.
func (k *masking) causal() bool {
	return k.choice != nil && isTriangle(k.choice, !k.hides, k.scores.Type.Shape)
}

// isMaskedAttention asks for attention, whatever its mask hides.
func isMaskedAttention(m *rewrite.Match) bool { return m.Value("alive") == nil && masksOnly(m) }

// masksOnly asks for what all forms have in common: scales that are numbers, and a
// choice that really hides. Beside a mask that is added, only a choice that the
// operator makes by itself can be taken.
func masksOnly(m *rewrite.Match) bool {
	k := maskingOf(m)
	if _, ok := scaleOf(m); !ok || !scalesOnly(m, k.scores) {
		return false
	}
	return k.choice == nil || isAnyOf(m.Value("hidden"), math.Inf(-1)) && (k.added == nil || k.causal())
}

// isAttention asks also that no query attends to nothing, or that the form makes 0
// of those.
func isAttention(m *rewrite.Match) bool {
	if !masksOnly(m) {
		return false
	}
	k := maskingOf(m)
	switch alive := m.Value("alive"); {
	case alive != nil:
		return k.guardedBy(alive)
	case k.choice == nil:
		return k.added == nil || showsAll(k.added, false)
	case k.added == nil:
		return showsAll(k.choice, k.hides)
	}
	return isSmall(k.added) // whatever is seen of it
}

// guardedBy reports whether alive is true for the rows in which something is seen.
func (k *masking) guardedBy(alive *ir.Value) bool {
	return alive.Op == ir.Any && alive.Args[0] == k.choice && keepsLast(alive)
}

// keepsLast reports whether a reduction is along the last axis, which stays.
func keepsLast(v *ir.Value) bool {
	rank := v.Args[0].Type.Rank()
	return attrOf(v, "keepdims").Int != 0 && slices.Equal(axesAttr(v, "axis", rank), []int{rank - 1})
}

// scaleOf multiplies the numbers with which scores, q and k are scaled.
func scaleOf(m *rewrite.Match) (float64, bool) {
	scale := 1.0
	for _, name := range []string{"s1", "s2", "s3", "d1", "d2", "d3"} {
		c := m.Value(name)
		if c == nil {
			continue
		}
		x, ok := floatOf(c)
		if !ok {
			return 0, false
		}
		if name[0] == 'd' {
			x = 1 / x
		}
		scale *= x
	}
	return scale, !math.IsInf(scale, 0) && !math.IsNaN(scale)
}

// scalesOnly reports whether the numbers that scale q and k bring in no axes of
// their own: a depth of 1 that they repeat would be another sum. What is brought in
// later changes the type of the whole, or does not fit the operator.
func scalesOnly(m *rewrite.Match, scores *ir.Value) bool {
	return scores.Args[0].Type.Equal(m.Value("q").Type) && scores.Args[1].Type.Equal(turnedKeys(m).Type)
}

// turnedKeys is the transpose of k in a form.
func turnedKeys(m *rewrite.Match) *ir.Value {
	at := slices.IndexFunc(m.Inside, func(v *ir.Value) bool { return v.Op == ir.Transpose && v.Args[0] == m.Value("k") })
	return m.Inside[at]
}

func attention(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	k := maskingOf(m)
	scale, _ := scaleOf(m)
	mask := k.added
	switch {
	case k.choice == nil || k.causal():
	case k.hides:
		mask = b.Call(ir.LogicalNot, []*ir.Value{k.choice})
	default:
		mask = k.choice
	}
	return b.Call(ir.Attention, []*ir.Value{m.Value("q"), keysOf(b, m), m.Value("v"), mask},
		set("scale", scaleAttr(m.Value("q").Type, scale)), set("causal", ir.BoolLit(k.causal())))
}

// keysOf is k before the transpose of the form, of which all but the exchange of
// the last two axes is left.
func keysOf(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	perm := slices.Clone(permOf(turnedKeys(m)))
	n := len(perm)
	if n < 2 {
		return nil
	}
	perm[n-2], perm[n-1] = perm[n-1], perm[n-2]
	return transposed(b, m.Value("k"), perm)
}

// scaleAttr leaves out the scale that the operator has by itself.
func scaleAttr(q ir.Type, scale float64) ir.Lit {
	if depth, ok := q.Shape[q.Rank()-1].Const(); ok && depth > 0 {
		own := 1 / math.Sqrt(float64(depth))
		if tensor.Round(q.DType, scale) == tensor.Round(q.DType, own) {
			return ir.None
		}
	}
	return ir.FloatLit(scale)
}

// hidesLater asks for a bool mask that is the lower triangle, or that and another:
// of those two the operator makes the first by itself. A mask that is added stays:
// it does not hide a score of NaN.
func hidesLater(m *rewrite.Match) bool {
	_, ok := withoutTriangle(m)
	return ok
}

// withoutTriangle is what a mask hides beside all that comes later; nil: nothing.
func withoutTriangle(m *rewrite.Match) (*ir.Value, bool) {
	mask, q, k := m.Value("mask"), m.Value("q").Type, m.Value("k").Type
	if mask == nil || mask.Type.DType != tensor.Bool {
		return nil, false
	}
	scores := append(slices.Clone(q.Shape[:q.Rank()-1]), k.Shape[k.Rank()-2])
	if isTriangle(mask, true, scores) {
		return nil, true
	}
	if mask.Op != ir.LogicalAnd && mask.Op != ir.BitAnd {
		return nil, false
	}
	for i, other := range []*ir.Value{mask.Args[1], mask.Args[0]} {
		if isTriangle(mask.Args[i], true, scores) {
			return other, true
		}
	}
	return nil, false
}

func causalAttention(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	other, _ := withoutTriangle(m)
	scale, _ := m.Attr("s")
	return b.Call(ir.Attention, []*ir.Value{m.Value("q"), m.Value("k"), m.Value("v"), other}, set("scale", scale), set("causal", ir.BoolLit(true)))
}

// repeatedPatterns are the ways to repeat the heads of keys and values: by a new
// axis of size 1 that is expanded and joined to the heads, and by repeat.
func repeatedPatterns() []string {
	return []string{
		"attention(q, reshape(expand(k, dims=k1), dims=k2), reshape(expand(v, dims=v1), dims=v2), mask?, scale=s, causal=c)",
		"attention(q, repeat(k, n, axis=a), repeat(v, n, axis=a), mask?, scale=s, causal=c)",
	}
}

func groupedAttention(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	k, v := fewerHeads(m.Root.Args[1]), fewerHeads(m.Root.Args[2])
	if k == nil || v == nil {
		return nil
	}
	return b.With(ir.Attention, []*ir.Value{m.Value("q"), k, v, m.Value("mask")}, m.Root.Attrs)
}

// fewerHeads is the tensor of which v has each head several times side by side; nil
// if it is none.
func fewerHeads(v *ir.Value) *ir.Value {
	heads := v.Type.Rank() - 3
	if v.Op == ir.Repeat {
		if axisAttr(v) != heads {
			return nil
		}
		return v.Args[0]
	}
	expanded := v.Args[0]
	view := expanded.Args[0]
	if heads < 0 || !isView(view) || view.Args[0].Type.Rank() != v.Type.Rank() || expanded.Type.Rank() != v.Type.Rank()+1 {
		return nil
	}
	x := view.Args[0].Type.Shape
	times := expanded.Type.Shape[heads+1]
	joined := slices.Clone(x)
	joined[heads] = joined[heads].Mul(times)
	fits := ir.SameShape(view.Type.Shape, slices.Insert(slices.Clone(x), heads+1, ir.N(1))) &&
		ir.SameShape(expanded.Type.Shape, slices.Insert(slices.Clone(x), heads+1, times)) &&
		ir.SameShape(v.Type.Shape, joined)
	if !fits {
		return nil
	}
	return view.Args[0]
}
