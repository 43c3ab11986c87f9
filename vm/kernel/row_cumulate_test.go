package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestCumulates compares with the reference, bit for bit, along every axis of
// tensors that have more neighbours than accumulate at a time.
func TestCumulates(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	var x kernel.Exec
	options := kernel.Best()
	for _, d := range tensor.DTypes {
		for _, op := range []*ir.Op{ir.CumSum, ir.CumProd} {
			for axis := range 3 {
				call := &ir.Call{Op: op, Attrs: []ir.Lit{ir.IntLit(int64(axis))}, In: []ir.Type{typeOf(t, d.String()+"[5,20,300]")}}
				if ir.InferCall(call) != nil {
					continue
				}
				in := irtest.Tensor(r, call.In[0])
				if d.IsFloat() { // some sums without NaN
					fillBy(in, func() float64 { return float64(r.IntN(40)-20) / 16 })
					in.SetFloat(r.IntN(in.Len()), -1e30)
				}
				k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
				if k.Kind == kernel.Reference {
					t.Errorf("%s of %s is run by %s: %s", op.Name, d, k.Name, k.Why)
				}
				want, err := ir.Evaluate(call, in)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, k, &x, call, []*tensor.T{in}, want, nil)
			}
		}
	}
}
