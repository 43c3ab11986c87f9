package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// reference runs every operator by the evaluation in its row. Most evaluations
// compute where the results belong; what others make is copied there.
var reference = &Row{
	Name: "any", reach: reach{alone: true},
	Make: func(b *Body, _ *Options) (*Prepared, string) {
		c := oneCall(b)
		if c == nil || c.Op.Eval == nil {
			return nil, notMine
		}
		if b.InPlace != Absent && !c.InPlace(argument(&b.Ops[0], b.InPlace)) {
			return nil, "it needs its argument until the end"
		}
		return &Prepared{Name: c.Op.Name + "/any/reference", Work: referenceWork(c), Runner: &evaluation{call: c, args: spreadOf(&b.Ops[0], len(b.In))}}, ""
	},
}

// oneCall is the operator of a body that has no other and results in what the operator
// does; else nil. A region may yield a value twice, an argument, or some results only.
func oneCall(b *Body) *ir.Call {
	if len(b.Ops) != 1 || !inOrder(b.Out, &b.Ops[0]) {
		return nil
	}
	return b.Ops[0].Call
}

// inOrder reports whether a task's results are those of an operator, each once.
func inOrder(out []int, o *Op) bool {
	for i, v := range out {
		if v != o.First+i {
			return false
		}
	}
	return len(out) == o.Results()
}

// argument is the index at which an operator takes a value.
func argument(o *Op, v int) int {
	for i, a := range o.Args {
		if a == v {
			return i
		}
	}
	return len(o.Args)
}

// spreadOf lists the inputs that are an operator's arguments, if they are not just
// the inputs in order.
func spreadOf(o *Op, inputs int) []int {
	for i, a := range o.Args {
		if a != i || len(o.Args) != inputs {
			return o.Args
		}
	}
	return nil
}

// An evaluation is the Runner of one call.
type evaluation struct {
	call  *ir.Call
	args  []int  // the inputs that are its arguments, or Absent; nil: they are the inputs
	split *Split // once Parts has made it
}

func (e *evaluation) Parts(want int) int {
	if e.split = SplitOf(e.call, want); e.split == nil {
		return 1
	}
	return e.split.Parts()
}

func (e *evaluation) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	if e.args != nil {
		in = x.spread(e.args, in)
	}
	if parts > 1 {
		return e.split.run(x, part, out, in)
	}
	results, err := ir.Evaluate(x.evaluation(e.call, out), in...)
	if err != nil {
		return err
	}
	for i, r := range results {
		if r != out[i] {
			copy(out[i].Data, r.Data)
		}
	}
	return nil
}

// A rate says how many eighths of a nanosecond the reference takes for a flop, and
// for a byte that it reads or writes.
type rate struct{ flop, byte int64 }

// rates are those of the classes of operators, measured on a processor of 2023
// (BenchmarkParts): elements are widened and rounded at 3 ns each, products add up
// at 0.4 ns a flop, functions of one element take 4 ns and more. They decide only
// about what is given away, never about results.
var rates = map[ir.Class]rate{
	ir.Contract: {4, 2},
	ir.Move:     {0, 2},
}

// usual is the rate of the other classes.
var usual = rate{32, 6}

// MaxWork bounds estimates of work.
const MaxWork = 1 << 40

// referenceWork estimates the nanoseconds of a call.
func referenceWork(c *ir.Call) int64 {
	r, ok := rates[c.Op.Class]
	if !ok {
		r = usual
	}
	cost := c.Cost()
	work := (min(cost.Flops, MaxWork)*r.flop + (min(cost.In, MaxWork)+min(cost.Out, MaxWork))*r.byte) / 8
	return min(work, MaxWork)
}
