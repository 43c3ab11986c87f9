package vm_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// sized are graphs whose sizes M, N, K, H are drawn: what kernels of tiles, blocks and
// rows have edges in.
var sized = []struct{ name, text string }{
	{"product, bias, gelu, residual", `func @f(%x: f32[M,K], %w: f32[N,K], %b: f32[N], %r: f32[M,N]) -> (a: f32[M,N], b: f32[M,N]) {
  %0 = linear %x, %w, %b : f32[M,N]
  %1 = gelu %0 : f32[M,N]
  %2 = add %1, %r : f32[M,N]
  %3 = linear %x, %w : f32[M,N]
  %4 = sigmoid %3 : f32[M,N]
  %5 = mul %4, %r : f32[M,N]
  return %2, %5
}`},
	{"products of one weight, seen in several ways", `func @f(%x: f32[H,M,K], %y: f32[M,N]) -> (a: f32[H,M,N], b: f32[M,K], c: f32[K,M], d: f32[K,K]) {
  %w = param {key="w"} : f32[K,N]
  %0 = matmul %x, %w : f32[H,M,N]
  %1 = relu %0 : f32[H,M,N]
  %2 = transpose %w {perm=[1,0]} : f32[N,K]
  %3 = matmul %y, %2 : f32[M,K]
  %4 = tanh %3 : f32[M,K]
  %5 = transpose %y {perm=[1,0]} : f32[N,M]
  %6 = matmul %w, %5 : f32[K,M]
  %7 = neg %6 : f32[K,M]
  %8 = linear %w, %w : f32[K,K]
  return %1, %4, %7, %8
}`},
	{"turned and broadcast operands", `func @f(%x: f32[H,K,M], %y: f32[N,K], %z: f32[H,1,N]) -> (a: f32[H,M,N], b: f32[H,N,M]) {
  %0 = transpose %x {perm=[0,2,1]} : f32[H,M,K]
  %1 = transpose %y {perm=[1,0]} : f32[K,N]
  %2 = matmul %0, %1 : f32[H,M,N]
  %3 = add %2, %z : f32[H,M,N]
  %4 = relu %3 : f32[H,M,N]
  %5 = matmul %y, %x : f32[H,N,M]
  %6 = exp %5 : f32[H,N,M]
  return %4, %6
}`},
	{"halves", `func @f(%x: bf16[M,K], %w: bf16[K,N], %b: bf16[N], %y: f16[M,K], %v: f16[N,K], %c: f16[N]) -> (a: bf16[M,N], b: f16[M,N]) {
  %0 = matmul %x, %w : bf16[M,N]
  %1 = bias_add %0, %b : bf16[M,N]
  %2 = relu %1 : bf16[M,N]
  %3 = linear %y, %v, %c : f16[M,N]
  %4 = silu %3 : f16[M,N]
  return %2, %4
}`},
	{"heads", `func @f(%x: f32[M,H*K], %k: f32[N,H*K], %v: f32[N,H*K], %m: f32[M,N]) -> f32[M,H*K] {
  %0 = reshape %x {dims=[M,H,K]} : f32[M,H,K]
  %1 = transpose %0 {perm=[1,0,2]} : f32[H,M,K]
  %2 = reshape %k {dims=[N,H,K]} : f32[N,H,K]
  %3 = transpose %2 {perm=[1,0,2]} : f32[H,N,K]
  %4 = reshape %v {dims=[N,H,K]} : f32[N,H,K]
  %5 = transpose %4 {perm=[1,0,2]} : f32[H,N,K]
  %6 = attention %1, %3, %5, %m : f32[H,M,K]
  %7 = attention %1, %3, %5 {causal=true} : f32[H,M,K]
  %8 = add %6, %7 : f32[H,M,K]
  %9 = transpose %8 {perm=[1,0,2]} : f32[M,H,K]
  %10 = reshape %9 {dims=[M,H*K]} : f32[M,H*K]
  return %10
}`},
	{"softmax and norms", `func @f(%x: f32[H,M,N], %r: f32[M,N], %w: f32[N], %b: f32[N], %m: f32[H,1,N]) -> (a: f32[H,M,N], b: f32[H,M,N], c: f32[H,M,N], d: f32[H,N], e: f32[H,M]) {
  %0 = add %x, %r : f32[H,M,N]
  %1 = layernorm %0, %w, %b : f32[H,M,N]
  %2 = add %x, %m : f32[H,M,N]
  %3 = softmax %2 : f32[H,M,N]
  %4 = softmax %x {axis=1} : f32[H,M,N]
  %5 = sum %0 {axis=[1]} : f32[H,N]
  %6 = mul %x, %x : f32[H,M,N]
  %7 = mean %6 {axis=[2]} : f32[H,M]
  return %1, %3, %4, %5, %7
}`},
	{"a convolution, a norm and a residual", `func @f(%x: f32[2,H,M,N], %w: f32[K,H,3,3], %b: f32[K], %g: f32[K], %h: f32[K], %r: f32[2,K,M,N]) -> (a: f32[2,K,M,N], b: f32[2,K,M,N]) {
  %0 = conv %x, %w, %b {pad=[1,1,1,1]} : f32[2,K,M,N]
  %v = abs %h : f32[K]
  %1 = batchnorm %0, %g, %b, %h, %v : f32[2,K,M,N]
  %2 = add %1, %r : f32[2,K,M,N]
  %3 = relu %2 : f32[2,K,M,N]
  %4 = max_pool %3 {kernel=[3,3], stride=[1,1], pad=[1,1,1,1]} : f32[2,K,M,N]
  return %3, %4
}`},
	{"convolutions of one place and of each channel", `func @f(%x: f32[2,H,M,N], %w: f32[K,H,1,1], %d: f32[H,1,3,3], %r: f32[K,1,1]) -> (a: f32[2,K,M,N], b: f32[2,H,M,N]) {
  %0 = conv %x, %w : f32[2,K,M,N]
  %1 = mul %0, %r : f32[2,K,M,N]
  %2 = conv %x, %d {pad=[1,1,1,1], groups=H} : f32[2,H,M,N]
  %3 = hardswish %2 : f32[2,H,M,N]
  return %1, %3
}`},
	{"chains with several results and broadcasts", `func @f(%x: f32[M,H,N], %y: f32[H,1], %z: f32[M,1,N], %s: f32[]) -> (a: f32[M,H,N], b: bool[M,H,N], c: f16[M,H,N], d: f32[N,H,M], e: i32[M,H,N]) {
  %0 = add %x, %y : f32[M,H,N]
  %1 = mul %0, %z : f32[M,H,N]
  %2 = tanh %1 : f32[M,H,N]
  %3 = greater %2, %s : bool[M,H,N]
  %4 = where %3, %2, %x : f32[M,H,N]
  %5 = cast %4 {dtype=f16} : f16[M,H,N]
  %6 = transpose %4 {perm=[2,1,0]} : f32[N,H,M]
  %7 = exp %6 : f32[N,H,M]
  %8 = bitcast %2 {dtype=i32} : i32[M,H,N]
  return %4, %3, %5, %7, %8
}`},
	{"moves", `func @f(%x: f32[M,N,H], %y: f16[M,N,H], %i: i64[K]) -> (a: f32[H,N,M], b: f16[N,M,H], c: f32[M,N,2*H], d: f32[M,N+3,H], e: f32[M,N,H]) {
  %0 = transpose %x {perm=[2,1,0]} : f32[H,N,M]
  %1 = transpose %y {perm=[1,0,2]} : f16[N,M,H]
  %2 = concat %x, %x {axis=2} : f32[M,N,2*H]
  %3 = pad %x {pairs=[0,0,1,2,0,0]} : f32[M,N+3,H]
  %4 = flip %x {axis=[1]} : f32[M,N,H]
  return %0, %1, %2, %3, %4
}`},
	{"order", `func @f(%x: f32[M,N], %y: i64[N,M]) -> (a: f32[M,N], b: i64[M,N], c: f32[M,N], d: i64[N,M], e: i64[M]) {
  %0 = sort %x : f32[M,N]
  %1 = argsort %x {descending=true} : i64[M,N]
  %2 = cumsum %x {axis=0} : f32[M,N]
  %3 = cumsum %y {axis=1} : i64[N,M]
  %4 = argmax %x {axis=1} : i64[M]
  return %0, %1, %2, %3, %4
}`},
}

