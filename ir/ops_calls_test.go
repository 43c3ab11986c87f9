package ir

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/tensor"
)

// TestRunTimeErrors checks what calls say that types cannot refuse.
func TestRunTimeErrors(t *testing.T) {
	ints := func(d tensor.DType, v ...int64) *tensor.T { return tensor.FromInts(d, []int{len(v)}, v) }
	for _, test := range []struct {
		op   *Op
		a, b *tensor.T
		code string
		want string
	}{
		{Div, ints(tensor.I32, 1, 2), ints(tensor.I32, 3, 0), "division-by-zero", "integer division by zero at [1] of b"},
		{Div, ints(tensor.U64, 1), tensor.Scalar(uint64(0)), "division-by-zero", "integer division by zero"},
		{Rem, ints(tensor.I8, 1), ints(tensor.I8, 0), "division-by-zero", "integer division by zero at [0] of b"},
		{Fmod, ints(tensor.U8, 1), ints(tensor.U8, 0), "division-by-zero", "integer division by zero at [0] of b"},
		{Pow, ints(tensor.I64, 2), ints(tensor.I64, -3), "out-of-range", "integer to the negative power -3 at [0] of b"},
		{ShiftLeft, ints(tensor.I64, 2), tensor.Scalar(int64(-1)), "out-of-range", "shift by the negative count -1"},
		{ShiftRight, ints(tensor.I8, 2), ints(tensor.I8, 1, -128), "out-of-range", "shift by the negative count -128 at [1] of b"},
	} {
		c := &Call{Op: test.op, Attrs: test.op.Defaults(), In: []Type{TypeOf(test.a), TypeOf(test.b)}}
		if err := InferCall(c); err != nil {
			t.Fatalf("%s: %v", test.op.Name, err)
		}
		_, err := test.op.Eval(c, test.a, test.b)
		if e, ok := err.(*Error); !ok || e.Code != test.code || e.Msg != test.want {
			t.Errorf("%s: got %v, want %s", test.op.Name, err, test.want)
		}
	}
}

