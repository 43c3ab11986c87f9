package vm_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// hostile are graphs at the edges of what kernels take, by what is bad about them. A
// line has a form "result = operator ...", as in the IR; N is a size, by which all are
// run that sizes has.
var hostile = []struct{ name, text string }{
	{"a bitcast in a region", `func @f(%x: f32[N,7], %y: f32[7]) -> (a: i32[N,7], b: f32[N,7], c: f32[N,7]) {
  %0 = add %x, %y : f32[N,7]
  %1 = bitcast %0 {dtype=i32} : i32[N,7]
  %2 = neg %1 : i32[N,7]
  %3 = bitcast %2 {dtype=f32} : f32[N,7]
  %4 = mul %0, %y : f32[N,7]
  return %1, %3, %4
}`},
	{"a bitcast as a result of a region", `func @f(%x: f16[N,7], %y: f16[7]) -> (a: u16[N,7], b: f16[N,7]) {
  %0 = div %x, %y : f16[N,7]
  %1 = bitcast %0 {dtype=u16} : u16[N,7]
  return %1, %0
}`},
	{"truth as numbers", `func @f(%x: f32[N,7], %y: f32[7]) -> (a: i8[N,7], b: u8[N,7]) {
  %0 = greater %x, %y : bool[N,7]
  %1 = bitcast %0 {dtype=i8} : i8[N,7]
  %2 = bitcast %0 {dtype=u8} : u8[N,7]
  return %1, %2
}`},
	{"a product of what other bits say", `func @f(%x: u32[N,5], %w: f32[5,9], %v: i32[9]) -> f32[N,9] {
  %0 = bitcast %x {dtype=f32} : f32[N,5]
  %1 = matmul %0, %w : f32[N,9]
  %2 = bitcast %v {dtype=f32} : f32[9]
  %3 = bias_add %1, %2 : f32[N,9]
  return %3
}`},
	{"channels without elements", `func @f(%x: f32[3,2,N], %w: f32[2], %b: f32[2], %m: f32[2], %v: f32[2]) -> (a: f32[3,2,N], b: f32[3,2,N], c: f32[3,2,N]) {
  %0 = batchnorm %x, %w, %b, %m, %v : f32[3,2,N]
  %1 = instancenorm %x, %w, %b : f32[3,2,N]
  %2 = groupnorm %x, %w, %b {groups=2} : f32[3,2,N]
  return %0, %1, %2
}`},
	{"no images", `func @f(%x: f32[N,2,40], %w: f32[2], %b: f32[2], %m: f32[2], %v: f32[2]) -> (a: f32[N,2,40], b: f32[N,2,40], c: f32[N,2,40]) {
  %0 = batchnorm %x, %w, %b, %m, %v : f32[N,2,40]
  %1 = instancenorm %x, %w, %b : f32[N,2,40]
  %2 = groupnorm %x, %w, %b {groups=2} : f32[N,2,40]
  return %0, %1, %2
}`},
	{"sums of nothing", `func @f(%x: f32[3,N], %w: f32[N,5], %b: f32[5]) -> (a: f32[3,5], b: f32[3,5], c: f32[3,5]) {
  %0 = matmul %x, %w : f32[3,5]
  %1 = bias_add %0, %b : f32[3,5]
  %2 = relu %1 : f32[3,5]
  %3 = exp %0 : f32[3,5]
  return %2, %0, %3
}`},
	{"halves of nothing", `func @f(%x: bf16[3,N], %w: bf16[N,5], %y: f16[3,N], %v: f16[N,5]) -> (a: bf16[3,5], b: f16[3,5]) {
  %0 = matmul %x, %w : bf16[3,5]
  %1 = relu %0 : bf16[3,5]
  %2 = matmul %y, %v : f16[3,5]
  %3 = neg %2 : f16[3,5]
  return %1, %3
}`},
	{"a product of one column", `func @f(%x: f32[N,33], %w: f32[33,1], %y: f32[N,1]) -> f32[N,1] {
  %0 = matmul %x, %w : f32[N,1]
  %1 = add %0, %y : f32[N,1]
  return %1
}`},
	{"products of many small matrices", `func @f(%x: f32[5,1,N,3], %w: f32[4,3,2]) -> f32[5,4,N,2] {
  %0 = matmul %x, %w : f32[5,4,N,2]
  %1 = tanh %0 : f32[5,4,N,2]
  return %1
}`},
	{"queries without elements", `func @f(%q: f32[2,3,0], %k: f32[2,N,0], %v: f32[2,N,5]) -> (a: f32[2,3,5], b: f32[2,3,5]) {
  %0 = attention %q, %k, %v : f32[2,3,5]
  %1 = attention %q, %k, %v {scale=2.0, causal=true} : f32[2,3,5]
  return %0, %1
}`},
	{"no keys", `func @f(%q: f32[2,3,4], %k: f32[1,N,4], %v: f32[1,N,5], %m: bool[3,N]) -> (a: f32[2,3,5], b: f32[2,3,5]) {
  %0 = attention %q, %k, %v, %m : f32[2,3,5]
  %1 = attention %q, %k, %v {causal=true} : f32[2,3,5]
  return %0, %1
}`},
	{"eight axes", `func @f(%x: f32[2,1,3,1,2,N,1,2], %y: f32[1,2,1,3,1,N,2,1]) -> (a: f32[2,2,3,3,2,N,2,2], b: f32[2,3,N,2]) {
  %0 = add %x, %y : f32[2,2,3,3,2,N,2,2]
  %1 = sigmoid %0 : f32[2,2,3,3,2,N,2,2]
  %2 = transpose %1 {perm=[7,6,5,4,3,2,1,0]} : f32[2,2,N,2,3,3,2,2]
  %3 = transpose %2 {perm=[7,6,5,4,3,2,1,0]} : f32[2,2,3,3,2,N,2,2]
  %4 = mul %3, %x : f32[2,2,3,3,2,N,2,2]
  %5 = sum %4 {axis=[0,2,4,6]} : f32[2,3,N,2]
  return %4, %5
}`},
	{"reductions of nothing", `func @f(%x: f32[3,N]) -> (a: f32[3], b: f32[3], c: f32[3], d: f32[3], e: f32[3], f: bool[3], g: f32[3,N], h: f32[3,N]) {
  %0 = sum %x {axis=[1]} : f32[3]
  %1 = prod %x {axis=[1]} : f32[3]
  %2 = mean %x {axis=[1]} : f32[3]
  %3 = logsumexp %x {axis=[1]} : f32[3]
  %4 = variance %x {axis=[1]} : f32[3]
  %5 = cast %x {dtype=bool} : bool[3,N]
  %6 = any %5 {axis=[1]} : bool[3]
  %7 = softmax %x : f32[3,N]
  %8 = cumsum %x {axis=1} : f32[3,N]
  return %0, %1, %2, %3, %4, %6, %7, %8
}`},
	{"reductions of nothing along axes that are apart", `func @f(%x: f32[N,3,6], %y: f32[N,3,6,5], %z: f32[2,3,N,5]) -> (a: f32[3], b: f32[3,5], c: f32[3], d: f32[1,3,1,5], e: f32[3], f: f32[3], g: f32[3]) {
  %0 = sum %x {axis=[0,2]} : f32[3]
  %1 = max %y {axis=[0,2]} : f32[3,5]
  %2 = mean %y {axis=[0,2,3]} : f32[3]
  %3 = prod %z {axis=[0,2], keepdims=true} : f32[1,3,1,5]
  %4 = variance %z {axis=[0,2,3]} : f32[3]
  %5 = logsumexp %x {axis=[0,2]} : f32[3]
  %6 = norm2 %y {axis=[0,2,3]} : f32[3]
  return %0, %1, %2, %3, %4, %5, %6
}`},
	{"one weight in several layouts", `func @f(%x: f32[N,6], %y: f32[N,6]) -> (a: f32[N,6], b: f32[N,6], c: f32[N,4], d: f32[6,6], e: f32[N,6]) {
  %w = param {key="w"} : f32[6,6]
  %0 = matmul %x, %w : f32[N,6]
  %1 = linear %x, %w : f32[N,6]
  %2 = slice %w {starts=[1], ends=[5], axes=[0]} : f32[4,6]
  %3 = linear %y, %2 : f32[N,4]
  %4 = transpose %w {perm=[1,0]} : f32[6,6]
  %5 = matmul %w, %4 : f32[6,6]
  %6 = add %y, %0 : f32[N,6]
  %7 = matmul %6, %4 : f32[N,6]
  return %0, %1, %3, %5, %7
}`},
	{"convolutions of nothing", `func @f(%x: f32[N,2,5,4], %w: f32[3,2,3,3], %b: f32[3]) -> (a: f32[N,3,5,4], b: f32[N,2,5,4]) {
  %0 = conv %x, %w, %b {pad=[1,1,1,1]} : f32[N,3,5,4]
  %1 = relu %0 : f32[N,3,5,4]
  %2 = max_pool %x {kernel=[3,3], stride=[1,1], pad=[1,1,1,1]} : f32[N,2,5,4]
  return %1, %2
}`},
	{"everything moved", `func @f(%x: f32[N,3,4], %i: i64[5]) -> (a: f32[4,N,3], b: f32[N,3,8], c: f32[N,5,4], d: f32[N,3,6], e: f32[N,3,4]) {
  %0 = transpose %x {perm=[2,0,1]} : f32[4,N,3]
  %1 = concat %x, %x {axis=2} : f32[N,3,8]
  %2 = gather %x, %i {axis=1} : f32[N,5,4]
  %3 = pad %x {pairs=[0,0,0,0,1,1]} : f32[N,3,6]
  %4 = flip %x {axis=[0,2]} : f32[N,3,4]
  return %0, %1, %2, %3, %4
}`},
	{"whole numbers", `func @f(%x: i64[N,5], %y: i64[5], %z: u8[N,5], %s: i16[N,1]) -> (a: i64[N,5], b: u8[N,5], c: i16[N,5], d: i64[N,5]) {
  %0 = add %x, %y : i64[N,5]
  %1 = mul %0, %x : i64[N,5]
  %2 = maximum %z, %z : u8[N,5]
  %3 = cast %z {dtype=i16} : i16[N,5]
  %4 = sub %3, %s : i16[N,5]
  %5 = shift_left %x, %y : i64[N,5]
  return %1, %2, %4, %5
}`},
}

