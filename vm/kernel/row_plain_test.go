package kernel_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// plainShapes are shapes of arguments that broadcast, along every axis, with more
// elements than are computed at a time and fewer.
var plainShapes = [][2]string{
	{"[3,700]", "[3,700]"},
	{"[3,700]", "[700]"},
	{"[3,700]", "[3,1]"},
	{"[40,1,30]", "[1,9,30]"},
	{"[7,3,1]", "[7,1,5]"},
	{"[1300]", "[]"},
	{"[]", "[]"},
	{"[0,4]", "[4]"},
}

// plainAttrs are the attributes of operators that have some and loops.
var plainAttrs = map[string][]ir.Lit{
	"leaky_relu": {ir.FloatLit(0.3)}, "hardtanh": {ir.FloatLit(-0.5), ir.FloatLit(2)},
	"hardsigmoid": {ir.FloatLit(0.2), ir.FloatLit(0.4)}, "threshold": {ir.FloatLit(0.25), ir.FloatLit(-3)},
}

// TestPlain compares with the reference, bit for bit: every operator that has a loop
// for a dtype, and casts among all dtypes.
func TestPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	ran := map[string]int{}
	for _, d := range tensor.DTypes {
		for _, op := range ir.Ops() {
			attrs, ok := plainAttrs[op.Name]
			if op.Class != ir.Elementwise || op.Sample == nil || len(op.Attrs) > 0 && !ok {
				continue
			}
			for _, shapes := range plainShapes {
				in := []ir.Type{typeOf(t, d.String()+shapes[0]), typeOf(t, d.String()+shapes[1])}[:min(2, len(op.Args))]
				switch op {
				case ir.Where:
					in = []ir.Type{typeOf(t, "bool"+shapes[1]), in[0], in[1]}
				case ir.Clip:
					in = append(in, in[1])
				}
				plainCase(t, r, ran, op, attrs, in)
			}
		}
		for _, to := range tensor.DTypes {
			plainCase(t, r, ran, ir.Cast, []ir.Lit{ir.DTypeLit(to)}, []ir.Type{typeOf(t, d.String()+"[3,700]")})
		}
	}
	names := slices.Sorted(maps.Keys(ran))
	if got, want := strings.Join(names, " "), "abs add bias_add bit_and bit_not bit_or bit_xor cast ceil clip copysign div equal exp floor fmod greater greater_equal hardsigmoid hardswish hardtanh is_finite is_inf is_nan leaky_relu less less_equal log maximum minimum mul neg not_equal pow prelu reciprocal relu relu6 rem round rsqrt shift_left shift_right sigmoid sign silu softsign sqrt square sub threshold trunc where"; got != want {
		t.Errorf("there are loops for %s, want %s", got, want)
	}
}

func typeOf(t *testing.T, text string) ir.Type {
	t.Helper()
	return typesOf(t, text)[0]
}

// plainCase runs a call, if it is legal and of this row.
func plainCase(t *testing.T, r *rand.Rand, ran map[string]int, op *ir.Op, attrs []ir.Lit, in []ir.Type) {
	t.Helper()
	call := &ir.Call{Op: op, Attrs: attrs, In: in}
	if ir.InferCall(call) != nil {
		return
	}
	options := kernel.Best()
	k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
	if !strings.HasPrefix(k.Name, "plain/") {
		return
	}
	ran[op.Name]++
	args := make([]*tensor.T, len(in))
	for i, typ := range in {
		args[i] = irtest.Tensor(r, typ)
	}
	var x kernel.Exec
	want, err := ir.Evaluate(call, args...)
	if err != nil {
		for _, parts := range []int{1, k.Parts(2)} {
			sameError(t, k, &x, call, args, parts, err)
		}
		args[1] = small(args[1])
		want, err = ir.Evaluate(call, args...)
	}
	if err != nil {
		t.Fatal(err)
	}
	compare(t, k, &x, call, args, want, nil)
	for i := range args {
		if !call.InPlace(i) || args[i].Len() == 0 {
			continue
		}
		k := kernel.Prepare(kernel.Single(call, nil, i), &options)
		replaced := slices.Clone(args)
		replaced[i] = args[i].Clone()
		if err := k.Do(&x, 0, 1, []*tensor.T{replaced[i]}, replaced); err != nil || !tensor.BitEqual(replaced[i], want[0]) {
			t.Fatalf("%s of %v in place of argument %d: %v", k.Name, in, i, err)
		}
	}
}

// sameError wants the error of the evaluation from the whole, and some error from one
// part of several.
func sameError(t *testing.T, k *kernel.Prepared, x *kernel.Exec, call *ir.Call, args []*tensor.T, parts int, want error) {
	t.Helper()
	out := tensor.New(call.Out[0].DType, call.Out[0].Ints()...)
	for part := range parts {
		err := k.Do(x, part, parts, []*tensor.T{out}, args)
		if err == nil || parts == 1 && err.Error() != want.Error() {
			t.Fatalf("%s of %v, part %d of %d: error %v, want %v", k.Name, call.In, part, parts, err, want)
		}
	}
}

// small has integers from 1 to 70, within the dtype, in the place of others.
func small(t *tensor.T) *tensor.T {
	out := tensor.New(t.DType, t.Shape...)
	one := make([]int64, 1)
	for i := range t.Len() {
		t.LoadInts(one, i)
		one[0] = one[0]&0x3f + 7*(one[0]>>6&1)
		one[0] = max(1, one[0])
		out.StoreInts(i, one)
	}
	return out
}
