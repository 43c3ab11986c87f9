package ir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// run interprets a function given as text.
func run(t *testing.T, text string, inputs ...*tensor.T) ([]*tensor.T, error) {
	t.Helper()
	return (&ir.Interp{}).Run(parseOne(t, text), inputs...)
}

func wantFloats(t *testing.T, got *tensor.T, want ...float64) {
	t.Helper()
	v := got.Floats()
	if len(v) != len(want) {
		t.Errorf("got %v, want %v", v, want)
		return
	}
	for i := range v {
		if v[i] != want[i] {
			t.Errorf("got %v, want %v", v, want)
			return
		}
	}
}

func floats(v ...float32) *tensor.T { return tensor.FromSlice([]int{len(v)}, v) }

// A running sum by hand: rounds 1, 2, 3 of h = h + t*w.
const loopText = `func @main(%h0: f32[2], %w: f32[2]) -> (f32[2], f32[3,2]) {
  %h, %hs = loop %h0, %w {from=1, to=4, carry=1, collect=1} : f32[2], f32[3,2] body(%t: i64[], %h: f32[2], %w: f32[2]) {
    %0 = cast %t {dtype=f32} : f32[]
    %1 = mul %0, %w : f32[2]
    %2 = add %h, %1 : f32[2]
    yield %2, %2
  }
  return %h, %hs
}
`

