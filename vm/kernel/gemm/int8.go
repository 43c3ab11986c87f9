package gemm

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// ColumnSums adds up the columns of a matrix of k rows and n columns of bytes, less
// k times their zero points, if there are some: what a zero point of the left
// operand is multiplied with. The sums wrap.
func ColumnSums(b View[int8], k, n int, zeros []int32) []int32 {
	sums := make([]int32, n)
	SumColumns(sums, b, k)
	for j := range zeros {
		sums[j] -= int32(k) * zeros[j]
	}
	return sums
}

// RowSum adds up a row of the left operand, which zero points of columns are
// multiplied with.
func RowSum(row []uint8) (sum int32) {
	for _, x := range row {
		sum += int32(x)
	}
	return sum
}

// Columns quantizes the columns of a matrix of k rows and n columns, each by its own
// scale, with zero at zero: an element is q·scale, q = round(x/scale), halves to
// even, scale = max|x|/127 (1 for a column of zeros). NaN becomes zero. The bytes
// are rows of n.
func Columns(b Matrix, k, n int) (q []int8, scales []float32) {
	q, scales = make([]int8, k*n), make([]float32, n)
	for j := range scales {
		scales[j] = columnScale(b.From(0, j), k)
		for i := range k {
			q[i*n+j] = quantized(b.Data[i*b.Row+j*b.Col], scales[j])
		}
	}
	return q, scales
}

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

// A Dequantize is the tail that turns the integer sums of Int8 into floats.
type Dequantize struct {
	Level   isa.Level
	Columns narrow.Dequantizer
	Rows    []narrow.Row // of each row of the left operand, or one for all
	To      []float32    // rows Ld apart
	Ld      int
}

// Block implements Tail.
func (d *Dequantize) Block(row, col, rows, cols int, c []float32, ldc int) {
	for i := range rows {
		r := d.Rows[0]
		if len(d.Rows) > 1 {
			r = d.Rows[row+i]
		}
		d.Columns.Row(d.Level, d.To[(row+i)*d.Ld+col:][:cols], Ints(c[i*ldc:][:cols]), col, r)
	}
}

// most is the largest magnitude of a quantized weight: the range is symmetric.
const most = 127

func columnScale(column Matrix, k int) float32 {
	var top float32
	for i := range k {
		if x := column.Data[i*column.Row]; x == x {
			top = max(top, x, -x)
		}
	}
	if scale := top / most; scale > 0 {
		return scale
	}
	return 1
}

func quantized(x, scale float32) int8 {
	if x != x {
		return 0
	}
	return int8(math.RoundToEven(float64(max(-most, min(most, x/scale)))))
}