var sizeNames = regexp.MustCompile(`\b[MNKH]\b`)

// drawn gives the sizes of a text: small ones, of tiles and a little more or less, and
// some that are larger.
func drawn(r *rand.Rand, text string) string {
	sizes := map[string]int{"H": 1 + r.IntN(4)}
	for _, name := range []string{"M", "N", "K"} {
		sizes[name] = []int{1 + r.IntN(9), 1 + r.IntN(40), 16*(1+r.IntN(6)) + r.IntN(3) - 1, 1 + r.IntN(150)}[r.IntN(4)]
	}
	return sizeNames.ReplaceAllStringFunc(text, func(name string) string { return fmt.Sprint(sizes[name]) })
}

// TestStressSizes runs graphs of drawn sizes as TestHostile does.
func TestStressSizes(t *testing.T) {
	w := vm.NewWorkers(2)
	defer w.Close()
	end := time.Now().Add(moment())
	const least = 22 // graphs, however slow the machine
	seed := uint64(0)
	for ; seed < least || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 23))
		c := sized[seed%uint64(len(sized))]
		f := parse(t, drawn(r, c.text))
		in := inputsOf(t, f, nil, seed)
		for k, p := range f.Params {
			if r.IntN(3) > 0 {
				in[k] = hostileTensor(r, p.Type)
			}
		}
		levels := isa.Levels()
		l := levels[r.IntN(len(levels))]
		for _, g := range []*ir.Func{f, fused(t, f)} {
			endures(t, fmt.Sprintf("%s, seed %d, %v", c.name, seed, l), g, in, l, w, r.Uint64())
		}
	}
	t.Logf("%d graphs", seed)
}
