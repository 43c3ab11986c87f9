package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that move elements never convert them: they copy memory by the
// element's size, so that every dtype, and every NaN, stays bit for bit. All of
// them are one walk, copyView, over two views of memory.

// A view walks the memory of a tensor: the position of its first element, and
// for each axis how many elements lie between neighbours (0: the same one again).
type view struct {
	off     int
	strides []int
}

// denseOf is the view of a whole tensor, on the way of an evaluation.
func denseOf(c *Call, t *tensor.T) view { return view{0, stridesOf(c, t.Shape)} }

// copyView copies a block of the given shape from src to dst, which have
// elements of one size.
func copyView(dst *tensor.T, to view, src *tensor.T, from view, shape []int) {
	if slices.Contains(shape, 0) {
		return
	}
	// Calls through a table would send the walk to the heap.
	var lists [4][8]int // there are seldom more axes
	w := joinAxes(&lists, to, from, shape)
	switch dst.DType.Size() {
	case 1:
		runWalk[uint8](dst, src, &w)
	case 2:
		runWalk[uint16](dst, src, &w)
	case 4:
		runWalk[uint32](dst, src, &w)
	case 8:
		runWalk[uint64](dst, src, &w)
	}
}

// A walk is a copy with as few axes as will do, at least one.
type walk struct {
	shape    []int
	to, from view
	at       []int // the odometer of runWalk
}

// joinAxes drops axes of size 1 and makes one axis of two neighbours that lie
// behind each other in both views.
func joinAxes(lists *[4][8]int, to, from view, shape []int) walk {
	w := walk{lists[0][:0], view{to.off, lists[1][:0]}, view{from.off, lists[2][:0]}, lists[3][:0]}
	for i, n := range shape {
		if n == 1 {
			continue
		}
		d, s, last := to.strides[i], from.strides[i], len(w.shape)-1
		if last >= 0 && w.to.strides[last] == d*n && w.from.strides[last] == s*n {
			w.shape[last] *= n
			w.to.strides[last], w.from.strides[last] = d, s
			continue
		}
		w.shape = append(w.shape, n)
		w.to.strides = append(w.to.strides, d)
		w.from.strides = append(w.from.strides, s)
	}
	if len(w.shape) == 0 {
		w.shape, w.to.strides, w.from.strides = append(w.shape, 1), append(w.to.strides, 1), append(w.from.strides, 1)
	}
	return w
}

// runWalk copies run by run along the last axis; the others count like an
// odometer.
func runWalk[E tensor.Native](dst, src *tensor.T, w *walk) {
	d, s := tensor.Of[E](dst), tensor.Of[E](src)
	inner := len(w.shape) - 1
	n, dStep, sStep := w.shape[inner], w.to.strides[inner], w.from.strides[inner]
	at := w.at
	for range inner {
		at = append(at, 0)
	}
	i, j := w.to.off, w.from.off
	for {
		copyRun(d, i, dStep, s, j, sStep, n)
		axis := inner - 1
		for ; axis >= 0; axis-- {
			i, j = i+w.to.strides[axis], j+w.from.strides[axis]
			if at[axis]++; at[axis] < w.shape[axis] {
				break
			}
			i, j = i-w.shape[axis]*w.to.strides[axis], j-w.shape[axis]*w.from.strides[axis]
			at[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

func copyRun[E tensor.Native](dst []E, i, dStep int, src []E, j, sStep, n int) {
	switch {
	case dStep == 1 && sStep == 1:
		copy(dst[i:i+n], src[j:j+n])
	case dStep == 1 && sStep == 0:
		run, v := dst[i:i+n], src[j]
		for k := range run {
			run[k] = v
		}
	default:
		for range n {
			dst[i] = src[j]
			i, j = i+dStep, j+sStep
		}
	}
}

// fillWith sets every element of t to the one of the scalar v.
func fillWith(c *Call, t, v *tensor.T) {
	copyView(t, denseOf(c, t), v, view{0, zeros[int](c, len(t.Shape))}, t.Shape)
}

// extent splits a shape at an axis: what is before it, its size, what is behind
// it. Rank 0 is one axis of size 1.
func extent(shape []int, axis int) (outer, n, inner int) {
	outer, n, inner = 1, 1, 1
	for i, d := range shape {
		switch {
		case i < axis:
			outer *= d
		case i == axis:
			n = d
		default:
			inner *= d
		}
	}
	return outer, n, inner
}

// takeAxis copies the slices of src along an axis that index lists, in that
// order, into dst, which has len(index) slices there. Indices are in range.
func takeAxis(dst, src *tensor.T, axis int, index []int) {
	outer, n, inner := extent(src.Shape, axis)
	block := inner * src.DType.Size()
	if block == 0 || len(index) == 0 {
		return
	}
	at := 0
	for o := range outer {
		from := src.Data[o*n*block:]
		for _, i := range index {
			at += copy(dst.Data[at:at+block], from[i*block:])
		}
	}
}

// A loan is scratch memory that a call's budget has allowed.
type loan struct {
	from  *Budget
	bytes int64
}

func (l loan) giveBack() { l.from.Give(l.bytes) }

// borrow asks the call's budget for scratch memory of n words of 8 bytes.
func borrow(c *Call, n int) (loan, error) {
	l := loan{c.Budget, 8 * int64(n)}
	return l, c.Budget.Take(l.bytes)
}

// one makes the list of results of an operator that has one.
func one(t *tensor.T) []*tensor.T { return []*tensor.T{t} }

// evalView gives the argument's elements the shape of the result. That both
// hold the same number could not always be proved; it is checked here.
func evalView(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	shape := intsOf(c, c.Out[0])
	if n, ok := tensor.Elements(shape); !ok || n != in[0].Len() {
		return nil, Errorf("dimension-mismatch", "shape %s does not hold the %d elements of %s", ShapeString(c.Out[0].Shape), in[0].Len(), c.In[0]).
			Label(0, "%s", c.In[0])
	}
	return resultOf(c, in[0]), nil
}

// costMove counts the bytes that are read and written, and no flops.
func costMove(c *Call) Cost { return DefaultCost(c, 0) }

// costPick is costMove for operators that read of their first argument only
// what they return.
func costPick(c *Call) Cost {
	cost := DefaultCost(c, 0)
	n, _ := c.In[0].Bytes().Const()
	cost.In += min(cost.Out, n) - n
	return cost
}
