package bytecode

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Verify proves that running p is safe, and does not trust whoever planned it:
//
//   - every buffer lies inside its space and has the size of its type;
//   - every operand has the type that its kernel was bound to;
//   - every read finds exactly the bytes that were last written to that buffer, in
//     every order in which the streams may run (a view counts as what it views: of
//     two that overlap, that the right one was written last is the planner's word);
//   - no two accesses of one byte, one of them a write, are without order;
//   - every wait is for an event that is posted, and no stream waits for ever;
//   - bodies form a tree, each is run from one place, and touches nothing but
//     its frame and what it declares;
//   - every loop has a limit or a condition; every output is written.
//
// It takes time in proportion to n log n for n operands. The error is a
// *diag.Diagnostic of code bad-bytecode that names both parties.
func Verify(p *Program) error {
	v := &verifier{p: p, places: make([]segments, len(p.Buffers))}
	for _, check := range []func() error{v.tables, v.addresses, v.shape, v.code} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// A verifier holds what the checks of one program share.
type verifier struct {
	p      *Program
	base   [4][]int64 // where each slot of each space begins in one line of addresses
	depth  []int      // of bodies
	places []segments // by buffer, in the function that is followed
}

// tables checks every table by itself.
func (v *verifier) tables() error {
	p := v.p
	if p.Arena < 0 || p.Arena > MaxBytes || p.Align < 1 || p.Align > 1<<20 || p.Align&(p.Align-1) != 0 {
		return fault(diag.Loc{}, "", "an arena of %d bytes aligned to %d is not possible", p.Arena, p.Align)
	}
	for i := range p.Kernels {
		if err := checkKernel(i, &p.Kernels[i]); err != nil {
			return err
		}
	}
	for i, w := range p.Weights {
		n, ok := w.Type.SizeBytes()
		if !ok || w.Data != nil && int64(len(w.Data)) != n {
			return fault(diag.Loc{}, "", "weight %q has %d bytes, and the type %s", w.Name, len(p.Weights[i].Data), w.Type)
		}
	}
	if err := v.ports(p.Inputs, InputSpace); err != nil {
		return err
	}
	if err := v.ports(p.Outputs, OutputSpace); err != nil {
		return err
	}
	for b := range p.Buffers {
		if err := v.buffer(b); err != nil {
			return err
		}
	}
	return nil
}

func checkKernel(i int, k *Kernel) error {
	for _, t := range k.In {
		if _, ok := t.SizeBytes(); !ok && t.DType != tensor.Invalid {
			return fault(diag.Loc{}, "", "kernel k%d has an argument of the type %s", i, t)
		}
	}
	for _, t := range k.Out {
		if _, ok := t.SizeBytes(); !ok {
			return fault(diag.Loc{}, "", "kernel k%d has a result of the type %s", i, t)
		}
	}
	return checkInPlace(i, k)
}

// checkInPlace checks that result 0 fits the argument in whose place it is made.
func checkInPlace(i int, k *Kernel) error {
	switch at := k.InPlace; {
	case at == Absent:
	case at < 0 || at >= len(k.In) || len(k.Out) == 0:
		return fault(diag.Loc{}, "", "kernel k%d (%s) computes in place of argument %d, and has %d arguments and %d results", i, k.Op, at, len(k.In), len(k.Out))
	case !k.In[at].Equal(k.Out[0]):
		return fault(diag.Loc{}, "", "kernel k%d (%s) computes a result of the type %s in place of argument %d, which has type %s", i, k.Op, k.Out[0], at, k.In[at])
	}
	return nil
}

// ports checks that input or output i is the whole of slot i.
func (v *verifier) ports(ports []Port, space Space) error {
	for i, port := range ports {
		if port.Buffer < 0 || port.Buffer >= len(v.p.Buffers) {
			return fault(diag.Loc{}, "", "%s %s has no buffer", space, port.Name)
		}
		b := &v.p.Buffers[port.Buffer]
		if b.Space != space || b.Slot != i || b.Offset != 0 {
			return fault(diag.Loc{}, "", "%s %s is not the whole of slot %d: %s", space, port.Name, i, v.label(port.Buffer))
		}
	}
	return nil
}

// slots is how many slots a space has.
func (v *verifier) slots(s Space) int {
	return [...]int{InputSpace: len(v.p.Inputs), OutputSpace: len(v.p.Outputs), WeightSpace: len(v.p.Weights), ArenaSpace: 1}[s]
}

// slotSize is the bytes of a slot. Ports have been checked to lie at offset 0.
func (v *verifier) slotSize(s Space, slot int) int64 {
	switch s {
	case InputSpace:
		return v.p.Buffers[v.p.Inputs[slot].Buffer].Size
	case OutputSpace:
		return v.p.Buffers[v.p.Outputs[slot].Buffer].Size
	case WeightSpace:
		n, _ := v.p.Weights[slot].Type.SizeBytes()
		return n
	}
	return v.p.Arena
}

func (v *verifier) buffer(i int) error {
	b := &v.p.Buffers[i]
	n, ok := b.Type.SizeBytes()
	if !ok || n != b.Size {
		return fault(diag.Loc{}, "", "%s has %d bytes, but its type %s has %d", v.label(i), b.Size, b.Type, n)
	}
	if b.Space > ArenaSpace || b.Slot < 0 || b.Slot >= v.slots(b.Space) {
		return fault(diag.Loc{}, "", "%s lies in a slot that is not there: %s %d", v.label(i), b.Space, b.Slot)
	}
	if size := v.slotSize(b.Space, b.Slot); b.Offset < 0 || b.Offset > size-b.Size {
		return fault(diag.Loc{}, "", "%s ends at %d, outside of the %s, which has %d bytes", v.label(i), b.Offset+b.Size, b.Space, size)
	}
	if b.Offset%int64(b.Type.DType.Size()) != 0 {
		return fault(diag.Loc{}, "", "%s begins at %d, where no element of type %s can lie", v.label(i), b.Offset, b.Type.DType)
	}
	if b.Base < 0 {
		if b.Space == ArenaSpace && b.Offset%v.p.Align != 0 {
			return fault(diag.Loc{}, "", "%s begins at %d, not at a multiple of %d", v.label(i), b.Offset, v.p.Align)
		}
		return nil
	}
	return v.view(i)
}

// view checks that a view lies inside the buffer that it views.
func (v *verifier) view(i int) error {
	b := &v.p.Buffers[i]
	if b.Base >= len(v.p.Buffers) || v.p.Buffers[b.Base].Base >= 0 {
		return fault(diag.Loc{}, "", "%s views %s, which is no buffer of its own", v.label(i), v.label(b.Base))
	}
	base := &v.p.Buffers[b.Base]
	if b.Space != base.Space || b.Slot != base.Slot || b.Offset < base.Offset || b.Offset+b.Size > base.Offset+base.Size {
		return fault(diag.Loc{}, "", "%s is a view that lies outside of %s", v.label(i), v.label(b.Base))
	}
	return nil
}

// addresses lays all slots out in one line, so that a byte is one number.
func (v *verifier) addresses() error {
	next := int64(0)
	for s := InputSpace; s <= ArenaSpace; s++ {
		v.base[s] = make([]int64, v.slots(s))
		for i := range v.base[s] {
			v.base[s][i] = next
			if next += v.slotSize(s, i); next > 1<<60 {
				return fault(diag.Loc{}, "", "the program's buffers have more than %d bytes together", int64(1)<<60)
			}
		}
	}
	return nil
}

// span is the addresses [lo, hi) of a buffer.
func (v *verifier) span(b int) (lo, hi int64) {
	x := &v.p.Buffers[b]
	lo = v.base[x.Space][x.Slot] + x.Offset
	return lo, lo + x.Size
}

// label names a buffer for a message: b5 (%u).
func (v *verifier) label(b int) string {
	if b < 0 || b >= len(v.p.Buffers) || v.p.Buffers[b].Name == "" {
		return fmt.Sprintf("b%d", b)
	}
	return fmt.Sprintf("b%d (%s)", b, v.p.Buffers[b].Name)
}

// sortedEqual reports whether two lists hold the same buffers.
func sortedEqual(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
