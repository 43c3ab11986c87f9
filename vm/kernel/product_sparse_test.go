package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestProductOfZeros: a constant, whose rows a product of one row leaves out where they meet
// zeros, gives the bits of one that is none; and NaN where zero meets an infinity, which a
// twin may have where the first has none.
func TestProductOfZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	const k, n = 160, 300
	x := normal(r, 1, k)
	for i, f := range tensor.Of[float32](x) {
		tensor.Of[float32](x)[i] = max(f, 0)
	}
	tensor.Of[float32](x)[7] = 0
	finite := normal(r, n, k)
	infinite := finite.Clone()
	tensor.Of[float32](infinite)[5*k+7] = float32(math.Inf(-1))
	for _, o := range choices()[1:] {
		var twins kernel.Twins
		for _, f := range []*tensor.T{finite, infinite} {
			var out [2]*tensor.T
			for i, constant := range []bool{false, true} {
				w := &regionWriter{T: t, r: r}
				body := w.body([]bool{false, constant}, w.op("linear", "", w.input(x), w.input(f)))
				p := twins.Prepare(body, &o)
				parts := p.Parts(3)
				result := garbageOf([]ir.Type{body.Type(body.Out[0])})
				var exec kernel.Exec
				for part := range parts {
					if err := p.Do(&exec, part, parts, result, w.in); err != nil {
						t.Fatal(err)
					}
				}
				out[i] = result[0]
			}
			if d := tensor.Compare(out[1], out[0], 0); d != nil {
				t.Errorf("%v: a constant gives another product: %v", o.Level, d)
			}
			for j, y := range tensor.Of[float32](out[1]) {
				if bad := f == infinite && j == 5; (y != y) != bad {
					t.Errorf("%v: element %d is %g", o.Level, j, y)
				}
			}
		}
	}
}
