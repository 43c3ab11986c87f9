package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir/tensor"
)

// TestBiasOfHalves: the bias of a product of halves with sums of four bytes goes along with
// the kernel, also where a right operand that is no constant is packed some columns at a
// time, since its columns are long.
func TestBiasOfHalves(t *testing.T) {
	for _, of := range []tensor.DType{tensor.BF16, tensor.F16} {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(3, 4)), dtype: of, sums: tensor.F32}
		const m, k, n = 3, 9000, 75
		x, f, bias := w.input(w.normal(m, k)), w.input(w.normal(n, k)), w.input(w.summand(n))
		out := w.multiply("linear", x, f, bias)
		for _, o := range choices()[1:] {
			if w.compareProduct([]int{out}, o) == 0 {
				t.Errorf("%v: the region is not one kernel", of)
			}
		}
	}
}
