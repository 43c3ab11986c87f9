package gemm

import "math"

// Caps say of each group along k what a left operand may have there: for both of its
// sums, by the largest sum of the squares of the eight bytes of B of a column. They stand
// in front of the panels, for a block of eight groups at a time: sixteen times minus a
// quarter of what the squares of A's bytes may add up to, the byte that A's are cut to
// where they add up to more, twice, and the one where that is not enough. In a block the
// even groups stand first, as splitter has them.

const (
	blockSums = 2 * blockSteps
	blockCaps = 3 * blockSums
)

// capsLen is how many floats the caps for rows of so many groups take; the panels
// behind them begin with a line of the caches.
func capsLen(steps int) int { return (blocksOf(steps)*blockCaps/2 + 15) / 16 * 16 }

// packCaps writes the caps of n columns in panels of k rows.
func (f *Format) packCaps(dst []float32, panels []uint8, k, n int) {
	caps, w := as[int16](dst), f.set.width
	steps := f.steps(k)
	for at := range blocksOf(steps) * blockSteps {
		var most [2]int32
		for p := 0; p*w < n && at < steps; p++ {
			group := panels[(p*steps+at)*w*groupBytes:][:w*groupBytes]
			squaresOf(&most, group, min(w, n-p*w), min(groupBytes, k-at*groupBytes))
		}
		block := caps[at/blockSteps*blockCaps:]
		for sum, squares := range most {
			c := capOf(squares)
			i := at%2*blockSums/2 + at%blockSteps/2*2 + sum
			block[i], block[i+blockSums], block[i+2*blockSums] = -c.quarter, twice(c.high), twice(c.low)
		}
	}
}

// squaresOf raises most to the sums of squares of columns that have k bytes of a group.
func squaresOf(most *[2]int32, group []uint8, columns, k int) {
	line := len(group) / (groupBytes / 4)
	for j := range columns {
		var first, second int32
		at := 4 * j
		for range k / 4 {
			first += square(group[at]) + square(group[at+1])
			second += square(group[at+2]) + square(group[at+3])
			at += line
		}
		switch k % 4 { // bytes that a column does not have stand for nothing, not for -128
		case 3:
			second += square(group[at+2])
			fallthrough
		case 2:
			first += square(group[at+1])
			fallthrough
		case 1:
			first += square(group[at])
		}
		most[0], most[1] = max(most[0], first), max(most[1], second)
	}
}

// square is that of a byte with a sign which 128 has been added to.
func square(u uint8) int32 {
	x := int32(u) - 128
	return x * x
}

// A bytesCap is what eight bytes may be.
type bytesCap struct{ quarter, high, low int16 }

// highShare is how many fifths of the lower cap the higher one is: so most fours of
// numbers that are distributed normally keep what they have, in simulations.
const highShare = 7

// capOf is for bytes that are multiplied by some with the sum of squares: the squares of
// both may multiply to that of the largest sum. Quarters are of the squares of two bytes,
// rounded up, so that sums of four fit 16 bits.
func capOf(squares int32) (c bytesCap) {
	const most = math.MaxInt16 * math.MaxInt16
	c.quarter = math.MaxInt16
	if squares > 0 {
		c.quarter = int16(min(most/squares/4, math.MaxInt16))
	}
	for c.low = 127; (c.low*c.low+1)/2 > c.quarter/4; c.low-- {
	}
	c.high = min(c.low*highShare/5, 127)
	return c
}

// twice has a byte in both halves.
func twice(x int16) int16 { return x * 0x101 }
