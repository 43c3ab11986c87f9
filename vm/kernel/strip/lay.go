package strip

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/vec"
)

// Rows that are no longer than a few blocks are not worth a call each, nor a rest that is
// staged. Where results lie dense, rows and columns are one row as soon as what does not has
// been laid out like them:
//
//	[8192,8] + [8]          the eight, again and again
//	[64,49] + [64,1]        each of the 64, 49 times

// laid is how many blocks of an operand are laid out at a time: they stay in the first
// cache beside what walks.
const laid = 32

// lays reports whether some operands are to be laid out: where rows are short, and where
// those of some blocks and a rest need what is the same for all rows, which is laid out
// once.
func (r *run) lays() bool {
	if r.rows == 1 || r.cols >= 16*vec.Lanes {
		return false
	}
	short, again := r.cols < 4*vec.Lanes, false
	for i := range r.views {
		if r.flat(i) {
			continue
		}
		if i >= r.p.inputs {
			return false
		}
		again = again || r.views[i].Row != 0
	}
	return short || !again && r.cols%vec.Lanes != 0
}

// flat reports whether a view's rows lie behind each other, element by element.
func (r *run) flat(i int) bool {
	v := &r.views[i]
	return v.Col == r.p.elems[i].Size() && v.Row == r.cols*v.Col
}

// spread runs the program on some rows at a time, as one row.
func (r *run) spread() {
	rows := min(r.rows, r.laidRows())
	code := r.code
	if rows*r.cols%vec.Lanes != 0 {
		code = r.p.code // results that go around the caches begin with a line
	}
	r.s.lay(len(r.views))
	for row := 0; row < r.rows; row += rows {
		n := min(rows, r.rows-row)
		for i := range r.views {
			switch v := &r.views[i]; {
			case r.flat(i):
				r.s.table[i] = vec.Walks(v.at(row, 0), v.Col)
			case !r.fixed(i):
				if row == 0 || v.Row != 0 {
					r.layOut(i, row, n)
				}
				r.s.table[i] = vec.Walks(r.s.laidAt(i), r.p.elems[i].Size())
			}
		}
		blocks, rest := n*r.cols/vec.Lanes, n*r.cols%vec.Lanes
		vec.Run(r.p.level, &r.s.state, code, r.s.table, len(r.views), blocks)
		if rest > 0 {
			at := n*r.cols - rest
			r.staged(row+at/r.cols, at%r.cols, rest)
		}
	}
}

// laidRows is how many rows are laid out at a time: whole blocks, if they are not too many.
func (r *run) laidRows() int {
	unit := vec.Lanes
	for unit > 1 && unit/2*r.cols%vec.Lanes == 0 {
		unit /= 2
	}
	most := laid * vec.Lanes / r.cols
	if most >= unit {
		most = most / unit * unit
	}
	return max(1, most)
}

// layOut writes an operand's elements of n rows as dense ones: where they are the same for
// all rows those of one, and copies of them.
func (r *run) layOut(i, row, n int) {
	to, v := r.s.laidAt(i), &r.views[i]
	if v.Row != 0 {
		r.gather(i, to, row, 0, n*r.cols)
		return
	}
	r.gather(i, to, row, 0, r.cols)
	bytes := r.cols * r.p.elems[i].Size()
	all := unsafe.Slice((*byte)(to), n*bytes)
	for done := bytes; done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
}
