package vm

import (
	"fmt"

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
}

func (d Difference) Error() string {
	return fmt.Sprintf("%s computes %s: %v", d.Task.Name, d.Value, d.Difference())
}

// Difference compares the two; nil if they agree as far as the kernel promises.
func (d Difference) Difference() *tensor.Difference {
	return tensor.CompareWhole(d.Got, d.Want, tensor.Tolerance(d.Within))
}

// checked runs a task, and then its operators one by one.
func (s *stream) checked(st *step, out, in []*tensor.T) error {
	given := make([]*tensor.T, len(in))
	for i, t := range in {
		given[i] = t.Clone()
	}
	err := s.compute(st, out, in)
	want, wantErr := evaluate(st, given, s.f.budget.Stop)
	switch {
	case wantErr != nil && err == nil:
		return ir.Errorf("internal", "kernel %s computes where the operators fail: %v", st.task.Name, wantErr)
	case err != nil && wantErr == nil:
		return ir.Errorf("internal", "kernel %s fails where the operators do not: %v", st.task.Name, err)
	case err != nil:
		return wantErr
	}
	for i, t := range out {
		d := Difference{st.task, s.f.m.program.Buffers[st.out[i]].Name, t.Clone(), want[i], st.task.Within}
		if err := s.f.m.check(d); err != nil {
			return err
		}
		copy(t.Data, want[i].Data)
	}
	return nil
}

// evaluate computes a body by the evaluations of its operators.
func evaluate(st *step, in []*tensor.T, stop func() error) ([]*tensor.T, error) {
	values := in
	for i := range st.body.Ops {
		op := &st.body.Ops[i]
		args := make([]*tensor.T, len(op.Args))
		for k, a := range op.Args {
			if a != kernel.Absent {
				args[k] = values[a]
			}
		}
		if op.Call == nil {
			values = append(values, args[0].Reshape(op.As.Ints()...))
			continue
		}
		c := *op.Call
		c.Budget = &ir.Budget{Stop: stop}
		results, err := ir.Evaluate(&c, args...)
		if err != nil {
			return nil, err
		}
		values = append(values, results...)
	}
	out := make([]*tensor.T, len(st.body.Out))
	for i, v := range st.body.Out {
		out[i] = values[v]
	}
	return out, nil
}
