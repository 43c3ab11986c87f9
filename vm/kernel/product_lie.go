package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// A lie says where the elements of a value lie within an input of its body: that of
// an index at a place, plus the sum of the index times the steps, in elements.
type lie struct {
	input int
	shape []int
	steps []int
	at    int
}

// lieOf follows views, transpositions, broadcasts and slices from a value to the input
// that has its elements; ok is false if something else is on the way, or a view that
// has no steps.
func lieOf(b *Body, v int) (l lie, ok bool) {
	if v < len(b.In) {
		shape := b.In[v].Ints()
		return lie{v, shape, tensor.Strides(shape), 0}, true
	}
	o, result := b.Def(v)
	if o == nil || len(o.Args) == 0 || o.Args[0] == Absent {
		return lie{}, false
	}
	if l, ok = lieOf(b, o.Args[0]); !ok {
		return lie{}, false
	}
	if stay := stays[nameOf(o)]; stay != nil {
		return stay(l, o, b.Type(v).Ints())
	}
	return l.part(o.Call, result)
}

// part is the lie of a result that is a block of the first argument: one that split or
// slice make.
func (l lie) part(c *ir.Call, result int) (lie, bool) {
	list, ok := c.Layouts()
	if !ok || !keepsSize(c) {
		return lie{}, false
	}
	of := list[result]
	block, ok := move.Block{Offset: of.Offset, Shape: of.Shape, Strides: of.Strides}.Of(move.Block{Offset: l.at, Shape: l.shape, Strides: l.steps})
	if !ok || !slices.Equal(block.Shape, of.Shape) || slices.ContainsFunc(block.Strides, func(s int) bool { return s < 0 }) {
		return lie{}, false
	}
	return lie{l.input, block.Shape, block.Strides, block.Offset}, true
}

// nameOf is an operator's name; all views have that of reshape.
func nameOf(o *Op) string {
	if o.Call == nil || o.Call.Op.Flags&ir.View != 0 && o.Results() == 1 {
		return "reshape"
	}
	return o.Call.Op.Name
}

// stays are the operators that leave elements where they are, by what they do to
// the steps; to is the shape of the result.
var stays = map[string]func(l lie, o *Op, to []int) (lie, bool){
	"reshape": func(l lie, _ *Op, to []int) (lie, bool) {
		steps, ok := reshapedSteps(l.shape, l.steps, to)
		return lie{l.input, to, steps, l.at}, ok
	},
	"transpose": func(l lie, o *Op, to []int) (lie, bool) {
		steps := make([]int, len(to))
		for i, a := range permutation(o.Call, len(to)) {
			steps[i] = l.steps[a]
		}
		return lie{l.input, to, steps, l.at}, true
	},
	"expand": func(l lie, _ *Op, to []int) (lie, bool) {
		return lie{l.input, to, expandedSteps(l, to), l.at}, true
	},
}

// expandedSteps are the steps of a value under a shape that it is broadcast to.
func expandedSteps(l lie, to []int) []int {
	steps := make([]int, len(to))
	lead := len(to) - len(l.shape)
	for i, n := range l.shape {
		if n == to[lead+i] {
			steps[lead+i] = l.steps[i]
		}
	}
	return steps
}

// reshapedSteps finds steps for another shape of the same elements in the same
// order; ok is false if there are none without a copy.
func reshapedSteps(shape, steps, to []int) (made []int, ok bool) {
	made = make([]int, len(to))
	if slices.Contains(to, 0) {
		return made, true
	}
	shape, steps = joinedAxes(shape, steps)
	// The innermost axes come first; each old one is shared out among new ones.
	at := len(shape) - 1
	left, step := 1, 0
	if at >= 0 {
		left, step = shape[at], steps[at]
	}
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] == 1 {
			continue
		}
		for left == 1 && at > 0 {
			at--
			left, step = shape[at], steps[at]
		}
		if left%to[i] != 0 {
			return nil, false
		}
		made[i] = step
		step *= to[i]
		left /= to[i]
	}
	return made, true
}

// joinedAxes drops axes of one index and joins neighbours that are one walk.
func joinedAxes(shape, steps []int) (sizes, by []int) {
	for i, n := range shape {
		if n == 1 {
			continue
		}
		if last := len(sizes) - 1; last >= 0 && by[last] == steps[i]*n {
			sizes[last], by[last] = sizes[last]*n, steps[i]
			continue
		}
		sizes, by = append(sizes, n), append(by, steps[i])
	}
	return sizes, by
}
