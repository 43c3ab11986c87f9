package lower

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// TestElementSize: a product counts by its operands, not by what it adds up in; other
// operators count by their results.
func TestElementSize(t *testing.T) {
	of := func(op *ir.Op, out tensor.DType, in ...tensor.DType) *Task {
		c := &ir.Call{Op: op, Out: []ir.Type{ir.T(out, ir.Dims(2, 2)...)}}
		for _, d := range in {
			c.In = append(c.In, ir.T(d, ir.Dims(2, 2)...))
		}
		return &Task{Call: c}
	}
	for _, c := range []struct {
		task *Task
		want int
	}{
		{of(ir.MatMul, tensor.I32, tensor.U8, tensor.I8), 1},
		{of(ir.Linear, tensor.F32, tensor.BF16, tensor.BF16), 2},
		{of(ir.Linear, tensor.F32, tensor.F32, tensor.F32, tensor.F32), 4},
		{of(ir.BiasAdd, tensor.F32, tensor.F32, tensor.F32), 4},
		{&Task{}, 4},
	} {
		if got := c.task.elementSize(); got != c.want {
			t.Errorf("%v: %d bytes, not %d", c.task.Call, got, c.want)
		}
	}
}
