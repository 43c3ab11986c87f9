package kernel_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// halfCases are calls whose rows are cut into several parts, with what is left, and some
// whose rows can't be cut; X stands for a half float.
var halfCases = []struct{ op, attrs, in, out string }{
	{"softmax", "axis=-1", "X[67,1100]", "X[67,1100]"},
	{"softmax", "axis=0", "X[67,110]", "X[67,110]"},
	{"layernorm", "", "X[3,40,700] X[700] X[700]", "X[3,40,700]"},
	{"rmsnorm", "", "X[70,700] X[700]", "X[70,700]"},
	{"groupnorm", "groups=4", "X[3,8,40,40] X[8] X[8]", "X[3,8,40,40]"},
	{"batchnorm", "", "X[3,8,40,40] X[8] X[8] X[8] X[8]", "X[3,8,40,40]"},
	{"sum", "axis=[1]", "X[67,1100]", "X[67]"},
	{"mean", "axis=[0]", "X[67,1100]", "X[1100]"},
	{"max", "axis=[1]", "X[67,1100]", "X[67]"},
	{"variance", "axis=[1]", "X[67,1100]", "X[67]"},
	{"logsumexp", "axis=[1]", "X[67,1100]", "X[67]"},
	{"argmax", "axis=1", "X[67,1100]", "i64[67]"},
	{"any", "axis=[1]", "X[67,1100]", "bool[67]"},
	{"count_nonzero", "axis=[1]", "X[67,1100]", "i64[67]"},
	{"cumsum", "axis=1", "X[67,1100]", "X[67,1100]"},
	{"conv", "pad=[1,1,1,1]", "X[5,8,40,40] X[6,8,3,3] X[6]", "X[5,6,40,40]"},
	{"max_pool", "kernel=[3,3], stride=[2,2]", "X[3,8,41,41]", "X[3,8,20,20]"},
	{"avg_pool", "kernel=[2,2], stride=[2,2]", "X[3,8,40,40]", "X[3,8,20,20]"},
	{"global_avg_pool", "", "X[3,8,40,40]", "X[3,8,1,1]"},
}

// TestHalves runs operators on half floats, with weights that runs bring and with those
// that are constant, at each level, as a whole and by parts.
func TestHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	var x kernel.Exec
	for _, d := range []string{"f16", "bf16"} {
		for _, c := range halfCases {
			call := (&opCase{c.op, c.attrs, strings.ReplaceAll(c.in, "X", d), strings.ReplaceAll(c.out, "X", d)}).call(t)
			in := make([]*tensor.T, len(call.In))
			for i, typ := range call.In {
				if typ.Absent() {
					continue
				}
				in[i] = irtest.Tensor(r, typ)
				fillBy(in[i], func() float64 { return r.NormFloat64() + 1.5*float64(i/3) })
			}
			if c.op == "batchnorm" {
				fillBy(in[4], func() float64 { return 0.5 + r.Float64() })
			}
			want, err := ir.Evaluate(call, in...)
			if err != nil {
				t.Fatal(err)
			}
			consts := append([]*tensor.T{nil}, in[1:]...)
			for _, o := range choices()[1:] {
				for _, consts := range [][]*tensor.T{nil, consts} {
					k := kernel.Prepare(kernel.Single(call, consts, kernel.Absent), &o)
					if !strings.HasPrefix(k.Name, "halves/") {
						t.Fatalf("%s of %v is run by %s: %s", c.op, call.In, k.Name, k.Why)
					}
					compare(t, k, &x, call, given(in), want, nil)
				}
			}
		}
	}
}

// TestMaximaOfBytes holds pools of bytes to the reference, also where windows see nothing:
// what they give is the least byte.
func TestMaximaOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	var x kernel.Exec
	for _, d := range []string{"i8", "u8"} {
		for _, c := range []opCase{
			{"max_pool", "kernel=[3,3], stride=[2,2]", "X[3,8,41,41]", "X[3,8,20,20]"},
			{"max_pool", "kernel=[2], pad=[1], dilation=[2]", "X[2,3,1]", "X[2,3,1]"},
			{"max_pool", "kernel=[2,3,1], stride=[1,2,1], pad=[1,1,0]", "X[2,3,5,7,4]", "X[2,3,6,4,4]"},
			{"global_max_pool", "", "X[3,8,41,41]", "X[3,8,1,1]"},
			{"global_max_pool", "", "X[2,8,0]", "X[2,8,1]"},
		} {
			call := (&opCase{c.op, c.attrs, strings.ReplaceAll(c.in, "X", d), strings.ReplaceAll(c.out, "X", d)}).call(t)
			in := []*tensor.T{irtest.Tensor(r, call.In[0])}
			want, err := ir.Evaluate(call, in...)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range choices()[1:] {
				for _, consts := range [][]*tensor.T{nil, in} {
					k := kernel.Prepare(kernel.Single(call, consts, kernel.Absent), &o)
					if !strings.HasPrefix(k.Name, "halves/") || k.Within != 0 {
						t.Fatalf("%s of %v is run by %s within %g: %s", c.op, call.In, k.Name, k.Within, k.Why)
					}
					compare(t, k, &x, call, given(in), want, nil)
				}
			}
		}
	}
}

// TestHalvesSteady: what is widened lies in memory that runs keep.
func TestHalvesSteady(t *testing.T) {
	call := (&opCase{"softmax", "axis=-1", "f16[512,700]", "f16[512,700]"}).call(t)
	options := kernel.Best()
	k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
	in, out := garbage(call), garbage(call)
	fillBy(in[0], rand.New(rand.NewPCG(1, 1)).NormFloat64)
	var x kernel.Exec
	run := func() {
		if err := k.Do(&x, 0, 1, out, in); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(5, run); n > 0 {
		t.Errorf("%v allocations in a steady run", n)
	}
}
