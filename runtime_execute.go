package npu

import (
	"context"
	"slices"
	"time"
)

// An Execution says how an operator was executed.
type Execution struct {
	Op      string          // the operator's name in the table: matmul
	Kernel  string          // the implementation that was selected: matmul/any/reference
	Kind    string          // what it is: reference, generic or fast
	Unit    string          // the hardware unit: cube, vector, scalar or dma
	Device  string          // the name of the device
	Outputs []*DeviceTensor // those that were given, or new ones
	Times   Times
}

// Times is how long each phase of an execution took.
type Times struct {
	Checked   time.Duration // operator and tensors were looked up
	Inferred  time.Duration // the types of the results were worked out and compared
	Selected  time.Duration // an implementation was chosen
	Submitted time.Duration // the work was handed to the stream
	Returned  time.Duration // it was done, and the call returned; includes what was queued before
}

// An Operation is one entry of a batch.
type Operation struct {
	Op      string
	Inputs  []*DeviceTensor
	Outputs []*DeviceTensor // nil: new ones
	Attrs   []Attr
}

// Execute runs an operator on the default stream of the current device, behind what
// was submitted to it before, and waits for it. The operator is named as npu ops
// lists it, or in the style of ONNX (bias_add, BiasAdd); a nil input leaves an
// optional argument out. Outputs are tensors of the right type, or nil for new
// ones; an output may be an input too. What outputs hold after an error is not
// defined. The error is a Diagnostics: of the call, before anything is submitted,
// or of its execution, which does not stick to the stream.
//
// A call that comes again with the same types and attributes allocates nothing
// if outputs are given and the stream has no other work.
func (rt *Runtime) Execute(op string, inputs, outputs []*DeviceTensor, attrs ...Attr) (Execution, error) {
	w := work{s: rt.here().standard, what: op, inputs: inputs, outputs: outputs}
	if err := w.prepare(attrs); err != nil {
		return Execution{}, err
	}
	inline, err := w.s.enter()
	switch {
	case err != nil:
		w.release(true)
		return Execution{}, located(err)
	case !inline:
		queued := w.clone()
		l, err := queued.submit(false)
		if err != nil {
			return Execution{}, err
		}
		return l.Wait(context.Background())
	}
	rt.order.note(w.s, op, inputs, w.outputs)
	w.lap(&w.times.Submitted)
	err = w.runHere()
	w.s.exit()
	w.release(err != nil)
	w.lap(&w.times.Returned)
	if err != nil {
		return Execution{}, w.s.wrap(&job{what: op, site: here()}, err)
	}
	rt.order.seen(rt.order.now(w.s))
	return w.execution(), nil
}

// Execute submits an operator to the stream, as Runtime.Execute does, and
// returns. The outputs may be handed to work that is submitted to the same stream
// at once, to other streams' behind an event.
func (s *Stream) Execute(op string, inputs, outputs []*DeviceTensor, attrs ...Attr) (*Launch, error) {
	w := &work{s: s, what: op, inputs: slices.Clone(inputs), outputs: slices.Clone(outputs)}
	if err := w.prepare(attrs); err != nil {
		return nil, err
	}
	return w.submit(true)
}

// ExecuteBatch runs operations one after the other, as Execute does each. All are
// checked before any is submitted, and the error lists the mistakes of all.
func (rt *Runtime) ExecuteBatch(ops []Operation) ([]Execution, error) {
	launches, err := rt.here().standard.batch(ops, false)
	done := make([]Execution, len(launches))
	for i, l := range launches {
		var failed error
		if done[i], failed = l.Wait(context.Background()); failed != nil && err == nil {
			err = failed
		}
	}
	if err == nil {
		return done, nil
	}
	for i, e := range done {
		if e.Op != "" && launches[i].w.made {
			for _, t := range e.Outputs {
				_ = t.Free() // the caller does not get it
			}
		}
	}
	return nil, err
}

// ExecuteBatch submits operations to the stream in their order. All are checked
// before any is submitted, and the error lists the mistakes of all.
func (s *Stream) ExecuteBatch(ops []Operation) ([]*Launch, error) { return s.batch(ops, true) }

func (s *Stream) batch(ops []Operation, sticks bool) ([]*Launch, error) {
	var wrong Diagnostics
	works := make([]*work, 0, len(ops))
	for _, o := range ops {
		w := &work{s: s, what: o.Op, inputs: slices.Clone(o.Inputs), outputs: slices.Clone(o.Outputs)}
		if err := w.prepare(o.Attrs); err != nil {
			wrong = append(wrong, asDiagnostics(err)...)
			continue
		}
		works = append(works, w)
	}
	if len(wrong) > 0 {
		for _, w := range works {
			w.release(true)
		}
		return nil, wrong
	}
	launches := make([]*Launch, 0, len(works))
	for i, w := range works {
		l, err := w.submit(sticks)
		if err != nil {
			for _, w := range works[i+1:] {
				w.release(true)
			}
			return launches, err
		}
		launches = append(launches, l)
	}
	return launches, nil
}
