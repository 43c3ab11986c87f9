package vm

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

func badInput(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-input", Message: sprintf(format, args...)}
}

// checkInputs compares inputs with what the program was planned for.
func (m *Machine) checkInputs(inputs []*tensor.T) error {
	return m.checkPorts("input", m.program.Inputs, "takes", inputs)
}

// Check says what RunInto would refuse of tensors; nil: nothing.
func (m *Machine) Check(inputs, outputs []*tensor.T) error {
	if err := m.checkInputs(inputs); err != nil {
		return err
	}
	return m.checkOutputs(inputs, outputs)
}

// checkOutputs compares the memory for outputs with what the program makes, and
// refuses memory that is given twice, and that of weights.
func (m *Machine) checkOutputs(inputs, outputs []*tensor.T) error {
	if err := m.checkPorts("output", m.program.Outputs, "makes", outputs); err != nil {
		return err
	}
	for i, t := range outputs {
		if err := m.checkHeld(i, t); err != nil {
			return err
		}
	}
	return m.checkOverlap(inputs, outputs)
}

// holdWeights lists the memory of the weights, which no run may write.
func (m *Machine) holdWeights() {
	var all []span
	for i, t := range m.weights {
		if len(t.Data) > 0 {
			all = append(all, spanOf(t, false, i))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.port, b.port)) })
	for _, s := range all {
		if last := len(m.held) - 1; last >= 0 && s.from < m.held[last].to {
			m.held[last].to = max(m.held[last].to, s.to)
		} else {
			m.held = append(m.held, s)
		}
	}
}

// checkHeld refuses the memory of a weight for an output: all runs read it.
func (m *Machine) checkHeld(i int, t *tensor.T) error {
	if len(t.Data) == 0 || len(m.held) == 0 {
		return nil
	}
	o := spanOf(t, false, i)
	first, _ := slices.BinarySearchFunc(m.held, o.from, func(s span, from uintptr) int { return cmp.Compare(s.to, from+1) })
	if first < len(m.held) && m.held[first].from < o.to {
		return badInput("%s shares memory with weight %s", m.portName(&o), m.program.Weights[m.held[first].port].Name)
	}
	return nil
}

func (m *Machine) checkPorts(what string, ports []bytecode.Port, verb string, ts []*tensor.T) error {
	if len(ts) != len(ports) {
		return badInput("%s %s %d %ss, got %d", m.program.Name, verb, len(ports), what, len(ts))
	}
	for i, t := range ts {
		if t == nil {
			return badInput("%s %s is missing", what, ports[i].Name)
		}
		want := m.program.Buffers[ports[i].Buffer].Type
		if got := typeOf(t); !got.Equal(want) {
			return badInput("%s %s is %s, but must be %s", what, ports[i].Name, got, want)
		}
		if !whole(t) {
			return badInput("%s %s is %s, but has %d bytes", what, ports[i].Name, want, len(t.Data))
		}
	}
	return nil
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

// unaligned counts the bytes of tensors that can't be read or written in place.
func unaligned(ts []*tensor.T) (bytes int64) {
	for _, t := range ts {
		if !tensor.Aligned(t.DType, t.Data) {
			bytes += int64(len(t.Data))
		}
	}
	return bytes
}

// A span is the memory of an input or output.
type span struct {
	from, to uintptr
	input    bool
	port     int
}

func spanOf(t *tensor.T, input bool, port int) span {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))
	return span{from, from + uintptr(len(t.Data)), input, port}
}

func (m *Machine) portName(s *span) string {
	if s.input {
		return "input " + m.program.Inputs[s.port].Name
	}
	return "output " + m.program.Outputs[s.port].Name
}

// checkOverlap goes through the memory of all ports in its order. Inputs may
// share theirs.
func (m *Machine) checkOverlap(inputs, outputs []*tensor.T) error {
	var few [16]span
	spans := few[:0]
	if len(inputs)+len(outputs) > len(few) {
		list := m.spans.Get().(*[]span)
		defer m.spans.Put(list)
		*list = slices.Grow((*list)[:0], len(inputs)+len(outputs))
		spans = *list
	}
	for i, t := range outputs {
		if len(t.Data) > 0 {
			spans = append(spans, spanOf(t, false, i))
		}
	}
	for i, t := range inputs {
		if len(t.Data) > 0 {
			spans = append(spans, spanOf(t, true, i))
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.port, b.port)) })
	// Of those before, the one that reaches furthest, and of the outputs.
	var any, output *span
	for i := range spans {
		s := &spans[i]
		before := any
		if s.input {
			before = output
		}
		if before != nil && before.to > s.from {
			return m.overlap(before, s)
		}
		if any == nil || s.to > any.to {
			any = s
		}
		if !s.input && (output == nil || s.to > output.to) {
			output = s
		}
	}
	return nil
}

func (m *Machine) overlap(a, b *span) error {
	if a.input || !b.input && b.port < a.port {
		a, b = b, a
	}
	return badInput("%s shares memory with %s", m.portName(a), m.portName(b))
}

func newSpans() sync.Pool { return sync.Pool{New: func() any { return new([]span) }} }

// A binding holds aligned copies of tensors that can't be used in place.
type binding struct {
	in, out []*tensor.T // nil: all can
}

// inputs copies what can't be read in place.
func (b *binding) inputs(given []*tensor.T) []*tensor.T {
	b.in = replaced(given)
	if b.in == nil {
		return given
	}
	for i, t := range given {
		if b.in[i] != t {
			copy(b.in[i].Data, t.Data)
		}
	}
	return b.in
}

// outputs finds memory for what can't be written in place.
func (b *binding) outputs(given []*tensor.T) []*tensor.T {
	b.out = replaced(given)
	if b.out == nil {
		return given
	}
	return b.out
}

// copyOut brings outputs that were written elsewhere to their place.
func (b *binding) copyOut(given []*tensor.T) {
	for i, t := range b.out {
		if t != given[i] {
			copy(given[i].Data, t.Data)
		}
	}
}

// replaced is a list with new tensors for those that are not aligned; nil if
// all are.
func replaced(ts []*tensor.T) []*tensor.T {
	if unaligned(ts) == 0 {
		return nil
	}
	out := slices.Clone(ts)
	for i, t := range ts {
		if !tensor.Aligned(t.DType, t.Data) {
			out[i] = tensor.New(t.DType, t.Shape...)
		}
	}
	return out
}
