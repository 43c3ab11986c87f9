package wide

import (
	"fmt"
	"testing"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// BenchmarkMul multiplies by constant matrices, and by those that are packed on the way, on
// one thread, and reports 10^9 products and sums a second.
func BenchmarkMul(b *testing.B) {
	for _, level := range isa.Levels() {
		for _, s := range []struct{ m, n, k int }{{512, 1024, 1024}, {128, 128, 128}, {1024, 1024, 1024}, {12, 384, 1536}, {1, 1024, 1024}} {
			for _, packed := range []bool{true, false} {
				name := fmt.Sprintf("%v/%dx%dx%d/packed=%v/", level, s.m, s.n, s.k, packed)
				b.Run(name+"f64", func(b *testing.B) { bench[float64](b, level, s.m, s.n, s.k, packed) })
				b.Run(name+"i32", func(b *testing.B) { bench[int32](b, level, s.m, s.n, s.k, packed) })
				b.Run(name+"i64", func(b *testing.B) { bench[int64](b, level, s.m, s.n, s.k, packed) })
			}
		}
	}
}

func bench[E Element](b *testing.B, level isa.Level, m, n, k int, packed bool) {
	filled := func(n int) []E {
		s := Elements[E](gemm.Aligned(n * sizeOf[E]() / 4))
		for i := range s {
			s[i] = E(i % 17)
		}
		return s
	}
	p := &Product[E]{
		N: n, K: k, A: gemm.View[E]{Data: filled(m * k), Row: k, Col: 1},
		B: gemm.View[E]{Data: filled(k * n), Row: n, Col: 1}, C: filled(m * n), Ldc: n,
	}
	if packed {
		p.Panels = filled(PackedLen[E](level, k, n))
		Pack(level, p.Panels, p.B, k, n)
	}
	var x Scratch
	for b.Loop() {
		if err := Mul(&x, level, *p, gemm.Range{Hi: m}, gemm.Range{Hi: n}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Gop/s")
	b.ReportMetric(0, "ns/op")
}
