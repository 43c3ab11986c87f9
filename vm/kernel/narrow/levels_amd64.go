package narrow

import "slices"

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	largest: largest, quantizeSigned: quantizeSignedAVX2, quantizeSmall: quantizeSmallAVX2,
}

var avx512 = func() *loops {
	l := *avx2
	l.fromBF16, l.fromF16 = fromBF16AVX512, fromF16AVX512
	l.toBF16, l.toF16 = toBF16AVX512, toF16AVX512
	l.roundBF16 = roundBF16AVX512
	return &l
}()

// largest joins the lanes. It calls assembly by its name, so that what that writes to
// stays on the stack.
func largest(src *float32, n int) int32 {
	var tops [8]int32
	largestAVX2(src, &tops, n)
	return slices.Max(tops[:])
}
