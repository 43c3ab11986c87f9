package vm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// steady are graphs of common operators, whose runs into given outputs
// allocate nothing once the machine is warm.
var steady = []struct{ name, text string }{
	{"perceptron", `func @f(%x: f32[4,8]) -> f32[4,3] {
  %w = param {key="w"} : f32[16,8]
  %b = param {key="b"} : f32[16]
  %v = param {key="v"} : f32[16,3]
  %h = linear %x, %w, %b : f32[4,16]
  %r = relu %h : f32[4,16]
  %m = matmul %r, %v : f32[4,3]
  %y = softmax %m : f32[4,3]
  return %y
}`},
	{"block", `func @f(%x: f32[2,6,8], %i: i64[3]) -> (y: f32[2,6,8], s: f32[2,8], g: f32[2,3,8]) {
  %w = param {key="w"} : f32[8]
  %b = param {key="b"} : f32[8]
  %n = layernorm %x, %w, %b : f32[2,6,8]
  %r = rmsnorm %x, %w : f32[2,6,8]
  %q = reshape %n {dims=[2,6,2,4]} : f32[2,6,2,4]
  %t = transpose %q {perm=[0,2,1,3]} : f32[2,2,6,4]
  %a = attention %t, %t, %t : f32[2,2,6,4]
  %u = transpose %a {perm=[0,2,1,3]} : f32[2,6,2,4]
  %o = reshape %u {dims=[2,6,8]} : f32[2,6,8]
  %h = add %o, %r : f32[2,6,8]
  %e = gelu %h : f32[2,6,8]
  %z = mul %e, %w : f32[2,6,8]
  %s = sum %z {axis=[1]} : f32[2,8]
  %m = max %z {axis=[2], keepdims=true} : f32[2,6,1]
  %y = sub %z, %m : f32[2,6,8]
  %g = gather %y, %i {axis=1} : f32[2,3,8]
  return %y, %s, %g
}`},
	{"shapes", `func @f(%x: f32[2,6], %i: i32[2,6]) -> (y: f32[4,6], c: f32[2,6], e: f32[3,2,6], l: f32[2,2], w: f32[2,6], k: bool[2,6]) {
  %n = neg %x : f32[2,6]
  %t = transpose %n {perm=[1,0]} : f32[6,2]
  %u = transpose %t {perm=[1,0]} : f32[2,6]
  %y = concat %u, %x {axis=0} : f32[4,6]
  %c = cast %i {dtype=f32} : f32[2,6]
  %e = expand %c {dims=[3,2,6]} : f32[3,2,6]
  %l = slice %u {starts=[1], ends=[3], axes=[1]} : f32[2,2]
  %k = greater %c, %x : bool[2,6]
  %w = where %k, %c, %x : f32[2,6]
  return %y, %c, %e, %l, %w, %k
}`},
	{"convolutions", `func @f(%x: f32[2,3,9,9]) -> (y: f32[2,5], g: f32[2,4,1,1]) {
  %w = param {key="w"} : f32[4,3,3,3]
  %b = param {key="b"} : f32[4]
  %u = param {key="u"} : f32[4,2,3,3]
  %v = param {key="v"} : f32[5,4]
  %c = conv %x, %w, %b {pad=[1]} : f32[2,4,9,9]
  %r = relu %c : f32[2,4,9,9]
  %m = max_pool %r {kernel=[3,3], stride=[2,2], pad=[1,1]} : f32[2,4,5,5]
  %d = conv %m, %u {auto_pad="same", stride=[2], dilation=[2], groups=2} : f32[2,4,3,3]
  %a = avg_pool %d {kernel=[2], stride=[1]} : f32[2,4,2,2]
  %e = global_avg_pool %a : f32[2,4,1,1]
  %g = global_max_pool %d : f32[2,4,1,1]
  %f = reshape %e {dims=[2,4]} : f32[2,4]
  %y = linear %f, %v : f32[2,5]
  return %y, %g
}`},
	{"large planes", `func @f(%x: f32[1,64,50,50]) -> (y: f32[1,1,50,50], m: f32[64,50,50], n: f32[1,1,1,50]) {
  %w = param {key="w"} : f32[1,64,1,1]
  %y = conv %x, %w : f32[1,1,50,50]
  %m = max %x {axis=[0]} : f32[64,50,50]
  %n = sum %x {axis=[1,2], keepdims=true} : f32[1,1,1,50]
  return %y, %m, %n
}`},
	{"windows", `func @f(%x: f32[3,4]) -> (p: f32[5,6], r: f32[7,6], t: f32[6,8], f: f32[3,4], o: f32[3,4], e: f32[3,8]) {
  %p = pad %x {pairs=[1], value=-1.5} : f32[5,6]
  %r = pad %x {pairs=[2,2,1,1], mode="reflect"} : f32[7,6]
  %t = tile %x {reps=[2,2]} : f32[6,8]
  %f = flip %x {axis=[1]} : f32[3,4]
  %o = roll %x {shift=[1], axis=[0]} : f32[3,4]
  %e = repeat %x {n=2, axis=1} : f32[3,8]
  return %p, %r, %t, %f, %o, %e
}`},
	{"choices", `func @f(%x: f32[3,6], %i: i64[4]) -> (v: f32[3,2], k: i64[3,2], h: f32[4,5], s: f32[3,6], a: i64[3,6], m: i64[3]) {
  %v, %k = topk %x {k=2} : f32[3,2], i64[3,2]
  %h = one_hot %i {n=5} : f32[4,5]
  %s = sort %x : f32[3,6]
  %a = argsort %x : i64[3,6]
  %m = argmax %x {axis=1} : i64[3]
  return %v, %k, %h, %s, %a, %m
}`},
	{"makers", `func @f(%x: f32[4]) -> (o: f32[2,3], z: f32[2,3], c: f32[2,3], e: f32[3,3], i: i64[6], a: f32[5], l: f32[5], t: f32[3,3], n: f32[4]) {
  %o = ones {type=f32[2,3]} : f32[2,3]
  %z = zeros {type=f32[2,3]} : f32[2,3]
  %c = full {type=f32[2,3], value=2.5} : f32[2,3]
  %e = eye {n=3} : f32[3,3]
  %i = iota {n=6} : i64[6]
  %a = arange {a=0.5, b=3.0, step=0.5} : f32[5]
  %l = linspace {a=0.0, b=1.0, n=5} : f32[5]
  %t = triu %e : f32[3,3]
  %n = neg %x : f32[4]
  return %o, %z, %c, %e, %i, %a, %l, %t, %n
}`},
	{"places", `func @f(%x: f32[3,4], %i: i64[2,4], %j: i64[2,1], %u: f32[2,4]) -> (t: f32[2,4], g: f32[2,4], s: f32[3,4], d: f32[3,4]) {
  %t = take_along %x, %i {axis=0} : f32[2,4]
  %g = gather_nd %x, %j : f32[2,4]
  %s = scatter %x, %i, %u {axis=0} : f32[3,4]
  %d = scatter_nd %x, %j, %u {reduce="add"} : f32[3,4]
  return %t, %g, %s, %d
}`},
	{"bodies", `func @f(%x: f32[4], %c: bool[]) -> (y: f32[4], z: f32[4]) {
  %y = loop %x {to=5, carry=1} : f32[4] body(%t: i64[], %x: f32[4]) {
    %s = add %x, %x : f32[4]
    yield %s
  }
  %z = if %c, %y : f32[4] then {
    %e = exp %y : f32[4]
    yield %e
  } else {
    yield %y
  }
  return %y, %z
}`},
}

