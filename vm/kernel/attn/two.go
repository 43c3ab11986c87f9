package attn

import "math"

// Exponentials are powers of two: queries and masks are multiplied by log2(e). The
// distance of a score from a base, an integer near the largest, is split into eighths,
// which a table of eight powers and the exponent take, and a rest f in [-1/16, 1/16].
// 2**f is the polynomial of degree three whose relative error is smallest, 1.8e-8,
// divided by its last coefficient, so that 2**0 is 1. All are larger by the same factor
// then, which the division by their sum takes away.
const (
	twoMagic = 3 << 19 // added, it rounds to eighths and leaves those in the low bits
	twoLow   = -127    // the distance whose power has no exponent left: it is 0
	twoFar   = 1 << 18 // up to where bases leave all sums exact
)

var (
	twoSeries = [...]float32{0.0554989017546, 0.240264073014, 0.693147242069}
	// eighths are 2**(i/8), from whose bits those of i, where they stand beside the
	// exponent, are taken away before they are added.
	eighths = func() (table [8]uint32) {
		for i := range table {
			table[i] = math.Float32bits(float32(math.Exp2(float64(i)/8))) - uint32(i)<<20
		}
		return table
	}()
)

// two is 2**(x - base), and at most 2**-126 where that is less.
func two(x, base float32) float32 {
	low, magic := base+twoLow, twoMagic-base
	if x < low {
		x = low
	}
	t := x + magic
	bits := math.Float32bits(t)
	power := math.Float32frombits(bits<<20 + eighths[bits%8])
	f := x - (t - magic)
	p := fma(fma(twoSeries[0], f, twoSeries[1]), f, twoSeries[2])
	return fma(p, power*f, power)
}

// nearest is the integer that is nearest to a float below 2**22.
func nearest(x float32) float32 {
	const magic = 3 << 22
	return float32(x+magic) - magic
}

const (
	log2e = float32(math.Log2E)
	// mostTwofold times log2e is finite.
	mostTwofold = float32(math.MaxFloat32 / math.Log2E * (1 - 0x1p-23))
)

// twofold is v times log2(e), of the same sign and finite if v is.
func twofold(v float32) float32 {
	if v-v != 0 {
		return v
	}
	return max(min(v, mostTwofold), -mostTwofold) * log2e
}

// fma is a*b + c, where the product is exact and the sum is rounded twice.
func fma(a, b, c float32) float32 {
	return float32(float64(float64(a)*float64(b)) + float64(c))
}

// twos replaces x by powers of two, in a row that is filled up to a multiple of
// rowLanes with zeros, and adds them up.
func twos(x []float32, base float32) float32 {
	var acc [sumLanes]float32
	for len(x) > 0 {
		n := min(rowLanes, len(x))
		var e [rowLanes]float32
		for i, v := range x[:n] {
			e[i] = two(v, base)
		}
		copy(x, e[:n])
		for i, v := range e {
			acc[i%sumLanes] += v
		}
		x = x[n:]
	}
	for n := sumLanes / 2; n > 0; n /= 2 {
		for i := range n {
			acc[i] += acc[i+n]
		}
	}
	return acc[0]
}
