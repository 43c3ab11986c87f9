package vm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// chainOf makes n operators, each reading the one before. Vector and DMA units
// take turns if mixed, so that each task waits for the other stream.
func chainOf(n int, mixed bool) *ir.Func {
	f := &ir.Func{Name: "chain", ResultNames: []string{"y"}}
	v := f.NewInput("x", ir.T(tensor.F32))
	ops := []*ir.Op{ir.Lookup("neg"), ir.Lookup("neg")}
	if mixed {
		ops[1] = ir.Lookup("transpose")
		v.Type = ir.T(tensor.F32, ir.N(1))
	}
	for i := range n {
		r, err := f.Add(ops[i%2], []*ir.Value{v}, nil)
		if err != nil {
			panic(err)
		}
		v = r[0]
	}
	f.Results = []*ir.Value{v}
	return f
}

// independent makes n operators that read the input, each a result.
func independent(n int) *ir.Func {
	f := &ir.Func{Name: "independent"}
	x := f.NewInput("x", ir.T(tensor.F32, ir.N(4)))
	for i := range n {
		r, err := f.Add(ir.Lookup("neg"), []*ir.Value{x}, nil)
		if err != nil {
			panic(err)
		}
		f.Results = append(f.Results, r[0])
		f.ResultNames = append(f.ResultNames, fmt.Sprintf("y%d", i))
	}
	return f
}

// gathered makes n operators whose results all live until the end, when they
// are joined: the arena holds n buffers at once.
func gathered(n int) *ir.Func {
	f := independent(n)
	r, err := f.Add(ir.Lookup("concat"), f.Results, nil)
	if err != nil {
		panic(err)
	}
	f.Results, f.ResultNames = r, []string{"y"}
	return f
}

var shapes = []struct {
	name string
	make func(n int) *ir.Func
}{
	{"chain", func(n int) *ir.Func { return chainOf(n, false) }},
	{"independent", independent},
	{"gathered", gathered},
}

// BenchmarkCompile shows that the time grows with the number of values, not
// with its square: lower, emit, verify, encode, decode and load.
func BenchmarkCompile(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{10_000, 30_000, 100_000} {
			f := s.make(n)
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				for b.Loop() {
					plan, err := lower.Lower(f, nil, lower.Options{})
					if err != nil {
						b.Fatal(err)
					}
					p, _, err := codegen.Emit(plan)
					if err != nil {
						b.Fatal(err)
					}
					q, err := bytecode.Decode(bytecode.Encode(p))
					if err != nil {
						b.Fatal(err)
					}
					m, err := vm.Load(q, nil, vm.Options{})
					if err != nil {
						b.Fatal(err)
					}
					m.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
			})
		}
	}
}

// BenchmarkRun measures a task's cost in the machine, its small kernel
// included.
func BenchmarkRun(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{10_000, 100_000} {
			f := s.make(n)
			m := load(b, f, program(b, f, nil, lower.Options{}), vm.Options{Memory: &vm.Memory{Runs: 1}})
			in := inputsOf(b, f, nil, 1)
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Run(context.Background(), in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
			})
		}
	}
}
