package npu

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// TestMadeWeightsAreThoseOfTheReference: weights that kernels have computed when the
// program was compiled have the bits of the operators' evaluation.
func TestMadeWeightsAreThoseOfTheReference(t *testing.T) {
	const script = `
module Net() {
    param w1: f32[70, 130]
    param w2: f32[130, 96]
    param w3: f32[96, 33]
    param w4: f32[33, 33]
    param t1: f32[40, 33]
    param t2: f32[24, 33]
    param k: f32[8, 8]
    fn forward(x: f32[5, 70]) -> f32[5, 64] {
        h = relu(x @ w1) @ w2
        return linear(relu(h) @ w3, w4) @ transpose(concat(t1, t2, axis=0), [1, 0]) + max(cast(cast(k, f16), f32) * 3.0)
    }
}
net = Net()
graph main(x: f32[5, 70]) -> (y: f32[5, 64]) {
    return net(x)
}
`
	for _, precision := range []Precision{"f32", "bf16", "f16", "int8"} {
		made := func(kernels Kernels) *Program {
			p, err := Compile(Script("made.npu", script), Options{RandomWeights: true, Seed: 5, Precision: precision, Kernels: kernels})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		fast, reference := made(KernelsFast), made(KernelsReference)
		if len(fast.weights) < 4 || len(fast.weights) != len(reference.weights) {
			t.Fatalf("%s: %d and %d weights", precision, len(fast.weights), len(reference.weights))
		}
		for name, want := range reference.weights {
			if got := fast.weights[name]; got == nil || !tensor.BitEqual(got, want) {
				t.Errorf("%s: weight %s differs", precision, name)
			}
		}
	}
}

// TestWeightsByOneKernel: the rows of a weight become bytes by one kernel, which divides a
// weight that stands alone among the threads.
func TestWeightsByOneKernel(t *testing.T) {
	const script = "param w: f32[70, 130]\ngraph main(x: f32[5, 130]) -> (y: f32[5, 70]) {\n    return linear(x, w)\n}\n"
	for _, threads := range []int{1, 3} {
		p, err := Compile(Script("one.npu", script), Options{RandomWeights: true, Precision: "int8", Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		groups := weightGroups(p.fn.Weights)
		m := newWeightMaking(p, &ir.Budget{}, groups[len(groups)-1], p.fn.MadeWeights())
		m.threads = threads
		p.weights["w"] = tensor.New(tensor.F32, 70, 130)
		if done, err := m.whole(groups[len(groups)-1]); !done || err != nil {
			t.Errorf("%d threads: by one kernel: %v, %v", threads, done, err)
		}
	}
}
