package kernel_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// another makes constants of the same types, but where an operator asks for what is
// known.
func another(c *ir.Call, in []*tensor.T, r *rand.Rand) []*tensor.T {
	in = slices.Clone(in)
	for i := range in {
		if in[i] != nil && (i >= len(c.Known) || c.Known[i] == nil) {
			in[i] = irtest.Tensor(r, c.In[i])
		}
	}
	return in
}

// TestTwins prepares sampled calls of every operator twice, with other constants, and
// compares the second, which may be made of the first, with its evaluation.
func TestTwins(t *testing.T) {
	var made tally // of another
	eachOp(t, func(t *testing.T, op *ir.Op, x *kernel.Exec) {
		r := rand.New(rand.NewPCG(2, uint64(len(op.Name))))
		for range 40 {
			c, in := sample(t, op, r)
			other := another(c, in, r)
			want, wantErr := ir.Evaluate(c, other...)
			for _, o := range choices() {
				asked, twins := 0, kernel.Twins{}
				o.Choose = func(*kernel.Body) string { asked++; return "" }
				twins.Prepare(kernel.Single(c, in, kernel.Absent), &o)
				before := asked
				k := twins.Prepare(kernel.Single(c, other, kernel.Absent), &o)
				if asked == before && before > 0 {
					made.add(k.Name, 1)
				}
				compare(t, k, x, c, given(other), want, wantErr)
			}
		}
	})
	for _, name := range []string{"strip", "norm/f32", "product/f32", "product/int8"} {
		if made.of[name+"/portable"] == 0 {
			t.Errorf("no twin by %s", name)
		}
	}
}

// layer is a fused body: a product of a constant, a scalar, a norm or an activation.
func layer(t *testing.T, w, bias, scale *tensor.T, ops []*ir.Call) *kernel.Body {
	t.Helper()
	x := ops[0].In[0]
	return &kernel.Body{
		In:    []ir.Type{x, ir.TypeOf(w), ir.TypeOf(bias), ir.TypeOf(scale)},
		Const: []*tensor.T{nil, w, bias, scale},
		Ops: []kernel.Op{
			{Call: ops[0], Args: []int{0, 1}, First: 4},
			{Call: ops[1], Args: []int{4, 2}, First: 5},
			{Call: ops[2], Args: []int{5, 3}, First: 6},
		},
		Out: []int{6}, InPlace: kernel.Absent,
	}
}

// TestTwinsOfRegions prepares layers of one form: each has its own weights, and a scalar
// of another value is another form.
func TestTwinsOfRegions(t *testing.T) {
	types := func(list string) []ir.Type { return typesOf(t, list) }
	var ops []*ir.Call
	for _, c := range []struct{ op, in, out string }{
		{"matmul", "f32[5,24] f32[24,40]", "f32[5,40]"}, {"bias_add", "f32[5,40] f32[40]", "f32[5,40]"}, {"mul", "f32[5,40] f32[]", "f32[5,40]"},
	} {
		call, err := kernel.Bind(c.op, "", types(c.in), types(c.out))
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, call)
	}
	r := rand.New(rand.NewPCG(3, 3))
	x := normal(r, 5, 24)
	for _, o := range choices()[1:] {
		var twins kernel.Twins
		asked := 0
		o.Choose = func(*kernel.Body) string { asked++; return "" }
		for i, scale := range []float32{2, 2, 3, 2} {
			w, bias, s := normal(r, 24, 40), normal(r, 40), tensor.FromSlice(nil, []float32{scale})
			b := layer(t, w, bias, s, ops)
			k := twins.Prepare(b, &o)
			if want := []int{1, 1, 2, 2}[i]; asked != want {
				t.Fatalf("layer %d: %d bodies were looked at, want %d", i, asked, want)
			}
			if k.Body() != b {
				t.Errorf("layer %d: the task is of another body", i)
			}
			in := []*tensor.T{x, w, bias, s}
			out, own := garbageOf([]ir.Type{ops[2].Out[0]}), garbageOf([]ir.Type{ops[2].Out[0]})
			var exec kernel.Exec
			if err := k.Do(&exec, 0, 1, out, in); err != nil {
				t.Fatal(err)
			}
			if err := kernel.Prepare(b, &o).Do(&exec, 0, 1, own, in); err != nil {
				t.Fatal(err)
			}
			asked--
			if !tensor.BitEqual(out[0], own[0]) {
				t.Errorf("layer %d at %v: %v", i, o.Level, tensor.Compare(out[0], own[0], 0))
			}
		}
	}
}
