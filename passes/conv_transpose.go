package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A transposed convolution as plain ones, which have kernels.
//
//	%y = conv_transpose %x, %w {stride=[2]} : f32[N,8,2*H]     (of f32[N,3,H], f32[3,8,4])
//	=>
//	%f = transpose of %w : f32[2,8,3,2], its windows flipped, as f32[16,3,2]
//	%c = conv %x, %f {pad=[1]} : f32[N,16,H+1]
//	%y = its rows in turns, the one of every first result and that of every second
//
// The results with one place among as many as the stride are one convolution without
// stride (ir.Phase). If all of them see as many elements of the window, as above, they are
// one convolution of so many times the filters; else there is one for each, since filters
// filled up with zeros would make NaN of what is infinite. Filters are constant nearly
// always, and what is done to them is done once.

func convTransposeToConv(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	stretches, ok := ir.StretchesOf(m.Root.Call())
	if !ok {
		return nil
	}
	u := &untransposer{b: b, root: m.Root, stretches: stretches, turns: 1, groups: ir.N(attrOf(m.Root, "groups").Int)}
	u.x, u.w = m.Root.Args[0], m.Root.Args[1]
	if len(m.Root.Args) > 2 {
		u.bias = m.Root.Args[2]
	}
	u.inputs, u.outputs = u.w.Type.Shape[0].Div(u.groups), u.w.Type.Shape[1]
	alike := true
	for _, s := range stretches {
		u.turns *= len(s.Phases)
		alike = alike && phasesAlike(s.Phases)
	}
	switch {
	case u.turns > maxTurns:
		return nil
	case alike:
		return u.inTurns(u.together())
	}
	return u.inTurns(u.apart())
}

// maxTurns bounds the convolutions that one becomes: strides of up to 4 along each of three
// axes.
const maxTurns = 64

// phasesAlike reports whether phases differ in nothing but the elements of the window that
// they see, which they take in turns.
func phasesAlike(phases []ir.Phase) bool {
	for p, f := range phases {
		if f.First = 0; phases[p].First != p || f != phases[0] {
			return false
		}
	}
	return true
}

// An untransposer writes a transposed convolution anew.
type untransposer struct {
	b               *rewrite.Builder
	root            *ir.Value
	x, w, bias      *ir.Value
	groups          ir.Dim
	inputs, outputs ir.Dim // of a group
	stretches       []ir.Stretch
	turns           int // phases of all axes
}

// together makes one convolution of all phases:
// [N, groups, stride..., outputs, spatial...].
func (u *untransposer) together() *ir.Value {
	split, perm := []ir.Dim{u.groups, u.inputs, u.outputs}, []int{0}
	sizes, flipped := []ir.Dim{}, []int{}
	phases := make([]ir.Phase, len(u.stretches))
	for i, s := range u.stretches {
		phases[i] = s.Phases[0]
		size := ir.N(int64(phases[i].Size))
		split, sizes = append(split, size, ir.N(int64(len(s.Phases)))), append(sizes, size)
		perm, flipped = append(perm, 4+2*i), append(flipped, 2+i)
	}
	perm = append(perm, 2, 1)
	for i := range u.stretches {
		perm = append(perm, 3+2*i)
	}
	turns := ir.N(int64(u.turns))
	filters := transposed(u.b, reshaped(u.b, u.w, split), perm)
	filters = reshaped(u.b, filters, append([]ir.Dim{u.groups.Mul(turns).Mul(u.outputs), u.inputs}, sizes...))
	y := u.conv(u.flip(filters, flipped), u.biases(turns), phases)
	return u.parted(y, 2)
}

// biases are those of every phase.
func (u *untransposer) biases(turns ir.Dim) *ir.Value {
	if u.bias == nil || turns.Is(1) {
		return u.bias
	}
	each := reshaped(u.b, u.bias, []ir.Dim{u.groups, ir.N(1), u.outputs})
	all := u.b.Call(ir.Expand, []*ir.Value{each}, set("dims", ir.DimsLit(u.groups, turns, u.outputs)))
	return reshaped(u.b, all, []ir.Dim{u.groups.Mul(turns).Mul(u.outputs)})
}

