package lower

import (
	"fmt"

	"github.com/npulang/npu/ir"
)

// finish gives each result of the function a buffer of its own, in which it is
// made where that is possible: the memory of a value can be one output only,
// and that of inputs and weights none.
func (b *builder) finish() error {
	p := b.plan
	for i, v := range b.f.Results {
		id, err := b.lookup(v)
		if err != nil {
			return err
		}
		r := p.Root(id)
		switch {
		case b.loop:
			id = b.keep(i, id)
		case p.Buffers[r].Space == Arena && p.Buffers[r].First >= 0 && p.isWhole(id):
			p.Buffers[r].Space, p.Buffers[r].Slot = Output, i
			p.Buffers[id].Space, p.Buffers[id].Slot = Output, i
		default:
			id = b.copy(id, Buffer{Space: Output, Slot: i}, v)
		}
		p.Outputs = append(p.Outputs, Port{b.resultName(i), id})
	}
	// Views of a base that became an output lie there too.
	for i := range p.Buffers {
		if base := p.Buffers[i].Base; base >= 0 {
			p.Buffers[i].Space, p.Buffers[i].Slot = p.Buffers[base].Space, p.Buffers[base].Slot
		}
	}
	return nil
}

func (b *builder) resultName(i int) string {
	if i < len(b.f.ResultNames) {
		return b.f.ResultNames[i]
	}
	return fmt.Sprintf("out%d", i)
}

// keep makes a result of a loop's body last until the end of the body, when it
// is copied to where the next round or the caller finds it. A carried value
// that moves to another place (h, c = c, h) is copied before: its own place may
// be overwritten by then.
func (b *builder) keep(i, id int) int {
	p := b.plan
	r := &p.Buffers[p.Root(id)]
	first := 0 // the first carried parameter
	if b.count {
		first = 1
	}
	if moved := r.Slot - first; r.Space == Input && moved >= 0 && moved < p.carry && moved != i && i < p.carry {
		id = b.copy(id, Buffer{Space: Arena}, b.f.Results[i])
	}
	p.extend(id, forever)
	return id
}

// copy adds a task that copies a buffer into a new one.
func (b *builder) copy(from int, to Buffer, v *ir.Value) int {
	p := b.plan
	to.Type, to.Name, to.First = p.Buffers[from].Type, p.Buffers[from].Name, len(p.Tasks)
	id := b.buffer(to)
	b.copyTo(from, id, v)
	return id
}

// copyTo adds a task that copies a buffer to another.
func (b *builder) copyTo(from, to int, v *ir.Value) {
	p := b.plan
	at, n := len(p.Tasks), p.Buffers[from].Size
	p.extend(from, at)
	p.extend(to, at)
	p.Tasks = append(p.Tasks, Task{
		Name: "copy", Unit: ir.DMA, In: []int{from}, Out: []int{to},
		Cost: ir.Cost{In: n, Out: n}, Pos: v.Pos, Post: -1,
	})
}
