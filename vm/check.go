package vm

import (
	"fmt"
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A Difference is what a kernel and its operators' evaluations make of the same
// inputs, where they differ; of Options.Check.
type Difference struct {
	Task      *kernel.Prepared
	Value     string // the result, as the IR prints it
	Got, Want *tensor.T
	Within    float64 // what the kernel promises
	// Scale is the size of what the result is a sum of, where that may be larger than
	// the result: Within is of it. It is infinite if floats have no such number.
	Scale float64
}

func (d Difference) Error() string {
	return fmt.Sprintf("%s computes %s: %v", d.Task.Name, d.Value, d.Difference())
}

// Difference compares the two; nil if they agree as far as the kernel promises.
func (d Difference) Difference() *tensor.Difference {
	if math.IsInf(d.Scale, 1) {
		return nil
	}
	enlarged := 1.0
	if d.Scale > 1 {
		enlarged = max(1, d.Scale/max(1, d.Want.Largest()))
	}
	return tensor.CompareWhole(d.Got, d.Want, tensor.Tolerance(d.Within*enlarged))
}

// A checker computes a task's operators one by one: each by its evaluation, and those
// of a region also by kernels of their own.
type checker struct {
	body  *kernel.Body
	alone []*kernel.Prepared // by operator of a region; nil: a view
}

// checkerOf makes the checker of a body.
func checkerOf(b *kernel.Body, o *kernel.Options) *checker {
	c := &checker{body: b}
	if len(b.Ops) == 1 {
		return c
	}
	for i := range b.Ops {
		op := &b.Ops[i]
		var p *kernel.Prepared
		if op.Call != nil {
			consts := make([]*tensor.T, len(op.Args))
			for k, a := range op.Args {
				consts[k] = b.Value(a)
			}
			p = kernel.Prepare(kernel.Single(op.Call, consts, kernel.Absent), o)
		}
		c.alone = append(c.alone, p)
	}
	return c
}

// checked runs a task, and then its operators one by one.
func (s *stream) checked(st *step, out, in []*tensor.T) error {
	given := make([]*tensor.T, len(in))
	for i, t := range in {
		given[i] = t.Clone()
	}
	err := s.compute(st, out, in)
	want, wantErr := st.checker.evaluate(given, s.f.budget.Stop)
	switch {
	case wantErr != nil && err == nil:
		return ir.Errorf("internal", "kernel %s computes where the operators fail: %v", st.task.Name, wantErr)
	case err != nil && wantErr == nil:
		return ir.Errorf("internal", "kernel %s fails where the operators do not: %v", st.task.Name, err)
	case err != nil:
		return wantErr
	}
	same, err := s.alone(st, out, given)
	if err != nil {
		return err
	}
	for i, t := range out {
		if !same {
			d := Difference{st.task, s.f.m.program.Buffers[st.out[i]].Name, t.Clone(), want[i], st.task.Within, 0}
			if op, _ := st.checker.body.Def(st.checker.body.Out[i]); op != nil && st.checker.alone == nil {
				d.Scale = scaleOf(op, given)
			}
			if err := s.f.m.check(d); err != nil {
				return err
			}
		}
		copy(t.Data, want[i].Data)
	}
	return nil
}

// alone computes the operators of a region by kernels of their own, each of which is
// held against its evaluation. It reports whether the region has given the same bits,
// as it does by the invariants of package kernel: then it is as far off as all its
// operators are together, which no number bounds.
func (s *stream) alone(st *step, out, in []*tensor.T) (same bool, err error) {
	c := st.checker
	if c.alone == nil {
		return false, nil
	}
	values := in
	for i := range c.body.Ops {
		op := &c.body.Ops[i]
		want, err := evaluateOne(op, values, s.f.budget.Stop)
		if err != nil {
			return false, nil // of a value that the kernel made otherwise
		}
		p := c.alone[i]
		if p == nil {
			values = append(values, want...)
			continue
		}
		got := make([]*tensor.T, len(want))
		for k, t := range want {
			got[k] = tensor.New(t.DType, t.Shape...)
		}
		x := kernel.Exec{Budget: &s.f.budget}
		if err := p.Do(&x, 0, 1, got, presentIn(op.Args, values)); err != nil {
			return false, err
		}
		for k := range got {
			d := Difference{p, fmt.Sprintf("%s of a region", op.Call.Op.Name), got[k], want[k], p.Within, scaleOf(op, values)}
			if err := s.f.m.check(d); err != nil {
				return false, err
			}
		}
		values = append(values, got...)
	}
	for i, v := range c.body.Out {
		if tensor.Compare(out[i], values[v], 0) != nil { // bits, but for those of NaN
			return false, nil
		}
	}
	return true, nil
}

// presentIn are the arguments that are there.
func presentIn(args []int, values []*tensor.T) (list []*tensor.T) {
	for _, a := range args {
		if a != kernel.Absent {
			list = append(list, values[a])
		}
	}
	return list
}

// evaluate computes a body by the evaluations of its operators.
func (c *checker) evaluate(in []*tensor.T, stop func() error) ([]*tensor.T, error) {
	values := in
	for i := range c.body.Ops {
		results, err := evaluateOne(&c.body.Ops[i], values, stop)
		if err != nil {
			return nil, err
		}
		values = append(values, results...)
	}
	out := make([]*tensor.T, len(c.body.Out))
	for i, v := range c.body.Out {
		out[i] = values[v]
	}
	return out, nil
}

// evaluateOne computes one operator of values.
func evaluateOne(op *kernel.Op, values []*tensor.T, stop func() error) ([]*tensor.T, error) {
	args := arguments(op, values)
	if op.Call == nil {
		return []*tensor.T{args[0].Reshape(op.As.Ints()...)}, nil
	}
	c := *op.Call
	c.Budget = &ir.Budget{Stop: stop}
	return ir.Evaluate(&c, args...)
}

// arguments are those of an operator; nil for what is absent.
func arguments(op *kernel.Op, values []*tensor.T) []*tensor.T {
	args := make([]*tensor.T, len(op.Args))
	for k, a := range op.Args {
		if a != kernel.Absent {
			args[k] = values[a]
		}
	}
	return args
}
