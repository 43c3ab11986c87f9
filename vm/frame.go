package vm

import (
	"context"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A frame is what one run at a time uses of a machine: a tensor for each
// buffer, the operands of each instruction laid out, and the state of its
// streams, so that a run itself makes nothing. The memory behind the tensors, an
// arena, is attached to it.
type frame struct {
	crew
	m       *Machine
	arena   *arena       // the one that the tensors show; nil: none
	tensors []tensor.T   // by buffer
	args    []*tensor.T  // operands of all steps; see step.args
	outside [2][][]*port // by InputSpace and OutputSpace, and by slot: what shows it
	streams []stream
	hand    *hand           // of the caller
	ctx     context.Context // of the run under way
	done    <-chan struct{} // ctx.Done()
	ticket  ticket
	budget  ir.Budget // of its kernels
	failure failure
	uses    poisoner
	watch   *watch  // of the run under way
	bound   binding // what the caller's tensors are replaced by
}

// A port is a tensor that shows a part of an input or output.
type port struct {
	t      *tensor.T
	offset int64
	size   int64
}

func (m *Machine) newFrame() *frame {
	p := m.program
	f := &frame{m: m, tensors: make([]tensor.T, len(p.Buffers))}
	f.outside[bytecode.InputSpace] = make([][]*port, len(p.Inputs))
	f.outside[bytecode.OutputSpace] = make([][]*port, len(p.Outputs))
	for i := range p.Buffers {
		b := &p.Buffers[i]
		t := &f.tensors[i]
		t.DType, t.Shape = b.Type.DType, b.Type.Shape
		switch b.Space {
		case bytecode.ArenaSpace:
		case bytecode.WeightSpace:
			t.Data = m.weights[b.Slot].Data[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
		default:
			f.outside[b.Space][b.Slot] = append(f.outside[b.Space][b.Slot], &port{t, b.Offset, b.Size})
		}
	}
	f.layOut()
	f.crew.init(p.Events)
	f.streams = make([]stream, len(p.Functions[0].Streams))
	for i, s := range p.Functions[0].Streams {
		f.streams[i].init(f, i, s.Name)
	}
	f.budget.Stop = f.askStop
	f.budget.Grow = func(want int64) (int64, error) { return m.memory.grow(&f.ticket, want) }
	f.uses.init(m)
	return f
}

// layOut lists the tensors of all operands in the order of bindCode.
func (f *frame) layOut() {
	f.args = make([]*tensor.T, 0, f.m.operands)
	for _, streams := range f.m.code {
		for _, steps := range streams {
			for i := range steps {
				for _, b := range steps[i].out {
					f.args = append(f.args, &f.tensors[b])
				}
				for _, b := range steps[i].in {
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

// use lets the tensors show an arena; nil takes them off the one they show.
func (f *frame) use(a *arena) {
	if f.arena == a {
		return
	}
	f.arena = a
	for i := range f.tensors {
		b := &f.m.program.Buffers[i]
		switch {
		case b.Space != bytecode.ArenaSpace:
		case a == nil || b.Offset+b.Size > f.m.arena: // nothing touches what lies behind
			f.tensors[i].Data = nil
		default:
			f.tensors[i].Data = a.data[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
		}
	}
}

// begin makes the frame ready for a run.
func (f *frame) begin(ctx context.Context, t ticket, inputs, outputs []*tensor.T) {
	f.ctx, f.done = ctx, ctx.Done()
	f.ticket = t
	f.watch = f.m.watch.Load()
	f.hand = t.hand
	f.ticket.frame, f.ticket.arena, f.ticket.hand = nil, nil, nil
	f.budget.Reset(t.scratch)
	f.failure.err = nil
	f.crew.begin(len(f.streams))
	for i := range f.streams {
		f.streams[i].begin()
	}
	f.uses.begin(f)
	f.attach(bytecode.InputSpace, inputs)
	f.attach(bytecode.OutputSpace, outputs)
}

// end takes off what belongs to the caller, so that a frame that waits for its
// next run holds nothing of the last.
func (f *frame) end() {
	f.attach(bytecode.InputSpace, nil)
	f.attach(bytecode.OutputSpace, nil)
	f.ctx, f.done = nil, nil
	f.hand.clear()
	f.bound = binding{}
}

// attach lets the tensors of a space show the given ones; nil takes them off.
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

// askStop ends long kernels when the run is stopped.
func (f *frame) askStop() error {
	if f.halted() {
		return errStopped
	}
	return nil
}
