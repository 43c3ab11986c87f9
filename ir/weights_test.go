package ir_test

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

const madeText = `func @main(%x: f32[2]) -> f32[2] {
  %w.t = param : f32[2]
  %b = param : f32[2]
  %y = mul %x, %w.t : f32[2]
  %0 = add %y, %b : f32[2]
  return %0
} weights {
  %w = param {key=net.w} : f32[2]
  %b = param : f32[2]
  %0 = neg %w : f32[2]
  %w.t = mul %0, %b : f32[2]
  yield %w.t
}
`

// TestMadeWeights: weights that are made of others are printed and read back, copied,
// and made by the interpreter, which is asked for the others only.
func TestMadeWeights(t *testing.T) {
	f := parseOne(t, madeText)
	if got := f.String(); got != madeText {
		t.Errorf("printed\n%s", got)
	}
	if err := ir.Verify(f); err != nil {
		t.Fatal(err)
	}
	g, copies := f.Clone()
	if g.String() != madeText || copies[f.Weights.Results[0]] != g.Weights.Results[0] {
		t.Error("the copy is another function")
	}
	var sources []string
	for _, v := range f.SourceWeights() {
		sources = append(sources, v.Key())
	}
	if len(sources) != 2 || sources[0] != "b" || sources[1] != "net.w" {
		t.Error(sources)
	}
	in := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) {
		if v.Key() == "w.t" {
			t.Error("a weight that is made is asked for")
		}
		return map[string]*tensor.T{"b": floats(10, 100), "net.w": floats(3, 5)}[v.Key()], nil
	}}
	out, err := in.Run(f, floats(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	wantFloats(t, out[0], 10-30, 100-1000)
	in.Param = nil
	if _, err := in.Run(f, floats(1, 2)); err == nil {
		t.Error("weights are made of nothing")
	}
}
