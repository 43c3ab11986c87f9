package attn_test

import (
	"math/rand/v2"
	"testing"

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
			p := newProblem(rand.New(rand.NewPCG(1, 2)), c.Shape, c.causal, c.mask)
			for i, o := range []*attn.Operand{&p.args.Q, &p.args.K, &p.args.V} {
				dims := [4]int{c.Batch, []int{c.Heads, c.Groups, c.Groups}[i], []int{c.S, c.T, c.T}[i], c.D}
				*o = laid(rand.New(rand.NewPCG(3, uint64(i))), dims, orders[1])
			}
			p.args.Out.Strides, p.out = strides([4]int{c.Batch, c.Heads, c.S, c.E}, orders[1])
			p.args.Out.Data = make([]float32, p.out)
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
