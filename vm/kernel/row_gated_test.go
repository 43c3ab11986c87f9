package kernel_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// gatedRegions are products whose results meet.
var gatedRegions = []string{
	// As in LLaMA; rows and columns of several pieces.
	`func @f(%x: f32[2,150,17], %g: f32[300,17], %u: f32[300,17]) -> (out: f32[2,150,300]) {
  %0 = linear %x, %g : f32[2,150,300]
  %1 = silu %0 : f32[2,150,300]
  %2 = linear %x, %u : f32[2,150,300]
  %3 = mul %1, %2 : f32[2,150,300]
  return %3
}
`,
	// Biases, operands of their own, two results.
	`func @f(%x: f32[3,7,5], %y: f32[3,7,9], %g: f32[3,5,21], %u: f32[3,9,21], %b: f32[21], %r: f32[7,21]) -> (y: f32[3,7,21], z: f32[3,7,21]) {
  %0 = matmul %x, %g : f32[3,7,21]
  %1 = bias_add %0, %b : f32[3,7,21]
  %2 = matmul %y, %u : f32[3,7,21]
  %3 = bias_add %2, %b : f32[3,7,21]
  %4 = sigmoid %1 : f32[3,7,21]
  %5 = mul %4, %3 : f32[3,7,21]
  %6 = add %5, %r : f32[3,7,21]
  %7 = sub %0, %6 : f32[3,7,21]
  return %6, %7
}
`,
	// Heads on the way out.
	`func @f(%x: f32[40,8], %g: f32[24,8], %u: f32[24,8]) -> (out: f32[4,40,6]) {
  %0 = linear %x, %g : f32[40,24]
  %1 = linear %x, %u : f32[40,24]
  %2 = maximum %0, %1 : f32[40,24]
  %3 = reshape %2 {dims=[40,4,6]} : f32[40,4,6]
  %4 = transpose %3 {perm=[1,0,2]} : f32[4,40,6]
  return %4
}
`,
	// One row, as when tokens come one by one.
	`func @f(%x: f32[1,64], %g: f32[70,64], %u: f32[70,64], %c: f32[70]) -> (out: f32[1,70]) {
  %0 = linear %x, %g : f32[1,70]
  %1 = linear %x, %u, %c : f32[1,70]
  %2 = gelu %1 : f32[1,70]
  %3 = mul %2, %0 : f32[1,70]
  return %3
}
`,
}

// TestGatedRegions runs them with operands that runs bring.
func TestGatedRegions(t *testing.T) {
	for _, text := range gatedRegions {
		holds(t, "gated/f32", text)
	}
}

// TestGatedConstants: packed weights make no difference.
func TestGatedConstants(t *testing.T) {
	for _, text := range gatedRegions {
		_, b := written(t, text)
		in := make([]*tensor.T, len(b.In))
		for i, typ := range b.In {
			in[i] = tensor.New(tensor.F32, typ.Ints()...)
			for j, v := 0, tensor.Of[float32](in[i]); j < len(v); j++ {
				v[j] = float32((j*7+i)%11) - 5.3
			}
		}
		for _, o := range choices()[1:] {
			out := func() []*tensor.T {
				k := kernel.Prepare(b, &o)
				if k == nil || !strings.HasPrefix(k.Name, "gated/") {
					t.Fatalf("%v takes %s", k, text)
				}
				return runRegion(t, k, b, in, 1)
			}
			brought := out()
			copy(b.Const, in)
			packed := out()
			clear(b.Const)
			for i := range brought {
				if !tensor.BitEqual(brought[i], packed[i]) {
					t.Errorf("%v of %s: result %d: %v", o.Level, text, i, tensor.Compare(packed[i], brought[i], 0))
				}
			}
		}
	}
}

// TestGatedRefuse: the row says why it does not take a region.
func TestGatedRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = matmul %0, %v : f32[6,6]
  return %1
}
`: "a result that is not made of both products",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,6]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = transpose %0 : f32[6,6]
  %2 = matmul %q, %v : f32[6,6]
  %3 = add %1, %2 : f32[6,6]
  return %3
}
`: "the products meet in another order",
		`func @f(%q: f32[6,6], %k: f32[6,6], %v: f32[6,1]) -> (out: f32[6,6]) {
  %0 = matmul %q, %k : f32[6,6]
  %1 = matmul %q, %v : f32[6,1]
  %2 = add %1, %0 : f32[6,6]
  return %2
}
`: "the products have different rows",
	} {
		_, b := written(t, text)
		o := kernel.Options{Kind: kernel.Generic, Level: isa.Portable}
		if got := why(b, "gated/f32", &o); !strings.Contains(got, want) {
			t.Errorf("%q, want %q, of %s", got, want, text)
		}
	}
}

// BenchmarkGated is the first half of a feed-forward block of LLaMA, as one kernel and
// as the products by themselves, in turns; it reports the least times.
func BenchmarkGated(b *testing.B) {
	for _, rows := range []string{"1", "16", "256"} {
		one := newBench(b, strings.ReplaceAll(`func @f(%x: f32[S,1024], %g: f32[2816,1024], %u: f32[2816,1024]) -> (out: f32[S,2816]) {
  %0 = linear %x, %g : f32[S,2816]
  %1 = silu %0 : f32[S,2816]
  %2 = linear %x, %u : f32[S,2816]
  %3 = mul %1, %2 : f32[S,2816]
  return %3
}
`, "S", rows))
		two := newBench(b, strings.ReplaceAll(`func @f(%x: f32[S,1024], %g: f32[2816,1024], %u: f32[2816,1024]) -> (y: f32[S,2816], z: f32[S,2816]) {
  %0 = linear %x, %g : f32[S,2816]
  %1 = silu %0 : f32[S,2816]
  %2 = linear %x, %u : f32[S,2816]
  return %1, %2
}
`, "S", rows))
		b.Run(rows, func(b *testing.B) {
			least := [2]float64{math.Inf(1), math.Inf(1)}
			for b.Loop() {
				least[0], least[1] = min(least[0], one.run(b)), min(least[1], two.run(b))
			}
			b.ReportMetric(least[0]*1000, "ms")
			b.ReportMetric(least[0]/least[1], "of-products")
		})
	}
}

// A regionBench is a region whose right operands are constant.
type regionBench struct {
	k       *kernel.Prepared
	x       kernel.Exec
	in, out []*tensor.T
}

func newBench(b *testing.B, text string) *regionBench {
	_, body := written(b, text)
	r := &regionBench{}
	for i, typ := range body.In {
		in := tensor.New(tensor.F32, typ.Ints()...)
		for j, v := 0, tensor.Of[float32](in); j < len(v); j++ {
			v[j] = float32((j*7+i)%11)/16 - 0.3
		}
		r.in = append(r.in, in)
		if i > 0 {
			body.Const[i] = in
		}
	}
	for _, v := range body.Out {
		r.out = append(r.out, tensor.New(tensor.F32, body.Type(v).Ints()...))
	}
	o := kernel.Best()
	if r.k = kernel.Prepare(body, &o); r.k == nil {
		b.Fatalf("no kernel takes %s", text)
	}
	return r
}

// run takes the seconds of one run.
func (r *regionBench) run(b *testing.B) float64 {
	begin := time.Now()
	if err := r.k.Do(&r.x, 0, 1, r.out, r.in); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin).Seconds()
}
