package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Reductions and norms see a tensor as rows: the axes that they work along are
// brought to the end and taken as one.

// A rowSet is n rows of m elements each, one behind the other in memory.
type rowSet struct {
	t    *tensor.T
	n, m int
	perm []int // the order of the origin's axes; nil: they stayed where they were
}

// rowsOf brings the given axes to the end, in the order given. The tensor is
// copied only if they are not there already.
func rowsOf(c *Call, t *tensor.T, axes []int) rowSet {
	perm := axesLast(c, len(t.Shape), axes)
	r := rowSet{t: t, n: 1, m: 1, perm: perm}
	for i, a := range perm {
		if i < len(perm)-len(axes) {
			r.n *= t.Shape[a]
		} else {
			r.m *= t.Shape[a]
		}
	}
	if slices.IsSorted(perm) {
		r.perm = nil
		return r
	}
	r.t = tensorRoom(c, t.DType, permuted(c, t.Shape, perm))
	from := view{0, permuted(c, stridesOf(c, t.Shape), perm)}
	copyView(r.t, denseOf(c, r.t), t, from, r.t.Shape)
	return r
}

// rowsFor is rowsOf for a call whose budget gives the memory of the copy, which
// giveBack returns.
func rowsFor(c *Call, t *tensor.T, axes []int) (rows rowSet, lent loan, err error) {
	words := 0
	if !slices.IsSorted(axesLast(c, len(t.Shape), axes)) {
		words = (len(t.Data) + 7) / 8
	}
	if lent, err = borrow(c, words); err != nil {
		return rows, loan{}, err
	}
	return rowsOf(c, t, axes), lent, nil
}

// axesLast is the order of all axes that has the given ones at the end.
func axesLast(c *Call, rank int, axes []int) []int {
	perm := room[int](c, rank)[:0]
	for i := range rank {
		if !slices.Contains(axes, i) {
			perm = append(perm, i)
		}
	}
	return append(perm, axes...)
}

func permuted[E any](c *Call, s []E, perm []int) []E {
	out := room[E](c, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// put copies rows that have been computed to out, which has the shape of the
// origin.
func (r *rowSet) put(c *Call, out, rows *tensor.T) {
	copyView(out, view{0, permuted(c, stridesOf(c, out.Shape), r.perm)}, rows, denseOf(c, rows), rows.Shape)
}

// A line is one row, read in chunks as often as a function needs.
type line[W any] struct {
	c     *Call // whose evaluation it is; nil: it does not stop in between
	t     *tensor.T
	width width[W]
	at, n int // where it begins and its elements
	buf   []W
	known []W // all of it, if it has been read already
}

// oneAxis is the list of one axis.
func oneAxis(c *Call, axis int) []int { return append(room[int](c, 1)[:0], axis) }

// chunks yields the elements some at a time; the slice is overwritten by the
// next. It ends early where the call is to stop, of which Evaluate asks again.
func (l *line[W]) chunks(yield func([]W) bool) {
	if l.known != nil {
		yield(l.known)
		return
	}
	for at := 0; at < l.n; at += len(l.buf) {
		if at%stopEvery == 0 && at > 0 && l.c != nil && l.c.Budget.stop() != nil {
			return
		}
		part := l.buf[:min(len(l.buf), l.n-at)]
		l.width.load(l.t, part, l.at+at)
		if !yield(part) {
			return
		}
	}
}

// A fold makes one element out of a row.
type fold[W, R any] func(c *Call, l *line[W]) R

// folds is a reduction of a whole tensor; nil where the operator has none for
// the kind of dtype.
type folds [5]func(c *Call, out *tensor.T, rows rowSet)

func folding[W, R any](w width[W], r width[R], f fold[W, R]) func(*Call, *tensor.T, rowSet) {
	if f == nil {
		return nil
	}
	return func(c *Call, out *tensor.T, rows rowSet) {
		l := &room[line[W]](c, 1)[0]
		*l = line[W]{c: c, t: rows.t, width: w, n: rows.m, buf: room[W](c, min(chunk, rows.m))}
		dst := room[R](c, min(chunk, rows.n))
		for at := 0; at < rows.n; at += chunk {
			part := dst[:min(chunk, rows.n-at)]
			for i := range part {
				if (i == 0 || rows.m > chunk) && c.Budget.stop() != nil {
					return // Evaluate asks again
				}
				l.at = (at + i) * rows.m
				part[i] = f(c, l)
			}
			r.store(out, at, part)
		}
	}
}

// foldNumbers makes the folds of a result with the dtype of the argument.
func foldNumbers(f fold[float64, float64], i fold[int64, int64], u fold[uint64, uint64]) folds {
	return folds{
		tensor.Float:    folding(asFloats, asFloats, f),
		tensor.Signed:   folding(asInts, asInts, i),
		tensor.Unsigned: folding(asUints, asUints, u),
	}
}

// foldPlaces makes the folds of a result of i64 positions.
func foldPlaces(f fold[float64, int64], i fold[int64, int64], u fold[uint64, int64]) folds {
	return folds{
		tensor.Float:    folding(asFloats, asInts, f),
		tensor.Signed:   folding(asInts, asInts, i),
		tensor.Unsigned: folding(asUints, asInts, u),
	}
}

// foldTruth makes the folds of a function of "is not zero", for every dtype.
func foldTruth[R any](r width[R], f fold[bool, R]) folds {
	all := folding(asBools, r, f)
	return folds{tensor.Float: all, tensor.Signed: all, tensor.Unsigned: all, tensor.Logical: all}
}

// A rowLoop computes a row of results from a row of as many elements.
type rowLoop[W any] func(c *Call, dst, src []W)

// mapRows computes a tensor of the argument's shape, row by row along axes.
func mapRows[W any](c *Call, w width[W], x *tensor.T, axes []int, f rowLoop[W]) ([]*tensor.T, error) {
	rows, lent, err := rowsFor(c, x, axes)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	res := out[0]
	if rows.perm != nil {
		res = rows.t // each row is read before its results are stored
	}
	if res.Len() == 0 {
		return out, nil // a row may be long all the same
	}
	lentRows, err := borrow(c, 2*rows.m)
	if err != nil {
		return nil, err
	}
	defer lentRows.giveBack()
	src, dst := room[W](c, rows.m), room[W](c, rows.m)
	ends := func(often bool) bool { return often && c.Budget.stop() != nil } // Evaluate asks again
	for i := range rows.n {
		if ends(i%chunk == 0 || rows.m > chunk) {
			break
		}
		w.load(rows.t, src, i*rows.m)
		if ends(rows.m > stopEvery) {
			break
		}
		f(c, dst, src)
		if ends(rows.m > stopEvery) {
			break
		}
		w.store(res, i*rows.m, dst)
	}
	if rows.perm != nil {
		rows.put(c, out[0], res)
	}
	return out, nil
}
