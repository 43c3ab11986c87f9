package kernel_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// scoresRegions are attentions that are written out.
var scoresRegions = []string{
	// As BERT is exported; rows of less than a tile.
	`func @f(%q: f32[2,7,24], %k: f32[2,9,24], %v: f32[2,9,24], %s: f32[], %m: f32[2,1,1,9]) -> (out: f32[2,7,24]) {
  %0 = reshape %q {dims=[2,7,4,6]} : f32[2,7,4,6]
  %1 = transpose %0 {perm=[0,2,1,3]} : f32[2,4,7,6]
  %2 = reshape %k {dims=[2,9,4,6]} : f32[2,9,4,6]
  %3 = transpose %2 {perm=[0,2,3,1]} : f32[2,4,6,9]
  %4 = reshape %v {dims=[2,9,4,6]} : f32[2,9,4,6]
  %5 = transpose %4 {perm=[0,2,1,3]} : f32[2,4,9,6]
  %6 = matmul %1, %3 : f32[2,4,7,9]
  %7 = mul %6, %s : f32[2,4,7,9]
  %8 = add %7, %m : f32[2,4,7,9]
  %9 = softmax %8 : f32[2,4,7,9]
  %10 = matmul %9, %5 : f32[2,4,7,6]
  %11 = transpose %10 {perm=[0,2,1,3]} : f32[2,7,4,6]
  %12 = reshape %11 {dims=[2,7,24]} : f32[2,7,24]
  return %12
}
`,
	// Several blocks of rows, the last of them smaller, and one input for all three.
	`func @f(%x: f32[2,150,96], %far: f32[2,150,1000], %k: f32[2,2,16,1000], %v: f32[2,2,1000,5]) -> (out: f32[2,2,150,5]) {
  %0, %1, %2 = split %x {sizes=[32,32,32], axis=-1} : f32[2,150,32], f32[2,150,32], f32[2,150,32]
  %3 = reshape %1 {dims=[2,150,2,16]} : f32[2,150,2,16]
  %4 = transpose %3 {perm=[0,2,1,3]} : f32[2,2,150,16]
  %5 = matmul %4, %k : f32[2,2,150,1000]
  %6 = add %5, %far : f32[2,2,150,1000]
  %7 = softmax %6 : f32[2,2,150,1000]
  %8 = matmul %7, %v : f32[2,2,150,5]
  return %8
}
`,
	// A bias behind the second product, an activation, a residual; no heads.
	`func @f(%q: f32[70,13], %k: f32[70,13], %v: f32[33,70], %b: f32[33], %r: f32[70,33]) -> (y: f32[70,33], z: f32[70,33]) {
  %0 = linear %q, %k : f32[70,70]
  %1 = relu %0 : f32[70,70]
  %2 = softmax %1 : f32[70,70]
  %3 = linear %2, %v, %b : f32[70,33]
  %4 = add %3, %r : f32[70,33]
  %5 = silu %4 : f32[70,33]
  return %4, %5
}
`,
	// Blocks of short rows, and scores without a tail.
	`func @f(%q: f32[20000,3], %k: f32[3,4], %v: f32[4,2]) -> (out: f32[20000,2]) {
  %0 = matmul %q, %k : f32[20000,4]
  %1 = softmax %0 : f32[20000,4]
  %2 = matmul %1, %v : f32[20000,2]
  return %2
}
`,
}

// TestScoresRegions runs them by blocks of rows.
func TestScoresRegions(t *testing.T) {
	for _, text := range scoresRegions {
		holds(t, "scores/f32", text)
	}
}

// TestScoresRefuse: what the blocks of rows can't be made for has another kernel or
// none, and the row says why.
func TestScoresRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = softmax %0 {axis=0} : f32[6,6]
  %2 = matmul %1, %v : f32[6,6]
  return %2
}
`: "the softmax is not along the scores' rows",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = softmax %0 : f32[6,6]
  %2 = matmul %v, %1 : f32[6,6]
  return %2
}
`: "the softmax is not the left operand",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = transpose %0 : f32[6,6]
  %2 = softmax %1 : f32[6,6]
  %3 = matmul %2, %v : f32[6,6]
  return %3
}
`: "the scores change their order",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = softmax %0 : f32[6,6]
  %2 = matmul %1, %v : f32[6,6]
  %3 = add %1, %2 : f32[6,6]
  return %3
}
`: "the softmax is needed again",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6], p: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = softmax %0 : f32[6,6]
  %2 = matmul %1, %v : f32[6,6]
  return %2, %0
}
`: "a result that is not made of the second product alone",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = softmax %q : f32[6,6]
  %2 = matmul %1, %v : f32[6,6]
  %3 = add %0, %2 : f32[6,6]
  return %3
}
`: "the softmax is not made of the first product",
	} {
		_, b := written(t, text)
		o := kernel.Options{Kind: kernel.Generic, Level: isa.Portable}
		got := why(b, "scores/f32", &o)
		if k := kernel.Prepare(b, &o); k != nil || got == "" || !strings.Contains(got, want) {
			t.Errorf("%v, %q, want %q, of %s", k, got, want, text)
		}
	}
}

// BenchmarkScores is an attention of 8 heads, written out, with an additive mask.
func BenchmarkScores(b *testing.B) {
	for _, s := range []int{128, 512} {
		text := strings.ReplaceAll(`func @f(%q: f32[1,S,512], %k: f32[1,S,512], %v: f32[1,S,512], %m: f32[1,1,1,S]) -> (out: f32[1,S,512]) {
  %0 = reshape %q {dims=[1,S,8,64]} : f32[1,S,8,64]
  %1 = transpose %0 {perm=[0,2,1,3]} : f32[1,8,S,64]
  %2 = reshape %k {dims=[1,S,8,64]} : f32[1,S,8,64]
  %3 = transpose %2 {perm=[0,2,3,1]} : f32[1,8,64,S]
  %4 = reshape %v {dims=[1,S,8,64]} : f32[1,S,8,64]
  %5 = transpose %4 {perm=[0,2,1,3]} : f32[1,8,S,64]
  %6 = matmul %1, %3 : f32[1,8,S,S]
  %7 = add %6, %m : f32[1,8,S,S]
  %8 = softmax %7 : f32[1,8,S,S]
  %9 = matmul %8, %5 : f32[1,8,S,64]
  %10 = transpose %9 {perm=[0,2,1,3]} : f32[1,S,8,64]
  %11 = reshape %10 {dims=[1,S,512]} : f32[1,S,512]
  return %11
}
`, "S", strconv.Itoa(s))
		_, body := written(b, text)
		o := kernel.Best()
		k := kernel.Prepare(body, &o)
		in := make([]*tensor.T, len(body.In))
		for i, typ := range body.In {
			in[i] = tensor.New(tensor.F32, typ.Ints()...)
			tensor.Of[float32](in[i])[0] = 1
		}
		out := []*tensor.T{tensor.New(tensor.F32, 1, s, 512)}
		b.Run(strconv.Itoa(s), func(b *testing.B) {
			var x kernel.Exec
			for b.Loop() {
				if err := k.Do(&x, 0, 1, out, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(4*float64(s*s*512)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
