package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// An einsum of one or two operands is made of operators that kernels know.
//
//	%0 = einsum %q, %k {spec="bshd,bthd->bhst"}   =>   %0 = transpose %q {perm=[0,2,1,3]}
//	                                                   %1 = transpose %k {perm=[0,2,3,1]}
//	                                                   %2 = matmul %0, %1
//
// Labels that both operands and the result have are the batch of a product, those
// that only the operands have are summed over, and each side's own are its rows or
// columns. Sums have the terms of the einsum in the same order, so that no bit changes;
// hence an einsum stays if an operand is summed over by itself before it is multiplied,
// or has a diagonal, and one of three operands or more, whose products on the way are
// not rounded. Elements that are multiplied one by one stay an einsum too.
func einsumRules() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("einsum-to-product", "an einsum of two operands is a product of matrices", []string{"einsum"}, einsumProduct),
		anyOf("einsum-to-sum", "an einsum of one operand is its sum along some axes", []string{"einsum"}, einsumSum),
	}
}

// einsumOf reads an einsum of n operands, none of which has a label twice.
func einsumOf(v *ir.Value, n int) *ir.EinsumSpec {
	if len(v.Args) != n {
		return nil
	}
	s, err := ir.EinsumOf(v.Call())
	if err != nil {
		return nil
	}
	for _, labels := range s.In {
		sorted := slices.Sorted(slices.Values(labels))
		if len(slices.Compact(sorted)) < len(labels) {
			return nil
		}
	}
	return s
}

func einsumSum(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := einsumOf(m.Root, 1)
	if s == nil {
		return nil
	}
	x, labels := m.Root.Args[0], s.In[0]
	kept, dropped := partLabels(labels, s.Out)
	if len(dropped) > 0 {
		x = b.Call(ir.Sum, []*ir.Value{x}, set("axis", ints(placesOf(dropped, labels))))
	}
	return transposed(b, x, placesOf(s.Out, kept))
}

func einsumProduct(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := einsumOf(m.Root, 2)
	if s == nil {
		return nil
	}
	left, right := &factor{m.Root.Args[0], s.In[0]}, &factor{m.Root.Args[1], s.In[1]}
	if !agree(left, right) {
		return nil
	}
	both, _ := partLabels(s.In[0], s.In[1])
	_, sum := partLabels(both, s.Out)
	batch, own := partLabels(s.Out, both)
	for _, f := range []*factor{left, right} {
		alone, _ := partLabels(own, f.labels)
		if len(alone)+len(both) != len(f.labels) {
			return nil // it is summed over by itself
		}
	}
	if len(sum) == 0 && len(own) == 0 {
		return nil // a product of elements is -0 where a sum that begins with 0 is not
	}
	if len(own) > 0 && slices.Contains(left.labels, own[len(own)-1]) {
		left, right = right, left // so that the last labels are columns
	}
	rows, cols := left.own(own), right.own(own)
	product := b.Call(ir.MatMul, []*ir.Value{
		reshaped(b, left.ordered(b, batch, rows, sum), slices.Concat(left.sizes(batch), left.size(rows), left.size(sum))),
		reshaped(b, right.ordered(b, batch, sum, cols), slices.Concat(right.sizes(batch), right.size(sum), right.size(cols))),
	})
	product = reshaped(b, product, slices.Concat(left.sizes(batch), left.sizes(rows), right.sizes(cols)))
	return transposed(b, product, placesOf(s.Out, slices.Concat(batch, rows, cols)))
}

// A factor is an operand with the labels of its axes.
type factor struct {
	v      *ir.Value
	labels []int
}

// agree reports whether both factors have the same sizes of their common labels: an axis
// of size 1 may stand for any.
func agree(a, b *factor) bool {
	for i, l := range a.labels {
		if at := slices.Index(b.labels, l); at >= 0 && !a.v.Type.Shape[i].Equal(b.v.Type.Shape[at]) {
			return false
		}
	}
	return true
}

// own are the labels of a list that the factor has.
func (f *factor) own(list []int) []int {
	has, _ := partLabels(list, f.labels)
	return has
}

// sizes are those of some labels; size is the one of all of them as one axis.
func (f *factor) sizes(labels []int) []ir.Dim {
	return permuted(f.v.Type.Shape, placesOf(labels, f.labels))
}

func (f *factor) size(labels []int) []ir.Dim {
	n := ir.N(1)
	for _, d := range f.sizes(labels) {
		n = n.Mul(d)
	}
	return []ir.Dim{n}
}

// ordered has the axes in the order of the labels of some groups.
func (f *factor) ordered(b *rewrite.Builder, groups ...[]int) *ir.Value {
	return transposed(b, f.v, placesOf(slices.Concat(groups...), f.labels))
}

// partLabels parts a list into what is in a set and what is not.
func partLabels(list, set []int) (in, out []int) {
	for _, l := range list {
		if slices.Contains(set, l) {
			in = append(in, l)
		} else {
			out = append(out, l)
		}
	}
	return in, out
}

// placesOf finds where each label of a list stands in another.
func placesOf(list, in []int) []int {
	places := make([]int, len(list))
	for i, l := range list {
		places[i] = slices.Index(in, l)
	}
	return places
}
