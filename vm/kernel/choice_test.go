package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestReach holds the rows that the index leaves out to taking nothing of what they
// are left out for.
func TestReach(t *testing.T) {
	for _, op := range sampledOps {
		r := rand.New(rand.NewPCG(4, uint64(len(op.Name))))
		for range 20 {
			c, in := sample(t, op, r)
			for _, o := range choices() {
				b := kernel.Single(c, in, kernel.Absent)
				with := kernel.Prepare(b, &o)
				var without *kernel.Prepared
				kernel.Unindexed(func() { without = kernel.Prepare(b, &o) })
				if with.Name != without.Name {
					t.Errorf("%s %v: the index leads to %s, and the table to %s", op.Name, c.In, with.Name, without.Name)
				}
			}
		}
	}
}

// TestCandidates runs every candidate of sampled calls, and of calls that are large
// enough for the ways of products to differ: not a bit may.
func TestCandidates(t *testing.T) {
	var rivals tally
	eachOp(t, func(t *testing.T, op *ir.Op, x *kernel.Exec) {
		r := rand.New(rand.NewPCG(5, uint64(len(op.Name))))
		for range 10 {
			c, in := sample(t, op, r)
			compareCandidates(t, x, kernel.Single(c, nil, kernel.Absent), given(in), &rivals)
		}
	})
	var x kernel.Exec
	r := rand.New(rand.NewPCG(6, 6))
	for _, c := range largeCalls {
		call, err := kernel.Bind(c.op, c.attrs, typesOf(t, c.in), typesOf(t, c.out))
		if err != nil {
			t.Fatal(err)
		}
		in := make([]*tensor.T, len(call.In))
		for i, typ := range call.In {
			in[i] = irtest.Tensor(r, typ)
		}
		compareCandidates(t, &x, kernel.Single(call, nil, kernel.Absent), in, &rivals)
		compareCandidates(t, &x, kernel.Single(call, in, kernel.Absent), in, &rivals)
	}
	for _, text := range slices.Concat(gatedRegions, scoresRegions, rowsRegions, narrowGates()) {
		f, b := written(t, text)
		in := make([]*tensor.T, len(b.In))
		for i, typ := range b.In {
			in[i] = irtest.Tensor(r, typ)
			if gateWeight(f.Params[i]) && typ.DType != tensor.F32 {
				b.Const[i] = in[i]
			}
		}
		compareCandidates(t, &x, b, in, &rivals)
	}
	for _, row := range kernel.Table() {
		if n := rivals.of[row.Name]; n == 0 && kernel.Ways(row) > 1 {
			t.Errorf("no call has two candidates of %s", row.Name)
		}
	}
}

// largeCalls have more rows, columns or depth than the pieces of some way.
var largeCalls = []struct{ op, attrs, in, out string }{
	{"matmul", "", "f32[150,1100] f32[1100,70]", "f32[150,70]"},
	{"matmul", "dtype=i32", "i8[150,2300] i8[2300,70]", "i32[150,70]"},
	{"linear", "", "f32[80,300] f32[600,300] f32[600]", "f32[80,600]"},
	{"matmul", "", "f16[80,300] f16[300,70]", "f16[80,70]"},
	{"matmul", "", "bf16[80,300] bf16[300,70]", "bf16[80,70]"},
	{"matmul", "dtype=i32", "i8[80,300] i8[300,70]", "i32[80,70]"},
	{"matmul", "", "f64[80,600] f64[600,40]", "f64[80,40]"},
	{"matmul", "", "i32[80,300] i32[300,70]", "i32[80,70]"},
	{"linear", "", "i64[80,300] i64[40,300] i64[40]", "i64[80,40]"},
	{"attention", "", "f32[2,250,16] f32[2,90,16] f32[2,90,24]", "f32[2,250,24]"},
	{"attention", "causal=true", "f32[2,250,16] f32[2,250,16] f32[2,250,8]", "f32[2,250,8]"},
	{"attention", "", "f32[1,100,8] f32[1,1100,8] f32[1,1100,8]", "f32[1,100,8]"},
	{"conv", "", "f32[1,8,14,14] f32[20,8,3,3]", "f32[1,20,12,12]"},
	{"conv", "stride=[2,2], pad=[1,1,1,1], groups=2", "f32[1,8,15,14] f32[8,4,3,3]", "f32[1,8,8,7]"},
	{"conv", "pad=[1,1,1,1]", "f32[1,40,14,14] f32[20,40,3,3]", "f32[1,20,14,14]"},
	{"conv", "groups=8", "f32[2,8,9,9] f32[8,1,3,3]", "f32[2,8,7,7]"},
	{"add", "", "f32[1100000] f32[1100000]", "f32[1100000]"},
}

