package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestTriangles compares with the reference, bit for bit: diagonals in, beside and far
// from matrices of all forms, and elements of every size.
func TestTriangles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	options := kernel.Best()
	for _, op := range []*ir.Op{ir.Triu, ir.Tril} {
		for i, shape := range []string{"[5,5]", "[3,7]", "[2,7,3]", "[1,1]", "[0,4]", "[4,0]", "[2,3,40,9]"} {
			d := []tensor.DType{tensor.F32, tensor.I64, tensor.BF16, tensor.Bool}[i%4]
			for _, k := range []int64{0, 1, -1, 2, -3, 50, -50, 1 << 62, -1 << 62} {
				in := typeOf(t, d.String()+shape)
				call := &ir.Call{Op: op, Attrs: []ir.Lit{ir.DimLit(ir.N(k))}, In: []ir.Type{in}}
				if err := ir.InferCall(call); err != nil {
					t.Fatal(err)
				}
				p := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
				if !strings.HasPrefix(p.Name, "triangle/") {
					t.Fatalf("%s of %s is run by %s", op.Name, in, p.Name)
				}
				args := []*tensor.T{irtest.Tensor(r, in)}
				want, err := ir.Evaluate(call, args...)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint(op.Name, in, k), func(t *testing.T) {
					var x kernel.Exec
					compare(t, p, &x, call, args, want, nil)
				})
			}
		}
	}
}
