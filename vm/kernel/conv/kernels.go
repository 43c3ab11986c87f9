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

	runs func(dst *float32, step int, offsets *int, n int, a, b *float32) // sixteen columns

	// copyRows copies n floats of rows, every step-th of src; the rows are from and
	// to bytes apart.
	copyRows func(dst, src *float32, rows, n, to, from, step int)

	steps func(x *float32, rows, n, ld int, steps *float32) // see Steps

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
