package passes

import (
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// An einsum is made of operators that kernels know.
//
//	%0 = einsum %q, %k {spec="bshd,bthd->bhst"}   =>   %0 = transpose %q {perm=[0,2,1,3]}
//	                                                   %1 = transpose %k {perm=[0,2,3,1]}
//	                                                   %2 = matmul %0, %1
//
// Labels that both operands and the result have are the batch of a product, those
// that only the operands have are summed over, and each side's own are its rows or
// columns. Sums have the terms of the einsum in the same order, so that no bit changes.
// Nor does one where operands are brought into that form: an axis of size 1 that stands
// for any size is dropped, and a label given twice is a diagonal, a slice in long steps.
//
// The einsum itself rounds once, at its end, whatever it sums over on the way. What is
// summed over by itself before it is multiplied, and products of three operands or more
// (einsum_pairs.go), are rounded on the way here, halves to f32. So these results may be
// off, as far as their sums lose no digits by cancellation. Products without sums differ
// in the sign of zeros.
//
// What stays an einsum: a diagonal of symbolic size, since steps of slices have none, and
// three operands of which sizes don't tell which two go first.
func einsumRules() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("einsum-drop-one", "an axis of size 1 that an einsum repeats is dropped", []string{"einsum"}, einsumDropOne),
		anyOf("einsum-diagonal", "a label given twice in an operand of an einsum is its diagonal", []string{"einsum"}, einsumDiagonal),
		roughly(anyOf("einsum-widen", "an einsum of halves that is computed in steps is one of f32", []string{"einsum"}, einsumWiden)),
		roughly(anyOf("einsum-sum-first", "what only one operand of an einsum has is summed over first", []string{"einsum"}, einsumSumFirst)),
		roughly(anyOf("einsum-to-pairs", "an einsum of several operands takes two at a time", []string{"einsum"}, einsumPairs)),
		roughly(anyOf("einsum-to-mul", "an einsum without sums of two operands, one of which has all labels, multiplies their elements", []string{"einsum"}, einsumMul)),
		anyOf("einsum-to-product", "an einsum of two operands is a product of matrices", []string{"einsum"}, einsumProduct),
		anyOf("einsum-to-sum", "an einsum of one operand is its sum along some axes", []string{"einsum"}, einsumSum),
	}
}

// einsumOf is plainEinsum for n operands.
func einsumOf(v *ir.Value, n int) *ir.EinsumSpec {
	if s := plainEinsum(v); s != nil && len(s.In) == n {
		return s
	}
	return nil
}

// plainEinsum reads an einsum of which no operand has a label twice, and all have the same
// sizes of their common labels.
func plainEinsum(v *ir.Value) *ir.EinsumSpec {
	s, err := ir.EinsumOf(v.Call())
	if err != nil {
		return nil
	}
	sizes := map[int]ir.Dim{}
	for i, labels := range s.In {
		if len(distinct(labels)) < len(labels) {
			return nil
		}
		for axis, l := range labels {
			d := v.Args[i].Type.Shape[axis]
			if known, ok := sizes[l]; ok && !known.Equal(d) {
				return nil
			}
			sizes[l] = d
		}
	}
	return s
}

// distinct lists the labels of some lists, each once.
func distinct(lists ...[]int) []int {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}

// factorsOf are the operands of an einsum.
func factorsOf(v *ir.Value, s *ir.EinsumSpec) []*factor {
	fs := make([]*factor, len(s.In))
	for i, labels := range s.In {
		fs[i] = &factor{v.Args[i], labels}
	}
	return fs
}

// letters are the labels that a spec can have.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// einsum makes a call of factors; nil where there are more labels than letters.
func einsum(b *rewrite.Builder, fs []*factor, out []int) *ir.Value {
	var lists [][]int
	args := make([]*ir.Value, len(fs))
	for i, f := range fs {
		args[i] = f.v
		lists = append(lists, f.labels)
	}
	all := distinct(lists...)
	if len(all) > len(letters) || slices.Contains(args, nil) {
		return nil
	}
	var spec strings.Builder
	write := func(labels []int) {
		for _, at := range placesOf(labels, all) {
			spec.WriteByte(letters[at])
		}
	}
	for i, labels := range lists {
		if i > 0 {
			spec.WriteByte(',')
		}
		write(labels)
	}
	spec.WriteString("->")
	write(out)
	return b.Call(ir.Einsum, args, set("spec", ir.StrLit(spec.String())))
}

// einsumMul multiplies element by element where one operand has all labels; outer products
// are products of matrices, which are faster. The einsum is a sum of one term that begins
// with 0: where a factor is 0, its result is not -0, which a product may be.
func einsumMul(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := einsumOf(m.Root, 2)
	if s == nil {
		return nil
	}
	if most := max(len(s.In[0]), len(s.In[1])); most < len(s.Out) {
		return nil
	}
	fs := factorsOf(m.Root, s)
	for i, f := range fs {
		if _, summed := partLabels(f.labels, s.Out); len(summed) > 0 {
			return nil
		}
		fs[i] = f.among(b, s.Out)
	}
	return b.Call(ir.Mul, []*ir.Value{fs[0].v, fs[1].v})
}

// among has an axis for each of some labels, of size 1 where the factor has none.
func (f *factor) among(b *rewrite.Builder, labels []int) *factor {
	own := f.own(labels)
	shape := make([]ir.Dim, len(labels))
	for i, l := range labels {
		shape[i] = ir.N(1)
		if f.has(l) {
			shape[i] = f.sizes([]int{l})[0]
		}
	}
	return &factor{reshaped(b, transposed(b, f.v, placesOf(own, f.labels)), shape), labels}
}

func einsumSum(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := einsumOf(m.Root, 1)
	if s == nil {
		return nil
	}
	x, labels := m.Root.Args[0], s.In[0]
	kept, dropped := partLabels(labels, s.Out)
	if len(dropped) > 0 {
		x = summed(b, x, placesOf(dropped, labels))
	}
	return transposed(b, x, placesOf(s.Out, kept))
}

func einsumProduct(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := einsumOf(m.Root, 2)
	if s == nil {
		return nil
	}
	left, right := &factor{m.Root.Args[0], s.In[0]}, &factor{m.Root.Args[1], s.In[1]}
	both, _ := partLabels(s.In[0], s.In[1])
	_, sum := partLabels(both, s.Out)
	batch, own := partLabels(s.Out, both)
	for _, f := range []*factor{left, right} {
		alone, _ := partLabels(own, f.labels)
		if len(alone)+len(both) != len(f.labels) {
			return nil // it is summed over by itself
		}
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

func (f *factor) has(label int) bool { return slices.Contains(f.labels, label) }

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
