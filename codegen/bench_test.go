package codegen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
)

// branches makes a function of about n values: products and what is done to them,
// side by side in four branches that meet in the end, so that there are streams,
// events, and memory to use again.
func branches(b *testing.B, n int) *ir.Func {
	f := &ir.Func{Name: "branches", ResultNames: []string{"y"}}
	x := f.NewInput("x", ir.T(tensor.F32, ir.N(16), ir.N(16)))
	add := func(op *ir.Op, args ...*ir.Value) *ir.Value {
		r, err := f.Add(op, args, nil)
		if err != nil {
			b.Fatal(err)
		}
		return r[0]
	}
	ends := [4]*ir.Value{x, x, x, x}
	for i := range n - len(ends) {
		if end := &ends[i%len(ends)]; i%3 == 0 {
			*end = add(ir.MatMul, *end, x)
		} else {
			*end = add(ir.Lookup("relu"), *end)
		}
	}
	sum := ends[0]
	for _, e := range ends[1:] {
		sum = add(ir.Lookup("add"), sum, e)
	}
	f.Results = []*ir.Value{sum}
	return f
}

// BenchmarkStages measures what a program costs from its plan on.
func BenchmarkStages(b *testing.B) {
	for _, n := range []int{50, 10_000, 100_000} {
		plan, err := lower.Lower(branches(b, n), nil, lower.Options{Streams: 4, Strategy: lower.Throughput})
		if err != nil {
			b.Fatal(err)
		}
		p, _, err := codegen.Emit(plan)
		if err != nil {
			b.Fatal(err)
		}
		data := bytecode.Encode(p)
		var text strings.Builder
		if err := bytecode.Disassemble(&text, p); err != nil {
			b.Fatal(err)
		}
		for _, stage := range []struct {
			name string
			run  func() error
		}{
			{"emit", func() error { _, _, err := codegen.Emit(plan); return err }},
			{"verify", func() error { return bytecode.Verify(p) }},
			{"encode", func() error { bytecode.Encode(p); return nil }},
			{"decode", func() error { _, err := bytecode.Decode(data); return err }},
			{"disassemble", func() error { var b strings.Builder; return bytecode.Disassemble(&b, p) }},
			{"assemble", func() error { _, err := bytecode.Assemble(diag.NewSource("listing", text.String())); return err.Err() }},
		} {
			b.Run(fmt.Sprintf("%s/%d", stage.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := stage.run(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
			})
		}
	}
}
