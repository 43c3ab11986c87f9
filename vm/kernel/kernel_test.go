package kernel_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// forRegions are rows that take several operators, and the reference.
var forRegions = []string{"any", "gated/f32", "gated/bf16", "gated/f16", "gated/int8", "scores/f32", "quantize/f32"}

// TestEveryRow runs sampled calls of every operator by the kernels of every level,
// bound from their text, with arguments that runs bring and with constant ones, and
// compares with the operator's evaluation. Results begin as garbage: a kernel has to
// write all of them. So does what it uses on its way, which is what other operators
// have left there. Parts, computed the last one first, give the bits of the whole.
func TestEveryRow(t *testing.T) {
	var ran tally
	eachOp(t, func(t *testing.T, op *ir.Op, x *kernel.Exec) {
		r := rand.New(rand.NewPCG(1, uint64(len(op.Name))))
		for range 40 {
			sampled, in := sample(t, op, r)
			c, err := kernel.Bind(op.Name, attrsText(sampled), sampled.In, sampled.Out)
			if err != nil {
				t.Fatalf("%s: %v", op.Name, err)
			}
			want, wantErr := ir.Evaluate(sampled, in...)
			for _, o := range choices() {
				for _, consts := range [][]*tensor.T{nil, in} {
					k := kernel.Prepare(kernel.Single(c, consts, kernel.Absent), &o)
					ran.add(k.Name, 1)
					compare(t, k, x, c, given(in), want, wantErr)
				}
			}
		}
	})
	for _, row := range kernel.Table() {
		if !slices.Contains(forRegions, row.Name) && !slices.ContainsFunc(ran.names(), func(name string) bool { return strings.HasPrefix(name, row.Name+"/") }) {
			t.Errorf("no sampled call was run by %s", row.Name)
		}
	}
}

func compare(t *testing.T, k *kernel.Prepared, x *kernel.Exec, c *ir.Call, in, want []*tensor.T, wantErr error) {
	t.Helper()
	out := garbage(c)
	err := k.Do(x, 0, 1, out, in)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%s of %v: error %v, want %v", k.Name, c.In, err, wantErr)
	}
	if err != nil {
		return
	}
	for i := range want {
		if d := tensor.CompareWhole(out[i], want[i], tensor.Tolerance(k.Within)); d != nil {
			t.Fatalf("%s of %s %v %s: result %d: %v", k.Name, c.Op.Name, c.In, attrsText(c), i, d)
		}
		same := tensor.BitEqual
		if strings.HasPrefix(k.Name, "halves/") {
			same = bitEqual // a NaN that was rounded is another one
		}
		if k.Within == 0 && !same(out[i], want[i]) {
			t.Fatalf("%s of %s %v %s: result %d differs in bits: %v, want %v", k.Name, c.Op.Name, c.In, attrsText(c), i, out[i], want[i])
		}
	}
	for _, wanted := range []int{2, 3, 7} {
		compareParts(t, k, x, c, in, out, wanted)
	}
	checkShared(t, k, in, out, c.Out, rand.New(rand.NewPCG(1, 2)))
}

// compareParts computes a task by parts and compares with the whole.
func compareParts(t *testing.T, k *kernel.Prepared, x *kernel.Exec, c *ir.Call, in, whole []*tensor.T, wanted int) {
	t.Helper()
	parts := k.Parts(wanted)
	if parts < 1 || parts >= 2*wanted {
		t.Fatalf("%s of %v: %d parts, where %d were wanted", k.Name, c.In, parts, wanted)
	}
	if parts == 1 {
		return
	}
	out := garbage(c)
	for i := parts - 1; i >= 0; i-- {
		if err := k.Do(x, i, parts, out, in); err != nil {
			t.Fatalf("%s of %v: part %d of %d: %v", k.Name, c.In, i, parts, err)
		}
	}
	for i := range whole {
		if !tensor.BitEqual(out[i], whole[i]) {
			t.Fatalf("%s of %v: result %d by %d parts: %v", k.Name, c.In, i, parts, tensor.Compare(out[i], whole[i], 0))
		}
	}
}

