package narrow

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Widen makes integers of 16 bits of bytes; dst has as many as src.
func Widen(level isa.Level, dst []int16, src []uint8) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).widen(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = int16(src[i])
	}
}

// WidenSigned makes integers of 16 bits of bytes with a sign; dst has as many as src.
func WidenSigned(level isa.Level, dst []int16, src []int8) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).widenSigned(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = int16(src[i])
	}
}

// CopySigned copies bytes, whose bits it flips, and adds up what it writes, as bytes with a
// sign. The sum wraps.
func CopySigned(level isa.Level, dst, src []uint8, flip uint8) (sum int32) {
	n := whole(level, len(src)) &^ 31
	if n > 0 {
		all := at(level).copySigned(unsafe.SliceData(dst[:n]), unsafe.SliceData(src), n, uint32(flip)*0x01010101)
		sum = int32(all - 128*int64(n))
	}
	for i, x := range src[n:] {
		x ^= flip
		dst[n+i] = x
		sum += int32(int8(x))
	}
	return sum
}

// Largest is the largest magnitude of the elements, 0 of none; NaN if one is.
func Largest(level isa.Level, src []float32) float32 {
	const magnitude = math.MaxInt32 // all bits but the sign: these order floats, and NaN comes last
	top := int32(0)
	n := whole(level, len(src))
	if n > 0 {
		top = at(level).largest(unsafe.SliceData(src), n)
	}
	for _, x := range src[n:] {
		top = max(top, int32(math.Float32bits(x)&magnitude))
	}
	return math.Float32frombits(uint32(top))
}

// QuantizeSigned maps the elements of src into dst, which has as many: round(x/scale),
// halves to even, held within -128 and 127; NaN becomes 0.
func QuantizeSigned(level isa.Level, dst []int8, src []float32, scale float32) {
	n := whole(level, len(dst))
	if n > 0 {
		at(level).quantizeSigned(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n, scale)
	}
	quantizeSigned(dst[n:], src[n:], scale)
}

func quantizeSigned(dst []int8, src []float32, scale float32) {
	for i := range dst {
		x := src[i] / scale
		if x != x {
			x = 0
		}
		dst[i] = int8(math.RoundToEven(float64(max(math.MinInt8, min(math.MaxInt8, x)))))
	}
}

// QuantizeRow is QuantizeSigned for elements whose magnitudes are at most top, the largest
// of them, or NaN. It is faster where that is a number.
func QuantizeRow(level isa.Level, dst []int8, src []float32, scale, top float32) {
	// The reciprocal gives the same for scales far from the ends of float32, where what
	// the product by it is corrected by is not rounded.
	const least, small = 0x1p-60, 1 << 20
	switch {
	case top == 0 && scale > 0:
		clear(dst[:len(src)])
		return
	case !(scale >= least && scale <= 1/least && top < small*scale):
		QuantizeSigned(level, dst, src, scale)
		return
	}
	n := whole(level, len(dst))
	if n > 0 {
		at(level).quantizeSmall(unsafe.SliceData(dst), unsafe.SliceData(src[:n]), n, scale, 1/scale)
	}
	quantizeSigned(dst[n:], src[n:], scale)
}
