package vec

import (
	"math"
	"unsafe"
)

// The portable forms of the codes that load and save elements of other sizes.

func loadBool(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]uint8)(a) {
		xs[i] = truth(v != 0)
	}
}

func saveBool(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint8)(a)
	for i, x := range acc.bits() {
		to[i] = uint8(x & 1)
	}
}

func loadF16(acc *Block, a, _ unsafe.Pointer) {
	for i, h := range (*[Lanes]uint16)(a) {
		acc[i] = fromHalf(h)
	}
}

func saveF16(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint16)(a)
	for i, x := range acc {
		to[i] = toHalf(x)
	}
}

func loadBF16(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, h := range (*[Lanes]uint16)(a) {
		xs[i] = uint32(h) << 16
	}
}

func saveBF16(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint16)(a)
	for i, x := range acc.bits() {
		to[i] = toBF16(x)
	}
}

func loadI8(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]int8)(a) {
		xs[i] = uint32(int32(v))
	}
}

func loadU8(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]uint8)(a) {
		xs[i] = uint32(v)
	}
}

func saveByte(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint8)(a)
	for i, x := range acc.bits() {
		to[i] = uint8(x)
	}
}

// toBF16 rounds to nearest even; a NaN stays one.
func toBF16(x uint32) uint16 {
	if x&^signBit > 0x7f800000 {
		return uint16(x>>16) | 0x40
	}
	return uint16((x + 0x7fff + x>>16&1) >> 16)
}

// toHalf rounds to nearest even. A scale by a power of two puts the last bit of
// the half float at that of a float with the magic exponent, so that the sum
// rounds.
func toHalf(x float32) uint16 {
	bits := math.Float32bits(x)
	s, a := uint16(bits>>16)&0x8000, bits&^signBit
	switch {
	case a > 0x7f800000: // NaN keeps the upper bits of what it says, and is quiet
		return s | 0x7e00 | uint16(a>>13)&0x3ff
	case a >= 0x477ff000: // from 65520 on
		return s | 0x7c00
	case a < 0x38800000: // subnormal: multiples of 2^-24
		return s | uint16(math.Float32bits(math.Float32frombits(a)+0.5)-0x3f000000)
	}
	a += 0xfff + a>>13&1
	return s | uint16((a-0x38000000)>>13)
}

func fromHalf(h uint16) float32 {
	s, a := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case a >= 0x7c00:
		a = a<<13 | 0x7f800000
		if a > 0x7f800000 {
			a |= 0x400000
		}
	case a < 0x400:
		return math.Float32frombits(s | math.Float32bits(float32(a)*0x1p-24))
	default:
		a = a<<13 + 0x38000000
	}
	return math.Float32frombits(s | a)
}

// toInt truncates, saturates, and gives 0 for NaN.
func toInt(x float32) int32 {
	switch {
	case x != x:
		return 0
	case x >= 0x1p31:
		return math.MaxInt32
	case x <= -0x1p31:
		return math.MinInt32
	}
	return int32(x)
}
