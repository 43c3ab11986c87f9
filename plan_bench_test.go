package npu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// fiftyTasks is a script whose graph has 50 tasks when nothing is fused: ten
// blocks of a product, its bias, an activation, a skip and a norm.
func fiftyTasks() string {
	var params, body strings.Builder
	for i := range 10 {
		fmt.Fprintf(&params, "param w%d: f32[16, 16]\nparam b%[1]d: f32[16]\nparam g%[1]d: f32[16]\n", i)
		fmt.Fprintf(&body, "    h = softmax(relu(h @ w%d + b%[1]d) * g%[1]d, axis=-1)\n", i)
	}
	return params.String() + "graph main(x: f32[B, 16]) -> f32[B, 16] {\n    h = x\n" + body.String() + "    return h\n}\n"
}

// fiftyProgram is that graph, compiled with weights that are made up.
func fiftyProgram(tb testing.TB, opts Options) *Program {
	opts.RandomWeights = true
	p, err := Compile(Script("fifty.npu", fiftyTasks()), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Close() })
	return p
}

// BenchmarkPlanBinding measures what a new binding of a symbol costs a graph of 50 tasks,
// by step and all in.
func BenchmarkPlanBinding(b *testing.B) {
	for _, opts := range []Options{{Fusion: FuseNone}, {Fusion: FuseNone, Streams: 1}, {}} {
		p := fiftyProgram(b, opts)
		name := fmt.Sprintf("fusion=%s/streams=%d/", opts.Fusion, opts.Streams)
		types := []ir.Type{ir.T(F32, ir.N(8), ir.N(16))}
		env, err := ir.BindSymbols(p.fn, types)
		if err != nil {
			b.Fatal(err)
		}
		plan, err := lower.Lower(p.fn, env, opts.lowering())
		if err != nil {
			b.Fatal(err)
		}
		code, calls, err := codegen.Emit(plan)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"bind", func(b *testing.B) {
			for b.Loop() {
				ir.BindSymbols(p.fn, types)
			}
		})
		b.Run(name+"lower", func(b *testing.B) {
			for b.Loop() {
				opts.lowerWithin(p.fn, env, nil, &p.known)
			}
		})
		b.Run(name+"emit", func(b *testing.B) {
			for b.Loop() {
				codegen.Emit(plan)
			}
		})
		b.Run(name+"verify", func(b *testing.B) {
			for b.Loop() {
				bytecode.Verify(code)
			}
		})
		b.Run(name+"load", func(b *testing.B) {
			for b.Loop() {
				vm.Load(code, p.weight, vm.Options{Memory: &p.plans.memory, Workers: p.plans.helpers(0), Calls: calls, Kernels: p.kernels()})
			}
		})
		b.Run(name+"all", func(b *testing.B) {
			for b.Loop() {
				m, err := p.plan(env)
				if err != nil {
					b.Fatal(err)
				}
				m.Close()
			}
			b.ReportMetric(float64(len(plan.Tasks)), "tasks")
		})
	}
}
