package norm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// BenchmarkRows reports elements a nanosecond, and how many times as long as a copy of
// the elements a norm or reduction takes, where the copy is timed in the same process.
func BenchmarkRows(b *testing.B) {
	var x norm.Scratch
	level := isa.Best()
	for _, s := range []norm.Space{
		{Outer: 512, N: 1024, Inner: 1}, {Outer: 128, N: 384, Inner: 1}, {Outer: 2000, N: 64, Inner: 1},
		{Outer: 2000, N: 12, Inner: 1}, {Outer: 2000, N: 3, Inner: 1}, {Outer: 8, N: 64, Inner: 256}, {Outer: 1, N: 1000, Inner: 16}, {Outer: 1, N: 1 << 20, Inner: 2},
	} {
		src, dst := random(rand.New(rand.NewPCG(1, 2)), s.Size()), make([]float32, s.Size())
		a := norm.Affine{Weight: random(rand.New(rand.NewPCG(3, 4)), s.N)}
		a.Bias = a.Weight
		y, out := norm.Layout{Space: s, Times: 1}, norm.Results{F32: make([]float32, s.Rows())}
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"softmax", func() { x.Softmax(level, s, 0, s.Units(), dst, src) }},
			{"layernorm", func() { x.LayerNorm(level, s, 0, s.Units(), dst, src, a, 1e-5) }},
			{"sum", func() { x.Fold(level, norm.Sum, &y, 0, y.Units(), out, src, 0) }},
			{"variance", func() { x.Fold(level, norm.Variance, &y, 0, y.Units(), out, src, 0) }},
			{"max", func() { x.Fold(level, norm.Max, &y, 0, y.Units(), out, src, 0) }},
			{"logsumexp", func() { x.Fold(level, norm.LogSumExp, &y, 0, y.Units(), out, src, 0) }},
		} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", c.name, s.Outer, s.N, s.Inner), func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
				each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(float64(s.Size())/each, "elements/ns")
				b.ReportMetric(each/copying(dst, src), "copies")
			})
		}
	}
}

// copying is the nanoseconds of a copy, the best of many.
func copying(dst, src []float32) float64 {
	best := time.Hour
	for range 50 {
		from := time.Now()
		for range 10 {
			copy(dst, src)
		}
		best = min(best, time.Since(from))
	}
	return float64(best.Nanoseconds()) / 10
}
