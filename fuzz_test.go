package npu

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lang"
)

// agree compiles a function at every level and compares what it computes with
// the interpreter on the function as it was.
func agree(t *testing.T, f *ir.Func, inputs []*Tensor) {
	t.Helper()
	before := f.String()
	for _, level := range []Level{O0, O2} {
		c := &compilation{opts: Options{Level: level, Verify: true, RandomWeights: true, Kernels: KernelsReference}, text: &text{name: f.Name}}
		p, err := c.build(&lang.Graph{Name: f.Name, Func: f})
		if err != nil {
			t.Fatalf("%s: %v\n%s", level, err, f)
		}
		if err := p.compare(f, inputs); err != nil {
			t.Fatalf("%s: %v\n%s", level, err, f)
		}
		if err := p.checkOtherKernels(inputs); err != nil {
			t.Fatalf("%s: %v\n%s", level, err, f)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := f.String(); after != before {
		t.Fatalf("compiling changed the source's function:\n%s\ninto\n%s", before, after)
	}
	if err := roundTrip(f); err != nil {
		t.Fatal(err)
	}
}

// TestRandomGraphs compares random graphs of all operators.
func TestRandomGraphs(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		f, inputs := irtest.Func(rand.New(rand.NewPCG(seed, 5)), 1+int(seed)%30)
		agree(t, f, inputs)
	}
}

// FuzzGraph does the same for any seed.
func FuzzGraph(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(12*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		g, inputs := irtest.Func(rand.New(rand.NewPCG(seed, 5)), 1+int(size))
		agree(t, g, inputs)
	})
}
