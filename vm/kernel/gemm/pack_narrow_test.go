package gemm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestPackNarrow: what is packed by fours and by panels is what element by element gives,
// for the layouts of every level, whatever lies where it is written to.
func TestPackNarrow(t *testing.T) {
	for level := isa.Portable; level <= isa.NEON; level++ {
		for kind := range kinds {
			f := PackingFor(level, kind)
			r := rand.New(rand.NewPCG(uint64(level), uint64(kind)))
			for range 60 {
				k, n := r.IntN(150), r.IntN(80)
				head, deep, flip := f.head(k), f.beside(), int8(0)
				if f.left == leftSplit || f.left == leftQuad {
					deep, flip = quad, -128
				}
				if kind == Int8 {
					samePacked(t, f, r, k, n, head, deep, f.PackBytes, func(x int8) int8 { return x ^ flip })
				} else {
					samePacked(t, f, r, k, n, head, deep, f.PackHalves, func(x uint16) uint16 { return x })
				}
			}
		}
	}
}

// samePacked packs a matrix, its transposed one, and one whose elements lie apart. It
// looks at what stands behind the head.
func samePacked[E int8 | uint16](t *testing.T, f *Format, r *rand.Rand, k, n, head, deep int, pack func(dst []float32, b View[E], k, n int), of func(E) E) {
	t.Helper()
	off := r.IntN(3)
	for _, b := range []View[E]{{Row: n + r.IntN(3), Col: 1}, {Row: 1, Col: k + r.IntN(3)}, {Row: 2, Col: 2*k + 1}} {
		b.Data = make([]E, off+k*max(b.Row, 1)+n*max(b.Col, 1))[off:]
		for i := range b.Data {
			b.Data[i] = E(r.Uint32())
		}
		want, got := make([]float32, f.PackedLen(k, n)), make([]float32, f.PackedLen(k, n)+1)
		packSteps(as[E](want[head:]), f.set.width, deep, f.panelRows(k), b, k, n, of)
		for i := range as[E](got) {
			as[E](got)[i] = 0x55
		}
		pack(got[:len(want)], b, k, n)
		rest := as[E](got[len(want):])
		if k > 0 && !slices.Equal(as[E](got[head:len(want)]), as[E](want[head:])) || slices.ContainsFunc(rest, func(x E) bool { return x != 0x55 }) {
			t.Fatalf("%s: %d rows by %d, %d columns by %d", f.Layout(), k, b.Row, n, b.Col)
		}
	}
}

// BenchmarkPackNarrow packs the weights of a layer, which lie by columns as those of
// linear do, and by rows as those of matmul.
func BenchmarkPackNarrow(b *testing.B) {
	const k, n = 1024, 4096
	bytes, halves := make([]int8, k*n), make([]uint16, k*n)
	for kind := range kinds {
		f := FormatOf(isa.Best(), kind)
		dst := Aligned(f.PackedLen(k, n))
		for name, by := range map[string][2]int{"columns": {1, k}, "rows": {n, 1}} {
			b.Run(fmt.Sprintf("%s/%s", f.Layout(), name), func(b *testing.B) {
				for b.Loop() {
					if kind == Int8 {
						f.PackBytes(dst, View[int8]{bytes, by[0], by[1]}, k, n)
					} else {
						f.PackHalves(dst, View[uint16]{halves, by[0], by[1]}, k, n)
					}
				}
				b.ReportMetric(k*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelem/s")
			})
		}
	}
}

// packSteps writes panels of width columns and so many rows with deep elements of each
// column side by side, one element after the other, in memory that is zero.
func packSteps[E, F any](dst []F, width, deep, rows int, b View[E], k, n int, of func(E) F) {
	if k == 0 {
		return
	}
	for j := range n {
		column := dst[j/width*rows*width+j%width*deep:]
		at := j * b.Col
		for i := range k {
			column[i/deep*deep*width+i%deep] = of(b.Data[at])
			at += b.Row
		}
	}
}