// TestInto holds every operator to computing where it is told to, so that a run
// allocates no results.
func TestInto(t *testing.T) {
	for _, op := range sampledOps {
		r := rand.New(rand.NewPCG(2, uint64(len(op.Name))))
		for range 20 {
			c, in := sample(t, op, r)
			c.Into = garbage(c)
			out, err := ir.Evaluate(c, in...)
			for i := range out {
				if err == nil && out[i] != c.Into[i] {
					t.Errorf("%s makes memory for result %d", op.Name, i)
				}
			}
		}
	}
}

// TestSteady holds every operator to finding what they need where the last evaluation
// has left it.
func TestSteady(t *testing.T) {
	for _, op := range sampledOps {
		for _, o := range choices() {
			r := rand.New(rand.NewPCG(3, uint64(len(op.Name))))
			var x kernel.Exec
			most := 0.0
			for range 10 {
				c, in := sample(t, op, r)
				k := kernel.Prepare(kernel.Single(c, nil, kernel.Absent), &o)
				out := garbage(c)
				in = given(in)
				if k.Do(&x, 0, 1, out, in) != nil {
					continue
				}
				most = max(most, testing.AllocsPerRun(3, func() { _ = k.Do(&x, 0, 1, out, in) }))
			}
			if most > 0 {
				t.Errorf("%v %v: %s makes up to %v pieces of memory each time", o.Kind, o.Level, op.Name, most)
			}
		}
	}
}

