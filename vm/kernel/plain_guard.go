package kernel

import (
	"slices"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
)

// Loops that have no result for some second arguments: divisions by zero, shifts by
// fewer than no places, negative powers. The second argument is looked through first;
// where it has such an element the operator's evaluation makes the error.

// A plainGuard reports whether a second argument has an element without a result.
type plainGuard func(b *tensor.T) bool

// guardedLoops are those loops by operator, the same for all integers.
func guardedLoops[E anyInt]() map[string]plainLoop {
	return map[string]plainLoop{
		"div": quotientLoop[E], "rem": remainderLoop[E], "fmod": remainderLoop[E],
		"shift_left": shiftLeftLoop[E], "shift_right": shiftRightLoop[E], "pow": powerLoop[E],
	}
}

// plainGuards has the guard of each of those operators by dtype.
var plainGuards = map[tensor.DType]map[string]plainGuard{
	tensor.I64: guards[int64](), tensor.I32: guards[int32](), tensor.I16: guards[int16](), tensor.I8: guards[int8](),
	tensor.U64: guards[uint64](), tensor.U32: guards[uint32](), tensor.U16: guards[uint16](), tensor.U8: guards[uint8](),
}

func guards[E anyInt]() map[string]plainGuard {
	return map[string]plainGuard{
		"div": hasZero[E], "rem": hasZero[E], "fmod": hasZero[E],
		"shift_left": hasNegative[E], "shift_right": hasNegative[E], "pow": hasNegative[E],
	}
}

func integersOf[E anyInt](t *tensor.T) []E {
	return elements[E](unsafe.Pointer(unsafe.SliceData(t.Data)), t.Len())
}

func hasZero[E anyInt](t *tensor.T) bool { return slices.Contains(integersOf[E](t), 0) }

// hasNegative looks at the sign of all elements together.
func hasNegative[E anyInt](t *tensor.T) bool {
	var all E
	if all--; all > 0 {
		return false // E has no sign
	}
	all = 0
	for _, v := range integersOf[E](t) {
		all |= v
	}
	return all < 0
}

// quotientLoop truncates; the smallest number divided by -1 is itself.
func quotientLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] / b[i]
	}
}

func remainderLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] % b[i]
	}
}

// shiftLeftLoop leaves nothing of a number that is shifted by its width or more, and
// shiftRightLoop the sign alone, as Go's own shifts do.
func shiftLeftLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] << uint64(b[i])
	}
}

func shiftRightLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] >> uint64(b[i])
	}
}

// powerLoop squares and multiplies; what is above the width is lost at each step or in
// the end alike.
func powerLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		x, k, p := a[i], b[i], E(1)
		for ; k != 0; k >>= 1 {
			if k&1 != 0 {
				p *= x
			}
			x *= x
		}
		to[i] = p
	}
}
