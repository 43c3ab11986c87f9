package kernel_test

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// TestProductEstimates: what a product is estimated to take depends on the format in
// which it is computed. With AVX2 bytes take half of the time of floats, a quarter where it
// comes with products of bytes, halves as long; in portable code bytes take longer.
func TestProductEstimates(t *testing.T) {
	bytes := 2.0 // as many as floats in the same time
	if isa.HasVNNI(isa.AVX2) {
		bytes = 4
	}
	for _, c := range []struct {
		level     isa.Level
		operands  tensor.DType
		low, high float64 // of the time of floats
	}{
		{isa.AVX2, tensor.I8, 0.8 / bytes, 1.4 / bytes},
		{isa.AVX2, tensor.BF16, 0.9, 1.2},
		{isa.AVX2, tensor.F16, 0.9, 1.1},
		{isa.Portable, tensor.I8, 1.2, 2},
	} {
		if !isa.Has(c.level) {
			continue
		}
		ratio := float64(productWork(t, c.level, c.operands)) / float64(productWork(t, c.level, tensor.F32))
		if ratio < c.low || ratio > c.high {
			t.Errorf("%v at %v: %.2f of the time of floats, not within %v and %v", c.operands, c.level, ratio, c.low, c.high)
		}
	}
}

// productWork is the estimate of a product of 256 rows with a constant matrix.
func productWork(t *testing.T, level isa.Level, d tensor.DType) int64 {
	sums := map[tensor.DType]tensor.DType{tensor.I8: tensor.I32}[d]
	if sums == tensor.Invalid {
		sums = tensor.F32
	}
	c := &ir.Call{Op: ir.MatMul, Attrs: ir.MatMul.Defaults(), In: []ir.Type{ir.T(d, ir.Dims(256, 512)...), ir.T(d, ir.Dims(512, 384)...)}}
	if d != tensor.F32 {
		c.Attrs[0] = ir.DTypeLit(sums)
	}
	if err := ir.InferCall(c); err != nil {
		t.Fatal(err)
	}
	p := kernel.Prepare(kernel.Single(c, []*tensor.T{nil, tensor.New(d, 512, 384)}, kernel.Absent), &kernel.Options{Kind: kernel.Fast, Level: level})
	if p.Kind == kernel.Reference {
		t.Fatalf("%v at %v runs by %s: %s", d, level, p.Name, p.Why)
	}
	return p.Work
}
