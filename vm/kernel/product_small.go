package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/wide"
)

// Products of integers of one byte or two go by the tiles of i32: operands are widened piece by
// piece, and sums, which wrap, lose the bits that the product's type has not. Bytes whose sums
// are i32 come here only with a right operand of u8, which the tiles of bytes have not.
//
//	matmul i16[m,k] i16[k,n]              i16
//	matmul u8[m,k] u8[k,n] {dtype=i32}    i32
var (
	smallTypes    = dtypeList{tensor.I8, tensor.U8, tensor.I16, tensor.U16}
	smallOperands = &operands{
		left: smallTypes, right: smallTypes, sums: append(dtypeList{tensor.I32}, smallTypes...), wide: smallKind, but: byteOperands,
	}

	// The rates are those of i32, and half a nanosecond for widening an element of B.
	smallKind = &wideKind{
		name: "small", exact: true, small: true, width: wide.Width[int32],
		rates: map[isa.Level]productRate{
			isa.Portable: {600, 1000}, isa.AVX2: {54, 600}, isa.AVX512: {44, 600}, isa.NEON: {600, 1000},
		},
		packedLen: wide.PackedLen[int32],
		pack: func(level isa.Level, dst []float32, b *tensor.T, at int, p *product) {
			whole := intsOf(make([]int32, p.k*p.n), b, at, p.b, p.k, p.n)
			wide.Pack(level, gemm.Ints(dst), whole, p.k, p.n)
		},
		multiply: multiplySmall,
	}
)

// A smallRun is the memory of a product of small integers under way: pieces as i32.
type smallRun struct {
	rows, cols    int // that they have at most
	a, b, c, bias []int32
}

// smallRun takes the memory for a part of a product.
func (p *product) smallRun(x *Exec, level isa.Level, rows, cols int) (r smallRun) {
	ints := func(n int) []int32 { return gemm.Ints(x.Floats(n)) }
	if p.packs == nil {
		w := p.wide.width(level)
		cols = min(cols, max(1, rightPiece/max(p.k*w, 1))*w)
		r.b = ints(p.k * cols)
	}
	r.rows, r.cols = min(rows, leftRows(max(p.k, cols))), cols
	r.a, r.c, r.bias = ints(r.rows*p.k), ints(r.rows*cols), ints(cols)
	return r
}

// multiplySmall computes rows and columns of the product of one index of the batch, piece by
// piece.
func multiplySmall(t *productTask, x *Exec, p *product, index int, rows, cols gemm.Range, out, in []*tensor.T) error {
	r := &x.product.small
	a, b := p.at(index)
	for col := cols.Lo; col < cols.Hi; col += r.cols {
		n := min(r.cols, cols.Hi-col)
		job := wide.Product[int32]{N: n, K: p.k, C: r.c, Ldc: n, Stop: x}
		if p.way != nil {
			job.Blocks = p.way.blocks
		}
		if p.packs != nil {
			job.Panels = gemm.Ints(p.packs.matrix(p, index))[col*p.k:]
		} else {
			job.B = intsOf(r.b, in[p.b.input], b+col*p.b.col, p.b, p.k, n)
		}
		if p.bias != Absent {
			job.Bias = intsOf(r.bias, in[p.bias], col, matrix{row: n, col: 1}, 1, n).Data
		}
		for row := rows.Lo; row < rows.Hi; row += r.rows {
			m := min(r.rows, rows.Hi-row)
			job.A = intsOf(r.a, in[p.a.input], a+row*p.a.row, p.a, m, p.k)
			if err := wide.Mul(&x.wide, t.level, job, gemm.Range{Hi: m}, gemm.Range{Hi: n}); err != nil {
				return err
			}
			lowBits(out[0], (index*p.m+row)*p.n+col, p.n, r.c, m, n)
		}
	}
	return nil
}

// intsOf are m rows of n elements of a matrix from one on, as i32 and in the order in which
// they lie, densely.
func intsOf(dst []int32, t *tensor.T, at int, lies matrix, m, n int) gemm.View[int32] {
	switch t.DType {
	case tensor.I8:
		return intsFrom(dst, elementsFrom[int8](t, at), lies.row, lies.col, m, n)
	case tensor.U8:
		return intsFrom(dst, elementsFrom[uint8](t, at), lies.row, lies.col, m, n)
	case tensor.I16:
		return intsFrom(dst, elementsFrom[int16](t, at), lies.row, lies.col, m, n)
	case tensor.U16:
		return intsFrom(dst, elementsFrom[uint16](t, at), lies.row, lies.col, m, n)
	}
	return intsFrom(dst, elementsFrom[int32](t, at), lies.row, lies.col, m, n) // a bias
}

func intsFrom[E element](dst []int32, src []E, row, col, m, n int) gemm.View[int32] {
	if m > 1 && (n == 1 || row < col) { // by columns
		v := intsFrom(dst, src, col, row, n, m)
		return gemm.View[int32]{Data: v.Data, Row: v.Col, Col: v.Row}
	}
	dst = dst[:m*n]
	for i := 0; i < m && n > 0; i++ {
		to, from := dst[i*n:][:n], src[i*row:]
		if col == 1 {
			for j, x := range from[:n] {
				to[j] = int32(x)
			}
			continue
		}
		for j := range to {
			to[j] = int32(from[j*col])
		}
	}
	return gemm.View[int32]{Data: dst, Row: n, Col: 1}
}

// lowBits writes m rows of n sums to a tensor, from an element on, with rows so many elements
// apart. What they have too many are the upper bits, with a sign or without.
func lowBits(t *tensor.T, at, row int, sums []int32, m, n int) {
	switch t.DType.Size() {
	case 1:
		lowTo(elementsFrom[uint8](t, at), row, sums, m, n)
	case 2:
		lowTo(elementsFrom[uint16](t, at), row, sums, m, n)
	default:
		lowTo(elementsFrom[int32](t, at), row, sums, m, n)
	}
}

func lowTo[E element](dst []E, row int, sums []int32, m, n int) {
	for i := range m {
		to := dst[i*row:][:n]
		for j, x := range sums[i*n:][:n] {
			to[j] = E(x)
		}
	}
}
