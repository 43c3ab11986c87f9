package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// written reads a function without symbols as the body of a task: its parameters are
// the inputs, and its views have no call.
func written(t testing.TB, text string) (*ir.Func, *kernel.Body) {
	t.Helper()
	fs, ds := ir.ParseFuncs(diag.NewSource("test", text))
	if err := ds.Err(); err != nil {
		t.Fatal(err)
	}
	f, b := fs[0], &kernel.Body{InPlace: kernel.Absent}
	number := map[*ir.Value]int{}
	for i, p := range f.Params {
		number[p] = i
		b.In, b.Const = append(b.In, p.Type), append(b.Const, nil)
	}
	next := len(f.Params)
	for _, v := range f.Body {
		if v.Op.Flags&ir.Projection != 0 {
			number[v] = number[v.Args[0]] + int(v.Call().Int("index"))
			continue
		}
		o := kernel.Op{First: next, Args: make([]int, len(v.Args))}
		for i, a := range v.Args {
			o.Args[i] = kernel.Absent
			if a != nil {
				o.Args[i] = number[a]
			}
		}
		if v.Op.Flags&ir.View != 0 {
			o.As, o.Args = v.Type, o.Args[:1]
		} else if c, err := v.Call().Bind(nil); err != nil {
			t.Fatal(err)
		} else if err := ir.InferCall(c); err != nil {
			t.Fatal(err)
		} else {
			o.Call = c
		}
		number[v] = next
		next += o.Results()
		b.Ops = append(b.Ops, o)
	}
	for _, v := range f.Results {
		b.Out = append(b.Out, number[v])
	}
	return f, b
}

// holds runs a region at every level as one task of the given row, by parts, and
// compares with the interpreter.
func holds(t *testing.T, row, text string) {
	t.Helper()
	f, b := written(t, text)
	r := rand.New(rand.NewPCG(1, uint64(len(text))))
	in := make([]*tensor.T, len(b.In))
	for i, typ := range b.In {
		in[i] = irtest.Tensor(r, typ)
		if typ.DType == tensor.F32 {
			for j := range in[i].Len() {
				tensor.Of[float32](in[i])[j] = float32(r.NormFloat64())
			}
		}
	}
	want, err := new(ir.Interp).Run(f, in...)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]ir.Type, len(b.Out))
	for i, v := range b.Out {
		types[i] = b.Type(v)
	}
	for _, o := range choices()[1:] {
		k := kernel.Prepare(b, &o)
		if k == nil || k.Name != row+"/"+o.Level.String() {
			t.Fatalf("%v takes %s\n%s", k, text, fmt.Sprint(why(b, row, &o)))
		}
		var x kernel.Exec
		whole := garbageOf(types)
		if err := k.Do(&x, 0, 1, whole, in); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if d := tensor.CompareWhole(whole[i], want[i], tensor.Tolerance(k.Within)); d != nil {
				t.Fatalf("%s of %s: result %d: %v", k.Name, text, i, d)
			}
		}
		for i, v := range oneByOne(t, b, &o, in) {
			if !tensor.BitEqual(whole[i], v) {
				t.Fatalf("%s of %s: result %d has other bits than operator by operator: %v", k.Name, text, i, tensor.Compare(whole[i], v, 0))
			}
		}
		parts, out := k.Parts(3), garbageOf(types)
		for i := parts - 1; i >= 0; i-- {
			if err := k.Do(&x, i, parts, out, in); err != nil {
				t.Fatal(err)
			}
		}
		for i := range whole {
			if !tensor.BitEqual(out[i], whole[i]) {
				t.Fatalf("%s of %s: other bits by %d parts", k.Name, text, parts)
			}
		}
		checkShared(t, k, in, whole, types, rand.New(rand.NewPCG(uint64(parts), 1)))
		if n := testing.AllocsPerRun(3, func() { _ = k.Do(&x, 0, 1, out, in) }); n > 0 {
			t.Errorf("%s of %s makes %v pieces of memory", k.Name, text, n)
		}
	}
}

// oneByOne runs the operators of a body by themselves.
func oneByOne(t *testing.T, b *kernel.Body, o *kernel.Options, in []*tensor.T) []*tensor.T {
	t.Helper()
	values := map[int]*tensor.T{}
	for i, v := range in {
		values[i] = v
	}
	var x kernel.Exec
	for _, op := range b.Ops {
		if op.Call == nil {
			values[op.First] = &tensor.T{DType: op.As.DType, Shape: op.As.Ints(), Data: values[op.Args[0]].Data}
			continue
		}
		var args []*tensor.T
		for _, a := range op.Args {
			if a != kernel.Absent {
				args = append(args, values[a])
			}
		}
		out := garbageOf(op.Call.Out)
		if err := kernel.Prepare(kernel.Single(op.Call, nil, kernel.Absent), o).Do(&x, 0, 1, out, args); err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			values[op.First+i] = v
		}
	}
	var results []*tensor.T
	for _, v := range b.Out {
		results = append(results, values[v])
	}
	return results
}

// why is what the row of a name says about a body.
func why(b *kernel.Body, name string, o *kernel.Options) string {
	for _, row := range kernel.Table() {
		if row.Name == name {
			_, why := row.Make(b, o)
			return name + ": " + why
		}
	}
	return "there is no row " + name
}

