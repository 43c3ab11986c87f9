package move

import (
	"cmp"
	"slices"
)

// An axis of a copy: its size, and the bytes from one neighbour to the next in
// both tensors.
type axis struct{ n, to, from int }

// axesOf gives the axes of a copy between two blocks of one shape, in bytes and
// as few as will do: the one with the largest steps in the destination first.
// Steps in the destination are never negative: such an axis is walked the other
// way, which moves the first element.
func axesOf(size int, to, from Block) (axes []axis, toAt, fromAt int) {
	toAt, fromAt = to.Offset*size, from.Offset*size
	for i, n := range to.Shape {
		x := axis{n, to.Strides[i] * size, from.Strides[i] * size}
		if x.to < 0 {
			toAt, fromAt = toAt+(n-1)*x.to, fromAt+(n-1)*x.from
			x.to, x.from = -x.to, -x.from
		}
		if n != 1 {
			axes = append(axes, x)
		}
	}
	slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(b.to, a.to) })
	return join(axes), toAt, fromAt
}

// join makes one axis of two neighbours that lie behind each other in both
// tensors.
func join(axes []axis) []axis {
	var out []axis
	for _, x := range axes {
		last := len(out) - 1
		if last >= 0 && out[last].to == x.n*x.to && out[last].from == x.n*x.from {
			out[last] = axis{out[last].n * x.n, x.to, x.from}
			continue
		}
		out = append(out, x)
	}
	return out
}

// widen makes one larger element of the run that is the last axis, if it has 2,
// 4, 8 or 16 bytes and everything else lies at multiples of them.
func widen(size int, axes []axis, toAt, fromAt int) (int, []axis) {
	last := len(axes) - 1
	if last < 1 || axes[last].to != size || axes[last].from != size {
		return size, axes
	}
	wide := axes[last].n * size
	if wide > maxSize || wide&(wide-1) != 0 || toAt%wide != 0 || fromAt%wide != 0 {
		return size, axes
	}
	for _, x := range axes[:last] {
		if x.to%wide != 0 || x.from%wide != 0 {
			return size, axes
		}
	}
	return wide, axes[:last]
}
