package npu

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/pages"
)

// Weights that the program has made of others are in memory as their operators left
// them. Kernels pack them, and read what they have packed:
//
//	w, a mapped file   =>   w.i8, in memory   =>   w.i8, packed
//	1200 MB                 300 MB                 300 MB
//
// So the memory in the middle is given back when the last kernel that asked for it has
// packed it, and runs do not read it otherwise. Whoever wants it later, for a plan of
// other sizes, for Save, for the interpreter, has it made anew of the file.
//
// What is made of large weights that lie in no file stays: its sources are not kept.

// heldWeights are the weights that can be made anew. The zero value has none.
type heldWeights struct {
	p      *Program
	byName map[string]*heldWeight
	byData map[*byte]*heldWeight
}

// A heldWeight is one of them. Its tensor stays the same, as does the address of its
// elements.
type heldWeight struct {
	name    string
	t       *Tensor
	group   []*ir.Value        // that makes it
	sources map[string]*Tensor // that the group reads

	mu      sync.Mutex
	users   int  // who pack it now
	pinned  bool // somebody reads its elements, also later
	dropped bool // they are not there
}

// leastHeld is from how many bytes on a weight is worth it; what is smaller may be kept to
// make others of it.
const leastHeld = 64 << 10

// holdMade notes which of the weights that were made can be made anew.
func (p *Program) holdMade(made map[string]*Tensor) {
	if p.plans.seldom == nil {
		return
	}
	h := heldWeights{p, map[string]*heldWeight{}, map[*byte]*heldWeight{}}
	results, shared := p.fn.MadeWeights(), map[*byte]int{}
	for _, t := range made {
		shared[unsafe.SliceData(t.Data)]++
	}
	for _, group := range weightGroups(p.fn.Weights) {
		sources := p.lastingSources(group)
		if sources == nil {
			continue
		}
		for _, v := range group {
			t, data := made[v.Name], (*byte)(nil)
			if t != nil && results[v.Name] == v && len(t.Data) >= leastHeld && !p.plans.seldom(t) {
				data = unsafe.SliceData(t.Data)
			}
			if data != nil && shared[data] == 1 {
				w := &heldWeight{name: v.Name, t: t, group: group, sources: sources}
				h.byName[w.name], h.byData[data] = w, w
			}
		}
	}
	p.held = h
}

// lastingSources are the weights that a group reads; nil: some that take memory worth
// having back do not lie in a file.
func (p *Program) lastingSources(group []*ir.Value) map[string]*Tensor {
	sources := map[string]*Tensor{}
	for _, v := range group {
		for _, a := range v.Args {
			if a == nil || a.Op != ir.Param {
				continue
			}
			t := p.weights[a.Key()]
			if t == nil || len(t.Data) >= leastHeld && !p.plans.seldom(t) {
				return nil
			}
			sources[a.Key()] = t
		}
	}
	return sources
}

// pin says that somebody reads a weight's elements from now on.
func (h *heldWeights) pin(name string) error {
	w := h.byName[name]
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pinned = true
	return h.restore(w)
}

// hold says that somebody packs a weight now. Packing has no errors: that the weight cannot
// be made again is a panic, which ends the making of the plan that asks for it.
func (h *heldWeights) hold(t *Tensor) {
	w := h.byData[unsafe.SliceData(t.Data)]
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := h.restore(w); err != nil {
		panic(err)
	}
	w.users++
}

// release says that a weight has been packed.
func (h *heldWeights) release(t *Tensor) {
	w := h.byData[unsafe.SliceData(t.Data)]
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users--
	if w.users == 0 && !w.pinned && !w.dropped {
		w.dropped = pages.Forget(w.t.Data)
	}
}

// restore makes a weight's elements anew, if they are not there. That has been possible
// before, so that it can fail only where the memory or the file is gone.
func (h *heldWeights) restore(w *heldWeight) error {
	if !w.dropped {
		return nil
	}
	m := newWeightMaking(h.p, &ir.Budget{Bytes: h.p.opts.MaxMemory}, w.group, h.p.fn.MadeWeights())
	m.find = func(name string) (*Tensor, error) { return w.sources[name], nil }
	if err := m.run(w.group); err != nil {
		return fmt.Errorf("weight %s cannot be made again: %w", w.name, err)
	}
	copy(w.t.Data, m.values[h.p.fn.MadeWeights()[w.name]].Data)
	w.dropped = false
	return nil
}
