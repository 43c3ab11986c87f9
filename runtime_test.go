package npu_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

func newRuntime(t testing.TB, opts npu.RuntimeOptions) *npu.Runtime {
	t.Helper()
	rt, err := npu.NewRuntime(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	return rt
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func vector(rt *npu.Runtime, values ...float32) *npu.DeviceTensor {
	return must(rt.Upload(npu.FromSlice([]int{len(values)}, values)))
}

func values(t testing.TB, rt *npu.Runtime, d *npu.DeviceTensor) []float32 {
	t.Helper()
	host, err := rt.Download(d)
	if err != nil {
		t.Fatal(err)
	}
	return npu.Of[float32](host)
}

type tensors = []*npu.DeviceTensor

// broken is an operation that fails when it runs: an index that is not there.
func broken(rt *npu.Runtime) tensors {
	return tensors{vector(rt, 1, 2, 3), must(rt.Upload(npu.FromSlice([]int{1}, []int64{7})))}
}

func TestExecute(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true, Poison: true})
	a, b := vector(rt, 1, -2, 3), vector(rt, 10, 20, 30)
	r, err := rt.Execute("BiasAdd", tensors{a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, rt, r.Outputs[0]); !slices.Equal(got, []float32{11, 18, 33}) {
		t.Errorf("BiasAdd: %v", got)
	}
	if r.Op != "bias_add" || r.Kernel == "" || r.Kind == "" || r.Unit != "vector" || r.Device != "cpu" {
		t.Errorf("%+v", r)
	}
	for i, d := range []time.Duration{r.Times.Checked, r.Times.Inferred, r.Times.Selected, r.Times.Submitted, r.Times.Returned} {
		if d < 0 || d > time.Minute {
			t.Errorf("phase %d took %v", i, d)
		}
	}
	// Into given outputs, one of which is read too; attributes count.
	if _, err := rt.Execute("sub", tensors{b, a}, tensors{a}); err != nil {
		t.Fatal(err)
	}
	if got := values(t, rt, a); !slices.Equal(got, []float32{9, 22, 27}) {
		t.Errorf("sub in place: %v", got)
	}
	x := must(rt.Upload(npu.FromSlice([]int{2, 2}, []float32{1, 2, 3, 4})))
	for axis, want := range [][]float32{{4, 6}, {3, 7}} {
		r := must(rt.Execute("sum", tensors{x}, nil, npu.Axis(axis)))
		if got := values(t, rt, r.Outputs[0]); !slices.Equal(got, want) {
			t.Errorf("sum over axis %d: %v", axis, got)
		}
	}
	// An optional argument that is left out.
	w := must(rt.Upload(npu.FromSlice([]int{1, 2}, []float32{1, 1})))
	l := must(rt.Execute("linear", tensors{x, w, nil}, nil))
	if got := values(t, rt, l.Outputs[0]); !slices.Equal(got, []float32{3, 7}) || l.Unit != "cube" {
		t.Errorf("linear: %v on %s", got, l.Unit)
	}
}

// TestOperatorNames finds every operator by its folded name, and no two by one.
func TestOperatorNames(t *testing.T) {
	if known, names := npu.Foldings(); known != names || names < 100 {
		t.Errorf("%d names find an operator of %d", known, names)
	}
}

// TestAttributes sets attributes of every kind by their names.
func TestAttributes(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{})
	x := must(rt.Upload(npu.FromSlice([]int{2, 3}, []float32{1, 2, 3, 4, 5, 6})))
	for _, c := range []struct {
		op    string
		in    tensors
		attrs []npu.Attr
		shape []int
		want  []float32
	}{
		{"Reshape", tensors{x}, []npu.Attr{npu.IntAttr("dims", 3, 2)}, []int{3, 2}, []float32{1, 2, 3, 4, 5, 6}},
		{"Cumsum", tensors{x}, []npu.Attr{npu.IntAttr("axis", 1)}, []int{2, 3}, []float32{1, 3, 6, 4, 9, 15}},
		{"Repeat", tensors{x}, []npu.Attr{npu.IntAttr("n", 2), npu.Axis(1)}, []int{2, 6}, []float32{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}},
		{"Threshold", tensors{x}, []npu.Attr{npu.IntAttr("t", 3), npu.FloatAttr("v", -1)}, []int{2, 3}, []float32{-1, -1, -1, 4, 5, 6}},
		{"Einsum", tensors{x}, []npu.Attr{npu.StringAttr("spec", "ij->j")}, []int{3}, []float32{5, 7, 9}},
		{"Sum", tensors{x}, []npu.Attr{npu.Axis(1), npu.BoolAttr("keepdims", true)}, []int{2, 1}, []float32{6, 15}},
		{"Zeros", nil, []npu.Attr{npu.TypeAttr("type", npu.MustType("f32[2]"))}, []int{2}, []float32{0, 0}},
		{"Full", nil, []npu.Attr{npu.TypeAttr("type", npu.MustType("f32[2]")), npu.FloatAttr("value", 1.5)}, []int{2}, []float32{1.5, 1.5}},
	} {
		r, err := rt.Execute(c.op, c.in, nil, c.attrs...)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		if got := values(t, rt, r.Outputs[0]); !slices.Equal(got, c.want) || !slices.Equal(r.Outputs[0].Shape(), c.shape) {
			t.Errorf("%s: %v%v, want %v%v", c.op, r.Outputs[0].Shape(), got, c.shape, c.want)
		}
	}
}

