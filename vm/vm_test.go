package vm_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

// parse reads one function.
func parse(t testing.TB, text string) *ir.Func {
	t.Helper()
	fs, errs := ir.ParseFuncs(diag.NewSource("test.ir", text))
	if err := errs.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(fs) != 1 {
		t.Fatalf("%d functions", len(fs))
	}
	return fs[0]
}

// program takes a function to bytecode, by way of its encoded form.
func program(t testing.TB, f *ir.Func, env ir.Env, opts lower.Options) *bytecode.Program {
	t.Helper()
	plan, err := lower.Lower(f, env, opts)
	if err != nil {
		t.Fatalf("lower: %v\n%s", err, f)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatalf("emit: %v\n%s", err, f)
	}
	if err := bytecode.Verify(p); err != nil {
		t.Fatalf("verify: %v\n%s\n%s", err, f, listing(p))
	}
	data := bytecode.Encode(p)
	q, err := bytecode.Decode(data)
	if err != nil {
		t.Fatalf("decode: %v\n%s", err, f)
	}
	if again := bytecode.Encode(q); !bytes.Equal(again, data) {
		t.Fatalf("the program changes on its way through the encoding:\n%s", cmp.Diff(listing(p), listing(q)))
	}
	r, faults := bytecode.Assemble(diag.NewSource("listing", listing(p)))
	if err := faults.Err(); err != nil {
		t.Fatalf("assemble: %v\n%s", err, listing(p))
	}
	if !bytes.Equal(bytecode.Encode(r), data) {
		t.Fatalf("the program changes on its way through the listing:\n%s", cmp.Diff(listing(p), listing(r)))
	}
	if listing(p) != listing(q) {
		t.Fatalf("the listing changes on its way through the encoding:\n%s", cmp.Diff(listing(p), listing(q)))
	}
	return q
}

func listing(p *bytecode.Program) string {
	var b bytes.Buffer
	_ = bytecode.Disassemble(&b, p)
	return b.String()
}

// weightOf makes the tensor of a weight out of its type alone, so that
// interpreter and machine get the same.
func weightOf(typ ir.Type) *tensor.T {
	return randomTensor(rand.New(rand.NewPCG(1, uint64(len(typ.String())))), typ)
}

func randomTensor(r *rand.Rand, typ ir.Type) *tensor.T {
	x := tensor.New(typ.DType, typ.Ints()...)
	for i := range x.Len() {
		x.SetFloat(i, float64(r.IntN(9)-4)/2)
	}
	return x
}

// inputsOf makes random inputs of f's types.
func inputsOf(t testing.TB, f *ir.Func, env ir.Env, seed uint64) []*tensor.T {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	var in []*tensor.T
	for _, v := range f.Params {
		typ, err := v.Type.Bind(env)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, randomTensor(r, typ))
	}
	return in
}

func load(t testing.TB, f *ir.Func, p *bytecode.Program, opts vm.Options) *vm.Machine {
	t.Helper()
	types := map[string]ir.Type{}
	for _, v := range f.Body {
		if v.Op == ir.Param {
			types[v.Key()] = v.Type
		}
	}
	if opts.Kernels == nil {
		opts.Kernels = new(kernel.Options) // the reference, whose bits the interpreter gives
	}
	m, err := vm.Load(p, func(name string) (*tensor.T, error) { return weightOf(types[name]), nil }, opts)
	if err != nil {
		t.Fatalf("load: %v\n%s", err, listing(p))
	}
	t.Cleanup(m.Close)
	return m
}

// agree runs f by the interpreter and by the machine, on the streams of its
// units and on one, and compares the results bit for bit.
func agree(t testing.TB, f *ir.Func, env ir.Env, seed uint64) {
	t.Helper()
	in := inputsOf(t, f, env, seed)
	interp := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) { return weightOf(v.Type), nil }}
	want, wantErr := interp.Run(f, in...)
	for _, opts := range []lower.Options{{}, {Streams: 1}, {Align: 256}, {Device: eager, Streams: 4}, {Device: eager, Strategy: lower.Latency}, {Device: eager, Streams: 4, Memory: lower.MemoryAggressive}, {Memory: lower.MemoryOff}} {
		p := program(t, f, env, opts)
		m := load(t, f, p, vm.Options{})
		for i := range 3 { // the second run meets the first one's memory
			if i == 2 {
				m.Together()
			}
			got, err := m.Run(context.Background(), in)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("the machine says %v, the interpreter %v\n%s", err, wantErr, f)
			}
			if err == nil {
				same(t, f, p, got, want)
			}
		}
	}
}

