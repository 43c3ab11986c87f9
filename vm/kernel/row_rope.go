package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// ropeRow turns pairs of elements by angles, read through transpositions and slices. It
// is a program on two halves of the last axis, or on every other element of it:
//
//	rope f32[8,512,64]  =>  y0 = x0·cos0 - x1·sin0
//	                        y1 = x1·cos1 + x0·sin1     on boxes of 8*512 by 32
var ropeRow = &Row{Name: "rope", reach: reach{heart: aRope, rest: aMove}, Make: makeRope}

func makeRope(b *Body, o *Options) (*Prepared, string) {
	heart := slices.IndexFunc(b.Ops, func(o Op) bool { return o.Is("rope") })
	if heart < 0 {
		return nil, ""
	}
	op := &b.Ops[heart]
	d := op.Call.Out[0].DType
	e, ok := elemOf(d)
	switch {
	case !ok:
		return nil, d.String() + " operands"
	case b.InPlace != Absent:
		return nil, "it replaces an argument"
	case len(b.Out) != 1 || b.Out[0] != op.First:
		return nil, "something follows it"
	case count(op.Call.Out[0].Ints()) == 0:
		return nil, "it has no elements"
	}
	r := &roper{size: e.Size(), shape: op.Call.Out[0].Ints(), interleaved: op.Call.Bool("interleaved")}
	if why := r.operands(b, op); why != "" {
		return nil, why
	}
	s, err := r.sheet(o.Level, e, op.Call)
	if err != nil {
		return nil, err.Error()
	}
	return &Prepared{Work: s.work(o.Level), Within: s.within, Runner: &stripTask{sheet: s}}, ""
}

// A roper makes the sheet of a rope.
type roper struct {
	size        int   // of an element, in bytes
	shape       []int // of the argument and the result
	interleaved bool
	views       []operand
	steps       [][]int // by view, along the axes and along the pairs, in bytes
}

// operands makes two views each of the argument, cosines and sines, and the result: of
// the first elements of pairs, and of the second ones.
func (r *roper) operands(b *Body, op *Op) (why string) {
	for _, v := range op.Args {
		l, ok := lieOf(b, v)
		if !ok {
			return "an operand is computed in the region"
		}
		r.pair(operand{kind: ofInput, index: l.input}, l)
	}
	r.pair(operand{kind: ofResult}, lie{shape: r.shape, steps: tensor.Strides(r.shape)})
	return ""
}

// pair adds the views of what lies somewhere. Where there is one angle for a pair, both
// show it.
func (r *roper) pair(o operand, l lie) {
	last := len(r.shape) - 1
	of := slices.Clone(r.shape)
	of[last] = l.shape[len(l.shape)-1]
	steps := expandedSteps(l, of)
	step, second := steps[last], 0
	if of[last] == r.shape[last] {
		second = step * of[last] / 2
		if r.interleaved {
			step, second = 2*step, step
		}
	}
	steps[last] = step
	for i := range steps {
		steps[i] *= r.size
	}
	o.at = l.at * r.size
	r.views, r.steps = append(r.views, o), append(r.steps, steps)
	o.at += second * r.size
	r.views, r.steps = append(r.views, o), append(r.steps, steps)
}

// sheet makes the program.
func (r *roper) sheet(level isa.Level, e strip.Elem, c *ir.Call) (*sheet, error) {
	g := &sheetBuilder{Builder: strip.New(level)}
	var v [6]strip.Value // x, cos, sin: the first and the second of each
	for i := range v {
		v[i] = g.Input(e)
	}
	y0 := g.Op(vec.Sub, g.Op(vec.Mul, v[0], v[2]), g.Op(vec.Mul, v[1], v[4]))
	y1 := g.Op(vec.Add, g.Op(vec.Mul, v[1], v[3]), g.Op(vec.Mul, v[0], v[5]))
	g.Result(g.rounded(c, y0), e)
	g.Result(g.rounded(c, y1), e)
	p, err := g.Compile()
	if err != nil {
		return nil, err
	}
	s := &sheet{prog: p, codes: g.codes, within: g.within + ropeWithin, views: r.views}
	for i, n := range r.shape {
		if i == len(r.shape)-1 {
			n /= 2
		}
		a := axis{n, make([]int, len(r.views))}
		for v := range r.views {
			a.steps[v] = r.steps[v][i]
		}
		s.axes[colAxes] = append(s.axes[colAxes], a)
	}
	s.settle(1, 1)
	return s, nil
}

// ropeWithin bounds the error of two products that are rounded before they are added.
const ropeWithin = 0x1p-21
