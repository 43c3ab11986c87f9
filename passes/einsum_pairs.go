package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// mostPaired bounds the operands of an einsum that is taken apart: a value is rewritten
// so many times only.
const mostPaired = 16

// einsumPairs multiplies two operands of several first: the pair that the evaluation of an
// einsum begins with, the one with the smallest product, so that an infinity meets the same
// zeros. Sizes with symbols have to say for all of their values which one that is.
//
//	einsum "ab,bc,c->a"   =>   einsum "ab,b->a" of a and einsum "bc,c->b"
//
// Labels of the pair that nothing asks for any more are summed over.
func einsumPairs(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := plainEinsum(m.Root)
	if s == nil || len(s.In) < 3 || len(s.In) > mostPaired {
		return nil
	}
	fs := factorsOf(m.Root, s)
	i, j, ok := smallestPair(pairsOf(fs, s.Out), leastMargin(m.Root.Type.Shape))
	if !ok {
		return nil
	}
	labels := joint(fs[i], fs[j], needed(fs, s.Out, i, j))
	fs[i] = &factor{einsum(b, []*factor{fs[i], fs[j]}, labels), labels}
	return einsum(b, slices.Delete(fs, j, j+1), s.Out)
}

// A pair is two operands and how many elements their product has.
type pair struct {
	i, j int
	size ir.Dim
}

// pairsOf lists all pairs of operands.
func pairsOf(fs []*factor, out []int) []pair {
	var list []pair
	for i := range fs {
		for j := i + 1; j < len(fs); j++ {
			size := ir.N(1)
			for _, l := range joint(fs[i], fs[j], needed(fs, out, i, j)) {
				f := fs[i]
				if !f.has(l) {
					f = fs[j]
				}
				size = size.Mul(f.sizes([]int{l})[0])
			}
			list = append(list, pair{i, j, size})
		}
	}
	return list
}

// leastMargin is a size that is 0 only where a result has no elements.
func leastMargin(shape []ir.Dim) ir.Dim {
	least := ir.N(1)
	for _, d := range shape {
		if !d.IsConst() {
			least = least.Mul(d)
		}
	}
	return least
}

// smallestPair finds the first pair of the smallest size: those before it are larger, by a
// margin.
func smallestPair(list []pair, margin ir.Dim) (i, j int, ok bool) {
	for n, p := range list {
		below := func(size ir.Dim) func(pair) bool { // or perhaps
			return func(q pair) bool { return !q.size.Sub(size).NonNeg() }
		}
		if !slices.ContainsFunc(list[:n], below(p.size.Add(margin))) && !slices.ContainsFunc(list[n:], below(p.size)) {
			return p.i, p.j, true
		}
	}
	return 0, 0, false
}

// joint are the labels of a product of two factors, as far as they are needed: first those
// that both have, as products of matrices have them.
func joint(x, y *factor, needed []int) []int {
	both, left := partLabels(x.labels, y.labels)
	_, right := partLabels(y.labels, x.labels)
	kept, _ := partLabels(slices.Concat(both, left, right), needed)
	return kept
}
