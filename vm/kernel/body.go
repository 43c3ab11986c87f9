package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Absent is the number of an argument that is not there.
const Absent = -1

// A Body is the work of one task: operators in order, each of which takes the
// task's inputs and the results of operators before it. Values have numbers: first
// the inputs, then the results of all operators in order. All types are without
// symbols.
type Body struct {
	In    []ir.Type
	Const []*tensor.T // by input: its elements where they are the same in every run, or nil
	Ops   []Op
	Out   []int // the values that are the results

	// InPlace is the input of the task in whose memory its first result lies;
	// Absent: results lie apart from inputs.
	InPlace int
}

// An Op is one operator of a Body, or a view.
type Op struct {
	Call  *ir.Call // nil: a view, whose result has the elements of its argument in the same order
	Args  []int    // values, or Absent
	First int      // the value that is its first result; the others follow
	As    ir.Type  // of a view: its result's type
}

// Results is how many results the operator has.
func (o *Op) Results() int {
	if o.Call == nil {
		return 1
	}
	return len(o.Call.Out)
}

// Is reports whether it is the operator of a name.
func (o *Op) Is(name string) bool { return o.Call != nil && o.Call.Op.Name == name }

// Single is the body of one call. consts has, by argument, what is the same in
// every run; it may be shorter than the arguments. inPlace is as in Body.
func Single(c *ir.Call, consts []*tensor.T, inPlace int) *Body {
	b := &Body{InPlace: Absent}
	op := Op{Call: c, Args: make([]int, len(c.In))}
	for i, t := range c.In {
		op.Args[i] = Absent
		if t.Absent() {
			continue
		}
		op.Args[i] = len(b.In)
		if i == inPlace {
			b.InPlace = len(b.In)
		}
		b.In = append(b.In, t)
		var value *tensor.T
		if i < len(consts) {
			value = consts[i]
		}
		b.Const = append(b.Const, value)
	}
	op.First = len(b.In)
	for i := range c.Out {
		b.Out = append(b.Out, op.First+i)
	}
	b.Ops = []Op{op}
	return b
}

// Type is the type of a value.
func (b *Body) Type(v int) ir.Type {
	if v < len(b.In) {
		return b.In[v]
	}
	o, i := b.Def(v)
	if o.Call == nil {
		return o.As
	}
	return o.Call.Out[i]
}

// Def finds the operator that makes a value, and which of its results that is; it
// is nil for an input.
func (b *Body) Def(v int) (op *Op, result int) {
	lo, hi := 0, len(b.Ops) // of the operators, the last whose first result is not behind v
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); b.Ops[mid].First <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || v < len(b.In) {
		return nil, 0
	}
	if o := &b.Ops[lo-1]; v < o.First+o.Results() {
		return o, v - o.First
	}
	return nil, 0
}

// Value is what an input is in every run; nil for one that runs bring, and for
// what operators make.
func (b *Body) Value(v int) *tensor.T {
	if v >= 0 && v < len(b.Const) {
		return b.Const[v]
	}
	return nil
}

// Uses counts how often a value is read, by operators and as a result.
func (b *Body) Uses(v int) (n int) {
	for i := range b.Ops {
		for _, a := range b.Ops[i].Args {
			if a == v {
				n++
			}
		}
	}
	for _, o := range b.Out {
		if o == v {
			n++
		}
	}
	return n
}
