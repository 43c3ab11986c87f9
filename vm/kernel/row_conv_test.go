package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A regionWriter makes a body operator by operator, and the tensors of its inputs.
type regionWriter struct {
	*testing.T
	r     *rand.Rand
	dtype tensor.DType // of products' operands
	sums  tensor.DType // that products say; Invalid: nothing
	types []ir.Type
	in    []*tensor.T
	ops   []kernel.Op // whose results are counted from 0
}

// input adds an input; the numbers of inputs are negative until the body is made.
func (w *regionWriter) input(x *tensor.T) int {
	w.in = append(w.in, x)
	return -len(w.in)
}

// op adds an operator of values.
func (w *regionWriter) op(name, attrs string, args ...int) int {
	w.Helper()
	c := ir.Call{Op: ir.Lookup(name)}
	for _, a := range args {
		c.In = append(c.In, w.typeOf(a))
	}
	out := w.inferred(name, attrs, c.In)
	w.ops = append(w.ops, kernel.Op{Call: out, Args: args, First: len(w.ops)})
	w.types = append(w.types, out.Out[0])
	return len(w.ops) - 1
}

func (w *regionWriter) typeOf(v int) ir.Type {
	if v >= 0 {
		return w.types[v]
	}
	x := w.in[-v-1]
	t := ir.Type{DType: x.DType}
	for _, n := range x.Shape {
		t.Shape = append(t.Shape, ir.N(int64(n)))
	}
	return t
}

// inferred makes a call by the text of a function around it.
func (w *regionWriter) inferred(name, attrs string, in []ir.Type) *ir.Call {
	w.Helper()
	row := ir.Lookup(name)
	c := &ir.Call{Op: row, In: in, Attrs: row.Defaults()}
	for _, a := range strings.Fields(attrs) {
		key, value, _ := strings.Cut(a, "=")
		for i := range row.Attrs {
			if d, ok := tensor.ParseDType(value); row.Attrs[i].Name == key && ok {
				c.Attrs[i] = ir.DTypeLit(d)
			} else if row.Attrs[i].Name == key {
				var n int64
				if _, err := fmt.Sscan(value, &n); err != nil {
					w.Fatal(err)
				}
				c.Attrs[i] = ir.IntsLit(n)
				switch row.Attrs[i].Kind {
				case ir.KInt:
					c.Attrs[i] = ir.IntLit(n)
				case ir.KBool:
					c.Attrs[i] = ir.BoolLit(n != 0)
				}
			}
		}
	}
	if err := ir.InferCall(c); err != nil {
		w.Fatal(err)
	}
	return c
}

// body numbers the values as bodies do; consts says which inputs are constant.
func (w *regionWriter) body(consts []bool, out ...int) *kernel.Body {
	b := &kernel.Body{InPlace: kernel.Absent}
	n := len(w.in)
	number := func(v int) int {
		if v < 0 {
			return -v - 1
		}
		return n + v
	}
	for i, x := range w.in {
		b.In = append(b.In, w.typeOf(-i-1))
		b.Const = append(b.Const, nil)
		if consts[i] {
			b.Const[i] = x
		}
	}
	for _, o := range w.ops {
		args := make([]int, len(o.Args))
		for i, a := range o.Args {
			args[i] = number(a)
		}
		b.Ops = append(b.Ops, kernel.Op{Call: o.Call, Args: args, First: number(o.First), As: o.As})
	}
	for _, v := range out {
		b.Out = append(b.Out, number(v))
	}
	return b
}

// stepwise runs a body operator by operator, by the kernels of some options or by the
// reference.
// It reports whether the reference had to run any of them.
func stepwise(t *testing.T, b *kernel.Body, in []*tensor.T, o kernel.Options) (results []*tensor.T, slow bool) {
	t.Helper()
	values := append([]*tensor.T{}, in...)
	var x kernel.Exec
	for i := range b.Ops {
		op := &b.Ops[i]
		if op.Call == nil {
			values = append(values, values[op.Args[0]].Reshape(op.As.Ints()...))
			continue
		}
		var args, consts []*tensor.T
		for _, a := range op.Args {
			args, consts = append(args, values[a]), append(consts, b.Value(a))
		}
		out := garbage(op.Call)
		p := kernel.Prepare(kernel.Single(op.Call, consts, kernel.Absent), &o)
		if err := p.Do(&x, 0, 1, out, args); err != nil {
			t.Fatal(err)
		}
		values, slow = append(values, out...), slow || p.Kind == kernel.Reference
	}
	for _, v := range b.Out {
		results = append(results, values[v])
	}
	return results, slow
}

