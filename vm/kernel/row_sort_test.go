package kernel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// sortCases have lines that are sorted by each method, whole and in part.
var sortCases = []struct{ op, attrs, in, out string }{
	{"sort", "", "x[3,5000]", "x[3,5000]"},
	{"sort", "descending=true", "x[2,700]", "x[2,700]"},
	{"sort", "axis=0", "x[300,3]", "x[300,3]"},
	{"sort", "", "x[9,30]", "x[9,30]"},
	{"argsort", "", "x[2,700]", "i64[2,700]"},
	{"argsort", "axis=1, descending=true", "x[2,300,3]", "i64[2,300,3]"},
	{"topk", "k=20", "x[3,2000]", "x[3,20] i64[3,20]"},
	{"topk", "k=20, largest=false, axis=0", "x[2000,2]", "x[20,2] i64[20,2]"},
	{"topk", "k=250", "x[2,300]", "x[2,250] i64[2,250]"},
	{"topk", "k=1", "x[4,50]", "x[4,1] i64[4,1]"},
	{"topk", "k=0", "x[4,50]", "x[4,0] i64[4,0]"},
}

// TestSorts compares with the reference, bit for bit: random elements, few different
// ones, all the same, and floats with both zeros and several NaN among them.
func TestSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var x kernel.Exec
	options := kernel.Best()
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1, -1}
	fills := []func(*tensor.T){
		func(*tensor.T) {},
		func(t *tensor.T) { fillBy(t, func() float64 { return float64(r.IntN(9) - 4) }) },
		func(t *tensor.T) { fillBy(t, func() float64 { return 1 }) },
		func(t *tensor.T) { fillBy(t, func() float64 { return special[r.IntN(len(special))] }) },
	}
	for _, d := range tensor.DTypes {
		for _, c := range sortCases {
			as := strings.NewReplacer("x[", d.String()+"[")
			call, err := kernel.Bind(c.op, c.attrs, typesOf(t, as.Replace(c.in)), typesOf(t, as.Replace(c.out)))
			if err != nil {
				t.Fatal(err)
			}
			k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
			if is := k.Kind != kernel.Reference; is != (d.Size() <= 4) {
				t.Errorf("%s of %s is run by %s: %s", c.op, d, k.Name, k.Why)
			}
			for _, fill := range fills {
				in := irtest.Tensor(r, call.In[0])
				fill(in)
				want, err := ir.Evaluate(call, in)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, k, &x, call, []*tensor.T{in}, want, nil)
			}
		}
	}
}

func fillBy(t *tensor.T, f func() float64) {
	for i := range t.Len() {
		t.SetFloat(i, f())
	}
}
