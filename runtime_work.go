package npu

import (
	"fmt"
	"slices"
	"time"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A work is an operation on its way through the phases.
type work struct {
	s       *Stream
	what    string // the operator as the caller wrote it
	p       *prepared
	inputs  []*DeviceTensor
	outputs []*DeviceTensor
	made    bool            // outputs are new
	beside  []*DeviceTensor // where an output that is also an input is computed first; nil: there is none
	start   time.Time       // of the phase under way
	times   Times
}

// lap ends a phase.
func (w *work) lap(d *time.Duration) {
	now := time.Now()
	*d += now.Sub(w.start)
	w.start = now
}

// prepare goes through the phases before the work is submitted. It holds the
// tensors, unless it fails.
func (w *work) prepare(attrs []Attr) error {
	w.start = time.Now()
	if err := w.s.rt.check(w.what); err != nil {
		return err
	}
	op, err := findOperator(w.what)
	if err != nil {
		return located(err)
	}
	if err := w.hold(); err != nil {
		return located(err)
	}
	w.lap(&w.times.Checked)
	p, key := w.s.rt.calls.find(op, w.inputs, attrs)
	known := p != nil
	if !known {
		if p, err = infer(op, w.inputs, attrs); err != nil {
			return w.refuse(callError(w.what, op, w.inputs, err))
		}
	}
	w.p = p
	if err := w.place(); err != nil {
		return w.refuse(err)
	}
	w.lap(&w.times.Inferred)
	if !known {
		if err := p.selectKernel(&w.s.rt.kernels); err != nil {
			return w.refuse(callError(w.what, op, w.inputs, err))
		}
		w.s.rt.calls.add(key, p)
	}
	if err := w.makeBeside(); err != nil {
		return w.refuse(err)
	}
	if err := w.s.rt.order.allows(w.s, w.what, w.inputs, w.outputs); err != nil {
		return w.refuse(err)
	}
	w.lap(&w.times.Selected)
	return nil
}

// refuse gives up what was held for the work.
func (w *work) refuse(err error) error {
	w.release(true)
	return located(err)
}

// hold takes the inputs and the outputs that were given, or none.
func (w *work) hold() error {
	for i, list := range [][]*DeviceTensor{w.inputs, w.outputs} {
		for j, t := range list {
			if err := w.holdOne(t, i == 1, j); err != nil {
				dropAll(list[:j])
				if i == 1 {
					dropAll(w.inputs)
				}
				return err
			}
		}
	}
	return nil
}

func (w *work) holdOne(t *DeviceTensor, output bool, i int) error {
	side := "input"
	if output {
		side = "output"
	}
	switch {
	case t == nil && output:
		return faults("wrong-arguments", w.what, "output %d is nil", i)
	case t == nil:
		return nil
	case t.rt != w.s.rt:
		return faults("wrong-arguments", w.what, "%s belongs to another runtime", w.name(t, side, i))
	case t.dev != w.s.dev:
		ds := faults("wrong-arguments", w.what, "%s is on device %s, but the stream works on %s", w.name(t, side, i), t.dev.row.Name, w.s.dev.row.Name)
		ds[0].Helps = []string{"copy it to the device with Stream.Copy"}
		return ds
	case output && slices.Contains(w.outputs[:i], t):
		return faults("wrong-arguments", w.what, "%s is given twice", w.name(t, side, i))
	case !t.hold():
		return faults("use-after-free", w.what, "%s is freed", w.name(t, side, i))
	}
	return nil
}

func (w *work) name(t *DeviceTensor, side string, i int) string {
	if name := t.Name(); name != "" {
		return side + " " + name
	}
	return fmt.Sprintf("%s %d", side, i)
}

func dropAll(list []*DeviceTensor) {
	for _, t := range list {
		if t != nil {
			t.drop()
		}
	}
}

// place compares the outputs with the results' types, or makes them.
func (w *work) place() error {
	if w.outputs == nil {
		return w.makeOutputs()
	}
	if n := len(w.p.out); n != len(w.outputs) {
		return faults("wrong-arguments", w.what, "has %s, but %s are given", counted(n, "result"), counted(len(w.outputs), "output"))
	}
	for i, t := range w.outputs {
		if want := &w.p.out[i]; !sameType(&t.t, want) {
			code := "shape-mismatch"
			if t.t.DType != want.DType {
				code = "dtype-mismatch"
			}
			return faults(code, w.what, "%s is %s, but the result is %s", w.name(t, "output", i), typeText(&t.t), typeText(want))
		}
	}
	return nil
}

func (w *work) makeOutputs() error {
	w.made, w.outputs = true, make([]*DeviceTensor, 0, len(w.p.out))
	for i := range w.p.out {
		t, err := w.newHeld(&w.p.out[i])
		if err != nil {
			return err
		}
		w.outputs = append(w.outputs, t)
	}
	return nil
}

func (w *work) newHeld(typ *tensor.T) (*DeviceTensor, error) {
	t, err := w.s.rt.newTensor(w.s.dev, typ.DType, typ.Shape)
	if err != nil {
		ds := asDiagnostics(err)
		ds[0].Subject = w.what
		return nil, ds
	}
	t.hold()
	return t, nil
}

// makeBeside finds memory for outputs that are inputs too, unless the operator
// can compute its result in that input's place.
func (w *work) makeBeside() error {
	if w.made {
		return nil
	}
	for i, t := range w.outputs {
		at := slices.Index(w.inputs, t)
		if at < 0 || !slices.Contains(w.inputs[at+1:], t) && w.p.places[at] != nil {
			continue
		}
		if w.beside == nil {
			w.beside = make([]*DeviceTensor, len(w.outputs))
		}
		b, err := w.newHeld(&t.t)
		if err != nil {
			return err
		}
		w.beside[i] = b
	}
	return nil
}

// run computes the results.
func (w *work) run(s *Stream) error {
	s.in, s.out = s.in[:0], s.out[:0]
	for _, t := range w.inputs {
		if t != nil { // an argument that is absent
			s.in = append(s.in, &t.t)
		}
	}
	for i, t := range w.outputs {
		if w.beside != nil && w.beside[i] != nil {
			t = w.beside[i]
		}
		s.out = append(s.out, &t.t)
	}
	s.budget.Reset(0) // an operator that failed may not have given back all
	s.exec.Budget = &s.budget
	if err := w.kernel().Do(&s.exec, 0, 1, s.out, s.in); err != nil {
		return err
	}
	for i, b := range w.beside {
		if b != nil {
			copy(w.outputs[i].t.Data, b.t.Data)
		}
	}
	return nil
}

// kernel is the one that computes where the outputs are.
func (w *work) kernel() *kernel.Prepared {
	if w.beside == nil {
		for _, t := range w.outputs {
			if at := slices.Index(w.inputs, t); at >= 0 {
				return w.p.places[at]
			}
		}
	}
	return w.p.apart
}

// release ends what the work holds; outputs that were made for a work that
// failed go.
func (w *work) release(failed bool) {
	dropAll(w.inputs)
	for _, t := range w.outputs {
		t.drop()
		if failed && w.made {
			_ = t.Free() // nobody else has seen it
		}
	}
	for _, t := range w.beside {
		if t != nil {
			t.drop()
			_ = t.Free()
		}
	}
}

func (w *work) clone() *work {
	c := *w
	c.inputs, c.outputs = slices.Clone(w.inputs), slices.Clone(w.outputs)
	return &c
}

func (w *work) execution() Execution {
	return Execution{
		Op: w.p.op.Name, Kernel: w.p.apart.Name, Kind: w.p.apart.Kind.String(), Unit: w.p.unit(w.s.dev.row),
		Device: w.s.dev.row.Name, Outputs: w.outputs, Times: w.times,
	}
}

// runHere runs the work on the caller's goroutine.
func (w *work) runHere() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = faults("internal", w.what, "panic: %v", p)
		}
	}()
	return w.run(w.s)
}
