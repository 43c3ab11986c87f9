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

type indexCase struct{ op, attrs, in, out string }

// indexCases are calls whose indices are more than are read at a time, and whose
// axes are all kinds of places. x of the text is a dtype, i that of the indices.
var indexCases = []indexCase{
	{"gather", "axis=0", "x[40,7] i[1500]", "x[1500,7]"},
	{"gather", "axis=2", "x[30,2,40] i[40,20]", "x[30,2,40,20]"},
	{"gather", "axis=1", "x[2000,5,2] i[3]", "x[2000,3,2]"},
	{"gather", "axis=1", "x[3,5] i", "x[3]"},
	{"embedding", "", "x[50,16] i[3,400]", "x[3,400,16]"},
	{"embedding", "", "x[50,3] i[0]", "x[0,3]"},
	{"take_along", "axis=1", "x[9,40] i[9,700]", "x[9,700]"},
	{"take_along", "axis=0", "x[40,1300] i[3,1300]", "x[3,1300]"},
	{"take_along", "axis=1", "x[6,40,5] i[1,30,1]", "x[6,30,5]"},
	{"take_along", "axis=1", "x[1,40,5] i[6,30,5]", "x[6,30,5]"},
	{"take_along", "axis=1", "x[0,40] i[1,30]", "x[0,30]"},
	{"gather_nd", "", "x[5,7] i[1200,2]", "x[1200]"},
	{"gather_nd", "", "x[5,7,3] i[60,20,1]", "x[60,20,7,3]"},
	{"gather_nd", "batch_dims=1", "x[4,7,3] i[4,300,1]", "x[4,300,3]"},
	{"gather_nd", "batch_dims=1", "x[4,7,3] i[4,0]", "x[4,7,3]"},
	{"one_hot", "n=20, dtype=x", "i[700]", "x[700,20]"},
	{"one_hot", "n=20, dtype=x, axis=0, on=1, off=0", "i[30,40]", "x[20,30,40]"},
	{"one_hot", "n=20, dtype=x, axis=1, on=0, off=1", "i[3,600]", "x[3,20,600]"},
	{"scatter", "axis=1", "x[9,40] i[9,700] x[9,700]", "x[9,40]"},
	{"scatter", "axis=0", "x[40,30] i[50,20] x[50,20]", "x[40,30]"},
	{"scatter", "axis=1", "x[4,5,6,7] i[3,30,6,2] x[3,30,6,2]", "x[4,5,6,7]"},
	{"scatter", "axis=1, reduce=\"add\"", "x[9,40] i[9,700] x[9,700]", "x[9,40]"},
	{"scatter", "axis=0, reduce=\"mul\"", "x[40,30] i[50,20] x[50,20]", "x[40,30]"},
	{"scatter", "axis=0, reduce=\"max\"", "x[40,30] i[50,20] x[50,20]", "x[40,30]"},
	{"scatter", "axis=1, reduce=\"min\"", "x[4,5,6,7] i[3,30,6,2] x[3,30,6,2]", "x[4,5,6,7]"},
	{"scatter_nd", "reduce=\"add\"", "x[5,7] i[1200,2] x[1200]", "x[5,7]"},
	{"scatter_nd", "reduce=\"mul\"", "x[5,1200] i[9,1] x[9,1200]", "x[5,1200]"},
	{"scatter_nd", "reduce=\"add\"", "x[5,130] i[700,1] x[700,130]", "x[5,130]"},
	{"scatter_nd", "reduce=\"add\"", "x[450,1200] i[9,1] x[9,1200]", "x[450,1200]"},
	{"scatter_nd", "reduce=\"max\"", "x[5,1200] i[9,1] x[9,1200]", "x[5,1200]"},
	{"scatter_nd", "reduce=\"min\"", "x[5,7] i[2,3,0] x[2,3,5,7]", "x[5,7]"},
	{"scatter_nd", "", "x[5,7] i[1200,2] x[1200]", "x[5,7]"},
	{"scatter_nd", "", "x[5,1200] i[9,1] x[9,1200]", "x[5,1200]"},
	{"scatter_nd", "", "x[5,7] i[2,3,0] x[2,3,5,7]", "x[5,7]"},
}

