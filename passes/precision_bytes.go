package passes

import (
	"fmt"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// The products of bytes of the pass precision; lowerPrecision has the formulas.

// maxByte is the magnitude that the largest element of an operand becomes: -128 is
// left out, so that a number and its opposite are the same byte but for the sign.
const maxByte = 127

// minScale is the least scale, that of an operand of zeros: the least f32 with all
// its digits, so that a quotient by it is never 0/0.
const minScale = 0x1p-126

// A scaleKey is an operand with the axis along which it has one scale, and its range;
// 0: it is measured.
type scaleKey struct {
	v    *ir.Value
	axis int
	most float64
}

// A quantised is an operand in bytes.
type quantised struct {
	bytes *ir.Value
	scale *ir.Value // with the axis, of size 1; a scalar where the range is known
}

// bytes computes a product of floats in bytes.
func (l *lowering) bytes(v *ir.Value, p *Product) *ir.Value {
	most := 0.0
	if l.around == nil {
		most = l.t.scaleOf(p.Key)
	}
	x := l.quantise(v.Args[0], v.Args[0].Type.Rank()-1, most)
	w := l.quantise(v.Args[1], sumAxis(v), 0)
	sums := l.call(v.Op, []*ir.Value{x.bytes, w.bytes}, set("dtype", ir.DTypeLit(tensor.I32)))
	ws := l.columnScales(v, w.scale)
	y := l.cast(sums, tensor.F32)
	if most > 0 {
		p.Why = fmt.Sprintf("sums in i32, a scale for each column, one for the left side, whose range is %v", most)
		y = l.call(ir.Mul, []*ir.Value{y, l.named(v, "scale", l.call(ir.Mul, []*ir.Value{ws, x.scale}))})
	} else {
		p.Why = "sums in i32, a scale for each column and, in each run, for each row"
		y = l.call(ir.Mul, []*ir.Value{y, x.scale})
		y = l.call(ir.Mul, []*ir.Value{y, l.named(v, "scale", ws)})
	}
	l.named(v, "i8", w.bytes)
	return l.biased(y, biasOf(v), v.Type.DType)
}

// scaleOf is the range of the left operand of a product, by its key; 0: unknown.
func (t *Trace) scaleOf(key string) float64 {
	most, known := t.Options.Precision.Scales[key]
	if !known {
		return 0
	}
	return max(most, minScale*maxByte)
}

// quantise makes bytes of an operand, once for all who ask.
func (l *lowering) quantise(v *ir.Value, axis int, most float64) *quantised {
	k := scaleKey{v, axis, most}
	if l.scaled[k] == nil {
		l.scaled[k] = l.quantiseOutside(v, axis, most)
	}
	if l.scaled[k] == nil {
		x := l.cast(v, tensor.F32)
		scale := l.scalar(float32(most) / maxByte)
		if most == 0 {
			scale = l.measured(x, axis)
		}
		l.scaled[k] = &quantised{l.call(ir.QuantizeLinear, []*ir.Value{x, scale}, set("dtype", ir.DTypeLit(tensor.I8))), scale}
	}
	return l.scaled[k]
}

// measured is the scale of x along an axis: its largest magnitude by 127, and more
// than 0. NaN stays NaN, an infinity one, and so become all that is summed with them.
func (l *lowering) measured(x *ir.Value, axis int) *ir.Value {
	most := l.call(ir.Max, []*ir.Value{l.call(ir.Abs, []*ir.Value{x})}, kept(axis)...)
	scale := l.call(ir.Div, []*ir.Value{most, l.scalar(maxByte)})
	return l.call(ir.Maximum, []*ir.Value{scale, l.scalar(minScale)})
}

// scalar is a constant of f32.
func (l *lowering) scalar(x float32) *ir.Value {
	return l.call(ir.Const, nil, set("value", ir.TensorLit(tensor.Scalar(x))))
}

// columnScales are the scales of the right operand in the shape of the result's last
// axes.
func (l *lowering) columnScales(v, scale *ir.Value) *ir.Value {
	if scale == nil || v.Args[1].Type.Rank() > 2 {
		return scale
	}
	return l.call(ir.Reshape, []*ir.Value{scale}, set("dims", ir.DimsLit(v.Type.Shape[v.Type.Rank()-1])))
}

// named calls what is made of a weight by the weight's name and a word.
func (l *lowering) named(v *ir.Value, word string, made *ir.Value) *ir.Value {
	if from := l.static.first[v.Args[1]]; made != nil && from != "" {
		made.Name = from + "." + word
	}
	return made
}