// sizes are those of N.
var hostileSizes = []int{0, 1, 2, 17, 64, 129}

// TestHostile runs graphs at the edges of what kernels take by the kernels of every
// level, fused and not, with special numbers anywhere, from tensors that lie anywhere:
// each task is held against its operators, and disturbed runs give the bits of others.
func TestHostile(t *testing.T) {
	w := vm.NewWorkers(2)
	defer w.Close()
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for i, c := range hostile {
		for _, n := range hostileSizes {
			text := strings.NewReplacer("N", fmt.Sprint(n)).Replace(c.text)
			f := parse(t, text)
			for round := range rounds {
				r := rand.New(rand.NewPCG(uint64(i*1000+n), uint64(round)))
				in := make([]*tensor.T, len(f.Params))
				for k, p := range f.Params {
					in[k] = hostileTensor(r, p.Type)
				}
				for _, g := range []*ir.Func{f, fused(t, f)} {
					for _, l := range isa.Levels() {
						endures(t, fmt.Sprintf("%s, N = %d, round %d, %v", c.name, n, round, l), g, in, l, w, r.Uint64())
					}
				}
			}
		}
	}
}

// endures runs a function by the kernels of a level.
func endures(t *testing.T, what string, f *ir.Func, in []*tensor.T, l isa.Level, w *vm.Workers, seed uint64) {
	t.Helper()
	use := kernel.Options{Kind: kernel.Fast, Level: l, Packs: new(kernel.Packs)}
	_, refused := interpret(f, in)
	calm := load(t, f, program(t, f, nil, lower.Options{Streams: 1, Memory: lower.MemoryOff}), vm.Options{Workers: w, Kernels: &use, Check: refuseDifference})
	if _, err := calm.Run(context.Background(), in); (err != nil) != (refused != nil) {
		t.Fatalf("%s: a checked run ends with %v, the interpreter with %v\n%s", what, err, refused, f)
	}
	calm.Close()
	calm = load(t, f, program(t, f, nil, lower.Options{Streams: 1, Memory: lower.MemoryOff}), vm.Options{Workers: w, Kernels: &use})
	want, err := calm.Run(context.Background(), in)
	calm.Close()
	p := program(t, f, nil, lower.Options{Device: eager, Streams: 3, Memory: lower.MemoryAggressive})
	m := load(t, f, p, vm.Options{Workers: w, Kernels: &use, Poison: true})
	m.Disturb(seed, 2+int(seed%5))
	shifted := make([]*tensor.T, len(in))
	for i, x := range in {
		shifted[i] = offset(x, 1+int(seed>>8)%63)
	}
	if err == nil {
		fills(t, what, f, m, shifted, want, 1+int(seed>>16)%63)
	}
	runThrice(t, what, f, m, shifted, want, err)
}