// rowsRegions are norms and reductions with something before and behind.
var rowsRegions = []string{
	`func @f(%x: f32[300,70], %r: f32[300,70], %g: f32[70], %b: f32[70]) -> (out: f32[300,70]) {
  %0 = add %x, %r : f32[300,70]
  %1 = layernorm %0, %g, %b : f32[300,70]
  %2 = relu %1 : f32[300,70]
  return %2
}
`,
	`func @f(%x: f32[3,700,9], %s: f32[9]) -> (out: f32[3,700]) {
  %0 = mul %x, %s : f32[3,700,9]
  %1 = max %0 {axis=[2]} : f32[3,700]
  return %1
}
`,
}

// compareCandidates runs a body by each of its candidates, as a whole and by parts.
func compareCandidates(t *testing.T, x *kernel.Exec, b *kernel.Body, in []*tensor.T, rivals *tally) {
	t.Helper()
	for _, o := range choices() {
		if o.Kind == kernel.Reference && len(b.Ops) > 1 {
			continue
		}
		if o.Kind == kernel.Generic && testing.Short() && kernel.Prepare(b, &o).Work > 1e6 {
			continue // a millisecond; by portable loops under the race detector a minute in all
		}
		o.Threads = 2
		own := kernel.Prepare(b, &o)
		if own.Chosen || own.Unknown != "" {
			t.Fatalf("%v: chosen without a choice", b)
		}
		want, wantErr := results(x, own, b, in, 1)
		list := own.Candidates(&o)
		if list[0].Name != own.Candidate() {
			t.Fatalf("%v: the first candidate is %s, and it has %s", b, list[0].Name, own.Candidate())
		}
		for _, candidate := range list {
			row, _, _ := strings.Cut(candidate.Name, " ")
			rivals.add(row, len(list)-1)
			o.Choose = func(of *kernel.Body) string {
				if of != b {
					t.Errorf("asked about %v", of)
				}
				return candidate.Name
			}
			k := kernel.Prepare(b, &o)
			if o.Kind != kernel.Reference && (!k.Chosen || k.Candidate() != candidate.Name) {
				t.Fatalf("%v: asked for %s, got %s, unknown %q", b, candidate.Name, k.Candidate(), k.Unknown)
			}
			for _, wanted := range []int{1, 2, 5} {
				parts := 1
				if wanted > 1 {
					parts = k.Parts(wanted)
				}
				out, err := results(x, k, b, in, parts)
				if (err != nil) != (wantErr != nil) {
					t.Fatalf("%v by %s: error %v, want %v", b, candidate.Name, err, wantErr)
				}
				for i := range want {
					if err == nil && !bitEqual(out[i], want[i]) {
						t.Fatalf("%v by %s at %v, %d parts: result %d differs from what %s gives: %v", b, candidate.Name, o.Level, parts, i, own.Candidate(), tensor.Compare(out[i], want[i], 0))
					}
				}
			}
		}
	}
}

