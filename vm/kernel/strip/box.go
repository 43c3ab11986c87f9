package strip

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/vec"
)

// Box computes the results of a box of rows and columns. views are the operands',
// then the results', in the order of the builder's calls. A result may lie exactly
// where an operand of its size lies, and overlaps no other.
func (p *Program) Box(s *Scratch, views []View, rows, cols int) {
	p.box(s, views, rows, cols, p.code)
}

// BoxStream is Box for results that are larger than the caches: where it can, it
// writes them around the caches.
func (p *Program) BoxStream(s *Scratch, views []View, rows, cols int) {
	code := p.stream
	for _, v := range views[p.inputs:] {
		if code == nil || (uintptr(v.Ptr)|uintptr(v.Row))%vec.Align != 0 && (rows > 1 || uintptr(v.Ptr)%vec.Align != 0) {
			code = p.code
		}
	}
	p.box(s, views, rows, cols, code)
	vec.Fence(p.level)
}

func (p *Program) box(s *Scratch, views []View, rows, cols int, code []vec.Inst) {
	if rows <= 0 || cols <= 0 {
		return
	}
	s.fit(p)
	r := run{p: p, s: s, views: views[:len(p.elems)], code: code, rows: rows, cols: cols, streams: len(code) > 0 && len(p.stream) > 0 && &code[0] == &p.stream[0]}
	r.flatten()
	r.splats()
	switch {
	case r.lays():
		r.spread()
	case r.scattered():
		r.staged(0, 0, r.rows*r.cols)
	case r.cols < vec.Lanes && r.rows > 1:
		r.staged(0, 0, r.rows*r.cols)
	case r.long():
		r.down()
	default:
		r.direct()
	}
	s.clear(p)
}

// A run is one call of Box.
type run struct {
	p          *Program
	s          *Scratch
	views      []View
	code       []vec.Inst
	rows, cols int
	streams    bool // around the caches
}

// flatten makes one row of rows that lie behind each other in every view.
func (r *run) flatten() {
	if r.rows == 1 {
		return
	}
	for i := range r.views {
		if v := &r.views[i]; v.Row != r.cols*v.Col {
			return
		}
	}
	r.cols *= r.rows
	r.rows = 1
}

// splats fills the blocks of operands that are one element for all.
func (r *run) splats() {
	for i := range r.views[:r.p.inputs] {
		if v := &r.views[i]; v.Col == 0 && (v.Row == 0 || r.rows == 1) {
			r.splat(i, v.Ptr)
		}
	}
}

// splat fills an operand's block with an element and shows it to the program.
func (r *run) splat(i int, p unsafe.Pointer) {
	b := r.s.stage(i)
	fill[r.p.elems[i].Size()](b.Pointer(), p)
	r.s.table[i] = vec.Stays(b.Pointer())
}

// fixed reports whether an operand is one element for the whole box.
func (r *run) fixed(i int) bool {
	v := &r.views[i]
	return v.Col == 0 && (v.Row == 0 || r.rows == 1)
}

// scattered reports whether some view's elements don't lie behind each other.
func (r *run) scattered() bool {
	for i := range r.views {
		if c := r.views[i].Col; c != 0 && c != r.p.elems[i].Size() {
			return true
		}
	}
	return false
}

// direct runs the program on the operands where they are, but for what is left of
// each row behind its last whole block.
func (r *run) direct() {
	blocks, rest := r.cols/vec.Lanes, r.cols%vec.Lanes
	for row := range r.rows {
		for i := range r.views {
			switch v := &r.views[i]; {
			case v.Col != 0:
				r.s.table[i] = vec.Walks(v.at(row, 0), v.Col)
			case !r.fixed(i):
				r.splat(i, v.at(row, 0))
			}
		}
		vec.Run(r.p.level, &r.s.state, r.code, r.s.table, len(r.views), blocks)
		if rest > 0 {
			r.staged(row, r.cols-rest, rest)
		}
	}
}

// What lies in the first cache beside what streams by: so many bytes of operands that are
// the same for all rows.
const near = 16 << 10

// group is how many rows are computed in turn, column by column: more would take what they
// are to find ahead of them in the first cache away from each other.
const group = 4

// long reports whether results go around the caches while what every row needs would come
// from the second cache for each row.
func (r *run) long() bool {
	bytes := 0
	for i := range r.views {
		switch v := &r.views[i]; {
		case v.Col == 0 && !r.fixed(i):
			return false
		case v.Row == 0:
			bytes += r.cols * v.Col
		}
	}
	return r.streams && r.rows > 1 && bytes > near
}

// down runs the program for groups of rows: a block of each row, before the next columns.
func (r *run) down() {
	blocks, rest := r.cols/vec.Lanes, r.cols%vec.Lanes
	for row := 0; row < r.rows; row += group {
		n := min(group, r.rows-row)
		for b := range blocks {
			for i := range r.views {
				if v := &r.views[i]; !r.fixed(i) {
					r.s.table[i] = vec.Steps(v.at(row, b*vec.Lanes), v.Row)
				}
			}
			vec.Run(r.p.level, &r.s.state, r.code, r.s.table, len(r.views), n)
		}
		for i := range n {
			r.staged(row+i, r.cols-rest, rest)
		}
	}
}

// staged computes n elements from a place on, in the order of rows and columns, by
// way of the staged blocks.
func (r *run) staged(row, col, n int) {
	for n > 0 {
		size := min(n, vec.Lanes)
		for i := range r.views {
			if i < r.p.inputs && r.fixed(i) {
				continue
			}
			b := r.s.stage(i).Pointer()
			r.s.table[i] = vec.Stays(b)
			if i < r.p.inputs {
				r.gather(i, b, row, col, size)
			}
		}
		vec.Run(r.p.level, &r.s.state, r.p.code, r.s.table, len(r.views), 1)
		for i := r.p.inputs; i < len(r.views); i++ {
			r.scatter(i, r.s.stage(i).Pointer(), row, col, size)
		}
		n -= size
		col += size
		row += col / r.cols
		col %= r.cols
	}
}

// gather collects an operand's elements in a block.
func (r *run) gather(i int, to unsafe.Pointer, row, col, n int) {
	v, size := &r.views[i], r.p.elems[i].Size()
	for n > 0 {
		part := min(n, r.cols-col)
		move[size](to, v.at(row, col), size, v.Col, part)
		to = unsafe.Add(to, part*size)
		n -= part
		row, col = row+1, 0
	}
}

// scatter takes a result's elements out of a block.
func (r *run) scatter(i int, from unsafe.Pointer, row, col, n int) {
	v, size := &r.views[i], r.p.elems[i].Size()
	for n > 0 {
		part := min(n, r.cols-col)
		move[size](v.at(row, col), from, v.Col, size, part)
		from = unsafe.Add(from, part*size)
		n -= part
		row, col = row+1, 0
	}
}
