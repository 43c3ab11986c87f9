package ir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

const verifiedText = `func @main(%x: f32[B,8], %c: bool[]) -> (y: f32[B,8], v: f32[B,2]) {
  assert B % 2 "reshape"
  %w = param : f32[8]
  %0 = add %x, %w : f32[B,8]
  %1 = relu %0 : f32[B,8]
  %v, %i = topk %1 {k=2} : f32[B,2], i64[B,2]
  %u = if %c, %1 : f32[B,8] then {
    %0 = neg %1 : f32[B,8]
    yield %0
  } else {
    yield %1
  }
  return %u, %v
}
`

// find returns the first value of an operator, at any depth.
func find(t *testing.T, f *ir.Func, op string) *ir.Value {
	t.Helper()
	for v := range f.All() {
		if v.Op.Name == op {
			return v
		}
	}
	t.Fatalf("no %s", op)
	return nil
}

// breaks is what each broken function gets said; the key is a mutation of
// verifiedText.
var breaks = []struct {
	want string // part of the message: the sentence and what is wrong
	do   func(t *testing.T, f *ir.Func)
}{
	{"there is no value or body that is nil", func(t *testing.T, f *ir.Func) { f.Body[1] = nil }},
	{"there is no value or body that is nil", func(t *testing.T, f *ir.Func) { find(t, f, "if").Bodies[1] = nil }},
	{"every value has an operator of the table", func(t *testing.T, f *ir.Func) { find(t, f, "relu").Op = &ir.Op{Name: "relu"} }},
	{"every value has an operator of the table", func(t *testing.T, f *ir.Func) { find(t, f, "relu").Op = nil }},
	{"a value is defined once", func(t *testing.T, f *ir.Func) { f.Body = append(f.Body, f.Body[1]) }},
	{"a value is defined once", func(t *testing.T, f *ir.Func) {
		inner := find(t, f, "if").Bodies[0]
		inner.Body = append(inner.Body, f.Body[1])
	}},
	{"parameters are inputs", func(t *testing.T, f *ir.Func) { f.Params = append(f.Params, f.Body[0]); f.Body = f.Body[1:] }},
	{"parameters are inputs", func(t *testing.T, f *ir.Func) { f.Body = append(f.Body, f.Params[1]); f.Params = f.Params[:1] }},
	{"weights stand outside of regions", func(t *testing.T, f *ir.Func) {
		inner := find(t, f, "if").Bodies[0]
		inner.Body = append(inner.Body, &ir.Value{Op: ir.Param})
	}},
	{"arguments are defined before they are read", func(t *testing.T, f *ir.Func) { f.Body[1], f.Body[2] = f.Body[2], f.Body[1] }},
	{"arguments are defined before they are read", func(t *testing.T, f *ir.Func) { find(t, f, "neg").Args[0] = f.Params[0] }},
	{"results are values of the function: result 1 is not", func(t *testing.T, f *ir.Func) { f.Results[1] = nil }},
	{"results are values of the function: result 0 is not", func(t *testing.T, f *ir.Func) { f.Results[0] = find(t, f, "neg") }},
	{"there are no result names or one for each result", func(t *testing.T, f *ir.Func) { f.ResultNames = f.ResultNames[:1] }},
	{"there are no result names or one for each result", func(t *testing.T, f *ir.Func) { f.ResultNames[1] = "y" }},
	{"a call is legal", func(t *testing.T, f *ir.Func) { find(t, f, "add").Args = f.Body[:1] }},
	{"a call is legal", func(t *testing.T, f *ir.Func) { find(t, f, "topk").Attrs = nil }},
	{"a call is legal", func(t *testing.T, f *ir.Func) { find(t, f, "topk").Attrs[1] = ir.StrLit("last") }},
	{"a call is legal", func(t *testing.T, f *ir.Func) { v := find(t, f, "if"); v.Bodies = v.Bodies[:1] }},
	{"a call is legal", func(t *testing.T, f *ir.Func) { find(t, f, "if").Bodies[0].Results = nil }},
	{"the type of a value is the one that its operator infers", func(t *testing.T, f *ir.Func) {
		find(t, f, "add").Type = ir.T(tensor.F16, ir.Sym("B"), ir.N(8))
	}},
	{"a further result reads the value whose result it is", func(t *testing.T, f *ir.Func) { find(t, f, "result").Attrs[0] = ir.IntLit(0) }},
	{"a further result reads the value whose result it is", func(t *testing.T, f *ir.Func) { find(t, f, "result").Attrs[0] = ir.IntLit(2) }},
	{"a further result reads the value whose result it is", func(t *testing.T, f *ir.Func) { find(t, f, "result").Args[0] = f.Body[1] }},
	{"a further result reads the value whose result it is", func(t *testing.T, f *ir.Func) {
		again := *find(t, f, "result")
		f.Body = append(f.Body, &again)
	}},
	{"an assertion compares by", func(t *testing.T, f *ir.Func) { f.Asserts[0].Rel = "!=" }},
	{"every symbol is the bare dimension of some input", func(t *testing.T, f *ir.Func) { f.Asserts[0].Right = ir.Sym("S") }},
	{"every symbol is the bare dimension of some input", func(t *testing.T, f *ir.Func) {
		f.NewInput("z", ir.T(tensor.F32, ir.Sym("S").Mul(ir.N(2))))
	}},
	{"weights that are made of others are weights of the graph", func(t *testing.T, f *ir.Func) {
		f.Weights = &ir.Func{Body: []*ir.Value{makes(ir.T(tensor.F32, ir.N(9)))}}
		f.Weights.Results = f.Weights.Body
	}},
	{"weights that are made of others are weights of the graph", func(t *testing.T, f *ir.Func) {
		v := makes(ir.T(tensor.F32, ir.N(8)))
		f.Weights = &ir.Func{Body: []*ir.Value{v}, Results: []*ir.Value{v, v}}
	}},
	{"weights that are made of others are weights of the graph", func(t *testing.T, f *ir.Func) {
		f.Weights = &ir.Func{}
		f.Weights.NewInput("x", ir.T(tensor.F32))
	}},
	{"regions are nested at most", func(t *testing.T, f *ir.Func) {
		inner := find(t, f, "if").Bodies[0]
		inner.Body = append(inner.Body, &ir.Value{Op: ir.If, Bodies: []*ir.Func{f}})
	}},
}

