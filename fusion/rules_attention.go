package fusion

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Attention with the moves around it: heads are split on the way in and merged
// on the way out by the addresses that the kernel reads and writes.
//
//	%0 = reshape %q                        %y = fused %q, %k, %v {rule=Attention}
//	%1 = transpose %0 {perm=[0,2,1,3]}
//	...                             =>
//	%2 = attention %1, %3, %5
//	%6 = transpose %2 {perm=[0,2,1,3]}
//	%y = reshape %6
//
// Masks, causal or not, and heads of keys that several heads of queries share are
// the operator's own. Where the pass raise has left the two products, the scale,
// the mask and the softmax, since its guards or its tolerance forbid the operator,
// they are one kernel all the same: scores stay on chip, and what the region
// computes is what it holds.
func attentionRules() []*Rule {
	return []*Rule{
		cube("Attention", "scores, scale, mask, softmax and weighted sum in one kernel, which never holds all scores, with the transposes that split and merge heads",
			attentions[0], attentions[1:]...).through().when(all(scoresKept, oneElement("f", "g", "f_q", "f_k"), several)),
		vector("Rope", "positions turn pairs of elements; heads are split on the way",
			ropes[0], ropes[1:]...).when(all(halves, several)),
	}
}

// splitHeads is the way of a name from [B, S, H*D] to heads [B, H, S, D]; all of it
// may be absent.
func splitHeads(name string) string {
	return letters(`transpose?(reshape?(A, dims=A_sizes), perm=A_perm)`, name)
}

// sharedHeads is splitHeads for keys and values that several heads of queries read: each
// head is repeated.
func sharedHeads(name string) string {
	return letters(`transpose?(reshape?(expand?(unsqueeze?(B, axis=A_axis), dims=A_times), dims=A_heads), perm=A_turn)`, name, splitHeads(name))
}

// mergeHeads is the way back from heads.
func mergeHeads(text string) string {
	return `reshape?(transpose?(` + text + `, perm=perm), dims=sizes)`
}

var (
	// The scores: a factor on the queries, on the keys or on the product.
	scores = `div?(mul?(cast?(matmul(mul?(` + splitHeads(`q`) + `, f_q), mul?(` + sharedHeads(`k`) + `, f_k), dtype=sums), dtype=early), f), g)`

	attentions = []string{
		mergeHeads(`attention(` + splitHeads(`q`) + `, ` + splitHeads(`k`) + `, ` + splitHeads(`v`) + `, mask?, scale=s, causal=c)`),
		weighted(scores),
		weighted(scores + ` + mask`),
		weighted(scores + ` + mask + bias`),
		weighted(`where(mask, ` + scores + `, low)`),
		weighted(`where(mask, low, ` + scores + `)`),
	}

	// The rotary embedding: the operator, and half an axis against the other.
	ropes = []string{
		`rope(` + splitHeads(`x`) + `, unsqueeze?(cos, axis=u), unsqueeze?(sin, axis=v), interleaved=i)`,
		turned(`A * cos + B * sin`),
		turned(`A * unsqueeze(cos, axis=u) + B * unsqueeze(sin, axis=v)`),
	}
)

// weighted is the sum of values by the softmax of scores, which may be taken in
// another dtype.
func weighted(scores string) string {
	return mergeHeads(`matmul(cast?(softmax(cast?(` + scores + `, dtype=wide), axis=-1), dtype=narrow), ` + sharedHeads(`v`) + `, dtype=mixed)`)
}

// turned writes x for A, and for B its second half, negated, before the first.
func turned(pattern string) string {
	x := splitHeads(`x`)
	half := func(n string) string {
		return letters(`slice(B, starts=A_from, ends=A_to, axes=A_axes, steps=A_steps)`, n, x)
	}
	return letters(pattern, x, `concat([-`+half(`second`)+`, `+half(`first`)+`], axis=-1)`)
}

// several asks for more than one operator: one alone needs no region.
func several(m *rewrite.Match) bool { return len(m.Inside) > 1 }

// scoresKept asks that scale and mask keep the shape of the scores: a mask of
// more axes would repeat the whole product.
func scoresKept(m *rewrite.Match) bool {
	for _, v := range m.Inside {
		for i, a := range v.Args {
			scored := v.Op.Class == ir.Elementwise && inside(m, a) && !(v.Op == ir.Where && i == 0)
			if scored && !ir.SameShape(a.Type.Shape, v.Type.Shape) {
				return false
			}
		}
	}
	return true
}

// halves asks that the two slices of a rotary embedding part the last axis in the
// middle, the negated one from there on.
func halves(m *rewrite.Match) bool {
	from, written := m.Attr("second_from")
	if !written {
		return true // the operator
	}
	i := slices.IndexFunc(m.Inside, func(v *ir.Value) bool { return v.Op == ir.Concat })
	concat := m.Inside[i]
	rank := concat.Type.Rank()
	last := concat.Type.Shape[rank-1]
	second, first := concat.Args[0].Args[0], concat.Args[1]
	half := second.Type.Shape[rank-1]
	return ir.SameShape(first.Type.Shape, second.Type.Shape) && half.Add(half).Equal(last) &&
		len(from.Dims) == 1 && from.Dims[0].Equal(half) && alongLast(m, "first_axes", rank) && alongLast(m, "second_axes", rank) &&
		ir.SameShape(concat.Type.Shape, m.Root.Type.Shape)
}

// alongLast asks that the axes of a slice are the last one.
func alongLast(m *rewrite.Match, name string, rank int) bool {
	l, ok := m.Attr(name)
	return ok && len(l.Ints) == 1 && (l.Ints[0] == -1 || l.Ints[0] == int64(rank-1))
}