// TestLongKernelsStop holds operators on much data to asking now and then
// whether to go on, and to ending when they are told not to.
func TestLongKernelsStop(t *testing.T) {
	refusal := errors.New("no further")
	for _, c := range []struct{ op, attrs, in, out string }{
		{"tanh", "", "f32[300000]", "f32[300000]"},
		{"sum", "axis=[1]", "f32[100000,3]", "f32[100000]"},
		{"sum", "axis=[0]", "f32[3,100000]", "f32[100000]"},
		{"softmax", "axis=1", "f32[100000,3]", "f32[100000,3]"},
		{"cumsum", "axis=0", "f32[3,100000]", "f32[3,100000]"},
		{"sort", "", "f32[1000,300]", "f32[1000,300]"},
		{"matmul", "", "f32[300,300] f32[300,300]", "f32[300,300]"},
		{"matmul", "", "f32[1,5000] f32[5000,1]", "f32[1,1]"},
		{"linear", "", "f32[300,300] f32[300,300]", "f32[300,300]"},
		{"einsum", "spec=\"ij,kj->ik\"", "f32[300,300] f32[300,300]", "f32[300,300]"},
		{"conv", "", "f32[1,8,50,50] f32[300,8,3,3]", "f32[1,300,48,48]"},
		{"conv", "", "f32[1,5000,1] f32[1,5000,1]", "f32[1,1,1]"},
		{"max_pool", "kernel=[2,2]", "f32[1,8,200,200]", "f32[1,8,100,100]"},
		{"attention", "", "f32[1,50,8] f32[1,50,8] f32[1,50,8]", "f32[1,50,8]"},
	} {
		call, err := kernel.Bind(c.op, c.attrs, typesOf(t, c.in), typesOf(t, c.out))
		if err != nil {
			t.Fatal(err)
		}
		in := garbageOf(call.In)
		asked := 0
		call.Budget = &ir.Budget{Stop: func() error {
			if asked++; asked >= 3 {
				return refusal
			}
			return nil
		}}
		if _, err := ir.Evaluate(call, in...); !errors.Is(err, refusal) || asked > 4 {
			t.Errorf("%s %s of %s: asked %d times, got %v", c.op, c.attrs, c.in, asked, err)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	f4 := ir.T(tensor.F32, ir.N(4))
	for _, c := range []struct {
		op, attrs string
		in, out   []ir.Type
		want      string
	}{
		{"nothing", "", nil, nil, `no operator "nothing"`},
		{"if", "", []ir.Type{f4}, []ir.Type{f4}, `no operator "if"`},
		{"input", "", nil, []ir.Type{f4}, `no operator "input"`},
		{"neg", "slope=1", []ir.Type{f4}, []ir.Type{f4}, "slope"},
		{"neg", "", []ir.Type{f4, f4}, []ir.Type{f4}, "neg"},
		{"neg", "", []ir.Type{f4}, []ir.Type{ir.T(tensor.F32, ir.N(5))}, "neg"},
		{"softmax", "axis=3", []ir.Type{f4}, []ir.Type{f4}, "axis 3"},
		{"neg", "} : f32[4]\n  %more = neg %r0 {", []ir.Type{f4}, []ir.Type{f4}, "neg"},
		{"neg %a0 : f32[4]\n %b = neg", "", []ir.Type{f4}, []ir.Type{f4}, "no operator"},
	} {
		_, err := kernel.Bind(c.op, c.attrs, c.in, c.out)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "[bad-bytecode]") {
			t.Errorf("%s %q: got %v, want %q", c.op, c.attrs, err, c.want)
		}
	}
}

func TestSelect(t *testing.T) {
	f4 := ir.T(tensor.F32, ir.N(4))
	c, err := kernel.Bind("softmax", "axis=0", []ir.Type{f4}, []ir.Type{f4})
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.Prepare(kernel.Single(c, nil, kernel.Absent), &kernel.Options{})
	if k == nil || k.Name != "softmax/any/reference" || k.Kind.String() != "reference" {
		t.Errorf("prepared %+v", k)
	}
}

// TestInPlace computes every call that may replace an argument in that
// argument's memory: no bit may differ from results that lie apart. The second
// of two sizes has more elements than are computed at a time.
func TestInPlace(t *testing.T) {
	var replaced, long tally
	eachOp(t, func(t *testing.T, op *ir.Op, x *kernel.Exec) {
		if op.Class != ir.Elementwise {
			return
		}
		r := rand.New(rand.NewPCG(3, uint64(len(op.Name))))
		for range inPlaceRounds() {
			c, in := sample(t, op, r)
			replaced.add(op.Name, replace(t, x, c, in))
			if c, in, ok := enlarged(r, c, in); ok {
				long.add("all", replace(t, x, c, in))
			}
		}
	})
	// What compares numbers, or asks about them, gives another dtype.
	never := slices.DeleteFunc(replaced.names(), func(name string) bool { return replaced.of[name] > 0 })
	slices.Sort(never)
	if got, want := strings.Join(never, " "), "greater greater_equal is_finite is_inf is_nan less less_equal"; got != want {
		t.Errorf("no sampled call replaces an argument of %s, want %s", got, want)
	}
	if n, least := long.of["all"], 8*inPlaceRounds(); n < least {
		t.Errorf("only %d long calls replace an argument, fewer than %d", n, least)
	}
}

// inPlaceRounds is how many calls of an operator are sampled.
func inPlaceRounds() int {
	if testing.Short() {
		return 30
	}
	return 60
}

// replace runs a call once for each argument that it may replace, by the kernels of
// every level, and returns how many that were.
func replace(t *testing.T, x *kernel.Exec, c *ir.Call, in []*tensor.T) (count int) {
	t.Helper()
	for i := range in {
		if in[i] == nil || !c.InPlace(i) {
			continue
		}
		count++
		for _, o := range choices() {
			k := kernel.Prepare(kernel.Single(c, nil, i), &o)
			apart := kernel.Prepare(kernel.Single(c, nil, kernel.Absent), &o)
			want := garbage(c)
			wantErr := apart.Do(x, 0, 1, want, given(in))
			args := slices.Clone(in)
			args[i] = in[i].Clone()
			err := k.Do(x, 0, 1, []*tensor.T{args[i]}, given(args))
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%s in place of argument %d: error %v, want %v", k.Name, i, err, wantErr)
			}
			if err == nil && k.Name == apart.Name && !tensor.BitEqual(args[i], want[0]) {
				t.Fatalf("%s of %v in place of argument %d: %v", k.Name, c.In, i, tensor.Compare(args[i], want[0], 0))
			}
		}
	}
	return count
}

