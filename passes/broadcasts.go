package passes

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Tensors that are repeated only to be read by operators that repeat by
// themselves.
//
//	%0 = expand %b {dims=[8,4]} : f32[8,4]       %2 = exp %b : f32[4]
//	%1 = add %x, %0 : f32[8,4]              =>   %1 = add %x, %b : f32[8,4]
//	%2 = exp %0 : f32[8,4]                       %3 = expand %2 {dims=[8,4]} : f32[8,4]
//	%3 = relu %2 : f32[8,4]
//
// Element-wise operators compute the same of an element wherever it stands, so
// that nothing is lost. Sums along an axis that was expanded are left alone: n
// times x is rounded otherwise than x + x + ....
var broadcastRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		built("merge-expands", "of two expands one is left", mergeExpands, "expand(expand(x, d), e)"),
		anyOf("sink-expand", "what would be computed several times is computed once, and repeated then", elementwise(1), sinkExpand),
		anyOf("drop-broadcast", "what an operator repeats by itself is not repeated before", elementwise(2), dropBroadcast),
	}
})

func mergeExpands(b *rewrite.Builder, m *rewrite.Match) *ir.Value { return widened(b, m, m.Value("x")) }

// elementwise lists the element-wise operators with at least that many
// arguments.
func elementwise(args int) []string {
	return opsWhere(func(op *ir.Op) bool {
		return op.Class == ir.Elementwise && len(op.Args) >= args && op.Flags&ir.Impure == 0
	})
}

// dropBroadcast reads what is behind an expand, or one number instead of a tensor
// of it, for each argument whose size the result does not need. A vector of one
// number is left: so look the scales and biases of norms.
func dropBroadcast(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v := m.Root
	args, changed := slices.Clone(v.Args), false
	for i, a := range args {
		if !repeats(a) {
			continue
		}
		if thin := thinned(b, a); thin != nil {
			args[i] = thin
			if keepsType(v, args) {
				changed = true
			} else {
				args[i] = a
			}
		}
	}
	if !changed {
		return nil
	}
	return b.With(v.Op, args, v.Attrs)
}

// repeats reports whether v holds a smaller tensor several times.
func repeats(v *ir.Value) bool {
	switch {
	case v == nil:
		return false
	case v.Op == ir.Expand:
		return true
	case v.Op == ir.Const:
		return v.Type.Rank() > 1 && rewrite.Splat(v) != nil
	}
	return v.Type.Rank() > 0 && rewrite.Splat(v) != nil
}

func thinned(b *rewrite.Builder, v *ir.Value) *ir.Value {
	if v.Op == ir.Expand {
		return v.Args[0]
	}
	return b.Const(rewrite.Splat(v))
}

// keepsType reports whether a call has the same type with other arguments.
func keepsType(v *ir.Value, args []*ir.Value) bool {
	with := *v
	with.Args = args
	c := with.Call()
	return ir.InferCall(c) == nil && c.Out[0].Equal(v.Type)
}

// picky are the operators that fail for some integers. Where x is expanded to
// nothing at all, nothing fails; before the expand they might.
var picky = map[*ir.Op]bool{
	ir.Div: true, ir.Rem: true, ir.Fmod: true, ir.Pow: true, ir.ShiftLeft: true, ir.ShiftRight: true,
}

// sinkExpand computes with what is behind the expands that nothing else reads, if
// the result is smaller then.
func sinkExpand(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v := m.Root
	if picky[v.Op] && noFloats(m) {
		return nil
	}
	args, some := slices.Clone(v.Args), false
	for i, a := range args {
		if a != nil && a.Op == ir.Expand && m.Uses(a) == times(v.Args, a) && m.Alike(a) {
			args[i], some = a.Args[0], true
		}
	}
	if !some {
		return nil
	}
	return widened(b, m, smaller(b, v, args))
}

// smaller makes the call of v with other arguments, unless its result is as
// large as v.
func smaller(b *rewrite.Builder, v *ir.Value, args []*ir.Value) *ir.Value {
	w := b.With(v.Op, args, v.Attrs)
	if w == nil || w.Type.Equal(v.Type) {
		return nil
	}
	return w
}

// times counts how often v is among values.
func times(vs []*ir.Value, v *ir.Value) int {
	n := 0
	for _, w := range vs {
		if w == v {
			n++
		}
	}
	return n
}