func TestSteadyRunsAllocateNothing(t *testing.T) {
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range steady {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, c.text)
			in := inputsOf(t, f, nil, 3)
			for _, x := range in {
				if x.DType == tensor.I64 {
					clear(x.Data) // indices
				}
			}
			want, err := interpret(f, in)
			if err != nil {
				t.Fatal(err)
			}
			out := outputsLike(want)
			for _, streams := range []int{1, 3} {
				// Each worker warms up when it first gets a part, which may be late.
				w := vm.NewWorkers(2)
				defer w.Close()
				m := load(t, f, program(t, f, nil, lower.Options{Streams: streams}), vm.Options{Workers: w})
				for _, ctx := range []context.Context{context.Background(), cancellable} {
					run := func() {
						if err := m.RunInto(ctx, in, out); err != nil {
							t.Fatal(err)
						}
					}
					for range 5 {
						run()
					}
					if n := testing.AllocsPerRun(50, run); n != 0 && !underRace {
						t.Errorf("%d streams: %v allocations a run", streams, n)
					}
					sameOf(t, c.name, f, out, want)
				}
			}
		})
	}
}

// TestRunIntoRefuses: what does not fit, or lies where something else does, is
// refused before anything runs.
func TestRunIntoRefuses(t *testing.T) {
	f := parse(t, `func @pair(%a: f32[4], %b: f32[4]) -> (s: f32[4], p: f32[4]) {
  %s = add %a, %b : f32[4]
  %p = mul %a, %b : f32[4]
  return %s, %p
}`)
	m := load(t, f, program(t, f, nil, lower.Options{}), vm.Options{})
	all := tensor.New(tensor.F32, 16)
	at := func(i, n int) *tensor.T {
		return &tensor.T{DType: tensor.F32, Shape: []int{n}, Data: all.Data[4*i : 4*(i+n)]}
	}
	in := []*tensor.T{at(0, 4), at(0, 4)} // inputs may be the same
	for _, c := range []struct {
		out  []*tensor.T
		want string
	}{
		{[]*tensor.T{at(4, 4)}, "pair makes 2 outputs, got 1"},
		{[]*tensor.T{nil, at(4, 4)}, "output s is missing"},
		{[]*tensor.T{at(4, 4), at(8, 5)}, "output p is f32[5], but must be f32[4]"},
		{[]*tensor.T{{DType: tensor.F32, Shape: []int{4}, Data: all.Data[16:20]}, at(8, 4)}, "output s is f32[4], but has 4 bytes"},
		{[]*tensor.T{at(4, 4), at(7, 4)}, "output s shares memory with output p"},
		{[]*tensor.T{at(8, 4), at(5, 4)}, "output s shares memory with output p"},
		{[]*tensor.T{at(4, 4), at(3, 4)}, "output p shares memory with input"},
		{[]*tensor.T{at(4, 4), at(0, 4)}, "output p shares memory with input a"},
		{[]*tensor.T{at(3, 4), at(8, 4)}, "output s shares memory with input"},
		{[]*tensor.T{at(4, 4), at(8, 4)}, ""},
	} {
		err := m.RunInto(context.Background(), in, c.out)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestRunIntoUnaligned: memory at odd addresses is filled all the same.
func TestRunIntoUnaligned(t *testing.T) {
	f := parse(t, "func @f(%x: f32[3]) -> f32[3] {\n  %y = neg %x : f32[3]\n  return %y\n}")
	m := load(t, f, program(t, f, nil, lower.Options{}), vm.Options{})
	in := []*tensor.T{tensor.FromSlice([]int{3}, []float32{1, 2, 3})}
	odd := &tensor.T{DType: tensor.F32, Shape: []int{3}, Data: tensor.AlignedBytes(13)[1:]}
	if err := m.RunInto(context.Background(), in, []*tensor.T{odd}); err != nil {
		t.Fatal(err)
	}
	got := tensor.New(tensor.F32, 3)
	copy(got.Data, odd.Data)
	if want := tensor.FromSlice([]int{3}, []float32{-1, -2, -3}); !tensor.BitEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