// TestNoAllocations holds an Execute that comes again, into outputs that are
// given, to allocating nothing beside what the operator's evaluation does.
func TestNoAllocations(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{})
	in, out := tensors{vector(rt, 1, 2), vector(rt, 3, 4)}, tensors{vector(rt, 0, 0)}
	pair := ir.T(tensor.F32, ir.N(2))
	for _, c := range []struct {
		name  string
		in    tensors
		attrs []npu.Attr
		lits  []ir.Lit
	}{
		{"add", in, nil, nil},
		{"reshape", in[:1], []npu.Attr{npu.IntAttr("dims", 2)}, []ir.Lit{ir.DimsLit(ir.N(2))}},
	} {
		call := &ir.Call{Op: ir.Lookup(c.name), Attrs: c.lits, Into: []*tensor.T{npu.FromSlice([]int{2}, []float32{0, 0})}}
		var args []*tensor.T
		for range c.in {
			call.In = append(call.In, pair)
			args = append(args, npu.FromSlice([]int{2}, []float32{1, 2}))
		}
		must(0, ir.InferCall(call))
		own := testing.AllocsPerRun(100, func() { must(ir.Evaluate(call, args...)) })
		got := testing.AllocsPerRun(100, func() { must(rt.Execute(c.name, c.in, out, c.attrs...)) })
		if got > own {
			t.Errorf("%s: %v allocations, %v of them in the evaluation", c.name, got, own)
		}
	}
}

func TestDevices(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{})
	if rt.DeviceCount() != len(rt.Devices()) || rt.Devices()[0].Name != "cpu" || rt.CurrentDevice() != 0 {
		t.Fatal("the first device is not the cpu")
	}
	for i, row := range rt.Devices() {
		if err := rt.SetDevice(i); err != nil {
			t.Fatal(err)
		}
		for _, shape := range [][]int{nil, {3}, {0}, {100, 7}} {
			d := must(rt.NewTensor(npu.F32, shape...))
			if uintptr(d.DataPtr())%uintptr(row.AlignMem) != 0 || d.DataPtr() == nil || d.Device() != i {
				t.Errorf("%s: address %p", row.Name, d.DataPtr())
			}
		}
		d := must(rt.NewTensor(npu.F32, 2))
		host, err := d.Host()
		if (err == nil) != row.Host() {
			t.Errorf("%s: view: %v", row.Name, err)
		}
		if err == nil {
			npu.Of[float32](host)[1] = 5
			if got := values(t, rt, d); got[1] != 5 {
				t.Errorf("the view is a copy: %v", got)
			}
		}
		if r := must(rt.Execute("neg", tensors{d}, nil)); r.Device != row.Name {
			t.Errorf("%s: ran on %s", row.Name, r.Device)
		}
	}
	// A cube that has no f32 leaves it to the vector unit.
	for _, c := range []struct {
		device string
		dtype  npu.DType
		unit   string
	}{{"ascend910a", npu.F16, "cube"}, {"ascend910a", npu.F32, "vector"}, {"ascend910b1", npu.F32, "cube"}, {"cpu", npu.F32, "cube"}} {
		must(0, rt.SetDevice(slices.IndexFunc(rt.Devices(), func(d *npu.Device) bool { return d.Name == c.device })))
		m := must(rt.NewTensor(c.dtype, 2, 2))
		if r := must(rt.Execute("matmul", tensors{m, m}, nil)); r.Unit != c.unit {
			t.Errorf("%s multiplies %v on the %s unit", c.device, c.dtype, r.Unit)
		}
	}
	// From one device to another.
	must(0, rt.SetDevice(1))
	far := must(rt.Upload(npu.FromSlice([]int{2}, []float32{1, 2})))
	if err := rt.SetDevice(0); err != nil {
		t.Fatal(err)
	}
	near := must(rt.NewTensor(npu.F32, 2))
	if err := rt.DefaultStream().Copy(near, far); err != nil {
		t.Fatal(err)
	}
	if got := values(t, rt, near); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("copied: %v", got)
	}
}

