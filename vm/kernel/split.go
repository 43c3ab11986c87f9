package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A Split computes one call by parts, in any order or at the same time. Each
// part is a call of the same operator on slices of arguments and result: a range
// of rows, for one index of each axis before. So parts compute each element as the
// whole does, bit for bit. It is made once, and serves any number of runs.
type Split struct {
	shapes [2]*ir.Call // calls of full parts, and of those with what is left of an axis
	types  [2][]slice  // by operand, the result first
	chunks int         // parts along the axis that is cut
	at     [][]int64   // by part and operand: the offset in bytes
}

// A slice is what a part sees of an operand.
type slice struct {
	shape []int
	bytes int64
}

// A portion has the tensors of one part under way.
type portion struct {
	call    ir.Call
	tensors []tensor.T
	list    []*tensor.T
}

// SplitOf cuts a call that runs by its operator's evaluation into at least want parts where the shape
// has as many, but not into twice as many; nil if it can't.
func SplitOf(c *ir.Call, want int) *Split {
	if len(c.Out) != 1 || want < 2 {
		return nil
	}
	rows := referenceRows(c)
	shape := c.Out[0].Ints()
	axis, outer := cutAt(shape, rows.axes, want)
	if axis < 0 {
		return nil
	}
	chunks := min((want+outer-1)/outer, shape[axis])
	rest := shape[axis] % chunks
	size := shape[axis] / chunks
	if rest > 0 { // all but the last are equal
		size++
		chunks = (shape[axis] + size - 1) / size
		rest = shape[axis] % size
	}
	s := &Split{chunks: chunks}
	for i, n := range []int{size, rest} {
		if n > 0 && !s.shape(i, c, rows, axis, n) {
			return nil
		}
	}
	if outer*chunks < 2 {
		return nil
	}
	s.place(c, rows, shape, axis, outer, size)
	return s
}

// cutAt finds the first axis at which the result has enough rows; outer is how
// many indices the axes before have. If there are too few, it is the last one.
func cutAt(shape []int, axes, want int) (axis, outer int) {
	axis, outer = -1, 1
	for i, n := range shape[:axes] {
		if n == 0 {
			return -1, 0
		}
		if axis >= 0 {
			outer *= shape[axis]
		}
		axis = i
		if outer*n >= want {
			break
		}
	}
	return axis, outer
}

// shape makes the call of parts with n rows. Argument and result have size 1
// along the axes before. It reports whether there is such a call.
func (s *Split) shape(i int, c *ir.Call, rows rows, axis, n int) bool {
	cut := func(t ir.Type, follows []int) ir.Type {
		shape := append([]ir.Dim{}, t.Shape...)
		for j, a := range follows {
			switch {
			case a < 0 || a > axis || shape[j].Is(1):
			case a == axis:
				shape[j] = ir.N(int64(n))
			default:
				shape[j] = ir.N(1)
			}
		}
		return ir.T(t.DType, shape...)
	}
	part := &ir.Call{Op: c.Op, Attrs: c.Attrs, In: make([]ir.Type, len(c.In))}
	for j, t := range c.In {
		part.In[j] = t
		if !t.Absent() {
			if !follow(t, c.Out[0], rows.args[j], axis) {
				return false
			}
			part.In[j] = cut(t, rows.args[j])
		}
	}
	want := cut(c.Out[0], upTo(axis+1))
	if ir.InferCall(part) != nil || len(part.Out) != 1 || !part.Out[0].Equal(want) {
		return false
	}
	s.shapes[i] = part
	for _, t := range append([]ir.Type{want}, part.In...) {
		if t.Absent() {
			s.types[i] = append(s.types[i], slice{})
			continue
		}
		bytes, _ := t.Bytes().Const()
		s.types[i] = append(s.types[i], slice{t.Ints(), bytes})
	}
	return true
}

// follow reports whether an argument is cut where the result is: along each axis
// up to the one that is cut it has the result's size or 1.
func follow(t, out ir.Type, follows []int, axis int) bool {
	for j, a := range follows {
		if a >= 0 && a <= axis && !t.Shape[j].Is(1) && !t.Shape[j].Equal(out.Shape[a]) {
			return false
		}
	}
	return true
}

// place finds where each part begins in each operand.
func (s *Split) place(c *ir.Call, rows rows, shape []int, axis, outer, size int) {
	operands := append([]ir.Type{c.Out[0]}, c.In...)
	follows := append([][]int{upTo(axis + 1)}, rows.args...)
	steps := make([][]int64, len(operands)) // by operand and axis of the result, in bytes
	for i, t := range operands {
		steps[i] = make([]int64, axis+1)
		if t.Absent() {
			continue
		}
		for j, stride := range tensor.Strides(t.Ints()) {
			if j < len(follows[i]) && follows[i][j] >= 0 && follows[i][j] <= axis && !t.Shape[j].Is(1) {
				steps[i][follows[i][j]] = int64(stride * t.DType.Size())
			}
		}
	}
	s.at = make([][]int64, outer*s.chunks)
	for p := range s.at {
		s.at[p] = make([]int64, len(operands))
		for i := range operands {
			s.at[p][i] = int64(p%s.chunks*size) * steps[i][axis]
			for a, o := axis-1, p/s.chunks; a >= 0; a-- {
				s.at[p][i] += int64(o%shape[a]) * steps[i][a]
				o /= shape[a]
			}
		}
	}
}

// Parts is the number of parts.
func (s *Split) Parts() int { return len(s.at) }

// run computes one part of a call, of the call's results and arguments.
func (s *Split) run(x *Exec, part int, out, in []*tensor.T) error {
	kind := 0
	if s.shapes[1] != nil && part%s.chunks == s.chunks-1 {
		kind = 1
	}
	types, at := s.types[kind], s.at[part]
	p := &x.part
	p.grow(len(types))
	p.show(0, out[0], types[0], at[0])
	for i, t := range in {
		p.show(i+1, t, types[i+1], at[i+1])
	}
	p.call = *s.shapes[kind]
	p.call.Budget, p.call.Scratch, p.call.Into = x.Budget, &x.Scratch, p.list[:1:1]
	results, err := ir.Evaluate(&p.call, p.list[1:len(types)]...)
	if err == nil && results[0] != p.list[0] {
		copy(p.list[0].Data, results[0].Data)
	}
	return err
}

// clear lets go of the memory of the last part.
func (p *portion) clear() {
	if p.call.Op != nil {
		p.call = ir.Call{}
		clear(p.tensors)
	}
}

// grow makes room for the tensors of n operands.
func (p *portion) grow(n int) {
	if len(p.tensors) < n {
		p.tensors, p.list = make([]tensor.T, n), make([]*tensor.T, n)
	}
}

// show lets an operand of the part be a slice of the call's.
func (p *portion) show(i int, of *tensor.T, s slice, at int64) {
	p.list[i] = nil
	if of != nil {
		p.tensors[i] = tensor.T{DType: of.DType, Shape: s.shape, Data: of.Data[at : at+s.bytes : at+s.bytes]}
		p.list[i] = &p.tensors[i]
	}
}