// results runs a task by parts, the last one first, into garbage.
func results(x *kernel.Exec, k *kernel.Prepared, b *kernel.Body, in []*tensor.T, parts int) ([]*tensor.T, error) {
	var types []ir.Type
	for _, v := range b.Out {
		types = append(types, b.Type(v))
	}
	out := garbageOf(types)
	for i := parts - 1; i >= 0; i-- {
		if err := k.Do(x, i, parts, out, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bitEqual compares bits, but for those of NaN in float32, which depend on what stands
// on which side of a product, and in halves, which are rounded.
func bitEqual(a, b *tensor.T) bool {
	switch a.DType {
	case tensor.F16, tensor.BF16:
		a, b = tensor.Cast(a, tensor.F32), tensor.Cast(b, tensor.F32)
	case tensor.F32:
	default:
		return tensor.BitEqual(a, b)
	}
	x, y := tensor.Of[float32](a), tensor.Of[float32](b)
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) && (x[i] == x[i] || y[i] == y[i]) {
			return false
		}
	}
	return len(x) == len(y)
}

// TestChooseUnknown asks for what is no candidate: the usual one runs the body, and the
// name is kept.
func TestChooseUnknown(t *testing.T) {
	call, err := kernel.Bind("softmax", "axis=1", typesOf(t, "f32[4,5]"), typesOf(t, "f32[4,5]"))
	if err != nil {
		t.Fatal(err)
	}
	product, err := kernel.Bind("matmul", "", typesOf(t, "f32[4,5] f32[5,6]"), typesOf(t, "f32[4,6]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*ir.Call{call, product} {
		b := kernel.Single(c, nil, kernel.Absent)
		for _, o := range choices()[1:] {
			usual := kernel.Prepare(b, &o).Candidate()
			// The reference has other bits; the others are nobody's.
			for _, name := range []string{"any", "nothing", "product/f32 rows=7", "product/f32 rows=-1 deep=0 cols=0", "norm/f32 way", "  ", "strip"} {
				o.Choose = func(*kernel.Body) string { return name }
				k := kernel.Prepare(b, &o)
				if k == nil || k.Chosen || k.Candidate() != usual {
					t.Fatalf("%v by %q: got %+v", b, name, k)
				}
				if name != "  " && !strings.HasPrefix(k.Unknown, name) {
					t.Errorf("%v by %q: unknown %q", b, name, k.Unknown)
				}
			}
		}
	}
}

// TestChooseUnknownWay asks for a way that a row which could run the body does not have:
// the row is no better for it.
func TestChooseUnknownWay(t *testing.T) {
	sum, err := kernel.Bind("add", "", typesOf(t, "i64[4000] i64[4000]"), typesOf(t, "i64[4000]"))
	if err != nil {
		t.Fatal(err)
	}
	b := kernel.Single(sum, nil, kernel.Absent)
	for _, o := range choices()[1:] {
		usual := kernel.Prepare(b, &o).Candidate()
		for _, name := range []string{"any rows=7", usual + " rows=7"} {
			o.Choose = func(*kernel.Body) string { return name }
			if k := kernel.Prepare(b, &o); k.Chosen || k.Unknown != name || k.Candidate() != usual {
				t.Errorf("%q: got %s, chosen %v, unknown %q; want %s", name, k.Candidate(), k.Chosen, k.Unknown, usual)
			}
		}
	}
}

func TestBodyString(t *testing.T) {
	linear, err := kernel.Bind("linear", "", typesOf(t, "f32[2,3] f32[4,3] f32[4]"), typesOf(t, "f32[2,4]"))
	if err != nil {
		t.Fatal(err)
	}
	gelu, err := kernel.Bind("gelu", "approx=tanh", typesOf(t, "f32[2,4]"), typesOf(t, "f32[2,4]"))
	if err != nil {
		t.Fatal(err)
	}
	b := kernel.Single(linear, []*tensor.T{nil, tensor.New(tensor.F32, 4, 3)}, 0)
	b.Ops = append(b.Ops, kernel.Op{Call: gelu, Args: []int{3}, First: 4}, kernel.Op{Args: []int{4}, First: 5, As: ir.T(tensor.F32, ir.Dims(8)...)})
	b.Out = []int{5, 3}
	want := "linear(0,1,2) gelu(3){approx=tanh} view:f32[8](4) : f32[2,3]! f32[4,3]* f32[4] -> 5,3"
	if got := b.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	without := kernel.Single(linear, nil, kernel.Absent)
	without.Ops[0].Args = slices.Clone(without.Ops[0].Args)
	without.Ops[0].Args[2] = kernel.Absent
	if got, want := without.String(), "linear(0,1,_) : f32[2,3] f32[4,3] f32[4] -> 3"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