// apart makes a convolution of each phase, in the form of together.
func (u *untransposer) apart() *ir.Value {
	var all []*ir.Value
	at := make([]int, len(u.stretches))
	for range u.turns {
		y := u.phase(at)
		if y == nil {
			return nil
		}
		shape := append([]ir.Dim{y.Type.Shape[0], u.groups, u.outputs}, y.Type.Shape[2:]...)
		all = append(all, reshaped(u.b, y, shape))
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < len(u.stretches[i].Phases) {
				break
			}
			at[i] = 0
		}
	}
	stacked := u.b.Call(ir.Stack, all, set("axis", ir.IntLit(2)))
	return u.parted(stacked, 4)
}

// phase makes the convolution of one phase: [N, groups*outputs, spatial...]; nil if it sees
// nothing of the window.
func (u *untransposer) phase(at []int) *ir.Value {
	spans := whole(u.w.Type.Shape)
	phases := make([]ir.Phase, len(at))
	split := []ir.Dim{u.groups, u.inputs, u.outputs}
	perm, flipped := []int{0, 2, 1}, []int{}
	sizes := []ir.Dim{u.groups.Mul(u.outputs), u.inputs}
	for i, s := range u.stretches {
		f := s.Phases[at[i]]
		if f.Size == 0 {
			return nil
		}
		size := ir.N(int64(f.Size))
		phases[i], spans[2+i] = f, span{ir.N(int64(f.First)), size, int64(f.Each)}
		split, sizes = append(split, size), append(sizes, size)
		perm, flipped = append(perm, 3+i), append(flipped, 2+i)
	}
	filters := transposed(u.b, reshaped(u.b, sliced(u.b, u.w, spans), split), perm)
	return u.conv(u.flip(reshaped(u.b, filters, sizes), flipped), u.bias, phases)
}

// flip reverses windows along the axes that have more than one element.
func (u *untransposer) flip(filters *ir.Value, axes []int) *ir.Value {
	if filters == nil {
		return nil
	}
	axes = slices.DeleteFunc(axes, func(a int) bool { return filters.Type.Shape[a].Is(1) })
	if len(axes) == 0 {
		return filters
	}
	return u.b.Call(ir.Flip, []*ir.Value{filters}, set("axis", ints(axes)))
}

// conv makes a convolution of x that has the results of some phases; nil where x would have
// to be cut.
func (u *untransposer) conv(filters, bias *ir.Value, phases []ir.Phase) *ir.Value {
	var pad, dilation []int64
	for i, f := range phases {
		behind := u.stretches[i].Longer - f.Before + (f.Size-1)*f.Spread
		if f.Size == 0 || f.Before < 0 || behind < 0 {
			return nil
		}
		pad, dilation = append(pad, int64(f.Before), int64(behind)), append(dilation, int64(f.Spread))
	}
	attrs := []rewrite.Set{set("pad", ir.IntsLit(pad...)), set("groups", attrOf(u.root, "groups"))}
	if slices.Max(dilation) > 1 {
		attrs = append(attrs, set("dilation", ir.IntsLit(dilation...)))
	}
	return u.b.Call(ir.Conv, []*ir.Value{u.x, filters, bias}, attrs...)
}

// parted gives results their axes of groups and phases in the place of so many axes before
// the spatial ones.
func (u *untransposer) parted(y *ir.Value, before int) *ir.Value {
	if y == nil {
		return nil
	}
	shape := []ir.Dim{y.Type.Shape[0], u.groups}
	for _, s := range u.stretches {
		shape = append(shape, ir.N(int64(len(s.Phases))))
	}
	return reshaped(u.b, y, append(append(shape, u.outputs), y.Type.Shape[before:]...))
}

// inTurns brings the results of phases in the order of the whole ones, and leaves out what
// is before the first and behind the last.
func (u *untransposer) inTurns(y *ir.Value) *ir.Value {
	if y == nil {
		return nil
	}
	n := len(u.stretches)
	perm := []int{0, 1, 2 + n}
	shape := []ir.Dim{y.Type.Shape[0], u.groups.Mul(u.outputs)}
	spans := whole(u.root.Type.Shape)
	for i, s := range u.stretches {
		perm = append(perm, 3+n+i, 2+i)
		shape = append(shape, y.Type.Shape[3+n+i].Mul(ir.N(int64(len(s.Phases)))))
		spans[2+i].start = ir.N(int64(s.Skip))
	}
	return sliced(u.b, reshaped(u.b, transposed(u.b, y, perm), shape), spans)
}