func TestLoop(t *testing.T) {
	h0 := floats(0, 10)
	out, err := run(t, loopText, h0, floats(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, out[0], 6, 22)
	wantFloats(t, out[1], 1, 12, 3, 16, 6, 22)
	wantFloats(t, h0, 0, 10)
}

func TestLoopWithoutRounds(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(loopText, "to=4", "to=1"), "f32[3,2]", "f32[0,2]")
	h0 := floats(0, 10)
	out, err := run(t, text, h0, floats(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, out[0], 0, 10)
	wantFloats(t, out[1])
	out[0].SetFloat(0, 7)
	wantFloats(t, h0, 0, 10) // a result is never the memory of an argument
	if text := strings.ReplaceAll(text, "from=1", "from=5"); text != "" {
		if _, err := run(t, text, h0, floats(1, 2)); err != nil {
			t.Error(err)
		}
	}
}

// TestLoopSymbolic: the number of rounds is a dimension.
func TestLoopSymbolic(t *testing.T) {
	text := `func @main(%xs: f32[S]) -> f32[S] {
  %s = const 0.0 : f32[]
  %sum, %sums = loop %s, %xs {to=S, carry=1, collect=1} : f32[], f32[S] body(%t: i64[], %s: f32[], %xs: f32[S]) {
    %x = gather %xs, %t : f32[]
    %s.1 = add %s, %x : f32[]
    yield %s.1, %s.1
  }
  return %sums
}
`
	for _, n := range []int{0, 1, 4} {
		out, err := run(t, text, floats([]float32{1, 2, 3, 4}[:n]...))
		if err != nil {
			t.Fatal(err)
		}
		wantFloats(t, out[0], []float64{1, 3, 6, 10}[:n]...)
	}
}

// TestLoopCond: Newton's method for the root of 2, until nothing changes.
func TestLoopCond(t *testing.T) {
	out, err := run(t, `func @main(%y0: f64[]) -> f64[] {
  %go = const true : bool[]
  %y, _ = loop %y0, %go {carry=2} : f64[], bool[] body(%t: i64[], %y: f64[], %go: bool[]) {
    %two = const 2.0 : f64[]
    %0 = div %two, %y : f64[]
    %1 = add %y, %0 : f64[]
    %y.1 = div %1, %two : f64[]
    %2 = sub %y.1, %y : f64[]
    %3 = abs %2 : f64[]
    %eps = const 1e-12 : f64[]
    %go.1 = greater %3, %eps : bool[]
    yield %y.1, %go.1
  } cond(%y: f64[], %go: bool[]) {
    yield %go
  }
  return %y
}
`, tensor.Scalar(1.0))
	if err != nil {
		t.Fatal(err)
	}
	if y := out[0].FloatAt(0); y < 1.41421356237309 || y > 1.41421356237310 {
		t.Error(y)
	}
}

func TestIf(t *testing.T) {
	text := `func @main(%c: bool[], %x: f32[2]) -> f32[2] {
  %y = if %c, %x : f32[2] then {
    %0 = neg %x : f32[2]
    yield %0
  } else {
    yield %x
  }
  return %y
}
`
	for c, want := range map[bool][]float64{true: {-1, 2}, false: {1, -2}} {
		out, err := run(t, text, tensor.Scalar(c), floats(1, -2))
		if err != nil {
			t.Fatal(err)
		}
		wantFloats(t, out[0], want...)
	}
}

// TestFusedCost: as the design has it, a fused region costs the sum of its
// flops, and the bytes at its border.
func TestFusedCost(t *testing.T) {
	f := parseOne(t, `func @ffn(%n: f32[64,256], %w: f32[256,1024], %b: f32[1024]) -> f32[64,1024] {
  %u = fused %n, %w, %b {rule=MatMul_BiasAdd_ReLU, unit=cube} : f32[64,1024] {
    %0 = matmul %n, %w : f32[64,1024]
    %1 = bias_add %0, %b : f32[64,1024]
    yield %1
  }
  return %u
}
`)
	c := f.Body[0].Call()
	if err := ir.InferCall(c); err != nil {
		t.Fatal(err)
	}
	cost := c.Cost()
	if want := int64(4 * (64*256 + 256*1024 + 1024 + 64*1024)); cost.In+cost.Out != want {
		t.Errorf("%d bytes, want %d", cost.In+cost.Out, want)
	}
	if want := int64(2*64*256*1024 + 64*1024); cost.Flops != want {
		t.Errorf("%d flops, want %d", cost.Flops, want)
	}
}

// TestRunErrors: what runs into an error says which operator, value and place.
func TestRunErrors(t *testing.T) {
	f := parse(t, "div.ir", `func @main in "div.npu" (%a: i32[1], %b: i32[1]) -> i32[1] {
  %u = fused %a, %b : i32[1] {
    %q = div %a, %b : i32[1] @7:11
    yield %q
  }
  return %u
}
`)[0]
	in := tensor.FromSlice([]int{1}, []int32{1})
	_, err := (&ir.Interp{}).Run(f, in, tensor.New(tensor.I32, 1))
	var at *ir.RunError
	if !errors.As(err, &at) {
		t.Fatal(err)
	}
	var e *ir.Error
	if at.What != "div" || at.Value.Name != "q" || at.Pos.Line != 7 || !errors.As(err, &e) || e.Code != "division-by-zero" {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(err.Error(), "div.npu:7:11: div: ") {
		t.Error(err)
	}
}

// TestBindErrors: each line of inputs against one type, and what is said.
func TestBindErrors(t *testing.T) {
	f := parseOne(t, `func @main(%x: f32[B,4], %y: f32[B,2*S], %z: i64[S]) -> f32[B,4] {
  assert S <= B "reshape"
  assert B*S % 3
  return %x
}
`)
	type shape = []int
	for _, tc := range []struct {
		x, y, z shape
		want    string
	}{
		{shape{3, 4}, shape{3, 4}, shape{2}, ""},
		{shape{3, 5}, shape{3, 4}, shape{2}, "input x: dimension 1 is 5, but its type f32[B,4] has 4 [bad-input]"},
		{shape{3, 4}, shape{2, 4}, shape{2}, "input y: dimension 0 is 2, but B is 3 by dimension 0 of input x [dimension-mismatch]"},
		{shape{3, 4}, shape{3, 5}, shape{2}, "input y: dimension 1 is 5, but 2*S is 4 with S = 2 [dimension-mismatch]"},
		{shape{3}, shape{3, 4}, shape{2}, "input x has rank 1 (f32[3]), but must have rank 2 (f32[B,4]) [bad-input]"},
		{shape{3, 4}, shape{3, 8}, shape{4}, "reshape: S, which is 4, is not at most B, which is 3 [dimension-mismatch]"},
		{shape{4, 4}, shape{4, 4}, shape{2}, "B*S, which is 8, does not divide by 3 with B = 4, S = 2 [dimension-mismatch]"},
	} {
		_, err := (&ir.Interp{}).Run(f, tensor.New(tensor.F32, tc.x...), tensor.New(tensor.F32, tc.y...), tensor.New(tensor.I64, tc.z...))
		if got := errorText(err); got != tc.want {
			t.Errorf("%v %v %v\n got %s\nwant %s", tc.x, tc.y, tc.z, got, tc.want)
		}
	}
	if _, err := (&ir.Interp{}).Run(f); errorText(err) != "takes 3 inputs, got 0 [bad-input]" {
		t.Error(err)
	}
	if _, err := (&ir.Interp{}).Run(f, nil, nil, nil); err == nil {
		t.Error("a nil input is accepted")
	}
	x := tensor.New(tensor.F64, 3, 4)
	if _, err := (&ir.Interp{}).Run(f, x, x, x); errorText(err) != "input x has dtype f64, but must have f32 [bad-input]" {
		t.Error(err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestBudget: memory is counted while it is needed, and given back.
func TestBudget(t *testing.T) {
	f := chain(t, 100)
	x := tensor.New(tensor.F32, 1000)
	budget := &ir.Budget{Bytes: 8000} // two of the hundred results at a time
	for range 3 {
		if _, err := (&ir.Interp{Budget: budget}).Run(f, x); err != nil {
			t.Fatal(err)
		}
	}
	budget = &ir.Budget{Bytes: 7999}
	_, err := (&ir.Interp{Budget: budget}).Run(f, x)
	var e *ir.Error
	if !errors.As(err, &e) || e.Code != "limit" {
		t.Errorf("%v", err)
	}
	// A region inside counts against the same budget.
	g := parseOne(t, strings.ReplaceAll(loopText, "to=4", "to=4"))
	if _, err := (&ir.Interp{Budget: &ir.Budget{Bytes: 40}}).Run(g, floats(0, 1), floats(1, 2)); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
}

// TestStop: a loop without end ends when it is told to.
func TestStop(t *testing.T) {
	f := parseOne(t, `func @main(%x: f32[]) -> f32[] {
  %y = loop %x {carry=1} : f32[] body(%t: i64[], %x: f32[]) {
    yield %x
  } cond(%x: f32[]) {
    %0 = const true : bool[]
    yield %0
  }
  return %y
}
`)
	stop := errors.New("enough")
	n := 0
	in := &ir.Interp{Budget: &ir.Budget{Stop: func() error {
		if n++; n > 1000 {
			return stop
		}
		return nil
	}}}
	if _, err := in.Run(f, tensor.New(tensor.F32)); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// TestWeights: weights come from the callback, and are checked.
func TestWeights(t *testing.T) {
	f := parseOne(t, `func @main(%x: f32[2]) -> f32[2] {
  %w = param {key=net.w} : f32[2]
  %y = mul %x, %w : f32[2]
  return %y
}
`)
	if _, err := (&ir.Interp{}).Run(f, floats(1, 2)); err == nil || !strings.Contains(err.Error(), "net.w") {
		t.Errorf("%v", err)
	}
	in := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) {
		if v.Key() != "net.w" {
			t.Error(v.Key())
		}
		return floats(3, 4), nil
	}}
	out, err := in.Run(f, floats(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, out[0], 3, 8)
	in.Param = func(*ir.Value) (*tensor.T, error) { return floats(3), nil }
	if _, err := in.Run(f, floats(1, 2)); err == nil {
		t.Error("a weight of another shape is accepted")
	}
}

// TestTrace: every value of the outer function is seen once, with its results.
func TestTrace(t *testing.T) {
	f := parseOne(t, loopText)
	var seen []string
	in := &ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) {
		seen = append(seen, v.Op.Name)
		if len(out) != 2 {
			t.Errorf("%d results", len(out))
		}
	}}
	if _, err := in.Run(f, floats(0, 1), floats(1, 2)); err != nil {
		t.Fatal(err)
	}
	if strings.Join(seen, " ") != "loop" {
		t.Error(seen)
	}
}

// TestEvaluateGuards: a row that panics or gives another type is a fault, not
// the end of the program.
func TestEvaluateGuards(t *testing.T) {
	for name, eval := range map[string]func(*ir.Call, ...*tensor.T) ([]*tensor.T, error){
		"panics":       func(*ir.Call, ...*tensor.T) ([]*tensor.T, error) { panic("oops") },
		"other shape":  func(*ir.Call, ...*tensor.T) ([]*tensor.T, error) { return []*tensor.T{floats(1)}, nil },
		"other number": func(*ir.Call, ...*tensor.T) ([]*tensor.T, error) { return nil, nil },
	} {
		c := &ir.Call{Op: &ir.Op{Name: "bad", Eval: eval}, Out: []ir.Type{ir.T(tensor.F32, ir.N(2))}}
		_, err := ir.Evaluate(c)
		var e *ir.Error
		if !errors.As(err, &e) || e.Code != "internal" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
