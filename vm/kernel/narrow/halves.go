package narrow

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// FromBF16 widens the elements of src into dst, which has as many, exactly.
func FromBF16(level isa.Level, dst []float32, src []uint16) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).fromBF16(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = BF16(src[i])
	}
}

// FromF16 widens the elements of src into dst, which has as many, exactly.
func FromF16(level isa.Level, dst []float32, src []uint16) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).fromF16(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = F16(src[i])
	}
}

// ToBF16 rounds the elements of src into dst, which has as many.
func ToBF16(level isa.Level, dst []uint16, src []float32) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).toBF16(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = BF16Of(src[i])
	}
}

// ToF16 rounds the elements of src into dst, which has as many.
func ToF16(level isa.Level, dst []uint16, src []float32) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).toF16(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = F16Of(src[i])
	}
}

// RoundBF16 rounds the elements of src to floats that a bf16 holds. dst has as many
// elements and may be src.
func RoundBF16(level isa.Level, dst, src []float32) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).roundBF16(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = BF16(BF16Of(src[i]))
	}
}

// BF16 is the float of a bf16, which is its upper half.
func BF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BF16Of is the nearest bf16, ties to even; a NaN keeps its upper half and becomes
// quiet.
func BF16Of(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// The bits of floats where f16 begins and ends, and how far their exponents lie
// apart.
const (
	leastNormal = 0x38800000 // 2^-14
	overflow    = 0x477ff000 // 65520, half way between the greatest f16 and the next
	infinity    = 0x7f800000
	apart       = (127 - 15) << 23
)

// F16 is the float of an f16; a NaN becomes quiet.
func F16(h uint16) float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case rest > 0x7c00:
		return math.Float32frombits(sign | infinity | 1<<22 | rest<<13)
	case rest == 0x7c00:
		return math.Float32frombits(sign | infinity)
	case rest < 0x400: // a multiple of the least subnormal, 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(rest)/(1<<24)))
	}
	return math.Float32frombits(sign | rest<<13 + apart)
}

// F16Of is the nearest f16, ties to even; a NaN keeps its upper bits and becomes
// quiet.
func F16Of(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, rest := uint16(bits>>16)&0x8000, bits&^(1<<31)
	switch {
	case rest > infinity:
		return sign | 0x7e00 | uint16(rest>>13)&0x1ff
	case rest >= overflow:
		return sign | 0x7c00
	case rest < leastNormal:
		// In the sum with one half, the last bit counts 2^-24, so that the addition
		// rounds where f16 does.
		const half = 0.5
		return sign | uint16(math.Float32bits(math.Float32frombits(rest)+half)-math.Float32bits(half))
	}
	return sign | uint16((rest-apart+0xfff+rest>>13&1)>>13)
}
