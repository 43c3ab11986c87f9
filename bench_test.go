package npu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// graphs are shapes of large graphs: what compiling and running them costs
// must grow with their size and no faster.
var graphs = []struct {
	name string
	make func(n int) string
}{
	// y1 = relu(x), y2 = y1 + 1, ...: each operator waits for the last.
	{"chain", func(n int) string {
		var b strings.Builder
		b.WriteString("graph main(x: f32[64]) -> f32[64] {\n    y = x\n")
		for i := range n {
			b.WriteString([]string{"    y = relu(y)\n", "    y = y + 1.0\n", "    y = tanh(y)\n"}[i%3])
		}
		b.WriteString("    return y\n}\n")
		return b.String()
	}},
	// Operators that read the input only, each a result of its own.
	{"independent", func(n int) string {
		var types, names, body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "    y%d = x * %d.0\n", i, i)
			if i > 0 {
				types.WriteString(", ")
				names.WriteString(", ")
			}
			fmt.Fprintf(&types, "r%d: f32[8]", i)
			fmt.Fprintf(&names, "y%d", i)
		}
		return fmt.Sprintf("graph main(x: f32[8]) -> (%s) {\n%s    return %s\n}\n", types.String(), body.String(), names.String())
	}},
}

var sizes = []int{10_000, 30_000, 100_000}

// BenchmarkCompile measures everything from the script to the optimised graph.
func BenchmarkCompile(b *testing.B) {
	eachGraph(b, func(b *testing.B, script string, n int) {
		for b.Loop() {
			p, err := npu.Compile(npu.Script("bench.npu", script), npu.Options{})
			if err != nil {
				b.Fatal(err)
			}
			p.Close()
		}
		perOperator(b, n)
	})
}

// BenchmarkPlan measures the first run: lowering, bytecode, verification, run.
func BenchmarkPlan(b *testing.B) {
	eachGraph(b, func(b *testing.B, script string, n int) {
		for b.Loop() {
			b.StopTimer()
			p, err := npu.Compile(npu.Script("bench.npu", script), npu.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			once(b, p)
			b.StopTimer()
			p.Close()
			b.StartTimer()
		}
		perOperator(b, n)
	})
}

// BenchmarkRun measures a run of a program that has its plan.
func BenchmarkRun(b *testing.B) {
	eachGraph(b, func(b *testing.B, script string, n int) {
		p, err := npu.Compile(npu.Script("bench.npu", script), npu.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		once(b, p)
		for b.Loop() {
			once(b, p)
		}
		perOperator(b, n)
	})
}

func eachGraph(b *testing.B, run func(b *testing.B, script string, n int)) {
	for _, g := range graphs {
		for _, n := range sizes {
			script := g.make(n)
			b.Run(fmt.Sprintf("%s/%d", g.name, n), func(b *testing.B) { run(b, script, n) })
		}
	}
}

// perOperator reports the time that one operator of the graph takes: the
// figure that stays the same where growth is linear.
func perOperator(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operator")
}

func once(b *testing.B, p *npu.Program) {
	b.Helper()
	t := p.Inputs()[0].Type.Ints()
	x := npu.RandomTensor(npu.F32, t, 1, "x")
	if _, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": x}); err != nil {
		b.Fatal(err)
	}
}

// small is a graph of n operators on little data: what is measured is what
// stands around them.
func small(n int) string {
	var b strings.Builder
	b.WriteString("graph main(x: f32[B, 8]) -> f32[B, 8] {\n    y = x\n")
	for i := range n {
		b.WriteString([]string{"    y = relu(y)\n", "    y = y @ ones(f32[8, 8])\n", "    y = softmax(y)\n"}[i%3])
	}
	b.WriteString("    return y\n}\n")
	return b.String()
}

// BenchmarkSmallRun measures what a run costs beside its operators.
func BenchmarkSmallRun(b *testing.B) {
	for _, n := range []int{3, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, err := npu.Compile(npu.Script("small.npu", small(n)), npu.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			in := map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{2, 8}, 1, "x")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSmallPlan measures a run at a size that is new each time.
func BenchmarkSmallPlan(b *testing.B) {
	p, err := npu.Compile(npu.Script("small.npu", small(50)), npu.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		in := map[string]*npu.Tensor{"x": npu.FromSlice([]int{n%64 + 1, 8}, make([]float32, 8*(n%64+1)))}
		if _, err := p.Run(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
