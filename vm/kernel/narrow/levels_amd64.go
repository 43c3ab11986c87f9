package narrow

import (
	"slices"
	"unsafe"
)

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	extent: extent, largest: largest,
	quantize: quantizeAVX2, quantizeSigned: quantizeSignedAVX2, dequantize: dequantize,
}

// extent and largest join the lanes. They call assembly by its name, so that what it
// writes to stays on the stack.
func extent(src *float32, n int) (lo, hi float32) {
	var los, his [8]float32
	extentAVX2(src, &los, &his, n)
	return slices.Min(los[:]), slices.Max(his[:])
}

func largest(src *float32, n int) int32 {
	var tops [8]int32
	largestAVX2(src, &tops, n)
	return slices.Max(tops[:])
}

// dequantize calls the loop for what there is.
func dequantize(d *Dequantizer, dst []float32, acc []int32, r Row, n int) {
	to, from := unsafe.SliceData(dst), unsafe.SliceData(acc)
	sums, scales := unsafe.SliceData(d.Sums), unsafe.SliceData(d.Scales)
	bias, zeros := unsafe.SliceData(d.Bias), unsafe.SliceData(d.Zeros)
	switch {
	case bias == nil && zeros == nil:
		dequantizeAVX2(to, from, sums, scales, n, r.Scale, r.Zero)
	case zeros == nil:
		dequantizeBiasAVX2(to, from, sums, scales, bias, n, r.Scale, r.Zero)
	case bias == nil:
		dequantizeZerosAVX2(to, from, sums, scales, zeros, n, r.Scale, r.Zero, r.Sum)
	default:
		dequantizeBiasZerosAVX2(to, from, sums, scales, bias, zeros, n, r.Scale, r.Zero, r.Sum)
	}
}
