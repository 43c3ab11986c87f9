package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A transpose passes operators that compute the same in another order of the
// axes.
//
//	%a = transpose %x {perm=[0,2,3,1]}       %b = add %x, %c'          (%c' a view of %c)
//	%b = add %a, %c : f32[N,H,W,C]       =>  %s = softmax %b {axis=1}
//	%s = softmax %b {axis=3}                 %y = relu %s
//	%t = transpose %s {perm=[0,3,1,2]}
//	%y = relu %t
//
// One step passes one operator, and costs nothing: the transpose is as large as
// before. But what stood above and below it, and would have shared a task, is
// parted; so it moves only to where it is gone, or does for two. That is looked
// for along the readers, as long as there is one: a transpose, a product that
// reads it for nothing, a reduction that leaves no order, or an operator whose
// other side is transposed in the same way. One that somebody else reads stays
// above for him, and goes down as well only where it undoes one below.
//
// Element-wise operators are the same at each place. Reductions, norms and the
// like work along rows: a row has the same elements, and has them in the same
// order as long as the axes that it runs along keep theirs, so that sums are
// rounded alike.

// A passage makes what r computes, without the transpose perm above some of its
// arguments, for which source gives what they transpose, and the order in which
// its axes have to be put afterwards. It makes nil if r cannot be passed, or
// only for the price of another transpose.
type passage func(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (made *ir.Value, after []int)

// passageTable holds the operators that a transpose passes, beside those of the
// class element-wise.
var passageTable = map[*ir.Op]passage{
	ir.BiasAdd: passBias,
	ir.Concat:  passConcat, ir.Pad: passPad, ir.Slice: passSlice,
	ir.LayerNorm: passLayerNorm, ir.RMSNorm: passRMSNorm,
	ir.Softmax: passAlong, ir.LogSoftmax: passAlong, ir.L2Normalize: passAlong, ir.CumSum: passAlong, ir.CumProd: passAlong,
	ir.Sum: passReduce, ir.Mean: passReduce, ir.Prod: passReduce, ir.Max: passReduce, ir.Min: passReduce,
	ir.SumSquare: passReduce, ir.Norm1: passReduce, ir.Norm2: passReduce, ir.LogSumExp: passReduce,
	ir.Variance: passReduce, ir.Std: passReduce, ir.All: passReduce, ir.Any: passReduce, ir.CountNonzero: passReduce,
	ir.ArgMax: passReduce, ir.ArgMin: passReduce,
}

// passageOf is how a transpose passes an operator; nil: it does not.
func passageOf(op *ir.Op) passage {
	if p := passageTable[op]; p != nil {
		return p
	}
	if op.Class == ir.Elementwise && op.Flags&ir.Impure == 0 {
		return passElementwise
	}
	return nil
}

// passages lists these operators.
func passages() []string {
	return opsWhere(func(op *ir.Op) bool { return passageOf(op) != nil })
}

func sinkTranspose(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	r := m.Root
	t := transposeOf(m)
	if t == nil {
		return nil
	}
	perm := permOf(t)
	source := func(a *ir.Value) *ir.Value {
		if m.Alike(a) {
			return undone(a, perm)
		}
		return nil
	}
	made, after := passageOf(r.Op)(b, r, source, perm)
	switch {
	case made == nil:
		return nil
	case !dies(m, t):
		if !cancels(m, r, after) {
			return nil
		}
	case !meets(m, r, perm, t) && !staysInPlace(made.Type.Shape, after) && !pays(m, r, after):
		return nil
	}
	return transposed(b, made, after)
}

// transposeOf is a transpose that the root reads, if possible one that nobody
// else does.
func transposeOf(m *rewrite.Match) (t *ir.Value) {
	for _, a := range m.Root.Args {
		if a == nil || a.Op != ir.Transpose || !m.Alike(a) {
			continue
		}
		if dies(m, a) {
			return a
		}
		t = a
	}
	return t
}

// undone is what a transposes, if it does so by perm.
func undone(a *ir.Value, perm []int) *ir.Value {
	if a.Op == ir.Transpose && slices.Equal(permOf(a), perm) {
		return a.Args[0]
	}
	return nil
}

// meets reports whether r reads another transpose by perm beside v, of which
// nobody else knows: one does for both.
func meets(m *rewrite.Match, r *ir.Value, perm []int, v *ir.Value) bool {
	return slices.ContainsFunc(r.Args, func(a *ir.Value) bool {
		return a != nil && a != v && undone(a, perm) != nil && m.Uses(a) == 1
	})
}

// maxAhead bounds how far a transpose looks ahead, and with it the time of a
// pass.
const maxAhead = 64

// pays reports whether a transpose of v by perm would come to where it is gone,
// or does for two.
func pays(m *rewrite.Match, v *ir.Value, perm []int) bool {
	for range maxAhead {
		readers := m.Readers(v)
		if slices.ContainsFunc(readers, func(r *ir.Value) bool { return r.Op == ir.Transpose }) {
			return true
		}
		if len(readers) != 1 {
			return false
		}
		r := readers[0]
		if rides(r, v, perm) {
			return m.Uses(v) == 1
		}
		after, ok := passesBelow(m, r, v, perm)
		if !ok {
			return false
		}
		if after == nil {
			return true
		}
		v, perm = r, after
	}
	return false
}

// cancels reports whether a transpose of v by perm would come to transposes that
// undo it, and to no other reader. Then it is worth passing below even where the
// one above stays for somebody else: those below go.
func cancels(m *rewrite.Match, v *ir.Value, perm []int) bool {
	for range maxAhead {
		readers := m.Readers(v)
		if len(readers) == 0 || m.Uses(v) != len(readers) {
			return false
		}
		if r := readers[0]; r.Op != ir.Transpose && len(readers) == 1 {
			after, ok := passesBelow(m, r, v, perm)
			if !ok || after == nil {
				return false
			}
			v, perm = r, after
			continue
		}
		return !slices.ContainsFunc(readers, func(r *ir.Value) bool {
			return r.Op != ir.Transpose || !slices.IsSorted(permuted(perm, permOf(r)))
		})
	}
	return false
}

// rides reports whether a product reads a transpose of v by perm for nothing.
func rides(r, v *ir.Value, perm []int) bool {
	return (r.Op == ir.MatMul || r.Op == ir.Linear) && r.Args[1] == v && r.Args[0] != v && slices.Equal(perm, []int{1, 0})
}

// passesBelow reports whether a transpose of v by perm would pass its reader r,
// and by which it is transposed then; nil if that ends it.
func passesBelow(m *rewrite.Match, r, v *ir.Value, perm []int) (after []int, ok bool) {
	pass := passageOf(r.Op)
	if pass == nil || m.Uses(v) != times(r.Args, v) {
		return nil, false
	}
	// A trial: what v would be made of stands for it, and what comes out is dropped.
	above := &ir.Value{Op: ir.Input, Type: ir.Type{DType: v.Type.DType, Shape: permuted(v.Type.Shape, inverse(perm))}}
	made, after := pass(&rewrite.Builder{}, r, func(a *ir.Value) *ir.Value {
		if a == v {
			return above
		}
		return undone(a, perm)
	}, perm)
	switch {
	case made == nil:
		return nil, false
	case meets(m, r, perm, v) || staysInPlace(made.Type.Shape, after):
		return nil, true
	}
	return after, true
}

// below gives argument a of r as it is read where the transpose perm is gone:
// what it transposes; itself if it is a scalar; a view, if no more than axes of
// size 1 would have to move; or a constant, transposed when the program is
// compiled. Nil if it would have to be transposed.
func below(b *rewrite.Builder, a *ir.Value, source func(*ir.Value) *ir.Value, perm []int) *ir.Value {
	if x := source(a); x != nil {
		return x
	}
	rank := len(perm)
	if a.Type.Rank() == 0 || a.Type.Rank() > rank {
		return a
	}
	ones := slices.Repeat([]ir.Dim{ir.N(1)}, rank-a.Type.Rank())
	shape, back := append(ones, a.Type.Shape...), inverse(perm)
	if staysInPlace(shape, back) {
		return reshaped(b, a, permuted(shape, back))
	}
	if n, _ := a.Type.Bytes().Const(); a.Op == ir.Const && n <= maxFoldBytes {
		return transposed(b, reshaped(b, a, shape), back)
	}
	return nil
}

func allBelow(b *rewrite.Builder, args []*ir.Value, source func(*ir.Value) *ir.Value, perm []int) []*ir.Value {
	out := make([]*ir.Value, len(args))
	for i, a := range args {
		if a == nil {
			continue
		}
		if out[i] = below(b, a, source, perm); out[i] == nil {
			return nil
		}
	}
	return out
}

// passElementwise asks that one of the transposes is as large as the result:
// one that is repeated would become larger below.
func passElementwise(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	asLarge := slices.ContainsFunc(r.Args, func(a *ir.Value) bool {
		return a != nil && ir.SameShape(a.Type.Shape, r.Type.Shape) && source(a) != nil
	})
	args := allBelow(b, r.Args, source, perm)
	if !asLarge || args == nil {
		return nil, nil
	}
	return b.With(r.Op, args, r.Attrs), perm
}

// passBias keeps the bias one along the last axis; along another axis it is
// added as a view of its vector, which gives the same sums.
func passBias(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	last := len(perm) - 1
	x := source(r.Args[0])
	if x == nil {
		return nil, nil
	}
	if perm[last] == last {
		return b.Call(ir.BiasAdd, []*ir.Value{x, r.Args[1]}), perm
	}
	bias := below(b, r.Args[1], func(*ir.Value) *ir.Value { return nil }, perm)
	if bias == nil {
		return nil, nil
	}
	return b.Op("add", x, bias), perm
}

func passConcat(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	args := allBelow(b, r.Args, source, perm)
	if args == nil {
		return nil, nil
	}
	return b.With(r.Op, args, with(r, "axis", ir.IntLit(int64(perm[axisAttr(r)])))), perm
}

// passPad gives each axis the pair that it had.
func passPad(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	x, pairs := source(r.Args[0]), attrOf(r, "pairs").Dims
	if x == nil {
		return nil, nil
	}
	if len(pairs) <= 2 { // one pair for all
		return b.With(r.Op, []*ir.Value{x}, r.Attrs), perm
	}
	var moved []ir.Dim
	for _, i := range inverse(perm) {
		moved = append(moved, pairs[2*i], pairs[2*i+1])
	}
	return b.With(r.Op, []*ir.Value{x}, with(r, "pairs", ir.DimsLit(moved...))), perm
}

// passSlice takes the same of each axis.
func passSlice(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	x, spans := source(r.Args[0]), sliceSpans(r)
	if x == nil || spans == nil {
		return nil, nil
	}
	return sliced(b, x, permuted(spans, inverse(perm))), perm
}

// passAlong is for operators along one axis that keep the shape.
func passAlong(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	x := source(r.Args[0])
	if x == nil {
		return nil, nil
	}
	return b.With(r.Op, []*ir.Value{x}, with(r, "axis", ir.IntLit(int64(perm[axisAttr(r)])))), perm
}

// passLayerNorm lists the axes where they have gone, in the order given, which
// is that of weight and bias.
func passLayerNorm(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	args := slices.Clone(r.Args)
	if args[0] = source(r.Args[0]); args[0] == nil {
		return nil, nil
	}
	axes := permuted(perm, axesAttr(r, "axis", len(perm)))
	return b.With(r.Op, args, with(r, "axis", ints(axes))), perm
}

// passRMSNorm is along the last axis, which has to stay there.
func passRMSNorm(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	args, last := slices.Clone(r.Args), len(perm)-1
	if args[0] = source(r.Args[0]); args[0] == nil || perm[last] != last {
		return nil, nil
	}
	return b.With(r.Op, args, r.Attrs), perm
}

// passReduce asks that the axes that are reduced keep their order. A reduction
// of all axes runs in the order of memory.
func passReduce(b *rewrite.Builder, r *ir.Value, source func(*ir.Value) *ir.Value, perm []int) (*ir.Value, []int) {
	x, given := source(r.Args[0]), attrOf(r, "axis")
	if x == nil || given.IsNone() {
		return nil, nil
	}
	moved := ir.IntLit(0)
	var axes []int
	if given.Kind == ir.KInt {
		axes = []int{axisAttr(r)}
		moved.Int = int64(perm[axes[0]])
	} else {
		axes = axesAttr(r, "axis", len(perm))
		slices.Sort(axes)
		moved = ints(permuted(perm, axes))
	}
	if !slices.IsSorted(permuted(perm, axes)) {
		return nil, nil
	}
	made := b.With(r.Op, []*ir.Value{x}, with(r, "axis", moved))
	if attrOf(r, "keepdims").Int != 0 {
		return made, perm
	}
	return made, without(perm, axes)
}

// without is the order of the axes that are left when some of the transposed
// ones are gone.
func without(perm, axes []int) []int {
	var left []int
	for i, p := range perm {
		if !slices.Contains(axes, i) {
			left = append(left, p)
		}
	}
	order := slices.Sorted(slices.Values(left))
	for i, p := range left {
		left[i] = slices.Index(order, p)
	}
	return left
}

// with is the attributes of v with another value for one of them.
func with(v *ir.Value, name string, l ir.Lit) []ir.Lit {
	attrs := slices.Clone(v.Attrs)
	attrs[slices.IndexFunc(v.Op.Attrs, func(a ir.Attr) bool { return a.Name == name })] = l
	return attrs
}
