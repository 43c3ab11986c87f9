package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// What brings the operands of an einsum into a form that a product takes, each label once
// and in the other operand or the result too.

// einsumDropOne drops axes of size 1 whose label has another size in another operand.
func einsumDropOne(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s, err := ir.EinsumOf(m.Root.Call())
	if err != nil {
		return nil
	}
	fs, some := factorsOf(m.Root, s), false
	for i, f := range fs {
		var labels []int
		var shape []ir.Dim
		for axis, l := range f.labels {
			if d := f.v.Type.Shape[axis]; !d.Is(1) || !slices.ContainsFunc(fs, func(g *factor) bool { return g.has(l) && !g.sizes([]int{l})[0].Is(1) }) {
				labels, shape = append(labels, l), append(shape, d)
			}
		}
		if len(labels) < len(f.labels) {
			fs[i], some = &factor{reshaped(b, f.v, shape), labels}, true
		}
	}
	if !some {
		return nil
	}
	return einsum(b, fs, s.Out)
}

// einsumDiagonal takes the diagonals of an einsum's operands.
func einsumDiagonal(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s, err := ir.EinsumOf(m.Root.Call())
	if err != nil {
		return nil
	}
	fs, some := factorsOf(m.Root, s), false
	for i, f := range fs {
		for _, l := range distinct(f.labels) {
			if d := f.diagonal(b, l); d != nil {
				f, some = d, true
			}
		}
		fs[i] = f
	}
	if !some {
		return nil
	}
	return einsum(b, fs, s.Out)
}

// diagonal walks the axes of a label together: they are the last ones, joined, of which a
// slice takes every element that has the same index along each. It is nil if there is one
// such axis only, or if their size is not known.
func (f *factor) diagonal(b *rewrite.Builder, l int) *factor {
	var along, other []int
	for axis, have := range f.labels {
		if have == l {
			along = append(along, axis)
		} else {
			other = append(other, axis)
		}
	}
	if len(along) < 2 {
		return nil
	}
	size := f.v.Type.Shape[along[0]]
	n, known := size.Const()
	if !known {
		return nil
	}
	all, step := ir.N(1), int64(0)
	for range along {
		step = step*n + 1 // from one index to the next along every axis
		all = all.Mul(size)
	}
	x := transposed(b, f.v, slices.Concat(other, along))
	x = reshaped(b, x, append(permuted(f.v.Type.Shape, other), all))
	last := int64(len(other))
	x = b.Call(ir.Slice, []*ir.Value{x}, set("starts", ir.DimsLit(ir.N(0))), set("ends", ir.DimsLit(all)),
		set("axes", ir.IntsLit(last)), set("steps", ir.IntsLit(step)))
	return &factor{x, append(permuted(f.labels, other), l)}
}

// needed are the labels that the result of an einsum has, or an operand but some.
func needed(fs []*factor, out []int, but ...int) []int {
	need := [][]int{out}
	for i, f := range fs {
		if !slices.Contains(but, i) {
			need = append(need, f.labels)
		}
	}
	return distinct(need...)
}

// inSteps reports whether an einsum rounds on the way: it has several operands, and sums
// one of them before it is multiplied, or has more than two.
func inSteps(fs []*factor, out []int) bool {
	if len(fs) != 2 {
		return len(fs) > 2 && len(fs) <= mostPaired
	}
	for i, f := range fs {
		if _, alone := partLabels(f.labels, needed(fs, out, i)); len(alone) > 0 {
			return true
		}
	}
	return false
}

// einsumWiden computes halves as floats of four bytes: what they are summed up to on the
// way has their digits, and room.
func einsumWiden(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s, d := plainEinsum(m.Root), m.Root.Type.DType
	if s == nil || d != tensor.F16 && d != tensor.BF16 {
		return nil
	}
	fs := factorsOf(m.Root, s)
	if !inSteps(fs, s.Out) {
		return nil
	}
	for i, f := range fs {
		fs[i] = &factor{castTo(b, f.v, tensor.F32), f.labels}
	}
	return castTo(b, einsum(b, fs, s.Out), d)
}

func castTo(b *rewrite.Builder, x *ir.Value, d tensor.DType) *ir.Value {
	return b.Call(ir.Cast, []*ir.Value{x}, set("dtype", ir.DTypeLit(d)))
}

// einsumSumFirst sums over the labels that one operand alone has.
func einsumSumFirst(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s := plainEinsum(m.Root)
	if s == nil || len(s.In) < 2 {
		return nil
	}
	fs, some := factorsOf(m.Root, s), false
	for i, f := range fs {
		kept, alone := partLabels(f.labels, needed(fs, s.Out, i))
		if len(alone) > 0 {
			fs[i], some = &factor{summed(b, f.v, placesOf(alone, f.labels)), kept}, true
		}
	}
	if !some {
		return nil
	}
	return einsum(b, fs, s.Out)
}

func summed(b *rewrite.Builder, x *ir.Value, axes []int) *ir.Value {
	return b.Call(ir.Sum, []*ir.Value{x}, set("axis", ints(axes)))
}