// positive makes variances.
func positive(r *rand.Rand, n int) *tensor.T {
	x := tensor.New(tensor.F32, n)
	for i := range n {
		tensor.Of[float32](x)[i] = 0.1 + r.Float32()
	}
	return x
}

func normal(r *rand.Rand, shape ...int) *tensor.T {
	x := tensor.New(tensor.F32, shape...)
	for i := range tensor.Of[float32](x) {
		tensor.Of[float32](x)[i] = float32(r.NormFloat64())
	}
	return x
}

// convRegion writes a convolution and one to five operators behind it.
func convRegion(t *testing.T, r *rand.Rand) (w *regionWriter, out int) {
	w = &regionWriter{T: t, r: r}
	groups := 1 + r.IntN(3)
	per, filters := 1+r.IntN(6), groups*(1+r.IntN(9))
	size, stride, pad := 1+r.IntN(3), 1+r.IntN(2), r.IntN(2)
	switch r.IntN(6) {
	case 0, 1:
		per, filters = 1, groups
	case 2: // what Winograd is for
		groups, per, filters, size, stride = 1, 20+r.IntN(4), 16+r.IntN(20), 3, 1
	}
	x := w.input(normal(r, 1+r.IntN(2), groups*per, size+r.IntN(14), size+r.IntN(14)))
	f := w.input(normal(r, filters, per, size, size))
	args := []int{x, f}
	if r.IntN(2) == 0 {
		args = append(args, w.input(normal(r, filters)))
	}
	y := w.op("conv", fmt.Sprintf("stride=%d pad=%d groups=%d", stride, pad, groups), args...)
	for range 1 + r.IntN(3) {
		switch r.IntN(5) {
		case 0:
			y = w.op("batchnorm", "", y, w.input(normal(r, filters)), w.input(normal(r, filters)), w.input(normal(r, filters)), w.input(positive(r, filters)))
		case 1:
			y = w.op("add", "", y, w.input(normal(r, w.typeOf(y).Ints()...)))
		case 2:
			y = w.op("relu", "", y)
		case 3:
			y = w.op("mul", "", w.input(normal(r, filters, 1, 1)), y)
		case 4:
			y = w.op("relu6", "", y)
		}
	}
	return w, y
}

// TestConvRegions runs random convolutions with what follows them as one kernel, at
// every level, by any parts, and compares with the operators by themselves: the bits
// with those of kernels of the same level, the numbers with their evaluations.
func TestConvRegions(t *testing.T) {
	ways := map[string]int{}
	for seed := range uint64(240) {
		r := rand.New(rand.NewPCG(seed, 8))
		w, y := convRegion(t, r)
		consts := make([]bool, len(w.in))
		for i := range consts {
			consts[i] = i > 0 && (seed%2 == 0 || len(w.in[i].Shape) == 1)
		}
		compareConvRegion(t, fmt.Sprintf("seed %d", seed), w, w.body(consts, y), ways)
	}
	for _, way := range []string{"turned", "upright", "thin", "winograd"} {
		if ways[way] < 10 {
			t.Errorf("%d regions ran by the way %q", ways[way], way)
		}
	}
}

