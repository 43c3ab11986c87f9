package tensor

import (
	"math"

	"golang.org/x/exp/constraints"
)

// The rules of conversion, the same in folding, interpreter and kernels:
//
//	float -> int    truncated toward zero, saturated; NaN is 0
//	int   -> int    wraps: the low bits in two's complement
//	any   -> bool   not equal to zero; NaN is true
//	bool  -> any    0 or 1
//	any   -> float  rounded once to nearest, ties to even
//
// None of them leans on Go's own conversion of a float that is out of the
// integer's range, which differs from machine to machine.

// Cast converts t to dtype d, elementwise, into new memory.
func Cast(t *T, d DType) *T {
	out := New(d, t.Shape...)
	CastInto(out, t)
	return out
}

// CastInto is Cast into a tensor of as many elements.
func CastInto(out, t *T) {
	if out.DType == t.DType && t.DType != Bool {
		copy(out.Data, t.Data)
		return
	}
	castRun[t.DType.Kind()](out, t)
}

// castRun is, by the kind of the source, the widest type that holds each of
// its elements exactly.
var castRun = [...]func(out, t *T){
	None:     func(out, t *T) {},
	Float:    castBy((*T).LoadFloats, (*T).StoreFloats),
	Signed:   castBy((*T).LoadInts, (*T).StoreInts),
	Unsigned: castBy((*T).LoadUints, (*T).StoreUints),
	Logical:  castBy((*T).LoadInts, (*T).StoreInts),
}

func castBy[W wide](load func(*T, []W, int), store func(*T, int, []W)) func(out, t *T) {
	return func(out, t *T) {
		var buf [run]W
		for at, n := 0, t.Len(); at < n; at += run {
			part := buf[:min(run, n-at)]
			load(t, part, at)
			store(out, at, part)
		}
	}
}

// Saturate makes the conversion of a float to an integer type with the range
// lo to hi: truncated toward zero, saturated, NaN to 0.
func Saturate[E constraints.Integer](lo, hi E) func(float64) E {
	// Of the bounds only 2**63-1 and 2**64-1 round, and upward, to the first
	// power of two that is out of range: so >= is right for them and for those
	// that are exact.
	low, high := float64(lo), float64(hi)
	return func(v float64) E {
		switch {
		case v != v:
			return 0
		case v <= low:
			return lo
		case v >= high:
			return hi
		}
		return E(v)
	}
}

// stickyInt brings v into a float64 that rounds to any narrower float as v
// itself would.
func stickyInt(v int64) float64 {
	if v < 0 {
		return -stickyUint(-uint64(v))
	}
	return stickyUint(uint64(v))
}

// stickyUint keeps numbers below 2**53 exactly. Of larger ones it drops the
// low 11 bits and records in the next bit that some of them were set (rounding
// to odd): the rounding to f32, f16 or bf16 that follows then sees whether it
// stands on a tie. Not for f64, see doubleCodec.
func stickyUint(v uint64) float64 {
	if v < 1<<53 {
		return float64(v)
	}
	if v&0x7ff != 0 {
		v = v&^0x7ff | 0x800
	}
	return float64(v)
}

// MinInt is the smallest value of an integer or bool dtype; 0 for a float.
func MinInt(d DType) int64 {
	if d.Kind() == Signed {
		return math.MinInt64 >> (64 - 8*d.Size())
	}
	return 0
}

// MaxInt is the largest value of an integer or bool dtype; 0 for a float.
func MaxInt(d DType) uint64 {
	switch d.Kind() {
	case Signed:
		return math.MaxInt64 >> (64 - 8*d.Size())
	case Unsigned:
		return math.MaxUint64 >> (64 - 8*d.Size())
	case Logical:
		return 1
	}
	return 0
}

// FitsInt reports whether the integer or bool dtype d holds v. A float dtype
// holds every integer, rounded, if it does not overflow: see FitsFloat.
func FitsInt(d DType, v int64) bool {
	if d.IsFloat() {
		return FitsFloat(d, float64(v))
	}
	if v < 0 {
		return v >= MinInt(d)
	}
	return uint64(v) <= MaxInt(d)
}

// FitsUint is FitsInt for values up to 2**64-1.
func FitsUint(d DType, v uint64) bool {
	if d.IsFloat() {
		return FitsFloat(d, float64(v))
	}
	return v <= MaxInt(d)
}

// FitsFloat reports whether v can be written in the float dtype d: only a
// finite number that would round to infinity cannot.
func FitsFloat(d DType, v float64) bool {
	if !d.IsFloat() {
		return false
	}
	return math.IsInf(v, 0) || !math.IsInf(Round(d, v), 0)
}

// Round gives the value of the float dtype d that is nearest to v, ties to
// even; for other dtypes v itself.
func Round(d DType, v float64) float64 {
	switch d {
	case F32:
		return float64(float32(v))
	case F16:
		return ToF16(v).Float64()
	case BF16:
		return ToBF16(v).Float64()
	}
	return v
}
