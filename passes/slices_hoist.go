package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A slice goes up where that saves work: the operator above then makes only what
// the slice takes.
//
//	%h = matmul %x, %w : f32[B,S,50257]          %l = slice %x {last row}
//	%b = bias_add %h, %c                    =>   %h = matmul %l, %w : f32[B,1,50257]
//	%y = slice %b {the last of S rows}           %y = bias_add %h, %c
//
// Each element of these operators is computed alone, and each row of a product,
// so that not a bit differs; an error in what is left out is not raised any
// more. Nobody else may read what the slice reads.
//
// Element-wise operators alone are no reason to go up: they would ride in the
// task of what makes their argument, and a slice between would part the two. So
// a slice passes them only if it gets through to a product that becomes smaller,
// to another move, or to a value that was there before the first task.

// maxHoist bounds how many element-wise operators a slice looks through, and
// with it the time of a pass.
const maxHoist = 16

// A hoist makes what stands for a slice of v.
type hoist func(b *rewrite.Builder, v *ir.Value, spans []span) *ir.Value

// hoists are the operators that a slice passes.
var hoists = map[*ir.Op]hoist{
	ir.Transpose: hoistTranspose,
	ir.Expand:    hoistExpand,
	ir.MatMul:    hoistRows,
	ir.Linear:    hoistRows,
}

func hoistSlice(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v, spans := m.Root.Args[0], sliceSpans(m.Root)
	if spans == nil || m.Uses(v) > 1 || !m.Alike(v) {
		return nil
	}
	if h := hoists[v.Op]; h != nil {
		return h(b, v, spans)
	}
	if !pointwise(v) || !worthwhile(m, v, spans) {
		return nil
	}
	args := slices.Clone(v.Args)
	args[0] = sliced(b, v.Args[0], spans)
	return b.With(v.Op, args, v.Attrs)
}

// pointwise reports whether v computes each element from the one at the same
// place of its first argument; a bias adds the same vector to all rows.
func pointwise(v *ir.Value) bool {
	return v.Op.Class == ir.Elementwise && (len(v.Args) == 1 || v.Op == ir.BiasAdd) && v.Op.Flags&ir.Impure == 0
}

// worthwhile reports whether a slice that passes the element-wise operators
// from v upwards saves more than these.
func worthwhile(m *rewrite.Match, v *ir.Value, spans []span) bool {
	for range maxHoist {
		if v.Op == ir.BiasAdd && !rowsOnly(v, spans, 1) {
			return false
		}
		v = v.Args[0]
		switch {
		case v.Op.Class == ir.Source || partsOf(v):
			return true
		case m.Uses(v) > 1 || !m.Alike(v):
			return false
		case v.Op == ir.MatMul || v.Op == ir.Linear:
			return productRows(v, spans)
		case hoists[v.Op] != nil || v.Op == ir.Concat || v.Op == ir.Pad:
			return true
		case !pointwise(v):
			return false
		}
	}
	return false
}

// partsOf reports whether v is a part of another value.
func partsOf(v *ir.Value) bool { _, spans := partOf(v); return spans != nil }

// rowsOnly reports whether the spans take all of the last n axes.
func rowsOnly(v *ir.Value, spans []span, n int) bool {
	rank := v.Type.Rank()
	if rank < n {
		return false
	}
	for a := rank - n; a < rank; a++ {
		if !spans[a].takesAll(v.Type.Shape[a]) {
			return false
		}
	}
	return true
}

// productRows reports whether the spans take whole rows of a product whose
// right side is one matrix: then they are rows of the left side.
func productRows(v *ir.Value, spans []span) bool {
	return v.Args[1].Type.Rank() == 2 && v.Args[0].Type.Rank() >= 2 && rowsOnly(v, spans, 1)
}

func hoistRows(b *rewrite.Builder, v *ir.Value, spans []span) *ir.Value {
	if !productRows(v, spans) {
		return nil
	}
	rows, last := slices.Clone(spans), len(spans)-1
	rows[last] = whole(v.Args[0].Type.Shape)[last]
	args := slices.Clone(v.Args)
	args[0] = sliced(b, v.Args[0], rows)
	return b.With(v.Op, args, v.Attrs)
}

func hoistTranspose(b *rewrite.Builder, v *ir.Value, spans []span) *ir.Value {
	perm := permOf(v)
	return transposed(b, sliced(b, v.Args[0], permuted(spans, inverse(perm))), perm)
}

// hoistExpand repeats what the slice takes as often as it takes it.
func hoistExpand(b *rewrite.Builder, v *ir.Value, spans []span) *ir.Value {
	x := v.Args[0]
	lead := v.Type.Rank() - x.Type.Rank()
	of, shape := whole(x.Type.Shape), make([]ir.Dim, len(spans))
	for a, s := range spans {
		shape[a] = s.count
		if a >= lead && x.Type.Shape[a-lead].Equal(v.Type.Shape[a]) {
			of[a-lead] = s
		}
	}
	part := sliced(b, x, of)
	if part == nil {
		return nil
	}
	return b.Call(ir.Expand, []*ir.Value{part}, set("dims", ir.DimsLit(shape...)))
}
