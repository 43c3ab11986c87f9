package tensor

import (
	"math"

	"github.com/x448/float16"
)

// Float32 widens h, exactly.
func (h Float16) Float32() float32 { return float16.Frombits(uint16(h)).Float32() }

// Float64 widens h, exactly.
func (h Float16) Float64() float64 { return float64(h.Float32()) }

// Float32 widens b, exactly: a bfloat16 is the upper half of a float32.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// Float64 widens b, exactly.
func (b BFloat16) Float64() float64 { return float64(b.Float32()) }

// F16FromFloat32 rounds v to the nearest binary16, ties to even.
func F16FromFloat32(v float32) Float16 { return Float16(float16.Fromfloat32(v)) }

// BF16FromFloat32 rounds v to the nearest bfloat16, ties to even. A NaN stays
// one: its quiet bit is set, since rounding could carry it into infinity.
func BF16FromFloat32(v float32) BFloat16 {
	b := math.Float32bits(v)
	if v != v {
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// A layout is the widths of a small IEEE format.
type layout struct {
	mantissa, bias, maxExp int
}

var (
	half  = layout{mantissa: 10, bias: 15, maxExp: 31}
	brain = layout{mantissa: 7, bias: 127, maxExp: 255}
)

// ToF16 rounds v to the nearest binary16, ties to even, in one rounding: by
// way of float32 a value just above a tie would first become the tie.
func ToF16(v float64) Float16 { return Float16(half.round(v)) }

// ToBF16 rounds v to the nearest bfloat16, ties to even, in one rounding.
func ToBF16(v float64) BFloat16 { return BFloat16(brain.round(v)) }

// round gives the bits of v in the format. Normal and subnormal results are
// one case: the significand with its hidden bit, shifted right, is added to
// the exponent field less one, so that a carry moves into the exponent and
// from the largest number into infinity, as IEEE 754 asks.
func (l layout) round(v float64) uint16 {
	const hidden = 1 << 52
	b := math.Float64bits(v)
	sign := uint16(b>>63) << 15
	exp, man := int(b>>52)&0x7ff, b&(hidden-1)
	inf := uint16(l.maxExp) << l.mantissa
	if exp == 0x7ff && man != 0 {
		quiet := uint16(1) << (l.mantissa - 1)
		return sign | inf | quiet | uint16(man>>(52-l.mantissa))
	}
	e := exp - 1023 + l.bias
	if e >= l.maxExp {
		return sign | inf
	}
	shift := 52 - l.mantissa
	if e <= 0 {
		shift += 1 - e
		e = 1
	}
	if shift > 54 {
		return sign // below half of the smallest subnormal
	}
	return sign | uint16(e-1)<<l.mantissa + uint16(shiftEven(man|hidden, shift))
}

// shiftEven is m / 2**n, rounded to nearest, ties to even; 0 < n < 64.
func shiftEven(m uint64, n int) uint64 {
	q, rest, tie := m>>n, m&(1<<n-1), uint64(1)<<(n-1)
	if rest > tie || rest == tie && q&1 == 1 {
		q++
	}
	return q
}
