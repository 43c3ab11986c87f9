package vm

import (
	"context"
	"sync"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Run computes the program's outputs, new tensors that belong to the caller.
// The inputs, one for each of the program's in their order, are read until Run
// returns. The error is a *diag.Diagnostic of code bad-input, an *Error, or
// that of the context.
func (m *Machine) Run(ctx context.Context, inputs []*tensor.T) ([]*tensor.T, error) {
	inputs, err := m.checkInputs(inputs)
	if err != nil {
		return nil, err
	}
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.runs.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := m.take(ctx)
	if err != nil {
		return nil, err
	}
	defer m.give(f)
	outputs := m.newOutputs()
	f.attach(bytecode.InputSpace, inputs)
	f.attach(bytecode.OutputSpace, outputs)
	if err := m.streams(ctx, f); err != nil {
		return nil, err
	}
	return outputs, nil
}

// enter counts a run, unless the machine is closed. The lock keeps Close from
// waiting between the look and the count.
func (m *Machine) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.closed:
		return errClosed
	default:
		m.runs.Add(1)
		return nil
	}
}

func badInput(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-input", Message: sprintf(format, args...)}
}

// checkInputs compares inputs with what the program was planned for. One that
// can't be read in place is copied.
func (m *Machine) checkInputs(inputs []*tensor.T) ([]*tensor.T, error) {
	ports := m.program.Inputs
	if len(inputs) != len(ports) {
		return nil, badInput("%s takes %d inputs, got %d", m.program.Name, len(ports), len(inputs))
	}
	out := make([]*tensor.T, len(inputs))
	for i, t := range inputs {
		if t == nil {
			return nil, badInput("input %s is missing", ports[i].Name)
		}
		want := m.program.Buffers[ports[i].Buffer].Type
		if got := typeOf(t); !got.Equal(want) {
			return nil, badInput("input %s is %s, but must be %s", ports[i].Name, got, want)
		}
		if !whole(t) {
			return nil, badInput("input %s is %s, but has %d bytes", ports[i].Name, want, len(t.Data))
		}
		out[i] = alignedCopy(t)
	}
	return out, nil
}

func (m *Machine) newOutputs() []*tensor.T {
	out := make([]*tensor.T, len(m.program.Outputs))
	for i, port := range m.program.Outputs {
		t := m.program.Buffers[port.Buffer].Type
		out[i] = tensor.New(t.DType, t.Shape...)
	}
	return out
}

// streams runs all streams to their end: the first on the caller's goroutine,
// each other on one of its own.
func (m *Machine) streams(ctx context.Context, f *frame) error {
	r := &run{m: m, f: f}
	f.events.begin()
	if ctx.Done() != nil {
		ended := make(chan struct{})
		cancel := context.AfterFunc(ctx, func() {
			r.stop(-1, ctx.Err())
			close(ended)
		})
		defer func() {
			if !cancel() {
				<-ended // its goroutine must not outlive the run, nor stop the next
			}
		}()
	}
	code := m.code[0]
	var others sync.WaitGroup
	for s := 1; s < len(code); s++ {
		others.Go(func() { r.stream(s) })
	}
	if len(code) > 0 {
		r.stream(0)
	}
	others.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// A run is the state that the streams of one run share.
type run struct {
	m *Machine
	f *frame

	mu   sync.Mutex
	err  error
	task int // of err
}

// stop records an error and stops all streams before their next task. Of
// several errors that of the earliest task counts; a cancelled context, which
// is no task, comes before all.
func (r *run) stop(task int, err error) {
	r.mu.Lock()
	if r.err == nil || task < r.task {
		r.err, r.task = err, task
	}
	r.mu.Unlock()
	r.f.events.stop()
}