// makes is a value that makes the weight w of verifiedText.
func makes(t ir.Type) *ir.Value {
	attrs := ir.Param.Defaults()
	attrs[0], attrs[1] = ir.TypeLit(t), ir.StrLit("v")
	return &ir.Value{Op: ir.Param, Attrs: attrs, Type: t, Name: "w"}
}

// TestVerify: each invariant, broken, is named; and none goes without a test.
func TestVerify(t *testing.T) {
	tested := ""
	for i, b := range breaks {
		f := parseOne(t, verifiedText)
		b.do(t, f)
		err := ir.Verify(f)
		var v *ir.Violation
		if !errors.As(err, &v) || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%d: got %v, want %s", i, err, b.want)
			continue
		}
		tested += v.Invariant
		// A broken function is still printed, for the message that shows it.
		if !strings.Contains(b.want, "nil") && !strings.Contains(b.want, "nested") && complete(f) {
			_ = f.String()
		}
	}
	for _, s := range ir.Invariants() {
		if !strings.Contains(tested, s) {
			t.Errorf("no test breaks: %s", s)
		}
	}
	if ir.Verify(nil) == nil {
		t.Error("nil is accepted")
	}
}

// complete reports whether every value has an operator.
func complete(f *ir.Func) bool {
	for v := range f.All() {
		if v.Op == nil {
			return false
		}
	}
	return true
}
