package vm

import (
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// bindKernels finds the call of each row of the program's table, among those
// given if there are any, and a kernel that runs it.
func bindKernels(rows []bytecode.Kernel, given []*ir.Call) ([]*ir.Call, []*kernel.Kernel, error) {
	if given != nil && len(given) != len(rows) {
		return nil, nil, badCode("", "there are %d kernels and %d calls", len(rows), len(given))
	}
	calls := make([]*ir.Call, len(rows))
	kernels := make([]*kernel.Kernel, len(rows))
	for i := range rows {
		var err error
		if given == nil {
			calls[i], err = kernel.Bind(rows[i].Op, rows[i].Attrs, irTypes(rows[i].In), irTypes(rows[i].Out))
		} else {
			calls[i], err = sameCall(&rows[i], given[i])
		}
		if err != nil {
			return nil, nil, err
		}
		if kernels[i] = kernel.Select(calls[i]); kernels[i] == nil {
			return nil, nil, badCode(rows[i].Op, "no kernel runs this operator")
		}
		if at := rows[i].InPlace; at != bytecode.Absent && !kernels[i].InPlace(calls[i], at) {
			return nil, nil, badCode(rows[i].Op, "kernel k%d, %s, can't compute in place of argument %d", i, kernels[i].NameFor(calls[i].Op), at)
		}
	}
	return calls, kernels, nil
}

func badCode(subject, format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-bytecode", Subject: subject, Message: sprintf(format, args...)}
}

// sameCall takes a call that was given for a kernel, without what belongs to
// the task that it was made for.
func sameCall(row *bytecode.Kernel, c *ir.Call) (*ir.Call, error) {
	if c == nil || c.Op.Name != row.Op || !sameTypes(c.In, row.In) || !sameTypes(c.Out, row.Out) {
		return nil, badCode(row.Op, "the call that was given for the kernel is another")
	}
	return &ir.Call{Op: c.Op, In: c.In, Attrs: c.Attrs, Out: c.Out}, nil
}

func sameTypes(types []ir.Type, rows []bytecode.Type) bool {
	if len(types) != len(rows) {
		return false
	}
	for i, t := range types {
		if t.DType != rows[i].DType || len(t.Shape) != len(rows[i].Shape) {
			return false
		}
		for k, n := range rows[i].Shape {
			if !t.Shape[k].Is(int64(n)) {
				return false
			}
		}
	}
	return true
}

func irTypes(list []bytecode.Type) []ir.Type {
	out := make([]ir.Type, len(list))
	for i, t := range list {
		if t.DType != tensor.Invalid {
			out[i] = ir.T(t.DType, ir.Dims(t.Shape...)...)
		}
	}
	return out
}