// compareConvRegion counts the ways by which the region has been run.
func compareConvRegion(t *testing.T, name string, w *regionWriter, b *kernel.Body, ways map[string]int) {
	t.Helper()
	want, _ := stepwise(t, b, w.in, kernel.Options{})
	for _, o := range choices()[1:] {
		p := kernel.Prepare(b, &o)
		if p == nil {
			t.Fatalf("%s: no kernel takes %v", name, b.Ops)
		}
		if !strings.HasPrefix(p.Name, "conv/f32/") {
			t.Fatalf("%s: it runs by %s", name, p.Name)
		}
		ways[p.Way]++
		got := runRegion(t, p, b, w.in, 1)
		if d := tensor.CompareWhole(got[0], want[0], tensor.Tolerance(p.Within)); d != nil {
			t.Fatalf("%s by %s: %v", name, p.Name, d)
		}
		if single, slow := stepwise(t, b, w.in, o); !slow && !bitEqual(single[0], got[0]) {
			t.Fatalf("%s by %s: the operators by themselves give other bits: %v", name, p.Name, tensor.Compare(got[0], single[0], 0))
		}
		for _, wanted := range []int{2, 3} {
			if parts := runRegion(t, p, b, w.in, p.Parts(wanted)); !bitEqual(parts[0], got[0]) {
				t.Fatalf("%s by %s: parts give other bits", name, p.Name)
			}
		}
		checkShared(t, p, w.in, got, resultsOf(b), rand.New(rand.NewPCG(1, 1)))
	}
}

// TestConvLongRows runs transforms of rows that are cut, with what is not finite among
// them, and with an ending and a tail.
func TestConvLongRows(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 11))
		w := &regionWriter{T: t, r: r}
		x := normal(r, 1, 300+r.IntN(200), 2+r.IntN(6), 80+r.IntN(60))
		if seed%2 == 1 {
			tensor.Of[float32](x)[r.IntN(x.Len())] = float32(math.Inf(1))
		}
		filters := 16 + r.IntN(5)
		y := w.op("conv", "pad=1", w.input(x), w.input(normal(r, filters, x.Shape[1], 3, 3)))
		if seed%3 > 0 {
			y = w.op("mul", "", w.input(normal(r, filters, 1, 1)), y)
		}
		y = w.op("relu", "", y)
		consts := make([]bool, len(w.in))
		for i := range consts {
			consts[i] = i > 0
		}
		ways := map[string]int{}
		compareConvRegion(t, fmt.Sprintf("seed %d", seed), w, w.body(consts, y), ways)
		if len(ways) != 1 || ways["winograd"] == 0 {
			t.Errorf("seed %d: it runs by %v", seed, ways)
		}
	}
}

func resultsOf(b *kernel.Body) (types []ir.Type) {
	for _, v := range b.Out {
		types = append(types, b.Type(v))
	}
	return types
}

func runRegion(t *testing.T, p *kernel.Prepared, b *kernel.Body, in []*tensor.T, parts int) []*tensor.T {
	t.Helper()
	out := garbageOf(resultsOf(b))
	var x kernel.Exec
	for part := parts - 1; part >= 0; part-- {
		if err := p.Do(&x, part, parts, out, in); err != nil {
			t.Fatal(err)
		}
		x.Again = part%3 > 0
	}
	return out
}

// TestConvInPlace: the result may lie where a residual does, which every kernel that
// takes this gives the same bits for.
func TestConvInPlace(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 10))
		w, y := convRegion(t, r)
		y = w.op("add", "", w.input(normal(r, w.typeOf(y).Ints()...)), y)
		rest := len(w.in) - 1
		if r.IntN(2) == 0 {
			y = w.op("relu", "", y)
		}
		consts := make([]bool, len(w.in))
		for i := range consts {
			consts[i] = i > 0 && len(w.in[i].Shape) == 1
		}
		b := w.body(consts, y)
		for _, o := range choices()[1:] {
			b.InPlace = kernel.Absent
			want := runRegion(t, kernel.Prepare(b, &o), b, w.in, 1)
			b.InPlace = rest
			p := kernel.Prepare(b, &o)
			if p == nil {
				t.Fatalf("seed %d: no kernel puts the result of %v in the place of its residual", seed, b.Ops)
			}
			in := slices.Clone(w.in)
			in[rest] = in[rest].Clone()
			var x kernel.Exec
			if err := p.Do(&x, 0, 1, in[rest:], in); err != nil {
				t.Fatal(err)
			}
			if !tensor.BitEqual(in[rest], want[0]) {
				t.Fatalf("seed %d by %s: %v", seed, p.Name, tensor.Compare(in[rest], want[0], 0))
			}
		}
	}
}

