package kernel_test

import (
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
	for _, op := range ir.Ops() {
		if op.Sample == nil || op.Eval == nil || op.Class == ir.Region || op.Flags&(ir.Impure|ir.Projection|ir.Unbound) != 0 || op == ir.Const {
			continue
		}
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
	var x kernel.Exec
	rivals := map[string]int{}
	for _, op := range ir.Ops() {
		if op.Sample == nil || op.Eval == nil || op.Class == ir.Region || op.Flags&(ir.Impure|ir.Projection|ir.Unbound) != 0 || op == ir.Const {
			continue
		}
		r := rand.New(rand.NewPCG(5, uint64(len(op.Name))))
		for range 10 {
			c, in := sample(t, op, r)
			compareCandidates(t, &x, kernel.Single(c, nil, kernel.Absent), given(in), rivals)
		}
	}
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
		compareCandidates(t, &x, kernel.Single(call, nil, kernel.Absent), in, rivals)
		compareCandidates(t, &x, kernel.Single(call, in, kernel.Absent), in, rivals)
	}
	for _, row := range kernel.Table() {
		if n := rivals[row.Name]; n == 0 && row.Ways() > 1 {
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
}

// compareCandidates runs a body by each of its candidates, and by parts.
func compareCandidates(t *testing.T, x *kernel.Exec, b *kernel.Body, in []*tensor.T, rivals map[string]int) {
	t.Helper()
	for _, o := range choices() {
		o.Threads = 2
		own := kernel.Prepare(b, &o)
		if own.Chosen || own.Unknown != "" {
			t.Fatalf("%v: chosen without a choice", b)
		}
		c := b.Ops[0].Call
		want := garbage(c)
		wantErr := own.Do(x, 0, 1, want, in)
		list := own.Candidates(&o)
		if list[0].Name != own.Candidate() {
			t.Fatalf("%v: the first candidate is %s, and it has %s", b, list[0].Name, own.Candidate())
		}
		for _, candidate := range list {
			row, _, _ := strings.Cut(candidate.Name, " ")
			rivals[row] += len(list) - 1
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
			out := garbage(c)
			if err := k.Do(x, 0, 1, out, in); (err != nil) != (wantErr != nil) {
				t.Fatalf("%v by %s: error %v, want %v", b, candidate.Name, err, wantErr)
			} else if err != nil {
				continue
			}
			for i := range want {
				if !tensor.BitEqual(out[i], want[i]) {
					t.Fatalf("%v by %s at %v: result %d differs from what %s gives: %v", b, candidate.Name, o.Level, i, own.Candidate(), tensor.Compare(out[i], want[i], 0))
				}
			}
			for _, wanted := range []int{2, 5} {
				compareParts(t, k, x, c, in, out, wanted)
			}
		}
	}
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
