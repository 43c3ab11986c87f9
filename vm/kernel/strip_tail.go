package kernel

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
)

// A tail is what follows one operator of a body, its heart, element by element:
// biases, activations, residuals, also through views and transpositions. The heart's
// result is rows and columns, and any number of these: [8,12,512,64] is 96 of 512
// rows and 64 columns.
type tail struct {
	sheet *sheet
	heart int // the operator
}

// tailOf finds the tail of an operator of a body: everything behind it must be
// element-wise, and each of its elements needed once. The last cols axes of its result
// are columns, the axis before is rows. The error says in a few words why there is
// none. Operators that the heart reads are not looked at.
func tailOf(b *Body, heart, cols int, level isa.Level) (t *tail, why string) {
	o := &b.Ops[heart]
	for i := heart + 1; i < len(b.Ops); i++ {
		if c := b.Ops[i].Call; c != nil && loweringOf(c) == nil {
			return nil, c.Op.Name + " is not element-wise on " + dtypes(c)
		}
	}
	shape := o.Call.Out[0].Ints()
	for _, v := range b.Out {
		if count(b.Type(v).Ints()) != count(shape) {
			return nil, "a result of another size"
		}
	}
	s, why := sheetOf(b, level, heart, b.Type(b.Out[0]).Ints())
	if why != "" {
		return nil, why
	}
	if !s.group(shape, cols) {
		return nil, "its elements are needed several times, or not all"
	}
	return &tail{s, heart}, ""
}

// box computes the tail of rows and columns of the heart's result, which stand in
// hearts, at a place: the index of the matrix, and where in it they begin. The columns
// are counted through all of their axes. It writes what belongs there into out. Results
// of other hearts stand behind the heart's.
func (t *tail) box(x *Exec, hearts []strip.View, matrix, row, rows, col, cols int, out, in []*tensor.T) {
	t.sheet.box(x, hearts, matrix, row, rows, col, cols, out, in)
}

// group orders the axes as the heart's result has them, and shares them out. It
// reports whether they are all of that result's, each once.
func (s *sheet) group(shape []int, cols int) bool {
	heart := slices.IndexFunc(s.views, func(o operand) bool { return o.kind == ofHeart })
	if heart < 0 {
		return false
	}
	axes := slices.DeleteFunc(s.axes[colAxes], func(a axis) bool { return a.size == 1 })
	slices.SortStableFunc(axes, func(a, b axis) int { return b.steps[heart] - a.steps[heart] })
	size := strip.F32.Size()
	for _, a := range slices.Backward(axes) {
		if a.steps[heart] != size {
			return false
		}
		size *= a.size
	}
	if size != strip.F32.Size()*count(shape) {
		return false
	}
	s.axes = [3][]axis{}
	own := tensor.Strides(shape)
	for _, a := range axes {
		k := axisOf(shape, own, a.steps[heart]/strip.F32.Size())
		g := groupOf(k, len(shape), cols)
		s.axes[g] = append(s.axes[g], a)
	}
	s.tighten()
	return true
}

// groupOf is the group of an axis of the heart's result.
func groupOf(axis, rank, cols int) int {
	switch {
	case axis >= rank-cols:
		return colAxes
	case axis == rank-cols-1:
		return rowAxes
	}
	return outerAxes
}
