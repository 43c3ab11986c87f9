package vm

import (
	"slices"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A fused region is a function of the bytecode, whose instructions say where
// each value lies. To run it as one kernel its values are wanted, not its places:
// a gatherer follows the buffers from their writers to their readers.
//
//	body fused                                    inputs %0 %1 %2
//	  exec  linear  b9 <- b1 b2 b3           =>   %3 = linear %0 %1 %2
//	  exec  gelu    b8 <- b9                      %4 = gelu %3
//
// What has no such form (bodies inside, values made in parts of others) runs
// instruction by instruction, as the bytecode says.
type gatherer struct {
	p       *bytecode.Program
	calls   []*ir.Call
	weights []*tensor.T

	body   *kernel.Body
	inputs map[int]int // by buffer that is read as the task finds it: the value
	held   []held      // what has been written and is still there; no two overlap
}

// held is a value in the place of a buffer.
type held struct {
	place *bytecode.Buffer
	value int
}

// bodyOf gathers the body of a function, whose results are the buffers that it
// writes, and lists the buffers that are its inputs; ok is false if it has no such
// form.
func bodyOf(p *bytecode.Program, calls []*ir.Call, weights []*tensor.T, f *bytecode.Function) (b *kernel.Body, inputs []int, ok bool) {
	g := &gatherer{p: p, calls: calls, weights: weights, body: &kernel.Body{InPlace: kernel.Absent}, inputs: map[int]int{}}
	code := f.Streams[0].Code
	if inputs, ok = g.findInputs(code); !ok || !g.replaces(f.Writes, inputs) {
		return nil, nil, false
	}
	for i := range code {
		if !g.instr(&code[i]) {
			return nil, nil, false
		}
	}
	for _, out := range f.Writes {
		v, ok := g.read(out)
		if !ok || v < len(inputs) {
			return nil, nil, false
		}
		g.body.Out = append(g.body.Out, v)
	}
	return g.body, inputs, true
}

// findInputs lists the buffers that are read before they are written: their values
// have the lowest numbers. ok is false if there are bodies inside.
func (g *gatherer) findInputs(code []bytecode.Instr) (list []int, ok bool) {
	for i := range code {
		if len(code[i].Bodies) > 0 {
			return nil, false
		}
		for _, b := range code[i].In {
			if b == bytecode.Absent || g.find(b) >= 0 {
				continue
			}
			if _, known := g.inputs[b]; !known {
				g.inputs[b] = len(list)
				list = append(list, b)
				row := &g.p.Buffers[b]
				g.body.In = append(g.body.In, irType(row.Type))
				g.body.Const = append(g.body.Const, weightAt(g.weights, row))
			}
		}
		for _, b := range code[i].Out {
			g.write(b, 0)
		}
	}
	g.held = g.held[:0]
	return list, true
}

// weightAt is the weight whose memory a buffer is, under the buffer's type; nil if
// it is none, or a part of one.
func weightAt(weights []*tensor.T, b *bytecode.Buffer) *tensor.T {
	if b.Space != bytecode.WeightSpace || int64(len(weights[b.Slot].Data)) != b.Size {
		return nil
	}
	return &tensor.T{DType: b.Type.DType, Shape: b.Type.Shape, Data: weights[b.Slot].Data}
}

// replaces finds the input in whose memory the first result lies, if there is one.
// It reports whether no other result shares memory with an input.
func (g *gatherer) replaces(outs, inputs []int) bool {
	for i, out := range outs {
		for v, in := range inputs {
			a, b := &g.p.Buffers[out], &g.p.Buffers[in]
			if !overlap(a, b) {
				continue
			}
			if i > 0 || g.body.InPlace != kernel.Absent || a.Offset != b.Offset || a.Size != b.Size {
				return false
			}
			g.body.InPlace = v
		}
	}
	return true
}

// instr adds one instruction; it reports whether that has a form.
func (g *gatherer) instr(in *bytecode.Instr) bool {
	switch in.Op {
	case bytecode.End:
		return true
	case bytecode.Copy:
		v, ok := g.read(in.In[0])
		if ok {
			v, ok = g.view(v, in.Out[0])
		}
		if ok {
			g.write(in.Out[0], v)
		}
		return ok
	case bytecode.Exec:
		return g.exec(in)
	}
	return false
}

func (g *gatherer) exec(in *bytecode.Instr) bool {
	op := kernel.Op{Call: g.calls[in.Index]}
	for _, b := range in.In {
		v := kernel.Absent
		if b != bytecode.Absent {
			var ok bool
			if v, ok = g.read(b); !ok {
				return false
			}
		}
		op.Args = append(op.Args, v)
	}
	first := g.add(op)
	for i, b := range in.Out {
		g.write(b, first+i)
	}
	return true
}

// add appends an operator and returns the number of its first result.
func (g *gatherer) add(op kernel.Op) int {
	op.First = len(g.inputs)
	if n := len(g.body.Ops); n > 0 {
		last := &g.body.Ops[n-1]
		op.First = last.First + last.Results()
	}
	g.body.Ops = append(g.body.Ops, op)
	return op.First
}

// write puts a value in the place of a buffer. What overlaps it is gone.
func (g *gatherer) write(b, v int) {
	place := &g.p.Buffers[b]
	g.held = slices.DeleteFunc(g.held, func(h held) bool { return overlap(h.place, place) })
	g.held = append(g.held, held{place, v})
}

// find returns the index of what is held in the place of a buffer: of the whole of
// it, or of a part. -1: nothing.
func (g *gatherer) find(b int) int {
	place := &g.p.Buffers[b]
	return slices.IndexFunc(g.held, func(h held) bool { return overlap(h.place, place) })
}

// read finds the value in a buffer. ok is false if it is a part of one, or made of
// several.
func (g *gatherer) read(b int) (v int, ok bool) {
	i := g.find(b)
	if i < 0 {
		v, ok = g.inputs[b]
		return v, ok
	}
	h, place := g.held[i], &g.p.Buffers[b]
	if h.place.Offset != place.Offset || h.place.Size != place.Size {
		return 0, false
	}
	return g.view(h.value, b)
}

// view is a value under the type of a buffer. A view has the elements of its value:
// there is none under another dtype, as bitcast makes it.
func (g *gatherer) view(v, b int) (as int, ok bool) {
	was, is := g.body.Type(v), irType(g.p.Buffers[b].Type)
	switch {
	case was.Equal(is):
		return v, true
	case was.DType != is.DType:
		return 0, false
	}
	return g.add(kernel.Op{Args: []int{v}, As: is}), true
}

// overlap reports whether two buffers share memory. Empty ones are told apart by
// where they begin.
func overlap(a, b *bytecode.Buffer) bool {
	if a.Space != b.Space || a.Slot != b.Slot {
		return false
	}
	if a.Offset == b.Offset {
		return true
	}
	return a.Offset < b.Offset+b.Size && b.Offset < a.Offset+a.Size
}