// TestConvRegionSteady: once memory is there, a run takes no more.
func TestConvRegionSteady(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		w, y := convRegion(t, r)
		consts := make([]bool, len(w.in))
		for i := range consts {
			consts[i] = i > 0
		}
		b := w.body(consts, y)
		for _, o := range choices()[1:] {
			p := kernel.Prepare(b, &o)
			var x kernel.Exec
			out := garbageOf([]ir.Type{b.Type(b.Out[0])})
			run := func() {
				if err := p.Do(&x, 0, 1, out, w.in); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if n := testing.AllocsPerRun(5, run); n > 0 {
				t.Errorf("seed %d by %s: a run makes memory %v times", seed, p.Name, n)
			}
		}
	}
}

// TestConvFactors: what a convolution reads may be multiplied by one number for each
// channel first, as one task; by other numbers it is not.
func TestConvFactors(t *testing.T) {
	ways := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		w := &regionWriter{T: t, r: r}
		images, channels, filters := 1+r.IntN(2), 1+r.IntN(80), 3+r.IntN(60)
		x := normal(r, images, channels, 1+r.IntN(9), 2+r.IntN(40))
		if seed%5 == 0 {
			tensor.Of[float32](x)[r.IntN(x.Len())] = float32(math.NaN())
		}
		args := []int{w.input(x), w.input(normal(r, images, channels, 1, 1))}
		if seed%2 == 0 {
			slices.Reverse(args)
		}
		y := w.op("conv", "", w.op("mul", "", args...), w.input(normal(r, filters, channels, 1, 1)))
		first := len(w.in)
		if r.IntN(2) == 0 {
			y = w.op("batchnorm", "", y, w.input(normal(r, filters)), w.input(normal(r, filters)), w.input(normal(r, filters)), w.input(positive(r, filters)))
		}
		if r.IntN(2) == 0 {
			y = w.op("add", "", y, w.input(normal(r, w.typeOf(y).Ints()...)))
		}
		if r.IntN(2) == 0 {
			y = w.op("silu", "", y)
		}
		consts := make([]bool, len(w.in))
		for i := range consts {
			consts[i] = i >= first && len(w.in[i].Shape) == 1 || i == first-1 && seed%3 > 0
		}
		compareConvRegion(t, fmt.Sprintf("seed %d", seed), w, w.body(consts, y), ways)
	}
	least := map[string]int{"turned": 1, "upright": 10}
	if level := isa.Best(); level == isa.AVX2 || level == isa.AVX512 {
		least["flat"] = 10
	}
	for way, n := range least {
		if ways[way] < n {
			t.Errorf("%d regions ran by the way %q", ways[way], way)
		}
	}
}

func TestConvOtherFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	for _, c := range []struct {
		factors []int
		conv    string
	}{
		{[]int{1, 8, 6, 6}, ""}, {[]int{1, 1, 6, 6}, ""}, {[]int{8, 1, 1}, ""}, {[]int{1, 8, 1, 1}, "stride=2"}, {[]int{1, 8, 1, 1}, "pad=1"}, {[]int{1, 8, 1, 1}, "groups=2"},
	} {
		w := &regionWriter{T: t, r: r}
		per := 8
		if c.conv == "groups=2" {
			per = 4
		}
		y := w.op("mul", "", w.input(normal(r, 1, 8, 6, 6)), w.input(normal(r, c.factors...)))
		y = w.op("conv", c.conv, y, w.input(normal(r, 8, per, 1, 1)))
		for _, o := range choices()[1:] {
			if p := kernel.Prepare(w.body(make([]bool, 3), y), &o); p != nil && strings.HasPrefix(p.Name, "conv/") {
				t.Errorf("factors %v, conv %q: it runs by %s", c.factors, c.conv, p.Name)
			}
		}
	}
}
