package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestProductScale: sums of bytes become floats where they stand, with scales of rows and
// columns and a bias, each of which may be missing, or be of another form that what
// follows takes; the bits are those of the operators.
func TestProductScale(t *testing.T) {
	for _, o := range choices()[1:] {
		for seed := range uint64(120) {
			w := &regionWriter{T: t, r: rand.New(rand.NewPCG(seed, 3)), dtype: tensor.I8, sums: tensor.I32}
			batch, m, k, n := 1+w.r.IntN(3), 2+w.size(), w.size(), 2+w.size()
			right := []int{k, n}
			if seed%5 == 0 {
				right = []int{batch, k, n}
			}
			v := w.op("matmul", "dtype=i32", w.input(w.normal(batch, m, k)), w.input(w.normal(right...)))
			v = w.op("cast", "dtype=f32", v)
			steps := 1
			if seed&1 != 0 {
				v, steps = w.op("mul", "", v, w.input(w.behind(batch, m, 1))), steps+1
			}
			if seed&2 != 0 {
				v, steps = w.op("mul", "", w.input(w.behind(n)), v), steps+1
			}
			if seed&4 != 0 {
				v, steps = w.op("bias_add", "", v, w.input(w.behind(n))), steps+1
			}
			switch w.r.IntN(4) {
			case 0:
				v = w.op("relu", "", v)
			case 1:
				v = w.op("add", "", v, w.input(w.behind(batch, m, n)))
			case 2:
				v = w.op("mul", "", v, w.input(w.behind(1, m, 1)))
			}
			if w.compareProduct([]int{v}, o) == 0 {
				t.Fatalf("seed %d: no kernel", seed)
			}
			p := kernel.Prepare(w.body(make([]bool, len(w.in)), v), &o)
			if got := kernel.ScaledSteps(p); got != steps && batch > 1 {
				t.Fatalf("seed %d: %d steps of %d are done where the sums stand", seed, got, steps)
			}
		}
	}
}

// TestProductScaleOfOthers: what does not belong to rows or columns, or is read elsewhere
// too, is left to what follows.
func TestProductScaleOfOthers(t *testing.T) {
	for _, o := range choices()[1:] {
		for name, shape := range map[string][]int{"one number": {1}, "a number each": {3, 4, 5}, "rows of one matrix": {4, 1}, "columns by matrix": {3, 1, 5}} {
			w := &regionWriter{T: t, r: rand.New(rand.NewPCG(1, 3)), dtype: tensor.I8, sums: tensor.I32}
			sums := w.op("matmul", "dtype=i32", w.input(w.normal(3, 4, 7)), w.input(w.normal(7, 5)))
			v := w.op("cast", "dtype=f32", sums)
			scaled := w.op("mul", "", v, w.input(w.behind(shape...)))
			for _, c := range []struct{ also, steps int }{{scaled, 1}, {v, 1}, {sums, 0}} {
				out := []int{scaled, c.also}
				if c.also == scaled {
					out = out[:1]
				}
				w.compareProduct(out, o)
				if got := kernel.ScaledSteps(kernel.Prepare(w.body(make([]bool, 3), out...), &o)); got != c.steps {
					t.Errorf("%s, %d results: %d steps are done where the sums stand, not %d", name, len(out), got, c.steps)
				}
			}
		}
	}
}
