package gemm

import "github.com/npulang/npu/vm/kernel/narrow"

// Shift is what LeftSigned, or LeftBytes, adds to every element, since the processor
// multiplies bytes with a sign in A by bytes without one: -128 or 0. Shift times the sum of a
// column of B is then to be taken off each sum of products: Offsets, as Bias.
func (f *Format) Shift(signed bool) int32 {
	if f.left == leftWords || signed {
		return 0
	}
	return -128
}

// leftQuads lays out m rows of k bytes, whose bits are flipped, and their origins.
func (f *Format) leftQuads(dst []float32, a View[uint8], m, k int, flip uint8) Matrix {
	ld, bytes, origins := f.leftRow(k), f.steps(k)*quad, f.origins(dst, m, f.steps(k))
	for i := range m {
		row := as[uint8](dst[i*ld:])[:bytes]
		origins[i] = -128 * narrow.CopySigned(f.level, row[:k], a.Data[i*a.Row:][:k], flip)
		clear(row[k:])
	}
	return Matrix{Data: dst, Row: ld, Col: 1}
}

// origins are what the sums of m rows of so many quads begin with: minus what the products
// with B are too large by, since B's bytes are 128 more. They wrap.
func (f *Format) origins(data []float32, m, steps int) []int32 {
	return Ints(data[m*unlike(steps):])[:m]
}

// origins are those of a product's rows; nil: it has none.
func (p *Product) origins(rows Range) []int32 {
	if p.format == nil || p.format.left != leftQuad {
		return nil
	}
	return p.format.origins(p.A.Data, p.M, p.K)[rows.Lo:rows.Hi]
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
