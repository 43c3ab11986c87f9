package tensor

import (
	"math"
	"slices"
	"unsafe"
)

// MaxRank bounds the rank of tensors that are read from text and files. NumPy
// stops at 64.
const MaxRank = 64

// Elements multiplies a shape's dimensions. ok is false if one is negative or
// if the elements, at eight bytes each, would not fit an int. A shape with a
// 0 in it has no elements, however large its other dimensions.
func Elements(shape []int) (n int, ok bool) {
	zero := false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		zero = zero || d == 0
	}
	if zero {
		return 0, true
	}
	n = 1
	for _, d := range shape {
		if n > math.MaxInt/8/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// Strides gives, for a dense row-major shape, how many elements lie between
// neighbours along each axis.
func Strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// Index turns the position of an element in memory into one coordinate per
// axis.
func Index(shape []int, at int) []int {
	idx := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0 && shape[i] > 0; i-- {
		idx[i] = at % shape[i]
		at /= shape[i]
	}
	return idx
}

// SameShape reports whether two shapes agree in rank and in every dimension.
func SameShape(a, b []int) bool { return slices.Equal(a, b) }

// SameMemory reports whether two tensors begin at the same address; of those
// without elements, none does.
func (t *T) SameMemory(u *T) bool {
	return len(t.Data) > 0 && len(u.Data) > 0 && unsafe.SliceData(t.Data) == unsafe.SliceData(u.Data)
}