// fills runs into tensors that begin at some byte, between others that stay as they
// are.
func fills(t *testing.T, what string, f *ir.Func, m *vm.Machine, in, want []*tensor.T, by int) {
	t.Helper()
	const edge, mark = 128, 0xa5
	var out []*tensor.T
	var rooms [][]byte
	for i, x := range want {
		room := bytes.Repeat([]byte{mark}, edge+by+8+len(x.Data)+edge)
		if i%2 == 0 {
			by = (by + 7) &^ 7 // is written in place
		}
		out = append(out, &tensor.T{DType: x.DType, Shape: x.Shape, Data: room[edge+by:][:len(x.Data):len(x.Data)]})
		rooms = append(rooms, room)
	}
	if err := m.RunInto(context.Background(), in, out); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, f)
	}
	sameOf(t, what, f, out, want)
	for i, room := range rooms {
		clear(out[i].Data)
		if n := bytes.Count(room, []byte{mark}); n != len(room)-len(out[i].Data) {
			t.Fatalf("%s: memory beside result %d was written\n%s", what, i, f)
		}
	}
}

// offset is a tensor whose memory begins at some byte.
func offset(t *tensor.T, by int) *tensor.T {
	data := append(make([]byte, by), t.Data...)
	return &tensor.T{DType: t.DType, Shape: t.Shape, Data: data[by:len(data):len(data)]}
}

// hostileTensor has special numbers often at its ends.
func hostileTensor(r *rand.Rand, typ ir.Type) *tensor.T {
	x := irtest.Tensor(r, typ)
	if typ.DType == tensor.I64 { // as an index
		for i := range x.Len() {
			x.SetInt(i, int64(r.IntN(3)))
		}
	}
	n := x.Len()
	if n > 0 && typ.DType.IsFloat() && r.IntN(2) == 0 {
		specials := irtest.Specials()
		for _, at := range []int{0, n - 1, max(n-2, 0), r.IntN(n)} {
			if r.IntN(2) == 0 {
				x.SetFloat(at, specials[r.IntN(len(specials))])
			}
		}
	}
	return x
}
