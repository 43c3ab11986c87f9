package vm

import (
	"sync/atomic"

	"github.com/npulang/npu/codegen/bytecode"
)

// Under Options.Poison a run fills memory that holds nothing with bytes of all
// ones, which are NaN in every float and no index anywhere: the arena before it
// begins, and each buffer after the last instruction that touches it. So a program
// that reads what was freed gives results that show it.

const poison = 0xff

// A poisoner counts how often each buffer of a run is still to be touched.
type poisoner struct {
	left []atomic.Int32 // by root buffer; nil: nobody asks
}

func (u *poisoner) init(m *Machine) {
	if m.touches != nil {
		u.left = make([]atomic.Int32, len(m.touches))
	}
}

func (u *poisoner) begin(f *frame) {
	if u.left == nil {
		return
	}
	for i, n := range f.m.touches {
		u.left[i].Store(n)
	}
	if f.arena != nil {
		fill(f.arena.data[:f.m.arena])
	}
}

// touched is called after a step of the program itself, not of its bodies.
func (f *frame) touched(st *step) {
	for _, b := range st.touches {
		if f.tensors[b].Data == nil {
			continue
		}
		if f.uses.left[b].Add(-1) == 0 {
			f.bury(st, b)
		}
	}
}

// bury fills a buffer that nothing will touch again, unless the step has just
// written a result there: in the place of an argument.
func (f *frame) bury(st *step, b int) {
	dead := &f.m.program.Buffers[b]
	for _, o := range st.touches {
		other := &f.m.program.Buffers[o]
		if o != b && other.Offset < dead.Offset+dead.Size && dead.Offset < other.Offset+other.Size {
			return
		}
	}
	fill(f.tensors[b].Data)
}

func fill(data []byte) {
	for i := range data {
		data[i] = poison
	}
}

// findTouches lists for each step of the program the root buffers in the arena
// that it touches, those of its bodies among them, and counts them.
func (m *Machine) findTouches() {
	p := m.program
	m.touches = make([]int32, len(p.Buffers))
	for s := range m.code[0] {
		for i := range m.code[0][s] {
			st := &m.code[0][s][i]
			seen := map[int]bool{}
			add := func(bs ...int) {
				for _, b := range bs {
					if b < 0 {
						continue
					}
					if base := p.Buffers[b].Base; base >= 0 {
						b = base
					}
					if p.Buffers[b].Space == bytecode.ArenaSpace && !seen[b] {
						seen[b] = true
						st.touches = append(st.touches, b)
						m.touches[b]++
					}
				}
			}
			add(st.Out...)
			add(st.In...)
			for _, body := range st.Bodies {
				if body != bytecode.NoBody {
					g := &p.Functions[body]
					add(g.Frame)
					add(g.Reads...)
					add(g.Writes...)
				}
			}
		}
	}
}
