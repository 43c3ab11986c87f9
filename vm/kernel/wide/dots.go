package wide

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// One row by columns of B that lie in one piece each is a product of a matrix and a vector,
// turned: B is read where it lies, four columns side by side, since to pack it would take
// longer than to multiply.

// dotPiece is how many columns are computed before Stop is asked again.
const dotPiece = 64

// dots computes columns of the only row.
func (m *mul[E]) dots(cols gemm.Range) error {
	row := m.rows.Lo
	a := room[E](&m.x.a, m.p.K)
	m.copyA(a, m.rows, gemm.Range{Hi: m.p.K}, 1)
	t := &m.x.tile
	for n := cols.Lo; n < cols.Hi; n += dotPiece {
		if err := m.stop(); err != nil {
			return err
		}
		*t = tile{
			a: unsafe.Pointer(unsafe.SliceData(a)), b: unsafe.Pointer(&m.p.B.Data[n*m.p.B.Col]), c: unsafe.Pointer(&m.p.C[row*m.p.Ldc+n]),
			line: m.p.B.Col * sizeOf[E](), k: m.p.K, n: min(dotPiece, cols.Hi-n),
		}
		m.set.dots(t)
	}
	*t = tile{}
	m.finish(m.rows, cols, false)
	return nil
}

// column is column j of B, as long as a row of A.
func column[E Element](t *tile, j int) []E {
	return unsafe.Slice((*E)(unsafe.Add(t.b, j*t.line)), t.k)
}

// rowsOfDots are A and C.
func rowsOfDots[E Element](t *tile) (a, c []E) {
	return unsafe.Slice((*E)(t.a), t.k), unsafe.Slice((*E)(t.c), t.n)
}

// dots rounds a product before it is added, if it is one of floats.
func dots[E Element](t *tile) {
	a, c := rowsOfDots[E](t)
	j := 0
	for ; j+4 <= len(c); j += 4 {
		b0, b1, b2, b3 := column[E](t, j)[:len(a)], column[E](t, j+1)[:len(a)], column[E](t, j+2)[:len(a)], column[E](t, j+3)[:len(a)]
		var s0, s1, s2, s3 E
		for k, x := range a {
			s0 += E(x * b0[k])
			s1 += E(x * b1[k])
			s2 += E(x * b2[k])
			s3 += E(x * b3[k])
		}
		c[j], c[j+1], c[j+2], c[j+3] = s0, s1, s2, s3
	}
	for ; j < len(c); j++ {
		var s E
		for k, y := range column[E](t, j) {
			s += E(a[k] * y)
		}
		c[j] = s
	}
}

// fusedDots rounds once, as tiles in assembly do.
func fusedDots(t *tile) {
	a, c := rowsOfDots[float64](t)
	j := 0
	for ; j+4 <= len(c); j += 4 {
		b0, b1, b2, b3 := column[float64](t, j)[:len(a)], column[float64](t, j+1)[:len(a)], column[float64](t, j+2)[:len(a)], column[float64](t, j+3)[:len(a)]
		var s0, s1, s2, s3 float64
		for k, x := range a {
			s0 = math.FMA(x, b0[k], s0)
			s1 = math.FMA(x, b1[k], s1)
			s2 = math.FMA(x, b2[k], s2)
			s3 = math.FMA(x, b3[k], s3)
		}
		c[j], c[j+1], c[j+2], c[j+3] = s0, s1, s2, s3
	}
	for ; j < len(c); j++ {
		s := 0.0
		for k, y := range column[float64](t, j) {
			s = math.FMA(a[k], y, s)
		}
		c[j] = s
	}
}
