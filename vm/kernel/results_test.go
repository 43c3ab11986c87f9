package kernel_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestResults holds every row that takes a region of one operator to writing all that
// the region results in: a value twice, results in another order, some of them, and an
// argument behind them.
func TestResults(t *testing.T) {
	var x kernel.Exec
	taken := 0
	for _, op := range sampledOps {
		r := rand.New(rand.NewPCG(4, uint64(len(op.Name))))
		for range 10 {
			c, in := sample(t, op, r)
			values, err := ir.Evaluate(c, in...)
			if err != nil {
				continue
			}
			in = given(in)
			values = append(slices.Clone(in), values...)
			for _, o := range choices() {
				for _, out := range otherResults(kernel.Single(c, nil, kernel.Absent)) {
					b := kernel.Single(c, nil, kernel.Absent)
					b.Out = out
					if k := kernel.Prepare(b, &o); k != nil {
						taken++
						checkResults(t, &x, b, k, in, values)
					}
				}
			}
		}
	}
	if taken == 0 {
		t.Error("no row took such a region")
	}
}

// otherResults are lists of values that a body of one operator may result in, beside
// its results, each once and in order.
func otherResults(b *kernel.Body) (lists [][]int) {
	twice := append(slices.Clone(b.Out), b.Out...)
	lists = append(lists, twice, append(slices.Clone(b.Out), b.Out[0]))
	if len(b.In) > 0 {
		lists = append(lists, append(slices.Clone(b.Out), 0))
	}
	if len(b.Out) > 1 {
		back := slices.Clone(b.Out)
		slices.Reverse(back)
		lists = append(lists, back, b.Out[1:], b.Out[:1])
	}
	return lists
}

// checkResults compares what a kernel makes of a body with its values.
func checkResults(t *testing.T, x *kernel.Exec, b *kernel.Body, k *kernel.Prepared, in, values []*tensor.T) {
	t.Helper()
	types := make([]ir.Type, len(b.Out))
	for i, v := range b.Out {
		types[i] = b.Type(v)
	}
	got := garbageOf(types)
	if err := k.Do(x, 0, 1, got, in); err != nil {
		t.Fatalf("%s of %s: %v", k.Name, b.Ops[0].Call.Op.Name, err)
	}
	for i, v := range b.Out {
		if d := tensor.CompareWhole(got[i], values[v], tensor.Tolerance(k.Within)); d != nil {
			t.Errorf("%s of %s %v with the results %v: result %d: %v", k.Name, b.Ops[0].Call.Op.Name, b.In, b.Out, i, d)
		}
	}
}
