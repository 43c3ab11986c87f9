package ir_test

import (
	"errors"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// TestCostSaturates: two sequences that fit a tensor each have scores that no
// count of flops holds.
func TestCostSaturates(t *testing.T) {
	long := ir.T(tensor.F16, ir.N(1), ir.N(1<<38), ir.N(1))
	c := ir.Call{Op: ir.Attention, In: []ir.Type{long, long, long}, Attrs: ir.Attention.Defaults()}
	if err := ir.InferCall(&c); err != nil {
		t.Fatal(err)
	}
	if cost := c.Cost(); cost.Flops != ir.MaxDim || cost.In != 3<<39 || cost.Out != 1<<39 {
		t.Errorf("%+v", cost)
	}
}

// TestScratch: what an evaluation holds beside its results counts against the
// budget, and is given back.
func TestScratch(t *testing.T) {
	x := tensor.New(tensor.F32, 1, 64)
	q := tensor.New(tensor.F32, 1, 2, 64)
	for name, in := range map[string][]*tensor.T{"sort": {x}, "attention": {q, q, q}} {
		op := ir.Lookup(name)
		c := ir.Call{Op: op, Attrs: op.Defaults()}
		for _, v := range in {
			c.In = append(c.In, ir.TypeOf(v))
		}
		if err := ir.InferCall(&c); err != nil {
			t.Fatal(err)
		}
		var e *ir.Error
		c.Budget = &ir.Budget{Bytes: 100}
		if _, err := ir.Evaluate(&c, in...); !errors.As(err, &e) || e.Code != "limit" {
			t.Errorf("%s within 100 bytes: %v", name, err)
		}
		c.Budget = &ir.Budget{Bytes: 1 << 15}
		for range 8 {
			if _, err := ir.Evaluate(&c, in...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
