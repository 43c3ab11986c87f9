package passes

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// normal makes a tensor of a normal distribution.
func normal(r *rand.Rand, d tensor.DType, mean, spread float64, shape ...int) *tensor.T {
	t := tensor.New(d, shape...)
	for i := range t.Len() {
		t.SetFloat(i, mean+spread*r.NormFloat64())
	}
	return t
}

// A batch norm in the filters stays within the tolerance that the rule states,
// in every float dtype, for filters of many sizes, channels on either side of 0
// and variances of any magnitude.
func TestConvBatchNorm(t *testing.T) {
	fired := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		d := []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}[seed%4]
		f, x := normed(t, r, d)
		want, err := (&ir.Interp{}).Run(f, x)
		if err != nil {
			t.Fatal(err)
		}
		before := f.String()
		report, err := Run(f, Options{Verify: true, Passes: []string{"merge-products"}})
		if err != nil {
			t.Fatal(err)
		}
		fired += len(report.Rewrites)
		got, err := (&ir.Interp{}).Run(f, x)
		if err != nil {
			t.Fatal(err)
		}
		if d := rewrite.Differ(got[0], want[0], report.Within()); d != nil {
			t.Errorf("seed %d: %v\n%s", seed, d, before)
		}
	}
	if fired < 200 {
		t.Errorf("the rule fired %d times of 400", fired)
	}
}

// normed makes a convolution with a batch norm behind it, and an input.
func normed(t *testing.T, r *rand.Rand, d tensor.DType) (*ir.Func, *tensor.T) {
	t.Helper()
	channels, filters, kernel := 1+r.IntN(16), 1+r.IntN(4), 1+r.IntN(3)
	x := normal(r, d, r.NormFloat64(), 1, 1, channels, 8)
	f := &ir.Func{Name: "normed"}
	add := func(op *ir.Op, args []*ir.Value, attrs ...ir.Lit) *ir.Value {
		out, err := f.Add(op, args, attrs)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	known := func(c *tensor.T) *ir.Value { return add(ir.Const, nil, ir.TensorLit(c)) }
	args := []*ir.Value{f.NewInput("x", ir.TypeOf(x)), known(normal(r, d, 0, 0.3, filters, channels, kernel))}
	if r.IntN(2) == 0 {
		args = append(args, known(normal(r, d, 0, 1, filters)))
	}
	conv := add(ir.Conv, args, ir.Conv.Defaults()...)
	variance := normal(r, d, 0, 1, filters)
	for i := range variance.Len() {
		variance.SetFloat(i, variance.FloatAt(i)*variance.FloatAt(i)+0.01)
	}
	norm := add(ir.BatchNorm, []*ir.Value{
		conv, known(normal(r, d, 1, 0.3, filters)), known(normal(r, d, 0, 1, filters)), known(normal(r, d, 0, 1, filters)), known(variance),
	}, ir.BatchNorm.Defaults()...)
	f.Results = []*ir.Value{norm}
	return f, x
}
