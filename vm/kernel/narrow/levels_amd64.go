package narrow

import "unsafe"

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	extent: extentAVX2, largest: largestAVX2,
	quantize: quantizeAVX2, quantizeSigned: quantizeSignedAVX2, dequantize: dequantize,
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
