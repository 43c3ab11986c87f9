package strip

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/vec"
)

// Scratch is what runs of programs need on the way, one for each goroutine. The zero
// value is ready for use; it grows to what the largest program needs.
type Scratch struct {
	state  vec.State
	table  []vec.Operand
	blocks []vec.Block // a staged block for each view, then the temps
	laid   []vec.Block // so many for each view, of operands that are laid out
	last   *Program    // whose constants and temps are in the table
}

// fit makes the table that of a program. The entries of the views are set by Box.
func (s *Scratch) fit(p *Program) {
	if s.last == p {
		return
	}
	if n := len(p.elems) + p.temps; n > len(s.blocks) {
		s.blocks = vec.Aligned(n)
	}
	n := p.entries + 1 // one that stays is behind those that walk
	if n > cap(s.table) {
		s.table = make([]vec.Operand, n)
	}
	s.table = s.table[:n]
	s.table[n-1] = vec.Operand{}
	at := len(p.elems)
	for i := range p.consts {
		s.table[at+i] = vec.Stays(p.consts[i].Pointer())
	}
	at += len(p.consts)
	for i := range p.temps {
		s.table[at+i] = vec.Stays(s.stage(len(p.elems) + i).Pointer())
	}
	s.last = p
}

// stage is the block in which a view's elements are collected.
func (s *Scratch) stage(i int) *vec.Block { return &s.blocks[i] }

// lay makes room for the operands of n views.
func (s *Scratch) lay(n int) {
	if n*laid > len(s.laid) {
		s.laid = vec.Aligned(n * laid)
	}
}

// laidAt is where a view's elements are laid out.
func (s *Scratch) laidAt(i int) unsafe.Pointer { return s.laid[i*laid].Pointer() }

// clear lets go of the views' memory.
func (s *Scratch) clear(p *Program) { clear(s.table[:len(p.elems)]) }