// enlarged gives the arguments that have the result's shape an axis of 300 in
// front; the others are broadcast along it.
func enlarged(r *rand.Rand, c *ir.Call, in []*tensor.T) (*ir.Call, []*tensor.T, bool) {
	big := *c
	big.In, big.Known, in = slices.Clone(c.In), nil, slices.Clone(in)
	for i, typ := range c.In {
		if typ.Absent() || len(typ.Shape) != len(c.Out[0].Shape) || len(typ.Shape) == tensor.MaxRank {
			continue
		}
		big.In[i] = ir.T(typ.DType, append([]ir.Dim{ir.N(300)}, typ.Shape...)...)
		in[i] = irtest.Tensor(r, big.In[i])
	}
	return &big, in, ir.InferCall(&big) == nil && !big.Out[0].Equal(c.Out[0])
}

// TestLongRowsStop: a kernel leaves a row of millions of elements when the run is to
// end, and says so, also where it is the last.
func TestLongRowsStop(t *testing.T) {
	for _, c := range []struct{ op, attrs, in, out string }{
		{"softmax", "axis=-1", "f32[1,4000000]", "f32[1,4000000]"},
		{"layernorm", "", "f32[1,4000000] f32[4000000] f32[4000000]", "f32[1,4000000]"},
		{"sum", "axis=[1]", "f32[1,4000000]", "f32[1]"},
		{"argmax", "axis=1", "f32[1,4000000]", "i64[1]"},
		{"cumsum", "axis=0", "f32[4000000]", "f32[4000000]"},
		{"cumprod", "axis=1", "i32[1,4000000]", "i32[1,4000000]"},
		{"cumsum", "axis=0", "f64[40000,100]", "f64[40000,100]"},
		{"prod", "axis=[0]", "f32[4000000]", "f32[]"},
		{"prod", "axis=[0]", "f64[4000000]", "f64[]"},
		{"prod", "axis=[0]", "i64[40000,100]", "i64[100]"},
		{"variance", "axis=[0]", "f64[4000000]", "f64[]"},
		{"sum", "axis=[0]", "i32[4000000]", "i32[]"},
	} {
		call, err := kernel.Bind(c.op, c.attrs, typesOf(t, c.in), typesOf(t, c.out))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []kernel.Kind{kernel.Fast, kernel.Reference} {
			k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &kernel.Options{Kind: kind, Level: isa.Best()})
			if kind != kernel.Reference && k.Kind == kernel.Reference {
				t.Fatalf("%s runs by %s", c.op, k.Name)
			}
			stopsSoon(t, k, call, c.op+" of "+c.in)
		}
	}
}

// stopsSoon holds a task to asking whether to go on, and to ending when it is told not to.
func stopsSoon(t *testing.T, k *kernel.Prepared, call *ir.Call, what string) {
	t.Helper()
	refusal := errors.New("stop")
	asked := 0
	x := &kernel.Exec{Budget: &ir.Budget{Stop: func() error {
		if asked++; asked >= 3 {
			return refusal
		}
		return nil
	}}}
	if err := k.Do(x, 0, 1, garbage(call), garbageOf(call.In)); !errors.Is(err, refusal) || asked > 5 {
		t.Errorf("%s by %s: asked %d times, got %v", what, k.Name, asked, err)
	}
}
