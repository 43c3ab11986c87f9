package npu

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// encoderLayer is one layer of BERT in plain operators, as exporters write them:
// the norms, the activation and attention are taken apart. It has about 50 values
// of its own, weights and constants among them.
const encoderLayer = `    q = transpose(reshape(bias_add(h @ wq%d, bq%[1]d), [B, S, 4, 16]), [0, 2, 1, 3])
    k = transpose(reshape(bias_add(h @ wk%[1]d, bk%[1]d), [B, S, 4, 16]), [0, 2, 3, 1])
    v = transpose(reshape(bias_add(h @ wv%[1]d, bv%[1]d), [B, S, 4, 16]), [0, 2, 1, 3])
    s = softmax((q @ k) / 4.0 + mask, axis=-1)
    a = reshape(transpose(s @ v, [0, 2, 1, 3]), [B, S, 64])
    h = h + (a @ wo%[1]d + bo%[1]d)
    d = h - mean(h, axis=-1, keepdims=true)
    h = d / sqrt(mean(d ** 2.0, axis=-1, keepdims=true) + 1e-5) * g%[1]d + e%[1]d
    u = h @ w1%[1]d + b1%[1]d
    u = u * 0.5 * (1.0 + erf(u / 1.4142135623730951))
    h = h + (u @ w2%[1]d + b2%[1]d)
    d = h - mean(h, axis=-1, keepdims=true)
    h = d / sqrt(mean(d ** 2.0, axis=-1, keepdims=true) + 1e-5) * gg%[1]d + ee%[1]d
`

// encoder is a stack of so many layers.
func encoder(layers int) string {
	var params, body strings.Builder
	for i := range layers {
		for _, w := range []string{"wq", "wk", "wv", "wo"} {
			fmt.Fprintf(&params, "param %s%d: f32[64, 64]\n", w, i)
		}
		for _, b := range []string{"bq", "bk", "bv", "bo", "g", "e", "gg", "ee", "b2"} {
			fmt.Fprintf(&params, "param %s%d: f32[64]\n", b, i)
		}
		fmt.Fprintf(&params, "param w1%d: f32[64, 256]\nparam b1%[1]d: f32[256]\nparam w2%[1]d: f32[256, 64]\n", i)
		fmt.Fprintf(&body, encoderLayer, i)
	}
	return fmt.Sprintf("%s\ngraph main(x: f32[B, S, 64], mask: f32[B, 1, 1, S]) -> f32[B, S, 64] {\n    h = x\n%s    return h\n}\n", params.String(), body.String())
}

// largeGraphs are graphs of about n values; what each costs must grow with its
// size and no faster.
var largeGraphs = []struct {
	name  string
	sizes []int
	make  func(tb testing.TB, n int) *ir.Func
}{
	{"encoder", []int{3_000, 10_000, 30_000, 100_000}, encoderFunc},
	{"chain", []int{10_000, 30_000, 100_000}, chainFunc},
	{"wide", []int{10_000, 30_000, 100_000}, wideFunc},
}

func encoderFunc(tb testing.TB, n int) *ir.Func { return scriptFunc(tb, encoder(n/valuesOfLayer)) }

// valuesOfLayer is how many values a layer of the encoder makes.
const valuesOfLayer = 73

func scriptFunc(tb testing.TB, script string) *ir.Func {
	c, err := load(Script("bench.npu", script), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return c.graphs[0].Func
}

// chainFunc makes operators in a row, of kinds that fuse and kinds that do not.
func chainFunc(tb testing.TB, n int) *ir.Func {
	f := ir.NewFrame("chain")
	x := f.Input("x", ir.T(tensor.F32, ir.Sym("B"), ir.N(64)))
	for i := range n {
		var args []*ir.Value
		op := []*ir.Op{ir.Exp, ir.Neg, ir.Softmax, ir.Add, ir.Abs, ir.Tanh}[i%6]
		if args = []*ir.Value{x}; op == ir.Add {
			args = append(args, x)
		}
		out, err := f.Add(op, args, nil)
		if err != nil {
			tb.Fatal(err)
		}
		x = out[0]
	}
	f.Return(x)
	return f.Func
}

// wideFunc makes operators that read one input, two by two the same, all of them
// results.
func wideFunc(tb testing.TB, n int) *ir.Func {
	f := ir.NewFrame("wide")
	x := f.Input("x", ir.T(tensor.F32, ir.Sym("B"), ir.N(64)))
	for i := range n / 2 {
		c, err := f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(tensor.Scalar(float32(i/2) + 0.5))})
		if err != nil {
			tb.Fatal(err)
		}
		out, err := f.Add(ir.Mul, []*ir.Value{x, c[0]}, nil)
		if err != nil {
			tb.Fatal(err)
		}
		f.Return(out[0])
	}
	return f.Func
}

// optimiseOnce runs all passes over a copy of f, which is not part of the time.
func optimiseOnce(tb testing.TB, f *ir.Func) (*optimised, time.Duration) {
	f, _ = f.Clone()
	start := time.Now()
	o, err := (&compilation{}).optimiseInPlace(f, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return o, time.Since(start)
}

// TestCompileTime keeps compiling from the IR on fast and linear. On one core of a
// machine that does nothing else a graph of 3,000 values takes less than 0.3 s and
// one of 100,000 less than 10 s; the bounds here leave room for a busy one.
func TestCompileTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := encoderFunc(t, 3_000)
	if n := len(f.Body); n < 2_700 || n > 3_300 {
		t.Errorf("the encoder has %d values", n)
	}
	o, took := optimiseOnce(t, f)
	if took > 3*time.Second {
		t.Errorf("an encoder of 3,000 values: %v\n%s", took, o.record.Stats())
	}
	for _, g := range largeGraphs {
		o, took := optimiseOnce(t, g.make(t, 100_000))
		if took > time.Minute {
			t.Errorf("%s of 100,000 values: %v\n%s", g.name, took, o.record.Stats())
		}
	}
}

// BenchmarkOptimise measures everything from the IR to the fused graph.
func BenchmarkOptimise(b *testing.B) {
	for _, g := range largeGraphs {
		for _, n := range g.sizes {
			b.Run(fmt.Sprintf("%s/%d", g.name, n), func(b *testing.B) {
				f := g.make(b, n)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					g, _ := f.Clone()
					b.StartTimer()
					if _, err := (&compilation{}).optimiseInPlace(g, nil); err != nil {
						b.Fatal(err)
					}
				}
				perOperation(b, len(f.Body))
			})
		}
	}
}

// BenchmarkFrontEnd measures what comes before: from the script to the IR.
func BenchmarkFrontEnd(b *testing.B) {
	for _, n := range largeGraphs[0].sizes {
		script := encoder(n / valuesOfLayer)
		b.Run(fmt.Sprintf("encoder/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			values := 0
			for b.Loop() {
				values = len(scriptFunc(b, script).Body)
			}
			perOperation(b, values)
		})
	}
}

func perOperation(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
}
