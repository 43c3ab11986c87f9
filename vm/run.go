package vm

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/pages"
)

// Run computes the program's outputs, new tensors that belong to the caller. A nil
// context never ends a run.
// The inputs, one for each of the program's in their order, are read until Run
// returns. The error is a *diag.Diagnostic of code bad-input or limit, an
// *Error, or that of the context.
func (m *Machine) Run(ctx context.Context, inputs []*tensor.T) ([]*tensor.T, error) {
	if err := m.checkInputs(inputs); err != nil {
		return nil, err
	}
	// The outputs count as memory of the run, so that they are made once it may
	// begin.
	r := request{ctx: ctx, inputs: inputs, fixed: m.perRun + unaligned(inputs)}
	if err := m.do(&r); err != nil {
		return nil, err
	}
	return r.outputs, nil
}

// RunInto is Run, but for where the results go: into the caller's tensors, one
// for each of the program's outputs, of its types. They share no memory with each
// other, with the inputs or with the weights. What they hold after an error is not
// defined. A run into tensors whose elements can be written in place, as those of
// tensor.New, makes no copy of them, and allocates nothing once the machine has run
// before.
func (m *Machine) RunInto(ctx context.Context, inputs, outputs []*tensor.T) error {
	if err := m.Check(inputs, outputs); err != nil {
		return err
	}
	r := request{ctx: ctx, inputs: inputs, outputs: outputs, given: true}
	r.fixed = m.arena + unaligned(inputs) + unaligned(outputs)
	return m.do(&r)
}

// A request is one call of Run or RunInto.
type request struct {
	ctx             context.Context
	inputs, outputs []*tensor.T
	given           bool  // the outputs are the caller's
	fixed           int64 // bytes of arena, outputs that are made, and copies
}

func (m *Machine) do(r *request) error {
	if r.ctx == nil {
		r.ctx = context.Background()
	}
	if err := m.checkSize(r.fixed); err != nil {
		return err
	}
	if !m.users.enter() {
		return errClosed
	}
	defer m.users.leave()
	if err := r.ctx.Err(); err != nil {
		return err
	}
	crowded, err := m.attempt(r, false)
	if crowded {
		_, err = m.attempt(r, true)
	}
	return err
}

// attempt runs the program once. crowded means that it failed for want of
// memory and that others may have had what it wanted.
func (m *Machine) attempt(r *request, alone bool) (crowded bool, err error) {
	t, err := m.memory.take(r.ctx, m, r.fixed, alone)
	if err != nil {
		return false, err
	}
	f, err := m.ready(&t)
	if err != nil {
		m.memory.give(&t, nil)
		return false, err
	}
	if !r.given {
		r.outputs = m.newOutputs()
		m.memory.collector.tell(m.perRun - m.arena)
	}
	f.begin(r.ctx, t, f.bound.inputs(r.inputs), f.bound.outputs(r.outputs))
	f.execute()
	if err = f.failure.get(); err != nil {
		crowded = isLimit(err) && !m.memory.wasAlone(&f.ticket)
	} else {
		f.bound.copyOut(r.outputs)
	}
	f.end()
	m.memory.give(&f.ticket, f)
	return crowded, err
}

// ready is the frame of a run with the arena attached; what was not kept is made
// now.
func (m *Machine) ready(t *ticket) (f *frame, err error) {
	a := t.arena
	if a == nil && m.arena > 0 {
		if a, err = m.memory.newArena(m.arena); err != nil {
			return nil, err
		}
	}
	if f = t.frame; f == nil {
		f = m.newFrame()
	}
	if a != nil {
		a.last = f
	}
	f.use(a)
	return f, nil
}

func isLimit(err error) bool {
	var e *ir.Error
	return errors.As(err, &e) && e.Code == "limit"
}

func (m *Machine) newOutputs() []*tensor.T {
	out := make([]*tensor.T, len(m.program.Outputs))
	for i, port := range m.program.Outputs {
		t := m.program.Buffers[port.Buffer].Type
		out[i] = newOutput(t)
	}
	return out
}

// largeOutput is from how many bytes on a result's memory is not cleared before the run
// writes it, as it writes an arena that another run has left.
const largeOutput = 1 << 20

func newOutput(t bytecode.Type) *tensor.T {
	n := t.DType.Size()
	for _, s := range t.Shape {
		n *= s
	}
	if n < largeOutput {
		return tensor.New(t.DType, t.Shape...)
	}
	return &tensor.T{DType: t.DType, Shape: slices.Clone(t.Shape), Data: pages.Dirty(n)}
}

// A failure is what ends a run before its time.
type failure struct {
	mu   sync.Mutex
	err  error
	task int // of err
}

// set records an error, unless an earlier task has had one.
func (x *failure) set(task int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil || task < x.task {
		x.err, x.task = err, task
	}
}

func (x *failure) get() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}