func same(t testing.TB, f *ir.Func, p *bytecode.Program, got, want []*tensor.T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i := range got {
		if !tensor.BitEqual(got[i], want[i]) {
			t.Fatalf("result %d differs: %v\n%s\n%s", i, tensor.Compare(got[i], want[i], 0), f, listing(p))
		}
	}
}

// functions are the ways in which values and memory meet.
var functions = []struct{ name, text string }{
	{"chain", `func @f(%x: f32[B,4]) -> f32[B,4] {
  %a = relu %x : f32[B,4]
  %b = neg %a : f32[B,4]
  %c = exp %b : f32[B,4]
  %d = neg %c : f32[B,4]
  return %d
}`},
	{"units meet", `func @f(%x: f32[B,4]) -> f32[B,4] {
  %w = param : f32[4,4]
  %a = relu %x : f32[B,4]
  %b = matmul %a, %w : f32[B,4]
  %c = add %b, %a : f32[B,4]
  %d = matmul %c, %w : f32[B,4]
  %e = transpose %d {perm=[1,0]} : f32[4,B]
  %g = transpose %e {perm=[1,0]} : f32[B,4]
  %h = add %g, %c : f32[B,4]
  return %h
}`},
	{"views", `func @f(%x: f32[B,4]) -> (a: f32[2*B,2], b: f32[B,4], c: f32[4*B]) {
  %n = neg %x : f32[B,4]
  %a = reshape %n {dims=[2*B,2]} : f32[2*B,2]
  %c = reshape %a {dims=[4*B]} : f32[4*B]
  %r = relu %a : f32[2*B,2]
  %b = reshape %r {dims=[B,4]} : f32[B,4]
  return %a, %b, %c
}`},
	{"inputs and weights returned", `func @f(%x: f32[B,4]) -> (x: f32[B,4], again: f32[B,4], flat: f32[4*B], w: f32[3], c: f32[2]) {
  %w = param : f32[3]
  %c = const [1.5, nan] : f32[2]
  %flat = reshape %x {dims=[4*B]} : f32[4*B]
  return %x, %x, %flat, %w, %c
}`},
	{"one value twice and read inside", `func @f(%x: f32[B,4]) -> (a: f32[B,4], b: f32[B,4], c: f32[B,4]) {
  %a = exp %x : f32[B,4]
  %b = neg %a : f32[B,4]
  return %a, %a, %b
}`},
	{"several results, one unread", `func @f(%x: f32[B,4]) -> (i: i64[B,2], s: f32[B]) {
  %v, %i = topk %x {k=2} : f32[B,2], i64[B,2]
  %a, %b = topk %x {k=1} : f32[B,1], i64[B,1]
  %s = sum %a {axis=[1]} : f32[B]
  return %i, %s
}`},
	{"if", `func @f(%c: bool[], %x: f32[B,4]) -> (y: f32[B,4], z: f32[B,4]) {
  %n = neg %x : f32[B,4]
  %y, %z = if %c, %x, %n : f32[B,4], f32[B,4] then {
    %e = exp %x : f32[B,4]
    %s = add %e, %n : f32[B,4]
    yield %s, %x
  } else {
    yield %n, %n
  }
  %w = add %y, %n : f32[B,4]
  return %w, %z
}`},
	{"loop", `func @f(%h: f32[4], %w: f32[4], %xs: f32[S,4]) -> (h: f32[4], hs: f32[S,4], ts: i64[S]) {
  %a, %hs, %ts = loop %h, %w, %xs {to=S, carry=1, collect=2} : f32[4], f32[S,4], i64[S] body(%t: i64[], %h: f32[4], %w: f32[4], %xs: f32[S,4]) {
    %x = gather %xs, %t : f32[4]
    %m = mul %h, %w : f32[4]
    %n = add %m, %x : f32[4]
    yield %n, %n, %t
  }
  %b = add %a, %w : f32[4]
  return %b, %hs, %ts
}`},
	{"loop that swaps", `func @f(%a: f32[4], %b: f32[4], %c: f32[4]) -> (a: f32[4], b: f32[4], c: f32[4], rows: f32[3,4]) {
  %x, %y, %z, %rows = loop %a, %b, %c {from=2, to=5, carry=3, collect=1} : f32[4], f32[4], f32[4], f32[3,4] body(%t: i64[], %p: f32[4], %q: f32[4], %r: f32[4]) {
    %s = add %p, %q : f32[4]
    yield %q, %p, %r, %q
  }
  return %x, %y, %z, %rows
}`},
	{"loop with one yield for all", `func @f(%a: f32[4], %b: f32[4]) -> (a: f32[4], b: f32[4]) {
  %x, %y = loop %a, %b {to=3, carry=2} : f32[4], f32[4] body(%t: i64[], %p: f32[4], %q: f32[4]) {
    %s = add %p, %q : f32[4]
    yield %s, %s
  }
  return %x, %y
}`},
	{"while", `func @f(%x: f32[4]) -> (n: i64[], x: f32[4]) {
  %zero = const 0 : i64[]
  %n, %y = loop %zero, %x {carry=2} : i64[], f32[4] body(%t: i64[], %n: i64[], %x: f32[4]) {
    %one = const 1 : i64[]
    %m = add %n, %one : i64[]
    %y = neg %x : f32[4]
    yield %m, %y
  } cond(%n: i64[], %x: f32[4]) {
    %five = const 5 : i64[]
    %go = less %n, %five : bool[]
    yield %go
  }
  return %n, %y
}`},
	{"nested", `func @f(%x: f32[4], %w: f32[4]) -> f32[4] {
  %y = loop %x, %w {to=3, carry=1} : f32[4] body(%t: i64[], %x: f32[4], %w: f32[4]) {
    %two = const 2 : i64[]
    %even = less %t, %two : bool[]
    %r = if %even, %x, %w : f32[4] then {
      %s = loop %x, %w {to=2, carry=1} : f32[4] body(%u: i64[], %x: f32[4], %w: f32[4]) {
        %a = add %x, %w : f32[4]
        %b = neg %a : f32[4]
        yield %b
      }
      yield %s
    } else {
      %m = mul %x, %w : f32[4]
      yield %m
    }
    %q = add %r, %w : f32[4]
    yield %q
  }
  %z = add %y, %x : f32[4]
  return %z
}`},
	{"fused", `func @f(%x: f32[B,4]) -> (y: f32[B,4], z: f32[B,4]) {
  %w = param : f32[4,4]
  %y, %z = fused %x, %w {rule=MatMul_ReLU, unit=cube} : f32[B,4], f32[B,4] {
    %0 = matmul %x, %w : f32[B,4]
    %1 = relu %0 : f32[B,4]
    yield %1, %0
  }
  %v = neg %y : f32[B,4]
  return %v, %z
}`},
	{"absent argument", `func @f(%x: f32[B,4]) -> f32[B,4] {
  %b = param : f32[4]
  %y = layernorm %x, _, %b {eps=0.5} : f32[B,4]
  return %y
}`},
	{"no tasks", `func @f(%x: f32[B,4]) -> () {
  return
}`},
}

