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

	// rows writes rows, to bytes apart: left times fill, every step-th of n floats of a
	// row of src, whose rows are from bytes apart, and fill again, right times at least.
	// What lies behind the last row may be written too, up to slack.
	rows func(dst, src *float32, rows, n, to, from, step, left, right int, fill *float32)

	// What ends tiles; see ender.
	endTurned func(*ender)
	endRows   func(*ender)

	// places has functions by how many places their bunches have; nil: there are none.
	places []func(*bunches)
	// neighbours has those of bunches whose places are neighbours; nil: there are none.
	neighbours []func(*bunches)

	// flat has functions by how many filters their tiles have; see flats.
	flat [flatRows + 1]func(*flats)
	// scaleRows writes rows of n floats, at least eight, to bytes apart: each is a row of
	// src, which are from bytes apart, times its factor. nil: there is none.
	scaleRows func(dst, src, factors *float32, rows, n, to, from int)

	// Transforms of quads; see spreader and joiner. spreadWide, of eight quads, may be nil.
	spread, spreadWide func(*spreader)
	join               func(*joiner)

	// windows has functions for planes with filters of their own; the others go by products.
	windows map[windowKind]windowKernels
	// mostWindows has those that find the largest elements.
	mostWindows map[windowKind]windowKernels

	// planeSums sums up planes of 16n + rest floats; nil: sums go by each plane.
	planeSums func(dst, src *float32, planes, n, rest int, masks *[16]int32)

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
