package ir_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// groups are the operator groups whose rows these tests are responsible for.
var groups = map[string]bool{
	"unary": true, "activation": true, "binary": true, "choose, convert": true, "product": true,
	"reduction": true, "normalisation": true, "attention": true,
}

// TestRowsSampled draws calls of every row and checks what holds for all of
// them: the call is legal, it evaluates, the results have the inferred types,
// and the arguments are left alone.
func TestRowsSampled(t *testing.T) {
	for _, op := range ir.Ops() {
		if !groups[op.Group] {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(op.Name))))
			for range 200 {
				c := op.Sample(r)
				c.Op = op
				checkSample(t, r, &c)
			}
		})
	}
}

func checkSample(t *testing.T, r *rand.Rand, c *ir.Call) {
	t.Helper()
	if err := ir.InferCall(c); err != nil {
		t.Fatalf("InferCall of %v %v: %v", c.In, c.Attrs, err)
	}
	in := randomInputs(r, c)
	before := make([][]byte, len(in))
	for i, x := range in {
		if x != nil {
			before[i] = bytes.Clone(x.Data)
		}
	}
	out, err := c.Op.Eval(c, in...)
	if err != nil {
		t.Fatalf("Eval of %v %v: %v", c.In, c.Attrs, err)
	}
	if len(out) != len(c.Out) {
		t.Fatalf("%d results, inferred %d", len(out), len(c.Out))
	}
	for i, y := range out {
		if got := ir.TypeOf(y); !got.Equal(c.Out[i]) || len(y.Data) != y.Len()*y.DType.Size() {
			t.Fatalf("result %d of %v %v has type %v, inferred %v", i, c.In, c.Attrs, got, c.Out[i])
		}
	}
	for i, x := range in {
		if x != nil && !bytes.Equal(before[i], x.Data) {
			t.Fatalf("argument %d of %v was written to", i, c.In)
		}
	}
}

// randomInputs makes arguments: what the sample knows, else small numbers.
func randomInputs(r *rand.Rand, c *ir.Call) []*tensor.T {
	in := make([]*tensor.T, len(c.In))
	for i, typ := range c.In {
		if i < len(c.Known) && c.Known[i] != nil {
			in[i] = c.Known[i]
			continue
		}
		if typ.Absent() {
			continue
		}
		x := tensor.New(typ.DType, typ.Ints()...)
		for j := range x.Len() {
			if typ.DType.IsFloat() {
				x.SetFloat(j, r.NormFloat64())
			} else {
				x.SetInt(j, r.Int64N(9)-2)
			}
		}
		in[i] = x
	}
	return in
}

// TestNumbersHostile is TestHostileAttributes for these groups: spoiled calls
// are refused, or keep to the types that inference gave them.
func TestNumbersHostile(t *testing.T) {
	for _, op := range ir.Ops() {
		if !groups[op.Group] {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, 9))
			for range 1000 {
				c := op.Sample(r)
				c.Op = op
				spoil(r, &c)
				if err := ir.InferCall(&c); err == nil {
					evalSpoiled(t, r, &c)
				} else if _, ok := err.(*ir.Error); !ok {
					t.Fatalf("%v %v: %T", c.In, c.Attrs, err)
				}
			}
		})
	}
}