var goLine = regexp.MustCompile(`(runtime\w*_test\.go):\d+`)

// shown prints an error with its notes, without the line of the test.
func shown(t testing.TB, err error) string {
	t.Helper()
	var ds npu.Diagnostics
	if !errors.As(err, &ds) {
		t.Errorf("not a Diagnostics: %v", err)
		return "\n"
	}
	var b strings.Builder
	for _, d := range ds {
		if !goLine.MatchString(d.Loc.String()) {
			t.Errorf("no line of the program: %s", d.Headline())
		}
		b.WriteString("    " + goLine.ReplaceAllString(d.Headline(), "$1:N") + "\n")
		for _, n := range d.Notes {
			b.WriteString("      note: " + goLine.ReplaceAllString(n, "$1:N") + "\n")
		}
		for _, n := range d.Helps {
			b.WriteString("      help: " + n + "\n")
		}
	}
	return b.String()
}

// TestCallSite checks that an error of asynchronous work names the line that
// submitted it.
func TestCallSite(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{})
	s, in := must(rt.NewStream()), broken(rt)
	line := lineHere() + 1
	must(s.Execute("gather", in, nil))
	err := s.Synchronize(context.Background())
	if want := fmt.Sprintf("runtime_test.go:%d: error: gather: ", line); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestNoGrowth executes ten thousand times: the memory in use and that held stay
// what they were after the first.
func TestNoGrowth(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true})
	s, x := must(rt.NewStream()), vector(rt, 1, 2, 3)
	var first npu.MemoryInfo
	for i := range 10_000 {
		r := must(rt.Execute("neg", tensors{x}, nil))
		l := must(s.Execute("abs", r.Outputs, nil))
		must(0, errors.Join(r.Outputs[0].Free(), l.Outputs()[0].Free()))
		must(0, s.Synchronize(context.Background()))
		if i == 0 {
			first = rt.MemoryPool().Info()
		}
	}
	last := rt.MemoryPool().Info()
	if last.Used != first.Used || last.Total != first.Total || last.Requests != first.Requests || last.Blocks != first.Blocks {
		t.Errorf("after the first: %+v\nafter the last: %+v", first, last)
	}
}

func TestBatch(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true})
	a, b, c := vector(rt, 1, 2), vector(rt, 3, 4), vector(rt, 0, 0)
	done := must(rt.ExecuteBatch([]npu.Operation{
		{Op: "Add", Inputs: tensors{a, b}, Outputs: tensors{c}},
		{Op: "Mul", Inputs: tensors{c, c}, Outputs: tensors{a}},
		{Op: "Sum", Inputs: tensors{a}, Attrs: []npu.Attr{npu.Axis(0)}},
	}))
	if got := values(t, rt, done[2].Outputs[0]); got[0] != 52 {
		t.Errorf("%v, want 52", got)
	}
	launches := must(must(rt.NewStream()).ExecuteBatch([]npu.Operation{{Op: "neg", Inputs: tensors{a}}, {Op: "abs", Inputs: tensors{c}}}))
	for _, l := range launches {
		must(l.Wait(context.Background()))
	}
	// One that fails when it runs: what the others made is given back.
	before := rt.MemoryPool().Info().Used
	in := broken(rt)
	if _, err := rt.ExecuteBatch([]npu.Operation{{Op: "neg", Inputs: tensors{a}}, {Op: "gather", Inputs: in}, {Op: "neg", Inputs: tensors{a}}}); err == nil {
		t.Error("a wrong index is accepted")
	}
	must(0, errors.Join(in[0].Free(), in[1].Free()))
	if n := rt.MemoryPool().Info().Used - before; n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	// A mistake in the last one: nothing has run.
	_, err := rt.ExecuteBatch([]npu.Operation{{Op: "neg", Inputs: tensors{c}, Outputs: tensors{c}}, {Op: "neg", Inputs: tensors{c, c}}, {Op: "nag"}})
	var ds npu.Diagnostics
	if !errors.As(err, &ds) || len(ds) != 2 {
		t.Errorf("got %v, want two mistakes", err)
	}
	if got := values(t, rt, c); !slices.Equal(got, []float32{4, 6}) {
		t.Errorf("a part has run: %v", got)
	}
}
