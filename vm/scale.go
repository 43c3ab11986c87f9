package vm

import (
	"math"

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
		list[i] = t.Clone()
		for k := range t.Len() {
			list[i].SetFloat(k, math.Abs(finite(t.FloatAt(k))))
		}
	}
	of := *c
	of.Budget = nil
	out, err := ir.Evaluate(&of, list...)
	if err != nil {
		return 0
	}
	for k := range out[0].Len() {
		if math.IsInf(out[0].FloatAt(k), 1) {
			return math.Inf(1)
		}
	}
	return largest(out[0])
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
	score := float64(d) * largest(in[0]) * largest(in[1]) * max(1, scale)
	if len(in) > 3 && in[3] != nil {
		score += largest(in[3])
	}
	if value := largest(in[2]); score*value < math.MaxFloat32/4 {
		return (1 + score) * value
	}
	return math.Inf(1)
}

// largest is the size of the largest number in a tensor.
func largest(t *tensor.T) float64 {
	most := 0.0
	for k := range t.Len() {
		if t.DType.IsFloat() {
			most = max(most, math.Abs(finite(t.FloatAt(k))))
		}
	}
	return most
}