// TestGuardsSeeOnlyWhatIsComputed divides nothing by zero, which is no error.
func TestGuardsSeeOnlyWhatIsComputed(t *testing.T) {
	a, b := tensor.New(tensor.I32, 0, 1), tensor.New(tensor.I32, 3)
	c := &Call{Op: Div, In: []Type{TypeOf(a), TypeOf(b)}}
	if err := InferCall(c); err != nil {
		t.Fatal(err)
	}
	if out, err := Div.Eval(c, a, b); err != nil || out[0].Len() != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestBoundArgMax searches an axis that only binding makes empty.
func TestBoundArgMax(t *testing.T) {
	c := &Call{Op: ArgMax, In: []Type{T(tensor.F32, Sym("B"), Sym("S"))}, Attrs: []Lit{IntLit(1), BoolLit(false)}}
	if err := InferCall(c); err != nil {
		t.Fatal(err)
	}
	bound, err := c.Bind(Env{"B": 2, "S": 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ArgMax.Eval(bound, tensor.New(tensor.F32, 2, 0)); !hasCode(err, "out-of-range") {
		t.Errorf("got %v", err)
	}
}

// TestEinsumOrder multiplies in an order that never holds the outer product of
// all labels, which would be 10^12 elements.
func TestEinsumOrder(t *testing.T) {
	const n = 1_000_000
	x := tensor.New(tensor.F32, n)
	c := &Call{Op: Einsum, In: []Type{TypeOf(x), TypeOf(x), TypeOf(x), TypeOf(x)}, Attrs: []Lit{StrLit("i,j,i,j->")}}
	if err := InferCall(c); err != nil {
		t.Fatal(err)
	}
	if _, err := Einsum.Eval(c, x, x, x, x); err != nil {
		t.Error(err)
	}
}

// TestProductsKeepToBudget stops a product in the middle and refuses one whose
// intermediate results are too large.
func TestProductsKeepToBudget(t *testing.T) {
	x := tensor.New(tensor.F32, 30, 1000)
	stopped := Errorf("limit", "stopped")
	asked := 0
	third := func() error {
		if asked++; asked > 2 {
			return stopped
		}
		return nil
	}
	heads := x.Reshape(1, 30, 1000)
	for _, test := range []struct {
		op     *Op
		attrs  []Lit
		budget *Budget
		in     []*tensor.T
	}{
		{Einsum, []Lit{StrLit("ij,jk->ik")}, &Budget{Bytes: 8*(30000+30000+900) - 1}, []*tensor.T{x, x.Reshape(1000, 30)}},
		{MatMul, MatMul.Defaults(), &Budget{Stop: third}, []*tensor.T{x, x.Reshape(1000, 30)}},
		{Attention, Attention.Defaults(), &Budget{Stop: third}, []*tensor.T{heads, heads, heads}},
	} {
		c := &Call{Op: test.op, Attrs: test.attrs, Budget: test.budget}
		for _, y := range test.in {
			c.In = append(c.In, TypeOf(y))
		}
		if err := InferCall(c); err != nil {
			t.Fatal(err)
		}
		if _, err := test.op.Eval(c, test.in...); !hasCode(err, "limit") {
			t.Errorf("%s: got %v", test.op.Name, err)
		}
		if err := test.budget.Take(0); err != nil || test.budget.used.Load() != 0 {
			t.Errorf("%s keeps %d bytes", test.op.Name, test.budget.used.Load())
		}
	}
}

// TestEinsumSpecs feeds inference specs of any characters: it refuses or gives
// a type, and evaluation agrees.
func TestEinsumSpecs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	legal := 0
	for range 20000 {
		spec := make([]byte, r.IntN(9))
		for i := range spec {
			spec[i] = "iijjk,,.->\xffé "[r.IntN(13)]
		}
		if r.IntN(4) == 0 {
			spec = append(spec, "->..."[r.IntN(3):]...)
		}
		c := &Call{Op: Einsum, Attrs: []Lit{StrLit(string(spec))}}
		var in []*tensor.T
		for range 1 + strings.Count(string(spec), ",") {
			x := tensor.New(tensor.F32, []int{2, 2, 2}[:r.IntN(4)]...)
			in, c.In = append(in, x), append(c.In, TypeOf(x))
		}
		if err := InferCall(c); err != nil {
			continue
		}
		legal++
		out, err := Einsum.Eval(c, in...)
		if err != nil || !TypeOf(out[0]).Equal(c.Out[0]) {
			t.Fatalf("%q of %v: %v, inferred %v", spec, c.In, err, c.Out)
		}
	}
	if legal < 100 {
		t.Errorf("only %d specs were legal", legal)
	}
}

// TestFloatsAtEnds checks functions where those of Go's math package are wrong
// or overflow on some machines. The values are those of glibc.
func TestFloatsAtEnds(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"exp", exp(709.5), 1.3549863193146328e308},
		{"exp", exp(-745), 5e-324},
		{"exp", exp(709.7827128933841), math.Inf(1)},
		{"log", log(5e-324), -744.4400719213812},
		{"log10", log10(1000), 3},
		{"log2", log2(1 + 0x1p-52), 3.203426503814917e-16},
		{"sinh", sinh(710), 1.1169973830808557e308},
		{"cosh", cosh(-710), 1.1169973830808557e308},
		{"acos", acos(1 - 0x1p-53), 1.4901161193847656e-08},
		{"sin", sin(math.Pi), 1.2246467991473532e-16},
		{"cos", cos(math.Pi / 2), 6.123233995736766e-17},
		{"sin", sin(1e22), -0.8522008497671888},
		{"pow", pow(1+1e-10, 1e10), 2.7182820532347876},
		{"pow", pow(-2, 3), -8},
	} {
		if steps := math.Abs(float64(int64(math.Float64bits(test.got)) - int64(math.Float64bits(test.want)))); steps > 1 {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

// TestLongSorts: lines that are sorted in pieces and merged are in order, equals by their
// positions, and stop in between.
func TestLongSorts(t *testing.T) {
	const n = 5*stopEvery + 77
	r := rand.New(rand.NewPCG(9, 9))
	x := tensor.New(tensor.I64, n)
	for i := range n {
		x.SetInt(i, r.Int64N(1000))
	}
	for _, descending := range []bool{false, true} {
		asked := 0
		c := &Call{Op: ArgSort, Attrs: ArgSort.Defaults(), In: []Type{TypeOf(x)}, Budget: &Budget{Stop: func() error { asked++; return nil }}}
		for i, a := range ArgSort.Attrs {
			if a.Name == "descending" {
				c.Attrs[i] = BoolLit(descending)
			}
		}
		if err := InferCall(c); err != nil {
			t.Fatal(err)
		}
		out, err := ArgSort.Eval(c, x)
		if err != nil {
			t.Fatal(err)
		}
		places := tensor.Of[int64](out[0])
		for i := range n - 1 {
			p, q := places[i], places[i+1]
			a, b := x.IntAt(int(p)), x.IntAt(int(q))
			if a == b && p >= q || a != b && (a > b) != descending {
				t.Fatalf("descending %v: %d of position %d stands before %d of position %d", descending, a, p, b, q)
			}
		}
		if used := c.Budget.used.Load(); used != 0 {
			t.Errorf("%d bytes are kept", used)
		}
		for last := range asked {
			left := last
			c.Budget = &Budget{Stop: func() error {
				if left--; left < 0 {
					return Errorf("limit", "stopped")
				}
				return nil
			}}
			if _, err := ArgSort.Eval(c, x); !hasCode(err, "limit") {
				t.Fatalf("stopped at question %d of %d: %v", last, asked, err)
			}
			if used := c.Budget.used.Load(); used != 0 {
				t.Errorf("stopped at question %d: %d bytes are kept", last, used)
			}
		}
		if asked < 3*5 {
			t.Errorf("asked %d times whether to go on", asked)
		}
	}
}

// TestLongEvaluationsAsk: evaluations without an error of their own ask on the way
// whether to go on, and end when they are not to.
func TestLongEvaluationsAsk(t *testing.T) {
	const n = 8*stopEvery + 5
	x, at := tensor.New(tensor.F32, n), tensor.New(tensor.I64, n)
	for i := range n {
		at.SetInt(i, int64(i*7%n))
	}
	number := DimLit(N(n))
	for _, test := range []struct {
		op    *Op
		attrs map[string]Lit
		args  []*tensor.T
	}{
		{Iota, map[string]Lit{"n": number}, nil},
		{Arange, map[string]Lit{"a": number}, nil},
		{Linspace, map[string]Lit{"a": FloatLit(0), "b": FloatLit(1), "n": number}, nil},
		{Cast, map[string]Lit{"dtype": DTypeLit(tensor.I32)}, []*tensor.T{x}},
		{Scatter, map[string]Lit{"axis": IntLit(0)}, []*tensor.T{x, at, x}},
		{Scatter, map[string]Lit{"axis": IntLit(0), "reduce": StrLit("add")}, []*tensor.T{x, at, x}},
	} {
		asked, most := 0, 0
		c := &Call{Op: test.op, Attrs: test.op.Defaults(), Budget: &Budget{}}
		for i, a := range test.op.Attrs {
			if l, ok := test.attrs[a.Name]; ok {
				c.Attrs[i] = l
			}
		}
		for _, a := range test.args {
			c.In = append(c.In, TypeOf(a))
		}
		if err := InferCall(c); err != nil {
			t.Fatal(err)
		}
		c.Budget.Stop = func() error {
			if asked++; most > 0 && asked >= most {
				return Errorf("limit", "stopped")
			}
			return nil
		}
		if _, err := Evaluate(c, test.args...); err != nil || asked < n/stopEvery {
			t.Errorf("%s asked %d times in %d elements: %v", test.op.Name, asked, n, err)
		}
		asked, most = 0, 3
		if _, err := Evaluate(c, test.args...); !hasCode(err, "limit") || asked > most+2 {
			t.Errorf("%s went on after it was stopped: asked %d times, %v", test.op.Name, asked, err)
		}
	}
}
