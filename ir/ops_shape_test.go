package ir_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// groupsB are the groups of operators that this file's tests and those of the
// fixtures walk.
var groupsB = []string{"convolution", "shape", "index", "make"}

// rowsOf lists the operators of some groups.
func rowsOf(groups []string) []*ir.Op {
	var ops []*ir.Op
	for _, op := range ir.Ops() {
		if slices.Contains(groups, op.Group) {
			ops = append(ops, op)
		}
	}
	return ops
}

// TestMovesSampled is TestRowsSampled for these groups.
func TestMovesSampled(t *testing.T) {
	for _, op := range rowsOf(groupsB) {
		t.Run(op.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				c := op.Sample(r)
				c.Op = op
				checkSample(t, r, &c)
			}
		})
	}
}

// TestAliases finds an operator under each of its names.
func TestAliases(t *testing.T) {
	for alias, name := range map[string]string{"permute": "transpose", "broadcast_to": "expand"} {
		if op := ir.Lookup(alias); op == nil || op.Name != name {
			t.Errorf("Lookup(%q) = %v, want %s", alias, op, name)
		}
	}
}

// TestMovesKeepToBudget: a long evaluation ends when it is told to, scratch
// memory is asked for, and all of it is given back.
func TestMovesKeepToBudget(t *testing.T) {
	x := tensor.New(tensor.F32, 1, 4, 200, 200)
	w := tensor.New(tensor.F32, 4, 4, 3, 3)
	i := tensor.New(tensor.I64, 1, 4, 200, 200)
	kernel := ir.IntsLit(2)
	for _, test := range []struct {
		op    *ir.Op
		attrs map[string]ir.Lit
		in    []*tensor.T
		stops bool
	}{
		{ir.Conv, nil, []*tensor.T{x, w}, true},
		{ir.MaxPool, map[string]ir.Lit{"kernel": kernel}, []*tensor.T{x}, true},
		{ir.Sort, nil, []*tensor.T{x}, true},
		{ir.TakeAlong, map[string]ir.Lit{"axis": ir.IntLit(2)}, []*tensor.T{x, i}, false},
		{ir.Scatter, map[string]ir.Lit{"axis": ir.IntLit(2)}, []*tensor.T{x, i, x}, false},
		{ir.Gather, nil, []*tensor.T{x.Reshape(160000), i}, false},
		{ir.Embedding, nil, []*tensor.T{x.Reshape(160000, 1), i}, false},
		{ir.GatherND, nil, []*tensor.T{x.Reshape(160000), i.Reshape(160000, 1)}, false},
		{ir.OneHot, map[string]ir.Lit{"n": ir.DimLit(ir.N(2))}, []*tensor.T{i}, false},
		{ir.Softmax, map[string]ir.Lit{"axis": ir.IntLit(2)}, []*tensor.T{x}, false},
		{ir.CumSum, map[string]ir.Lit{"axis": ir.IntLit(0)}, []*tensor.T{x.Reshape(160000)}, false},
		{ir.LayerNorm, nil, []*tensor.T{x.Reshape(160000)}, false},
		{ir.InstanceNorm, nil, []*tensor.T{x}, false},
	} {
		c := &ir.Call{Op: test.op, Attrs: test.op.Defaults()}
		for k, a := range test.op.Attrs {
			if l, ok := test.attrs[a.Name]; ok {
				c.Attrs[k] = l
			}
		}
		for _, y := range test.in {
			c.In = append(c.In, ir.TypeOf(y))
		}
		if err := ir.InferCall(c); err != nil {
			t.Fatalf("%s: %v", test.op.Name, err)
		}
		const enough = 1 << 24
		c.Budget = &ir.Budget{Bytes: enough}
		if _, err := test.op.Eval(c, test.in...); err != nil {
			t.Errorf("%s: %v", test.op.Name, err)
		}
		if err := c.Budget.Take(enough); err != nil {
			t.Errorf("%s does not give back what it took: %v", test.op.Name, err)
		}
		if _, err := test.op.Eval(c, test.in...); err == nil {
			t.Errorf("%s takes nothing of a budget that is used up", test.op.Name)
		}
		stop := errors.New("stop")
		c.Budget = &ir.Budget{Stop: func() error { return stop }}
		if _, err := test.op.Eval(c, test.in...); test.stops && err != stop {
			t.Errorf("%s does not stop: %v", test.op.Name, err)
		}
	}
}
