package strip_test

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// chain is a program of n cheap operators, one behind the other.
func chain(b *testing.B, n int) *strip.Program {
	s := strip.New(isa.Best())
	x := s.Input(strip.F32)
	half := s.Const(0.5)
	for i := range n {
		x = s.Op([]vec.Code{vec.Mul, vec.Add, vec.Max, vec.Sub}[i%4], x, half)
	}
	s.Result(x, strip.F32)
	p, err := s.Compile()
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkChain runs chains of cheap operators on 64 MiB and, in turns, copies the
// same bytes: what one takes of the other, the best of each.
func BenchmarkChain(b *testing.B) {
	const n = 16 << 20
	in, out := strip.Matrix(floats(n), n), strip.Matrix(floats(n), n)
	from, to := floats(n), floats(n)
	for _, ops := range []int{1, 4, 8, 12, 16, 20, 24, 48} {
		b.Run(fmt.Sprint(ops), func(b *testing.B) {
			p := chain(b, ops)
			var s strip.Scratch
			least := [2]time.Duration{1 << 40, 1 << 40}
			for b.Loop() {
				start := time.Now()
				copy(to, from)
				least[0] = min(least[0], time.Since(start))
				start = time.Now()
				p.BoxStream(&s, []strip.View{in, out}, 1, n)
				least[1] = min(least[1], time.Since(start))
			}
			b.ReportMetric(float64(least[1])/float64(least[0]), "copies")
			b.ReportMetric(8*n/float64(least[1]), "GB/s")
		})
	}
}

// floats are n of them at a multiple of 64 bytes.
func floats(n int) []float32 {
	blocks := vec.Aligned((n + vec.Lanes - 1) / vec.Lanes)
	for i := range blocks {
		blocks[i].Fill(1)
	}
	return unsafe.Slice(&blocks[0][0], n)
}

// BenchmarkSmall is what a box costs on a tensor of 64 elements.
func BenchmarkSmall(b *testing.B) {
	for _, ops := range []int{1, 101} {
		b.Run(fmt.Sprint(ops), func(b *testing.B) {
			p := chain(b, ops)
			var s strip.Scratch
			views := []strip.View{strip.Matrix(floats(64), 64), strip.Matrix(floats(64), 64)}
			for b.Loop() {
				p.Box(&s, views, 1, 64)
			}
		})
	}
}

// BenchmarkRows runs a product with a row and a sum with another, on 64 MiB of rows of
// several lengths and, in turns, copies the same bytes: what one takes of the other.
func BenchmarkRows(b *testing.B) {
	const n = 16 << 20
	in, out, from, to := floats(n), floats(n), floats(n), floats(n)
	for _, cols := range []int{64, 256, 1024, 4096, 65536} {
		b.Run(fmt.Sprint(cols), func(b *testing.B) {
			s := strip.New(isa.Best())
			x := s.Input(strip.F32)
			x = s.Op(vec.Add, s.Op(vec.Mul, x, s.Input(strip.F32)), s.Input(strip.F32))
			s.Result(x, strip.F32)
			p, err := s.Compile()
			if err != nil {
				b.Fatal(err)
			}
			views := []strip.View{strip.Matrix(in, cols), strip.Columns(floats(cols)), strip.Columns(floats(cols)), strip.Matrix(out, cols)}
			var scratch strip.Scratch
			least := [2]time.Duration{1 << 40, 1 << 40}
			for b.Loop() {
				start := time.Now()
				copy(to, from)
				least[0] = min(least[0], time.Since(start))
				start = time.Now()
				p.BoxStream(&scratch, views, n/cols, cols)
				least[1] = min(least[1], time.Since(start))
			}
			b.ReportMetric(float64(least[1])/float64(least[0]), "copies")
			b.ReportMetric(8*n/float64(least[1]), "GB/s")
		})
	}
}
