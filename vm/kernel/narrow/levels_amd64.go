package narrow

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	copySigned: copySignedAVX2,
	largest:    largestAVX2, quantizeSigned: quantizeSignedAVX2, quantizeSmall: quantizeSmallAVX2,
}

var avx512 = func() *loops {
	l := *avx2
	l.fromBF16, l.fromF16 = fromBF16AVX512, fromF16AVX512
	l.toBF16, l.toF16 = toBF16AVX512, toF16AVX512
	l.roundBF16 = roundBF16AVX512
	l.copySigned, l.largest, l.quantizeSmall = copySignedAVX512, largestAVX512, quantizeSmallAVX512
	return &l
}()
