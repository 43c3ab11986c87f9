package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
)

// A productScale makes floats of a product of bytes where it stands, with scales of its
// rows and columns and a bias that lie in inputs:
//
//	matmul i8, i8 => i32; cast f32; mul [m,1]; mul [n]; bias_add [n]
//
// Each step may be missing but for the cast. What a step reads is Absent then.
type productScale struct {
	rows, cols, bias scaleOperand
}

// A scaleOperand is an input, from an element on.
type scaleOperand struct{ input, at int }

var noScale = scaleOperand{input: Absent}

// floats are the numbers from one on; nil: there are none.
func (s scaleOperand) floats(in []*tensor.T, from int) []float32 {
	if s.input == Absent {
		return nil
	}
	return floats(in[s.input])[s.at+from:]
}

// scaled takes the steps of a productScale that follow the product into it.
func (p *product) scaled(b *Body) {
	if p.turned || p.format == nil || !p.exact() {
		return
	}
	at, o := b.onlyReader(p.op)
	if o == nil || !o.Is("cast") || o.Call.Out[0].DType != tensor.F32 {
		return
	}
	s := &productScale{noScale, noScale, noScale}
	p.scale, p.op = s, at
	for _, step := range []struct {
		name string
		to   *scaleOperand
		find func(b *Body, arg int, out []int) (scaleOperand, bool)
	}{
		{"mul", &s.rows, rowOperand}, {"mul", &s.cols, columnOperand}, {"bias_add", &s.bias, columnOperand},
	} {
		made := b.Ops[p.op].First
		at, o := b.onlyReader(p.op)
		if o == nil || !o.Is(step.name) {
			continue
		}
		other := o.Args[0]
		if other == made {
			other = o.Args[1]
		}
		if found, ok := step.find(b, other, o.Call.Out[0].Ints()); ok && found.input != b.InPlace {
			*step.to, p.op = found, at
		}
	}
}

// onlyReader is the operator that is alone in reading the result of one, which it does
// once; nil: there is none.
func (b *Body) onlyReader(op int) (at int, o *Op) {
	made := b.Ops[op].First
	if b.Uses(made) != 1 {
		return 0, nil
	}
	for i := op + 1; i < len(b.Ops); i++ {
		for _, a := range b.Ops[i].Args {
			if a == made {
				return i, &b.Ops[i]
			}
		}
	}
	return 0, nil
}

// rowOperand finds floats of which each row of the result has one, in their order.
func rowOperand(b *Body, arg int, out []int) (s scaleOperand, ok bool) {
	return b.scaleOperand(arg, out, func(axis, behind int) int {
		if axis == len(out)-1 {
			return 0
		}
		return behind / out[len(out)-1]
	})
}

// columnOperand finds floats of which each column of the result has one.
func columnOperand(b *Body, arg int, out []int) (s scaleOperand, ok bool) {
	return b.scaleOperand(arg, out, func(axis, _ int) int {
		if axis == len(out)-1 {
			return 1
		}
		return 0
	})
}

// scaleOperand finds floats with a step along each axis of a result of products: want is
// told the axis, and how many elements of the result lie behind one of its indices.
func (b *Body) scaleOperand(arg int, out []int, want func(axis, behind int) int) (s scaleOperand, ok bool) {
	l, ok := lieOf(b, arg)
	if !ok || b.Type(arg).DType != tensor.F32 || len(l.shape) > len(out) || count(out) == 0 {
		return noScale, false
	}
	steps, behind := expandedSteps(l, out), 1
	for axis := len(out) - 1; axis >= 0; axis-- {
		if out[axis] > 1 && steps[axis] != want(axis, behind) {
			return noScale, false
		}
		behind *= out[axis]
	}
	return scaleOperand{l.input, l.at}, true
}

// scaleFor is the scale of a piece of the product that begins at a row, counted through
// the batch, and a column.
func (p *product) scaleFor(in []*tensor.T, row, col int) gemm.Scale {
	s := p.scale
	return gemm.Scale{Rows: s.rows.floats(in, row), Cols: s.cols.floats(in, col), Bias: s.bias.floats(in, col)}
}
