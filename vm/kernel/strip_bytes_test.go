package kernel_test

import (
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestBytePairs has all pairs of bytes in every operator that strips compute on them, by
// each level, with the bits of the reference.
func TestBytePairs(t *testing.T) {
	const unary = "abs neg sign square relu relu6 ceil floor round trunc bit_not"
	const binary = "add sub mul maximum minimum prelu bit_and bit_or bit_xor equal not_equal less less_equal greater greater_equal"
	for _, d := range []tensor.DType{tensor.I8, tensor.U8} {
		across, down := allBytes(d, 1, 256), allBytes(d, 256, 1)
		for _, op := range strings.Fields(unary) {
			opHolds(t, "strip usual", op, nil, across)
		}
		for _, to := range []tensor.DType{tensor.I8, tensor.U8, tensor.I32, tensor.F32, tensor.Bool} {
			opHolds(t, "strip usual", "cast", []ir.Lit{ir.DTypeLit(to)}, across)
		}
		for _, op := range strings.Fields(binary) {
			opHolds(t, "strip usual", op, nil, down, across)
		}
		opHolds(t, "strip usual", "clip", nil, allBytes(d, 256, 1, 1), allBytes(d, 256, 1), across)
	}
	wide := tensor.New(tensor.I32, 1<<12)
	for i := range wide.Len() {
		wide.SetInt(i, int64(int32(uint32(i)*0x9e3779b1)))
	}
	opHolds(t, "strip usual", "cast", []ir.Lit{ir.DTypeLit(tensor.I8)}, wide)
	opHolds(t, "strip usual", "cast", []ir.Lit{ir.DTypeLit(tensor.U8)}, wide)
}

// allBytes are the numbers of a type of one byte.
func allBytes(d tensor.DType, shape ...int) *tensor.T {
	x := tensor.New(d, shape...)
	for i := range x.Data {
		x.Data[i] = byte(i)
	}
	return x
}

// opHolds compares an operator by the candidate of a row, by each level, with the reference.
func opHolds(t *testing.T, candidate, op string, attrs []ir.Lit, in ...*tensor.T) {
	t.Helper()
	call := &ir.Call{Op: ir.Lookup(op), Attrs: attrs}
	for _, x := range in {
		call.In = append(call.In, ir.TypeOf(x))
	}
	if err := ir.InferCall(call); err != nil {
		t.Fatal(err)
	}
	want, err := ir.Evaluate(call, in...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range choices()[1:] {
		o.Choose = func(*kernel.Body) string { return candidate }
		k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &o)
		if k.Candidate() != candidate {
			t.Fatalf("%s takes %s of %v: %s", k.Name, op, call.In, k.Why)
		}
		var x kernel.Exec
		out := garbage(call)
		if err := k.Do(&x, 0, 1, out, in); err != nil {
			t.Fatal(err)
		}
		if !bitEqual(out[0], want[0]) {
			t.Errorf("%s: %s of %v: %v", k.Name, op, call.In, tensor.Compare(out[0], want[0], 0))
		}
	}
}
