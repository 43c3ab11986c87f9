package vm

import (
	"context"
	"errors"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Run computes the program's outputs, new tensors that belong to the caller.
// The inputs, one for each of the program's in their order, are read until Run
// returns. The error is a *diag.Diagnostic of code bad-input or limit, an
// *Error, or that of the context.
func (m *Machine) Run(ctx context.Context, inputs []*tensor.T) ([]*tensor.T, error) {
	copies, err := m.checkInputs(inputs)
	if err != nil {
		return nil, err
	}
	if err := m.checkSize(m.perRun + copies); err != nil {
		return nil, err
	}
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.runs.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	outputs, crowded, err := m.attempt(ctx, inputs, m.perRun+copies, false)
	if crowded {
		outputs, _, err = m.attempt(ctx, inputs, m.perRun+copies, true)
	}
	return outputs, err
}

// attempt runs the program once. crowded means that it failed for want of
// memory and that others may have had what it wanted.
func (m *Machine) attempt(ctx context.Context, inputs []*tensor.T, fixed int64, alone bool) (outputs []*tensor.T, crowded bool, err error) {
	t, err := m.memory.take(ctx, m, fixed, alone)
	if err != nil {
		return nil, false, err
	}
	f := t.frame
	if f == nil {
		f = m.newFrame()
	}
	outputs = m.newOutputs()
	f.begin(t, aligned(inputs), outputs)
	err = f.run(ctx)
	if err != nil {
		outputs, crowded = nil, isLimit(err) && !m.memory.wasAlone(&f.ticket)
	}
	f.end()
	m.memory.give(&f.ticket, f)
	return outputs, crowded, err
}

func isLimit(err error) bool {
	var e *ir.Error
	return errors.As(err, &e) && e.Code == "limit"
}

// enter counts a run, unless the machine is closed. The lock keeps Close from
// waiting between the look and the count.
func (m *Machine) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed() {
		return errClosed
	}
	m.runs.Add(1)
	return nil
}

func badInput(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-input", Message: sprintf(format, args...)}
}

// checkInputs compares inputs with what the program was planned for, and counts
// the bytes of those that must be copied since they can't be read in place.
func (m *Machine) checkInputs(inputs []*tensor.T) (copies int64, err error) {
	ports := m.program.Inputs
	if len(inputs) != len(ports) {
		return 0, badInput("%s takes %d inputs, got %d", m.program.Name, len(ports), len(inputs))
	}
	for i, t := range inputs {
		if t == nil {
			return 0, badInput("input %s is missing", ports[i].Name)
		}
		want := m.program.Buffers[ports[i].Buffer].Type
		if got := typeOf(t); !got.Equal(want) {
			return 0, badInput("input %s is %s, but must be %s", ports[i].Name, got, want)
		}
		if !whole(t) {
			return 0, badInput("input %s is %s, but has %d bytes", ports[i].Name, want, len(t.Data))
		}
		if !tensor.Aligned(t.DType, t.Data) {
			copies += int64(len(t.Data))
		}
	}
	return copies, nil
}

// Accepts reports whether the inputs have the types that the program was
// planned for.
func (m *Machine) Accepts(inputs []*tensor.T) bool {
	if len(inputs) != len(m.program.Inputs) {
		return false
	}
	for i, t := range inputs {
		if t == nil || !typeOf(t).Equal(m.program.Buffers[m.program.Inputs[i].Buffer].Type) {
			return false
		}
	}
	return true
}

// aligned copies what can't be read in place.
func aligned(inputs []*tensor.T) []*tensor.T {
	out := inputs
	for i, t := range inputs {
		if tensor.Aligned(t.DType, t.Data) {
			continue
		}
		if &out[0] == &inputs[0] {
			out = append([]*tensor.T{}, inputs...)
		}
		out[i] = t.Clone()
	}
	return out
}

func (m *Machine) newOutputs() []*tensor.T {
	out := make([]*tensor.T, len(m.program.Outputs))
	for i, port := range m.program.Outputs {
		t := m.program.Buffers[port.Buffer].Type
		out[i] = tensor.New(t.DType, t.Shape...)
	}
	return out
}

// run runs all streams to their end, each on a goroutine of its own but for the
// first, which has the caller's. Where that would cost more than it gains, all
// of them take turns on the caller's.
func (f *frame) run(ctx context.Context) error {
	if ctx.Done() != nil {
		ended := make(chan struct{})
		cancel := context.AfterFunc(ctx, func() {
			f.stop(-1, ctx.Err())
			close(ended)
		})
		defer func() {
			if !cancel() {
				<-ended // its goroutine must not outlive the run, nor stop the next
			}
		}()
	}
	if f.m.serial {
		f.takeTurns()
	} else {
		f.together()
	}
	f.failure.mu.Lock()
	defer f.failure.mu.Unlock()
	return f.failure.err
}

// together runs the streams at the same time.
func (f *frame) together() {
	var others sync.WaitGroup
	for s := 1; s < len(f.streams); s++ {
		others.Go(func() { f.streams[s].run(true) })
	}
	f.streams[0].run(true)
	others.Wait()
}

// takeTurns runs each stream as far as it gets without waiting, again and
// again. The verifier has shown that there is always one that gets on.
func (f *frame) takeTurns() {
	for more := true; more; {
		more = false
		for i := range f.streams {
			if s := &f.streams[i]; !s.done {
				s.run(false)
				more = more || !s.done
			}
		}
	}
}

// A failure is what ends a run before its time.
type failure struct {
	mu   sync.Mutex
	err  error
	task int // of err
}

// stop records an error and stops all streams before their next task. Of
// several errors that of the earliest task counts; a cancelled context, which
// is no task, comes before all.
func (f *frame) stop(task int, err error) {
	f.failure.mu.Lock()
	if f.failure.err == nil || task < f.failure.task {
		f.failure.err, f.failure.task = err, task
	}
	f.failure.mu.Unlock()
	f.events.stop()
}
