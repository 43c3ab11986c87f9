package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestProductsForget runs two products of one left operand with other numbers in it each time.
// Few parts have a column of the first product, which then leaves nothing for the second.
func TestProductsForget(t *testing.T) {
	const rows, k, cols = 6, 512, 200
	for _, d := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F16} {
		for _, across := range []bool{false, true} {
			_, b := written(t, twoProducts(d, rows, k, cols, across))
			for _, o := range choices()[1:] {
				testForget(t, kernel.Prepare(b, &o), b, d)
			}
		}
	}
}

// twoProducts are products of a left operand, transposed or not, by one column and by some.
func twoProducts(d tensor.DType, rows, k, cols int, across bool) string {
	x, left, first := fmt.Sprintf("[%d,%d]", rows, k), "%x", ""
	if across {
		x, left = fmt.Sprintf("[%d,%d]", k, rows), "%0"
		first = fmt.Sprintf("  %%0 = transpose %%x {perm=[1,0]} : %v[%d,%d]\n", d, rows, k)
	}
	return fmt.Sprintf(`func @f(%%x: %[1]v%[2]s, %%v: %[1]v[1,%[4]d], %%w: %[1]v[%[5]d,%[4]d]) -> (a: %[1]v[%[3]d,1], b: %[1]v[%[3]d,%[5]d]) {
%[6]s  %%1 = linear %[7]s, %%v : %[1]v[%[3]d,1]
  %%2 = linear %[7]s, %%w : %[1]v[%[3]d,%[5]d]
  return %%1, %%2
}
`, d, x, rows, k, cols, first, left)
}

// testForget computes parts one by one, in any order, and as executors do, each time in the
// memory of the time before.
func testForget(t *testing.T, p *kernel.Prepared, b *kernel.Body, d tensor.DType) {
	t.Helper()
	in := make([]*tensor.T, len(b.In))
	for i, typ := range b.In {
		in[i] = tensor.New(d, typ.Ints()...)
	}
	types := []ir.Type{b.Type(b.Out[0]), b.Type(b.Out[1])}
	for most := 1; most <= 8; most++ {
		r := rand.New(rand.NewPCG(1, uint64(most)))
		var single, some kernel.Exec
		shared := p.Share(2, most)
		for range 3 {
			for _, x := range in {
				copy(x.Data, tensor.Cast(normal(r, x.Shape...), d).Data)
			}
			want := garbageOf(types)
			if err := p.Do(new(kernel.Exec), 0, 1, want, in); err != nil {
				t.Fatal(err)
			}
			got := garbageOf(types)
			parts := p.Parts(most)
			for _, part := range r.Perm(parts) {
				if err := p.Do(&single, part, parts, got, in); err != nil {
					t.Fatal(err)
				}
			}
			same(t, p, parts, got, want)
			got = garbageOf(types)
			for end := shared; end > 0; { // the last ones first, which are of the second product
				from := r.IntN(end)
				some.Again = false
				if err := p.DoRange(&some, from, end, shared, got, in); err != nil {
					t.Fatal(err)
				}
				end = from
			}
			same(t, p, shared, got, want)
		}
	}
}

func same(t *testing.T, p *kernel.Prepared, parts int, got, want []*tensor.T) {
	t.Helper()
	for i := range want {
		if !tensor.BitEqual(got[i], want[i]) {
			t.Fatalf("%s: result %d by %d parts: %v", p.Name, i, parts, tensor.Compare(got[i], want[i], 0))
		}
	}
}
