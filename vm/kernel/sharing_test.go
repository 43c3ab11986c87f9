package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// checkShared computes a task as executors share it out: two of them take some parts at
// a time, the one from the front, the other from the end. The bits are those of the whole.
func checkShared(t *testing.T, k *kernel.Prepared, in, whole []*tensor.T, types []ir.Type, r *rand.Rand) {
	t.Helper()
	for _, most := range []int{3, 8, 50} {
		parts := k.Share(2, most)
		if parts < 1 || parts >= 2*most {
			t.Fatalf("%s: %d parts, where at most %d are worth their while", k.Name, parts, most)
		}
		out := garbageOf(types)
		if parts > 1 {
			runShared(t, k, in, out, parts, r)
		} else if err := k.Do(new(kernel.Exec), 0, 1, out, in); err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			if !bitEqual(whole[i], out[i]) {
				t.Fatalf("%s: result %d by %d parts that two share: %v", k.Name, i, parts, tensor.Compare(out[i], whole[i], 0))
			}
		}
	}
}

func runShared(t *testing.T, k *kernel.Prepared, in, out []*tensor.T, parts int, r *rand.Rand) {
	t.Helper()
	var hands [2]kernel.Exec
	for from, to := 0, parts; from < to; {
		n := 1 + r.IntN(min(to-from, 1+parts/4))
		e := r.IntN(2)
		lo := from
		if e == 0 {
			from += n
		} else {
			to -= n
			lo = to
		}
		x := &hands[e]
		if err := k.DoRange(x, lo, lo+n, parts, out, in); err != nil {
			t.Fatal(err)
		}
		x.Again = true
	}
}

// TestProductBands: products of constants, of one band of rows and of several, by one
// panel and by many, of a batch and of several right operands.
func TestProductBands(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, d := range []struct{ of, sums tensor.DType }{{of: tensor.F32}, {of: tensor.BF16}, {tensor.F16, tensor.F32}, {tensor.I8, tensor.I32}} {
		for seed := range uint64(rounds) {
			r := rand.New(rand.NewPCG(seed, 21))
			w := &regionWriter{T: t, r: r, dtype: d.of, sums: d.sums}
			m, k := 1+r.IntN(200), 1+r.IntN(90)
			x := w.input(w.normal(1+r.IntN(2), m, k))
			var out []int
			var weights []bool
			for range 1 + r.IntN(3) {
				v := w.multiply("linear", x, w.input(w.normal(1+r.IntN(300), k)))
				if w.typeOf(v).DType != tensor.I32 && r.IntN(2) == 0 {
					v = w.op("gelu", "", v)
				}
				out = append(out, v)
			}
			for i := range w.in {
				weights = append(weights, i > 0)
			}
			b := w.body(weights, out...)
			for _, o := range choices()[1:] {
				p := kernel.Prepare(b, &o)
				if p == nil {
					t.Fatalf("no kernel takes %v", b.Ops)
				}
				whole := garbageOf(resultsOf(b))
				if err := p.Do(new(kernel.Exec), 0, 1, whole, w.in); err != nil {
					t.Fatal(err)
				}
				checkShared(t, p, w.in, whole, resultsOf(b), r)
			}
		}
	}
}
