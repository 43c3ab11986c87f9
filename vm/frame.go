package vm

import (
	"context"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/tensor"
)

// A frame is the memory of one run: the arena, a tensor for each buffer, and
// the operands of each instruction laid out, so that a run itself makes
// nothing but its outputs.
type frame struct {
	arena   []byte
	tensors []tensor.T   // by buffer
	args    []*tensor.T  // operands of all steps; see step.args
	outside [2][][]*port // by InputSpace and OutputSpace, and by slot: what shows it
	events  events
}

// A port is a tensor that shows a part of an input or output.
type port struct {
	t      *tensor.T
	offset int64
	size   int64
}

func (m *Machine) newFrame() *frame {
	p := m.program
	f := &frame{arena: tensor.AlignedBytes(int(p.Arena)), tensors: make([]tensor.T, len(p.Buffers))}
	f.outside[bytecode.InputSpace] = make([][]*port, len(p.Inputs))
	f.outside[bytecode.OutputSpace] = make([][]*port, len(p.Outputs))
	for i := range p.Buffers {
		b := &p.Buffers[i]
		t := &f.tensors[i]
		t.DType, t.Shape = b.Type.DType, b.Type.Shape
		switch b.Space {
		case bytecode.ArenaSpace:
			t.Data = f.arena[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
		case bytecode.WeightSpace:
			t.Data = m.weights[b.Slot].Data[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
		default:
			f.outside[b.Space][b.Slot] = append(f.outside[b.Space][b.Slot], &port{t, b.Offset, b.Size})
		}
	}
	f.layOut(p)
	f.events.init(p.Events)
	return f
}

// layOut lists the tensors of all operands in the order of bindCode.
func (f *frame) layOut(p *bytecode.Program) {
	for i := range p.Functions {
		for _, s := range p.Functions[i].Streams {
			for k := range s.Code {
				for _, b := range s.Code[k].Out {
					f.args = append(f.args, &f.tensors[b])
				}
				for _, b := range s.Code[k].In {
					f.args = append(f.args, f.tensor(b))
				}
			}
		}
	}
}

func (f *frame) tensor(b int) *tensor.T {
	if b == bytecode.Absent {
		return nil
	}
	return &f.tensors[b]
}

// attach lets the tensors of a space show the given ones; nil takes them off,
// so that a frame in the pool holds nothing of its last run.
func (f *frame) attach(space bytecode.Space, ts []*tensor.T) {
	for slot, ports := range f.outside[space] {
		for _, p := range ports {
			p.t.Data = nil
			if ts != nil {
				p.t.Data = ts[slot].Data[p.offset : p.offset+p.size : p.offset+p.size]
			}
		}
	}
}

// take waits for the right to run and returns a frame.
func (m *Machine) take(ctx context.Context) (*frame, error) {
	select {
	case m.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.closed:
		return nil, errClosed
	}
	m.mu.Lock()
	if n := len(m.frames); n > 0 {
		f := m.frames[n-1]
		m.frames = m.frames[:n-1]
		m.mu.Unlock()
		return f, nil
	}
	m.mu.Unlock()
	return m.newFrame(), nil
}

// give returns a frame to the pool and lets the next run begin.
func (m *Machine) give(f *frame) {
	f.attach(bytecode.InputSpace, nil)
	f.attach(bytecode.OutputSpace, nil)
	m.mu.Lock()
	m.frames = append(m.frames, f)
	m.mu.Unlock()
	<-m.slots
}
