package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A sheet is element-wise operators on operands of any shapes, as a program on
// boxes. Its elements have an index along each of some axes, in three groups:
// columns, rows, and what lies outside. Each operand has a stride along each axis.
//
//	[8,12,64,64] + [8,1,1,64]    outside 8, rows 12*64, columns 64;
//	                             strides of the second: 64; 0; 1
type sheet struct {
	prog   *strip.Program
	codes  []vec.Code // of the program, for estimates
	within float64
	axes   [3][]axis
	views  []operand
	stream bool // results are written around the caches

	bytes    int  // of the results
	replaces bool // the first of which lies in an argument's place
}

// The groups of axes.
const (
	outerAxes = iota
	rowAxes
	colAxes
)

// An axis has a size and, by view, how many bytes lie between neighbours.
type axis struct {
	size  int
	steps []int
}

// An operand says what a view shows: an input of the task, one of its results, or
// the heart's result.
type operand struct {
	kind  operandKind
	index int // of the input, result or heart
	at    int // bytes from where that begins
}

type operandKind uint8

const (
	ofInput operandKind = iota
	ofHeart
	ofResult
)

// noHeart is for sheets of operators only.
const noHeart = -1

// size is how many indices a group has.
func (s *sheet) size(group int) int {
	n := 1
	for i := range s.axes[group] {
		n *= s.axes[group][i].size
	}
	return n
}

func (s *sheet) elements() int { return s.size(outerAxes) * s.size(rowAxes) * s.size(colAxes) }

// follows reports whether every view of an input has its elements in the order of
// the first result's, whose memory may then be the input's.
func (s *sheet) follows(input int) bool {
	first := s.prog.Inputs()
	for v, o := range s.views {
		if o != (operand{kind: ofInput, index: input}) {
			continue
		}
		for _, group := range s.axes {
			for _, a := range group {
				if a.size > 1 && a.steps[v] != a.steps[first] {
					return false
				}
			}
		}
	}
	return true
}

// settle drops axes of one index, joins neighbours that every view walks through
// with one stride, and shares all axes out anew: the last are columns, as many as
// cols, those before are rows.
func (s *sheet) settle(rows, cols int) {
	var all []axis
	for _, group := range s.axes {
		all = join2(all, group)
	}
	n := len(all)
	c := max(0, n-cols)
	r := max(0, c-rows)
	s.axes = [3][]axis{all[:r], all[r:c], all[c:]}
}

// tighten joins axes within their groups only.
func (s *sheet) tighten() {
	for g := range s.axes {
		s.axes[g] = join2(nil, s.axes[g])
	}
}

// join2 appends axes to joined ones.
func join2(joined, axes []axis) []axis {
	for _, a := range axes {
		if a.size == 1 {
			continue
		}
		if n := len(joined); n > 0 && joined[n-1].over(a) {
			joined[n-1] = axis{joined[n-1].size * a.size, a.steps}
			continue
		}
		joined = append(joined, a)
	}
	return joined
}

// over reports whether a step along the axis is as long as the whole of another.
func (a axis) over(inner axis) bool {
	for v, step := range a.steps {
		if step != inner.steps[v]*inner.size {
			return false
		}
	}
	return true
}

// box computes rows and columns, from a row and a column on, at an index outside.
// hearts show the heart's result for just these, and those of other hearts behind it.
func (s *sheet) box(x *Exec, hearts []strip.View, outer, row, rows, col, cols int, out, in []*tensor.T) {
	for r := 0; r < rows; {
		nr := s.run(rowAxes, row+r, rows-r)
		for c := 0; c < cols; {
			nc := s.run(colAxes, col+c, cols-c)
			s.part(x, hearts, [3]int{outer, row + r, col + c}, r, c, nr, nc, out, in)
			c += nc
		}
		r += nr
	}
}

// run is how many of n indices from at on are neighbours along the last axis of a
// group.
func (s *sheet) run(group, at, n int) int {
	axes := s.axes[group]
	if len(axes) <= 1 {
		return n
	}
	last := axes[len(axes)-1].size
	return min(n, last-at%last)
}

// part computes rows and columns that lie along the last axis of their groups.
func (s *sheet) part(x *Exec, hearts []strip.View, at [3]int, r, c, rows, cols int, out, in []*tensor.T) {
	views := x.shown(len(s.views))
	for v, o := range s.views {
		switch o.kind {
		case ofHeart:
			heart := hearts[o.index]
			views[v] = heart
			views[v].Ptr = unsafe.Add(heart.Ptr, r*heart.Row+c*heart.Col)
			continue
		case ofInput:
			views[v].Ptr = unsafe.Add(unsafe.Pointer(unsafe.SliceData(in[o.index].Data)), o.at)
		case ofResult:
			views[v].Ptr = unsafe.Add(unsafe.Pointer(unsafe.SliceData(out[o.index].Data)), o.at)
		}
		views[v].Row, views[v].Col = s.step(rowAxes, v), s.step(colAxes, v)
		views[v].Ptr = unsafe.Add(views[v].Ptr, s.offset(v, at))
	}
	if s.stream {
		s.prog.BoxStream(&x.strips, views, rows, cols)
		return
	}
	s.prog.Box(&x.strips, views, rows, cols)
}

// step is what a view walks along the last axis of a group.
func (s *sheet) step(group, view int) int {
	axes := s.axes[group]
	if len(axes) == 0 {
		return 0
	}
	return axes[len(axes)-1].steps[view]
}

// offset is where a view's element of an index of each group is.
func (s *sheet) offset(view int, at [3]int) int {
	sum := 0
	for g, axes := range s.axes {
		if len(axes) == 1 {
			sum += at[g] * axes[0].steps[view]
			continue
		}
		rest := at[g]
		for i := len(axes) - 1; i >= 0; i-- {
			sum += rest % axes[i].size * axes[i].steps[view]
			rest /= axes[i].size
		}
	}
	return sum
}
