package vm

import (
	"encoding/binary"
	"slices"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// Check reports what Load would refuse of a program, whatever its weights.
func Check(p *bytecode.Program) error {
	if err := bytecode.Verify(p); err != nil {
		return err
	}
	_, err := bindCalls(p.Kernels, nil)
	return err
}

// bindCalls finds the call of each row of the program's table, among those given
// if there are any.
func bindCalls(rows []bytecode.Kernel, given []*ir.Call) ([]*ir.Call, error) {
	if given != nil && len(given) != len(rows) {
		return nil, badCode("", "there are %d kernels and %d calls", len(rows), len(given))
	}
	calls := make([]*ir.Call, len(rows))
	for i := range rows {
		var err error
		if given == nil {
			calls[i], err = kernel.Bind(rows[i].Op, rows[i].Attrs, irTypes(rows[i].In), irTypes(rows[i].Out))
		} else {
			calls[i], err = sameCall(&rows[i], given[i])
		}
		if err != nil {
			return nil, err
		}
		if at := rows[i].InPlace; at != bytecode.Absent && !calls[i].InPlace(at) {
			return nil, badCode(rows[i].Op, "kernel k%d, %s, can't compute in place of argument %d", i, rows[i].Op, at)
		}
	}
	return calls, nil
}

// A binder finds kernels for the steps of a machine. Steps that have the same call
// and the same constants share one.
type binder struct {
	m     *Machine
	opts  *kernel.Options
	calls []*ir.Call
	known map[string]*kernel.Prepared
	twins kernel.Twins
	key   []byte
}

// step makes an instruction ready. One of a body that no step runs, since a kernel
// computes the region, has no task.
func (b *binder) step(in *bytecode.Instr, unused bool) (st step, err error) {
	st = step{Instr: in, out: in.Out, in: in.In}
	if in.Op == bytecode.Exec {
		st.call, st.in = b.calls[in.Index], present(in.In)
	}
	if unused {
		return st, nil
	}
	switch in.Op {
	case bytecode.Exec:
		st.task, err = b.exec(in)
	case bytecode.Call:
		b.region(&st)
	case bytecode.Copy:
		if st.renames = b.m.program.Renames(in); !st.renames {
			b.copy(&st)
		}
	}
	if b.m.check != nil && st.task != nil && st.body == nil {
		st.body = kernel.Single(st.call, b.m.constants(in.In), b.m.program.Kernels[in.Index].InPlace)
	}
	if b.m.check != nil && st.body != nil {
		st.checker = checkerOf(st.body, b.opts)
	}
	return st, err
}

// present lists the buffers of arguments that are there.
func present(in []int) []int {
	if !slices.Contains(in, bytecode.Absent) {
		return in
	}
	return slices.DeleteFunc(slices.Clone(in), func(b int) bool { return b == bytecode.Absent })
}

// region prepares a fused region as one task, if a kernel takes it.
func (b *binder) region(st *step) {
	f := &b.m.program.Functions[st.Bodies[0]]
	body, inputs, ok := bodyOf(b.m.program, b.calls, b.m.weights, f)
	if !ok || len(f.Writes) == 0 {
		return
	}
	if st.task = b.twins.Prepare(body, b.opts); st.task != nil {
		st.out, st.in, st.body = f.Writes, inputs, body
	}
}

// copyTask is from how many bytes on a copy is a task of a kernel, that several
// executors can share: it takes some ten microseconds then.
const copyTask = 1 << 17

// copy makes a task of a large copy, as the view that it is.
func (b *binder) copy(st *step) {
	from, to := &b.m.program.Buffers[st.In[0]], &b.m.program.Buffers[st.Out[0]]
	if to.Size < copyTask || from.Type.DType != to.Type.DType {
		return
	}
	body := &kernel.Body{
		In: []ir.Type{irType(from.Type)}, Const: []*tensor.T{nil}, InPlace: kernel.Absent,
		Ops: []kernel.Op{{Args: []int{0}, First: 1, As: irType(to.Type)}}, Out: []int{1},
	}
	if st.task = b.twins.Prepare(body, b.opts); st.task != nil {
		st.body = body
	}
}

// exec prepares an exec instruction.
func (b *binder) exec(in *bytecode.Instr) (*kernel.Prepared, error) {
	consts := b.m.constants(in.In)
	p := b.known[string(b.keyOf(in, consts))]
	if p != nil {
		return p, nil
	}
	row := &b.m.program.Kernels[in.Index]
	if p = b.twins.Prepare(kernel.Single(b.calls[in.Index], consts, row.InPlace), b.opts); p == nil {
		return nil, badCode(row.Op, "no kernel runs this operator")
	}
	b.known[string(b.key)] = p
	return p, nil
}

// keyOf is the number of the call and the weights among its arguments.
func (b *binder) keyOf(in *bytecode.Instr, consts []*tensor.T) []byte {
	b.key = binary.AppendUvarint(b.key[:0], uint64(in.Index))
	for i, c := range consts {
		if c != nil {
			b.key = binary.AppendUvarint(b.key, uint64(i))
			b.key = binary.AppendUvarint(b.key, uint64(b.m.program.Buffers[in.In[i]].Slot))
		}
	}
	return b.key
}

// constants are the arguments that are whole weights; nil if there are none.
func (m *Machine) constants(in []int) (list []*tensor.T) {
	for i, b := range in {
		if b == bytecode.Absent {
			continue
		}
		if w := weightAt(m.weights, &m.program.Buffers[b]); w != nil {
			if list == nil {
				list = make([]*tensor.T, len(in))
			}
			list[i] = w
		}
	}
	return list
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
		out[i] = irType(t)
	}
	return out
}

// irType is a type of the bytecode as the IR has it; the zero Type for what is
// absent.
func irType(t bytecode.Type) ir.Type {
	if t.DType == tensor.Invalid {
		return ir.Type{}
	}
	return ir.T(t.DType, ir.Dims(t.Shape...)...)
}
