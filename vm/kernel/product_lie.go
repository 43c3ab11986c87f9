package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A lie says where the elements of a value lie within an input of its body: that of
// an index at the sum of the index times the steps, in elements.
type lie struct {
	input int
	shape []int
	steps []int
}

// lieOf follows views, transpositions and broadcasts from a value to the input that
// has its elements; ok is false if something else is on the way, or a view that has
// no steps.
func lieOf(b *Body, v int) (l lie, ok bool) {
	if v < len(b.In) {
		shape := b.In[v].Ints()
		return lie{v, shape, tensor.Strides(shape)}, true
	}
	o, _ := b.Def(v)
	if o == nil || len(o.Args) == 0 || o.Args[0] == Absent {
		return lie{}, false
	}
	move := stays[nameOf(o)]
	if move == nil {
		return lie{}, false
	}
	if l, ok = lieOf(b, o.Args[0]); !ok {
		return lie{}, false
	}
	return move(l, o, b.Type(v).Ints())
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
		return lie{l.input, to, steps}, ok
	},
	"transpose": func(l lie, o *Op, to []int) (lie, bool) {
		steps := make([]int, len(to))
		for i, a := range permutation(o.Call, len(to)) {
			steps[i] = l.steps[a]
		}
		return lie{l.input, to, steps}, true
	},
	"expand": func(l lie, _ *Op, to []int) (lie, bool) {
		return lie{l.input, to, expandedSteps(l, to)}, true
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
