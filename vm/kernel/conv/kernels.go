package conv

import "github.com/npulang/npu/vm/kernel/isa"

// A tapFunc writes n registers of places: what the taps of each come to.
type tapFunc = func(dst, src *float32, n int, offsets *int, taps int)

// Kernels are the functions of one instruction set.
type kernels struct {
	lanes int // floats of a register
	depth int // k of a panel at most, so that it stays in the first-level cache

	// Eight columns of a panel; see panels.go.
	run  func(dst *float32, step int, offsets *int, n int, src *float32)
	pair func(dst *float32, step int, offsets *int, n int, src *float32, a, b int, masks *[16]int32)
	each func(dst *float32, step int, offsets *int, n int, src *float32, places *[8]int32, masks *[16]int32)

	evens func(dst, src *float32, n int) // every other one of 16*n floats; nil: there is none

	products func(dst, src *float32, n int, offsets *int, taps int, w *float32)
	sums     tapFunc
	most     func(dst, src *float32, n int, offsets *int, taps int, lowest *float32)
}

// of finds the functions of a level; those of a level without any are the portable
// ones.
func of(level isa.Level) *kernels {
	if k := byLevel[level]; k != nil {
		return k
	}
	return &portable
}
