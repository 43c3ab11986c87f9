package tensor

import (
	"math"

	"golang.org/x/exp/constraints"
)

type wide interface{ float64 | int64 | uint64 }

type number interface {
	constraints.Integer | constraints.Float
}

// run is how many elements a conversion in two steps takes at a time: 2 KiB of
// float64, a small part of any first-level cache.
const run = 256

// span views n elements of t from position at on. Bool is viewed as uint8:
// files may hold bytes other than 0 and 1, and a Go bool must not.
func span[E Native](t *T, at, n int) []E { return Of[E](t)[at : at+n] }

func loadAs[E interface {
	Native
	number
}, W wide](t *T, dst []W, at int) {
	for i, v := range span[E](t, at, len(dst)) {
		dst[i] = W(v)
	}
}

func storeAs[E interface {
	Native
	number
}, W wide](t *T, at int, src []W) {
	dst := span[E](t, at, len(src))
	for i, v := range src {
		dst[i] = E(v)
	}
}

func loadF16(t *T, dst []float64, at int) {
	for i, v := range span[Float16](t, at, len(dst)) {
		dst[i] = v.Float64()
	}
}

func storeF16(t *T, at int, src []float64) {
	dst := span[Float16](t, at, len(src))
	for i, v := range src {
		dst[i] = ToF16(v)
	}
}

func loadBF16(t *T, dst []float64, at int) {
	for i, v := range span[BFloat16](t, at, len(dst)) {
		dst[i] = v.Float64()
	}
}

func storeBF16(t *T, at int, src []float64) {
	dst := span[BFloat16](t, at, len(src))
	for i, v := range src {
		dst[i] = ToBF16(v)
	}
}

func loadBool[W wide](t *T, dst []W, at int) {
	for i, v := range span[uint8](t, at, len(dst)) {
		dst[i] = W(bit(v != 0))
	}
}

func storeBool[W wide](t *T, at int, src []W) {
	dst := span[uint8](t, at, len(src))
	for i, v := range src {
		dst[i] = bit(v != 0)
	}
}

// doubleCodec is floatCodec but for the integers that are stored: Go rounds
// them to nearest even itself, and float64 has no bits to spare for stickyInt.
func doubleCodec() codec {
	c := floatCodec(same, same, loadAs[float64, float64], storeAs[float64, float64])
	c.storeInts, c.storeUints = storeAs[float64, int64], storeAs[float64, uint64]
	return c
}

func same(v float64) float64 { return v }

// floatCodec reaches integers by way of float64, which holds every element of
// a float dtype exactly: element by element, since a buffer handed to a function
// that is not known would be made anew each time.
func floatCodec[E Native](from func(E) float64, to func(float64) E, load func(*T, []float64, int), store func(*T, int, []float64)) codec {
	return codec{
		loadFloats:  load,
		loadInts:    loadVia(from, Saturate[int64](math.MinInt64, math.MaxInt64)),
		loadUints:   loadVia(from, Saturate[uint64](0, math.MaxUint64)),
		storeFloats: store,
		storeInts:   storeVia(to, stickyInt),
		storeUints:  storeVia(to, stickyUint),
	}
}

// intCodec converts among integers by wrapping and from floats by saturating
// at the dtype's own range.
func intCodec[E interface {
	Native
	constraints.Integer
}](lo, hi E) codec {
	saturate := Saturate(lo, hi)
	return codec{
		loadFloats: loadAs[E, float64],
		loadInts:   loadAs[E, int64],
		loadUints:  loadAs[E, uint64],
		storeFloats: func(t *T, at int, src []float64) {
			dst := span[E](t, at, len(src))
			for i, v := range src {
				dst[i] = saturate(v)
			}
		},
		storeInts:  storeAs[E, int64],
		storeUints: storeAs[E, uint64],
	}
}

func loadVia[E Native, W wide](from func(E) float64, conv func(float64) W) func(*T, []W, int) {
	return func(t *T, dst []W, at int) {
		for i, v := range span[E](t, at, len(dst)) {
			dst[i] = conv(from(v))
		}
	}
}

func storeVia[E Native, W wide](to func(float64) E, conv func(W) float64) func(*T, int, []W) {
	return func(t *T, at int, src []W) {
		dst := span[E](t, at, len(src))
		for i, v := range src {
			dst[i] = to(conv(v))
		}
	}
}
