package narrow

import "slices"

var avx2 = &loops{
	fromBF16: fromBF16AVX2, fromF16: fromF16AVX2,
	toBF16: toBF16AVX2, toF16: toF16AVX2,
	roundBF16: roundBF16AVX2,
	widen:     widenAVX2, widenSigned: widenSignedAVX2,
	copySigned: copySigned,
	largest:    largest, quantizeSigned: quantizeSignedAVX2, quantizeSmall: quantizeSmallAVX2,
}

// copySigned joins the sums. They are of bytes without a sign, 128 more.
func copySigned(dst, src *uint8, n int, flip uint8) int32 {
	var sums [4]int64
	copySignedAVX2(dst, src, &sums, n, uint32(flip)*0x01010101)
	return int32(sums[0] + sums[1] + sums[2] + sums[3] - 128*int64(n))
}

// wideCopySigned is copySigned with AVX-512.
func wideCopySigned(dst, src *uint8, n int, flip uint8) int32 {
	var sums [8]int64
	copySignedAVX512(dst, src, &sums, n, uint32(flip)*0x01010101)
	sum := -128 * int64(n)
	for _, s := range sums {
		sum += s
	}
	return int32(sum)
}

var avx512 = func() *loops {
	l := *avx2
	l.fromBF16, l.fromF16 = fromBF16AVX512, fromF16AVX512
	l.toBF16, l.toF16 = toBF16AVX512, toF16AVX512
	l.roundBF16 = roundBF16AVX512
	l.copySigned, l.largest, l.quantizeSmall = wideCopySigned, wideLargest, quantizeSmallAVX512
	return &l
}()

// largest joins the lanes. It calls assembly by its name, so that what that writes to
// stays on the stack.
func largest(src *float32, n int) int32 {
	var tops [8]int32
	largestAVX2(src, &tops, n)
	return slices.Max(tops[:])
}

// wideLargest is largest with AVX-512.
func wideLargest(src *float32, n int) int32 {
	var tops [16]int32
	largestAVX512(src, &tops, n)
	return slices.Max(tops[:])
}
