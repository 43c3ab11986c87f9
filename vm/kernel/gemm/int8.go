package gemm

import "unsafe"

// flipSigns makes bytes without a sign of ones with one, 128 more, or the other way round.
func flipSigns(dst, src []uint8) {
	n := len(src) &^ 7
	for i := 0; i < n; i += 8 {
		eight := *(*uint64)(unsafe.Pointer(&src[i]))
		*(*uint64)(unsafe.Pointer(&dst[i])) = eight ^ 0x8080808080808080
	}
	for i := n; i < len(src); i++ {
		dst[i] = src[i] ^ 0x80
	}
}

// Shift is what LeftSigned, or LeftBytes, adds to every element, since the processor
// multiplies bytes without a sign by bytes with one: 128, -128 or 0. Shift times the sum
// of a column of B is then to be taken off each sum of products: Offsets, as Bias.
func (f *Format) Shift(signed bool) int32 {
	switch {
	case f.left == leftQuad && signed:
		return 128
	case f.left == leftSplit && !signed:
		return -128
	}
	return 0
}

// Offsets sets dst to what left operands that have a Shift need as Bias, one for each
// column of B, a matrix of k rows of bytes. They wrap.
func (f *Format) Offsets(dst []int32, b View[int8], k int) {
	SumColumns(dst, b, k)
	by := f.Shift(true) + f.Shift(false)
	for j := range dst {
		dst[j] *= -by
	}
}

// SumColumns sets sums to those of as many columns of a matrix of k rows of bytes. They
// wrap.
func SumColumns(sums []int32, b View[int8], k int) {
	clear(sums)
	if b.Row < b.Col {
		for j := range sums {
			for i := range k {
				sums[j] += int32(b.Data[j*b.Col+i*b.Row])
			}
		}
		return
	}
	for i := range k {
		at := i * b.Row
		for j := range sums {
			sums[j] += int32(b.Data[at])
			at += b.Col
		}
	}
}
