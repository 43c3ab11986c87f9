package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A stripTask is the Runner of a sheet without a heart.
type stripTask struct {
	sheet *sheet
	own   int // of stripWays
}

func (t *stripTask) twin(*Body, *Options) Runner { return t }

// Parts cuts rows, or columns if there are few rows.
func (t *stripTask) Parts(want int) int {
	rows, cols := t.rows(), t.sheet.size(colAxes)
	switch blocks := cols / vec.Lanes; {
	case rows >= want*4 || rows >= want && rows >= blocks:
		return max(want, 1)
	case blocks >= want:
		return max(want, 1)
	default:
		return max(1, min(want, max(rows, blocks)))
	}
}

// rows is how many rows there are, those of all boxes.
func (t *stripTask) rows() int { return t.sheet.size(outerAxes) * t.sheet.size(rowAxes) }

// byRows reports whether so many parts are ranges of rows.
func (t *stripTask) byRows(parts int) bool {
	rows, blocks := t.rows(), t.sheet.size(colAxes)/vec.Lanes
	return rows >= parts*4 || rows >= parts && rows >= blocks || blocks < parts
}

// chunk is how many elements are computed before the budget is asked again.
const chunk = 1 << 18

func (t *stripTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	s := t.sheet
	row, rows, col, cols := 0, t.rows(), 0, s.size(colAxes)
	if parts > 1 && t.byRows(parts) {
		row, rows = share(rows, part, parts, 1)
	} else if parts > 1 {
		col, cols = share(cols, part, parts, vec.Lanes)
	}
	each := s.size(rowAxes)
	for rows > 0 && cols > 0 {
		n := min(rows, each-row%each, max(1, chunk/cols))
		for at := 0; at < cols; at += chunk {
			if err := x.Stop(); err != nil {
				return err
			}
			s.box(x, nil, row/each, row%each, n, col+at, min(chunk, cols-at), out, in)
		}
		row, rows = row+n, rows-n
	}
	return nil
}

// share is the part of n things that are given away in groups of a size, as its
// start and length. The first parts have a group more than the last if they don't
// come out even.
func share(n, part, parts, group int) (start, length int) {
	groups := (n + group - 1) / group
	from := groups * part / parts * group
	to := groups * (part + 1) / parts * group
	return min(from, n), min(to, n) - min(from, n)
}