// randomIndices fills a tensor with indices of an axis of a size, some of which count
// from its end.
func randomIndices(r *rand.Rand, t *tensor.T, size int64) {
	low := -size
	if t.DType.Kind() == tensor.Unsigned {
		low = 0
	}
	list := make([]int64, t.Len())
	for j := range list {
		list[j] = low + r.Int64N(size-low)
	}
	t.StoreInts(0, list)
}

// TestIndexes compares with the reference, for all dtypes of elements and some of
// indices, bit for bit, and the message where an index is outside.
func TestIndexes(t *testing.T) {
	for n, d := range tensor.DTypes {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(8, uint64(n)))
			var x kernel.Exec
			for i, index := range indexTypes {
				// Kernels read indices and move elements apart from each other.
				if testing.Short() && (i+n)%len(indexTypes) > 0 {
					continue
				}
				for _, c := range indexCases {
					checkIndexing(t, r, &x, c, d, index)
				}
			}
		})
	}
}

var indexTypes = []tensor.DType{tensor.I64, tensor.I32, tensor.I8, tensor.U8, tensor.U64}

// checkIndexing runs a case with elements of d.
func checkIndexing(t *testing.T, r *rand.Rand, x *kernel.Exec, c indexCase, d, index tensor.DType) {
	t.Helper()
	as := strings.NewReplacer("x[", d.String()+"[", "i[", index.String()+"[", "x ", d.String()+" ", "dtype=x", "dtype="+d.String())
	in := as.Replace(c.in)
	if c.in != "i" && strings.HasSuffix(c.in, " i") {
		in = strings.TrimSuffix(in, "i") + index.String()
	}
	call, err := kernel.Bind(c.op, as.Replace(c.attrs), typesOf(t, in), typesOf(t, as.Replace(c.out)))
	if err != nil {
		t.Fatal(err)
	}
	args := make([]*tensor.T, len(call.In))
	at := 1
	if c.op == "one_hot" {
		at = 0
	}
	for i, typ := range call.In {
		args[i] = irtest.Tensor(r, typ)
	}
	randomIndices(r, args[at], 5)
	if strings.HasPrefix(c.in, "x[5,7,3]") || strings.HasPrefix(c.in, "x[3,5]") || strings.Contains(c.in, "x[4,5,6,7]") {
		randomIndices(r, args[at], 3)
	}
	options := kernel.Best()
	k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
	if !strings.HasPrefix(k.Name, "index/") && call.Out[0].Elements().String() != "0" {
		t.Errorf("%s %s is run by %s: %s", c.op, c.in, k.Name, k.Why)
	}
	want, wantErr := ir.Evaluate(call, args...)
	if wantErr != nil {
		t.Fatalf("%s %s: %v", c.op, c.in, wantErr)
	}
	compare(t, k, x, call, args, want, nil)
	if n := args[at].Len(); n > 0 {
		outside(t, r, k, x, call, args, args[at])
	}
}

// outside gives one index a place that no axis has.
func outside(t *testing.T, r *rand.Rand, k *kernel.Prepared, x *kernel.Exec, call *ir.Call, args []*tensor.T, index *tensor.T) {
	t.Helper()
	bad := int64(127)
	if r.IntN(2) == 0 {
		bad = -bad // of an unsigned dtype a large number
	}
	index.SetInt(r.IntN(index.Len()), bad)
	_, want := ir.Evaluate(call, args...)
	got := k.Do(x, 0, 1, garbage(call), args)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s %s of %v: error %v, want %v", k.Name, attrsText(call), call.In, got, want)
	}
	parts, failed := k.Parts(3), false
	for part := range parts {
		failed = failed || k.Do(x, part, parts, garbage(call), args) != nil
	}
	if failed != (want != nil) {
		t.Fatalf("%s of %v: by parts an error is %v, want %v", k.Name, call.In, failed, want)
	}
}
