package attn_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// BenchmarkAttention reports GFLOP/s, counting both products, and the share of the
// peak that is measured before and behind.
func BenchmarkAttention(b *testing.B) {
	level := isa.Best()
	for _, c := range []struct {
		name string
		attn.Shape
		mask   maskKind
		causal bool
	}{
		{"BERT-Large", attn.Shape{Batch: 1, Heads: 16, Groups: 16, S: 512, T: 512, D: 64, E: 64}, noMask, false},
		{"BERT-Large masked", attn.Shape{Batch: 1, Heads: 16, Groups: 16, S: 512, T: 512, D: 64, E: 64}, addRows, false},
		{"causal", attn.Shape{Batch: 1, Heads: 16, Groups: 16, S: 512, T: 512, D: 64, E: 64}, noMask, true},
		{"grouped 2048", attn.Shape{Batch: 1, Heads: 8, Groups: 2, S: 2048, T: 2048, D: 128, E: 128}, noMask, true},
		{"S=128 D=32", attn.Shape{Batch: 1, Heads: 12, Groups: 12, S: 128, T: 128, D: 32, E: 32}, addRows, false},
		{"S=12 D=32", attn.Shape{Batch: 1, Heads: 12, Groups: 12, S: 12, T: 12, D: 32, E: 32}, addRows, false},
		{"one head of BERT-Large", attn.Shape{Batch: 1, Heads: 1, Groups: 1, S: 512, T: 512, D: 64, E: 64}, noMask, false},
		{"one query of 1024", attn.Shape{Batch: 1, Heads: 16, Groups: 16, S: 1, T: 1024, D: 64, E: 64}, noMask, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := layer(c.Shape, c.mask, c.causal)
			plan := attn.New(level, p.Shape, p.scale, p.causal)
			var x attn.Scratch
			flops := 2 * float64(c.Batch*c.Heads) * float64(c.S) * float64(c.T) * float64(c.D+c.E)
			if c.causal {
				flops /= 2
			}
			before := peak.FMA(level)
			for b.Loop() {
				x.Begin()
				x.Run(plan, &p.args, 0, plan.Units())
			}
			rate := flops * float64(b.N) / float64(b.Elapsed().Nanoseconds())
			b.ReportMetric(rate, "GFLOP/s")
			b.ReportMetric(100*rate/max(before, peak.FMA(level)), "%peak")
		})
	}
}

// layer is a problem whose heads lie beside each other, as in a network.
func layer(s attn.Shape, mask maskKind, causal bool) *problem {
	p := newProblem(rand.New(rand.NewPCG(1, 2)), s, causal, mask)
	for i, o := range []*attn.Operand{&p.args.Q, &p.args.K, &p.args.V} {
		dims := [4]int{s.Batch, []int{s.Heads, s.Groups, s.Groups}[i], []int{s.S, s.T, s.T}[i], s.D}
		*o = laid(rand.New(rand.NewPCG(3, uint64(i))), dims, orders[1])
	}
	p.args.Out.Strides, p.out = strides([4]int{s.Batch, s.Heads, s.S, s.E}, orders[1])
	p.args.Out.Data = make([]float32, p.out)
	return p
}

// BenchmarkTwo reports how many times faster two threads are than one, each with half of
// the units.
func BenchmarkTwo(b *testing.B) {
	for _, c := range []struct {
		name string
		attn.Shape
	}{
		{"16 heads of 512", attn.Shape{Batch: 1, Heads: 16, Groups: 16, S: 512, T: 512, D: 64, E: 64}},
		{"12 heads of 128", attn.Shape{Batch: 1, Heads: 12, Groups: 12, S: 128, T: 128, D: 32, E: 32}},
		{"12 heads of 12", attn.Shape{Batch: 1, Heads: 12, Groups: 12, S: 12, T: 12, D: 32, E: 32}},
		{"one head of 512", attn.Shape{Batch: 1, Heads: 1, Groups: 1, S: 512, T: 512, D: 64, E: 64}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := layer(c.Shape, noMask, false)
			plan := attn.New(isa.Best(), c.Shape, p.scale, false)
			var x [2]attn.Scratch
			half := plan.Units() / 2
			run := func(i, lo, hi int) {
				x[i].Begin()
				x[i].Run(plan, &p.args, lo, hi)
			}
			var round, done atomic.Int32
			var helper sync.WaitGroup
			helper.Go(func() {
				for seen := int32(0); seen >= 0; {
					if now := round.Load(); now != seen {
						if seen = now; seen > 0 {
							run(1, half, plan.Units())
							done.Store(now)
						}
					}
				}
			})
			repeat := 4 + 10000000/(c.Heads*c.S*c.T)
			var ratios []float64
			for b.Loop() {
				start := time.Now()
				for range repeat {
					run(0, 0, plan.Units())
				}
				one := time.Since(start)
				for range repeat {
					n := round.Add(1)
					run(0, 0, half)
					for done.Load() != n {
					}
				}
				ratios = append(ratios, float64(one)/float64(time.Since(start)-one))
			}
			round.Store(-1)
			helper.Wait()
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times")
		})
	}
}