func TestAgainstInterpreter(t *testing.T) {
	for _, c := range functions {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, c.text)
			for i, env := range []ir.Env{{"B": 3, "S": 4}, {"B": 0, "S": 0}, {"B": 17, "S": 1}} {
				agree(t, f, env, uint64(i))
			}
		})
	}
}

func TestEncodingKeepsAll(t *testing.T) {
	for _, c := range functions {
		f := parse(t, c.text)
		plan, err := lower.Lower(f, ir.Env{"B": 3, "S": 4}, lower.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := codegen.Emit(plan)
		if err != nil {
			t.Fatal(err)
		}
		q := program(t, f, ir.Env{"B": 3, "S": 4}, lower.Options{})
		if !reflect.DeepEqual(p.Kernels, q.Kernels) || !reflect.DeepEqual(p.Buffers, q.Buffers) {
			t.Errorf("%s: tables differ:\n%s", c.name, cmp.Diff(p, q))
		}
	}
}

// agreeOn is agree for given inputs: whoever fails, both must.
func agreeOn(t testing.TB, f *ir.Func, in []*tensor.T) {
	t.Helper()
	types := make([]ir.Type, len(in))
	for i, x := range in {
		types[i] = ir.TypeOf(x)
	}
	env, err := ir.BindSymbols(f, types)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	interp := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) { return weightOf(v.Type), nil }}
	want, wantErr := interp.Run(f, in...)
	for _, opts := range []lower.Options{{Device: eager}, {Streams: 1}} {
		p := program(t, f, env, opts)
		m := load(t, f, p, vm.Options{Memory: &vm.Memory{Runs: 1}})
		for i := range 2 {
			if i == 1 {
				m.Together()
			}
			got, err := m.Run(context.Background(), in)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("the machine says %v, the interpreter %v\n%s", err, wantErr, f)
			}
			if err == nil {
				same(t, f, p, got, want)
			}
		}
		m.Close()
	}
}

// TestEveryOperator runs graphs of every operator's sampled calls.
func TestEveryOperator(t *testing.T) {
	seeds := 400
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		f, in := irtest.Func(r, 1+seed%40)
		agreeOn(t, f, in)
	}
}

func FuzzCompile(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(10*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		g, in := irtest.Func(rand.New(rand.NewPCG(seed, 11)), 1+int(size))
		agreeOn(t, g, in)
	})
}
