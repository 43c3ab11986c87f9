package attn_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
)

// TestAllocs: a Scratch that has grown is all the memory that a run needs, by tiles and in
// steps, of floats and with every kind of mask.
func TestAllocs(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range isa.Levels() {
		for kind := range maskKinds {
			p := newProblem(r, attn.Shape{Batch: 1, Heads: 2, Groups: 1, S: 30, T: 40, D: 16, E: 24}, kind == noMask, kind)
			plan := attn.New(level, p.Shape, p.scale, p.causal)
			var x attn.Scratch
			p.args.Out.Data = make([]float32, p.out)
			run := func() {
				x.Begin()
				x.Run(plan, &p.args, 0, plan.Units())
			}
			run()
			if n := testing.AllocsPerRun(3, run); n != 0 {
				t.Errorf("%v, mask %v: %v allocations", level, kind, n)
			}
		}
	}
}
