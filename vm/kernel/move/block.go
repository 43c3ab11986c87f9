package move

import "slices"

// A Block says where the elements of a block lie in a tensor's memory. Offset and
// Strides count elements; a stride may be negative, or 0 for an axis along which
// the same element comes again.
type Block struct {
	Offset  int
	Shape   []int
	Strides []int
}

// Dense is the block of a whole tensor in row-major order.
func Dense(shape []int) Block {
	b := Block{Shape: shape, Strides: make([]int, len(shape))}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		b.Strides[i] = n
		n *= shape[i]
	}
	return b
}

// Len is the number of elements.
func (b Block) Len() int {
	n := 1
	for _, s := range b.Shape {
		n *= s
	}
	return n
}

// Part is the block with n of the positions along an axis, from the first on.
func (b Block) Part(axis, first, n int) Block {
	p := Block{b.Offset + first*b.Strides[axis], slices.Clone(b.Shape), b.Strides}
	p.Shape[axis] = n
	return p
}

// finer is the block under a shape each of whose axes, or several neighbours of
// them together, are one of the block's.
func (b Block) finer(shape []int) Block {
	f := Block{Offset: b.Offset, Shape: shape, Strides: make([]int, len(shape))}
	at := 0
	for i, n := range b.Shape {
		end := at + 1
		for p := shape[at]; p < n; end++ {
			p *= shape[end]
		}
		for k, stride := end-1, b.Strides[i]; k >= at; k-- {
			f.Strides[k] = stride
			stride *= shape[k]
		}
		at = end
	}
	return f
}

// reach is the lowest and the highest position that a block with elements has.
func (b Block) reach() (low, high int) {
	low, high = b.Offset, b.Offset
	for i, n := range b.Shape {
		if d := (n - 1) * b.Strides[i]; d < 0 {
			low += d
		} else {
			high += d
		}
	}
	return low, high
}

// Of is the block b of a dense tensor whose elements lie, in that order, where
// base says. An axis of b may become several. ok is false if it is no block there: a
// reshaped transposition seldom is.
func (b Block) Of(base Block) (Block, bool) {
	if b.Len() == 0 {
		return Block{Shape: b.Shape, Strides: make([]int, len(b.Shape))}, true
	}
	w := newWalk(base)
	out := Block{Offset: base.Offset}
	for a := range w.shape {
		w.at[a] = b.Offset / w.dense[a] % w.shape[a]
		out.Offset += w.at[a] * w.steps[a]
	}
	for i, n := range b.Shape {
		if !w.follow(&out, n, b.Strides[i]) {
			return Block{}, false
		}
	}
	if !w.inside() {
		return Block{}, false
	}
	return out, true
}

// A walk finds out what steps through a dense tensor are in the memory of a block
// of that shape.
type walk struct {
	shape, dense, steps []int // of the base, as few axes as will do
	at, low, high       []int // the first position along each axis, and how far below and above steps lead
}

// newWalk joins the axes of a base that lie behind each other.
func newWalk(base Block) *walk {
	w := &walk{}
	for i, n := range base.Shape {
		last := len(w.shape) - 1
		switch {
		case n == 1:
		case last >= 0 && w.steps[last] == n*base.Strides[i]:
			w.shape[last] *= n
			w.steps[last] = base.Strides[i]
		default:
			w.shape, w.steps = append(w.shape, n), append(w.steps, base.Strides[i])
		}
	}
	w.dense = Dense(w.shape).Strides
	w.at, w.low, w.high = make([]int, len(w.shape)), make([]int, len(w.shape)), make([]int, len(w.shape))
	return w
}

// follow adds an axis of n steps through the dense tensor to out: as one axis, or
// as several where it crosses axes of the base.
func (w *walk) follow(out *Block, n, step int) bool {
	if n == 1 || step == 0 {
		out.Shape, out.Strides = append(out.Shape, n), append(out.Strides, 0)
		return true
	}
	a := w.axisOf(step)
	if a < 0 {
		return false
	}
	k, size := step/w.dense[a], w.shape[a]
	if per := size / max(k, 1); k > 0 && size%k == 0 && n > per && n%per == 0 {
		return w.follow(out, n/per, step*per) && w.follow(out, per, step)
	}
	if k < 0 {
		w.low[a] += (n - 1) * k
	} else {
		w.high[a] += (n - 1) * k
	}
	out.Shape, out.Strides = append(out.Shape, n), append(out.Strides, k*w.steps[a])
	return true
}

// axisOf is the axis of the base along which a step leads; -1: none by itself.
func (w *walk) axisOf(step int) int {
	for a, d := range w.dense {
		if step%d == 0 && step/d < w.shape[a] && -step/d < w.shape[a] && step/d != 0 {
			return a
		}
	}
	return -1
}

// inside reports whether all steps together stay inside of every axis, so that no
// carry leads elsewhere.
func (w *walk) inside() bool {
	for a, n := range w.shape {
		if w.at[a]+w.low[a] < 0 || w.at[a]+w.high[a] >= n {
			return false
		}
	}
	return true
}
