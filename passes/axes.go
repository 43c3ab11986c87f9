package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// What the rules about moves ask of a call: its axes counted from the front, the
// order of a transpose, the parts that a slice takes. Calls are legal, so that
// nothing here can fail.

// front counts an axis from the front.
func front(axis int64, rank int) int {
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis)
}

// attrOf is an attribute of v by its name.
func attrOf(v *ir.Value, name string) ir.Lit { return v.Call().Attr(name) }

// axisAttr is the attribute axis, counted from the front, of an operator that
// works along one axis of its first argument.
func axisAttr(v *ir.Value) int { return front(attrOf(v, "axis").Int, v.Args[0].Type.Rank()) }

// axesAttr is an attribute that lists axes of a tensor of that rank, counted from
// the front; absent, it is all of them.
func axesAttr(v *ir.Value, name string, rank int) []int {
	l := attrOf(v, name)
	if l.IsNone() {
		return identity(rank)
	}
	axes := make([]int, len(l.Ints))
	for i, a := range l.Ints {
		axes[i] = front(a, rank)
	}
	return axes
}

func identity(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	return perm
}

// permOf says from which axis of its argument each axis of a transpose comes.
func permOf(v *ir.Value) []int {
	rank := v.Type.Rank()
	if !attrOf(v, "perm").IsNone() {
		return axesAttr(v, "perm", rank)
	}
	perm := identity(rank)
	if rank >= 2 {
		perm[rank-2], perm[rank-1] = rank-1, rank-2
	}
	return perm
}

// permuted puts the elements of s in another order: out[i] = s[perm[i]].
func permuted[E any](s []E, perm []int) []E {
	out := make([]E, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// inverse is the permutation that undoes perm.
func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[p] = i
	}
	return out
}

// staysInPlace reports whether a transpose moves nothing but axes of size 1: then
// the elements lie in memory as before.
func staysInPlace(shape []ir.Dim, perm []int) bool {
	last := -1
	for _, p := range perm {
		if shape[p].Is(1) {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

// isView reports whether v is its argument's memory under another shape.
func isView(v *ir.Value) bool {
	return v.Op.Flags&ir.View != 0 && v.Op.Flags&ir.Projection == 0
}

func ints(axes []int) ir.Lit {
	out := make([]int64, len(axes))
	for i, a := range axes {
		out[i] = int64(a)
	}
	return ir.IntsLit(out...)
}

// transposed makes a transpose of x, or gives x itself if nothing would move.
func transposed(b *rewrite.Builder, x *ir.Value, perm []int) *ir.Value {
	if x == nil || slices.IsSorted(perm) {
		return x
	}
	return b.Call(ir.Transpose, []*ir.Value{x}, set("perm", ints(perm)))
}

// reshaped makes a view of x, or gives x itself if it has the shape.
func reshaped(b *rewrite.Builder, x *ir.Value, shape []ir.Dim) *ir.Value {
	if x == nil || ir.SameShape(x.Type.Shape, shape) {
		return x
	}
	return b.Call(ir.Reshape, []*ir.Value{x}, set("dims", ir.DimsLit(shape...)))
}
