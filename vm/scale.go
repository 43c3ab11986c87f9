package vm

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// scales say of the operators that add up products of floats how large those are
// together.
var scales = map[string]func(c *ir.Call, in []*tensor.T) float64{
	"matmul": sizes, "linear": sizes, "conv": sizes, "conv_transpose": sizes, "attention": attentionScale,
}

// scaleOf is Difference.Scale of an operator's results.
func scaleOf(op *kernel.Op, values []*tensor.T) float64 {
	if op.Call == nil || !op.Call.Out[0].DType.IsFloat() {
		return 0
	}
	if f := scales[op.Call.Op.Name]; f != nil {
		return f(op.Call, arguments(op, values))
	}
	return 0
}

// sizes computes the operator of the sizes of its arguments' elements.
func sizes(c *ir.Call, in []*tensor.T) float64 {
	list := make([]*tensor.T, len(in))
	for i, t := range in {
		if t == nil {
			continue
		}
		elements := t.Floats()
		for k, x := range elements {
			elements[k] = math.Abs(finite(x))
		}
		list[i] = tensor.New(t.DType, t.Shape...)
		list[i].StoreFloats(0, elements)
	}
	of := *c
	of.Budget = nil
	out, err := ir.Evaluate(&of, list...)
	if err != nil {
		return 0
	}
	if slices.Contains(out[0].Floats(), math.Inf(1)) {
		return math.Inf(1)
	}
	return out[0].Largest()
}

// finite is a number, or 0 in the place of what is none.
func finite(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	return x
}

// attentionScale: a score is off by its own size, and so is the logarithm of what the
// values are multiplied by.
func attentionScale(c *ir.Call, in []*tensor.T) float64 {
	d := in[0].Shape[len(in[0].Shape)-1]
	scale := 1 / math.Sqrt(max(1, float64(d)))
	if l := c.Attr("scale"); !l.IsNone() {
		scale = math.Abs(l.Float)
	}
	score := float64(d) * in[0].Largest() * in[1].Largest() * max(1, scale)
	if len(in) > 3 && in[3] != nil {
		score += in[3].Largest()
	}
	if value := in[2].Largest(); score*value < math.MaxFloat32/4 {
		return (1 + score) * value
	}
	return math.Inf(1)
}
