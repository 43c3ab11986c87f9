package narrow

import "slices"

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	extent: extent, largest: largest,
	quantize: quantizeAVX2, quantizeSigned: quantizeSignedAVX2, quantizeSmall: quantizeSmallAVX2,
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