// TestAttentionRegions: heads that are split and merged around an attention are read and
// written where they lie.
func TestAttentionRegions(t *testing.T) {
	for _, text := range []string{
		`func @f(%q: f32[2,7,24], %k: f32[2,9,24], %v: f32[2,9,24], %m: f32[2,1,1,9]) -> (out: f32[2,7,24]) {
  %0 = reshape %q {dims=[2,7,4,6]} : f32[2,7,4,6]
  %1 = transpose %0 {perm=[0,2,1,3]} : f32[2,4,7,6]
  %2 = reshape %k {dims=[2,9,4,6]} : f32[2,9,4,6]
  %3 = transpose %2 {perm=[0,2,1,3]} : f32[2,4,9,6]
  %4 = reshape %v {dims=[2,9,4,6]} : f32[2,9,4,6]
  %5 = transpose %4 {perm=[0,2,1,3]} : f32[2,4,9,6]
  %6 = attention %1, %3, %5, %m : f32[2,4,7,6]
  %7 = transpose %6 {perm=[0,2,1,3]} : f32[2,7,4,6]
  %8 = reshape %7 {dims=[2,7,24]} : f32[2,7,24]
  return %8
}
`,
		`func @f(%q: f32[3,5,16], %kv: f32[3,5,2,8], %m: bool[5,5]) -> (out: f32[3,16,5]) {
  %0 = reshape %q {dims=[3,5,4,4]} : f32[3,5,4,4]
  %1 = transpose %0 {perm=[0,2,1,3]} : f32[3,4,5,4]
  %2 = transpose %kv {perm=[0,2,1,3]} : f32[3,2,5,8]
  %3, %4 = split %2 {sizes=[4,4], axis=3} : f32[3,2,5,4], f32[3,2,5,4]
  %5 = attention %1, %3, %4, %m {causal=true, scale=0.7} : f32[3,4,5,4]
  %6 = transpose %5 {perm=[0,1,3,2]} : f32[3,4,4,5]
  %7 = reshape %6 {dims=[3,16,5]} : f32[3,16,5]
  return %7
}
`,
		`func @f(%q: f32[2,3,4,5,8], %k: f32[2,3,2,6,8], %v: f32[2,3,2,6,3], %m: f32[4,5,6]) -> (out: f32[2,3,4,5,3]) {
  %0 = attention %q, %k, %v, %m : f32[2,3,4,5,3]
  return %0
}
`,
	} {
		for _, d := range []string{"f32", "bf16", "f16"} {
			holds(t, "attention/"+d, strings.ReplaceAll(text, "f32", d))
		}
	}
}

// TestRowsRegions: norms and reductions with what is element-wise around them.
func TestRowsRegions(t *testing.T) {
	for i, text := range []string{
		`func @f(%x: f32[2,37,384], %r: f32[2,37,384], %w: f32[384], %b: f32[384]) -> (out: f32[2,37,384]) {
  %0 = add %x, %r : f32[2,37,384]
  %1 = layernorm %0, %w, %b : f32[2,37,384]
  return %1
}
`,
		`func @f(%x: f32[2,37,48], %r: f32[37,48], %w: f32[48]) -> (s: f32[2,37,48], out: f32[2,37,48]) {
  %0 = add %x, %r : f32[2,37,48]
  %1 = rmsnorm %0, %w : f32[2,37,48]
  return %0, %1
}
`,
		`func @f(%x: f32[3,5,7,11], %m: f32[3,1,1,11], %s: f32[], %g: f32[5,1,1]) -> (out: f32[3,5,7,11]) {
  %0 = mul %x, %s : f32[3,5,7,11]
  %1 = add %0, %m : f32[3,5,7,11]
  %2 = softmax %1 : f32[3,5,7,11]
  %3 = mul %2, %g : f32[3,5,7,11]
  return %3
}
`,
		`func @f(%x: f32[2,37,48], %w: f32[48]) -> (n: f32[2,37,48], h: bf16[2,37,48], r: f32[37,96]) {
  %0 = rmsnorm %x, %w : f32[2,37,48]
  %1 = cast %0 {dtype=bf16} : bf16[2,37,48]
  %2 = relu %0 : f32[2,37,48]
  %3 = reshape %2 {dims=[37,96]} : f32[37,96]
  return %0, %1, %3
}
`,
		`func @f(%x: f32[300,20]) -> (out: f32[300,20]) {
  %0 = log_softmax %x : f32[300,20]
  %1 = neg %0 : f32[300,20]
  return %1
}
`,
		`func @f(%x: f32[6,50,4], %m: f32[6,1,1]) -> (out: f32[6]) {
  %0 = sub %x, %m : f32[6,50,4]
  %1 = mul %0, %0 : f32[6,50,4]
  %2 = mean %1 {axis=[1,2]} : f32[6]
  return %2
}
`,
		`func @f(%x: f32[900,5], %y: f32[900,5]) -> (out: i64[900,1]) {
  %0 = mul %x, %y : f32[900,5]
  %1 = argmax %0 {axis=1, keepdims=true} : i64[900,1]
  return %1
}
`,
	} {
		row := "norm/f32"
		if i >= 5 {
			row = "reduce/f32"
		}
		holds(t, row, text)
	}
}
