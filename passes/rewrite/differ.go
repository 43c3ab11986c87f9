package rewrite

import (
	"fmt"
	"math"

	"github.com/npulang/npu/ir/tensor"
)

// Differ compares a result with what it is without a rule that promises to stay
// within a tolerance; 0: the same bits. The error says where they disagree.
//
// A tolerance is meant for f32, relative to the largest element of the result;
// in other float dtypes it is as many of their roundings: 1e-5 is 84 of them.
// Integers and bools are never off. The promise is about values that the form
// before computes in finite steps: where one overflows though no input is infinite,
// a rule may keep the finite value that its form loses.
func Differ(got, want *tensor.T, within float64) error {
	if within == 0 || !want.DType.IsFloat() {
		if d := tensor.Compare(got, want, tensor.Exact); d != nil {
			return d
		}
		return signs(got, want)
	}
	if d := tensor.CompareWhole(got, want, tensor.Tolerance(within*epsilons[want.DType]/epsilons[tensor.F32])); d != nil {
		return d
	}
	return nil
}

// signs tells 0 from -0, which are equal as numbers. All NaNs are one.
func signs(got, want *tensor.T) error {
	if !want.DType.IsFloat() || tensor.BitEqual(got, want) {
		return nil
	}
	for i := range want.Len() {
		if g, w := got.FloatAt(i), want.FloatAt(i); w == 0 && math.Signbit(g) != math.Signbit(w) {
			return fmt.Errorf("at %v got %v, want %v: the signs of zero differ", tensor.Index(want.Shape, i), got.Text(i), want.Text(i))
		}
	}
	return nil
}

// epsilons are the distances from 1 to the next number.
var epsilons = map[tensor.DType]float64{
	tensor.F64: 1.0 / (1 << 52), tensor.F32: 1.0 / (1 << 23), tensor.F16: 1.0 / (1 << 10), tensor.BF16: 1.0 / (1 << 7),
}
