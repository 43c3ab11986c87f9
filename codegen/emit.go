package codegen

import (
	"slices"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
)

// Emit writes a plan as bytecode. It decides nothing: buffers, streams and
// events are those of the plan, in their order. The program of a plan that
// Lower made passes bytecode.Verify. calls[i] is the call, without symbols, of
// the program's kernel i, so that whoever runs the program at once need not read
// it from its text.
func Emit(p *lower.Plan) (_ *bytecode.Program, calls []*ir.Call, err error) {
	e := &emitter{
		out:       &bytecode.Program{Name: p.Name, Arena: p.Arena + p.Frames, Align: p.Align, Events: len(p.Events)},
		typeIndex: map[string]int{},
		kernels:   map[string]int{},
		weights:   map[int]int{},
	}
	for _, b := range p.Env {
		e.out.Env = append(e.out.Env, bytecode.Binding(b))
	}
	for _, w := range p.Weights {
		e.out.Weights = append(e.out.Weights, weightRow(w))
	}
	e.out.Functions = []bytecode.Function{{Name: p.Name, Frame: -1}}
	s := &scope{e: e, p: p}
	s.placeBuffers()
	e.out.Inputs, e.out.Outputs = s.ports(p.Inputs), s.ports(p.Outputs)
	for _, stream := range p.Streams {
		code := make([]bytecode.Instr, 0, len(stream.Tasks)+1)
		for _, t := range stream.Tasks {
			code = s.task(code, t)
		}
		code = append(code, bytecode.Instr{Op: bytecode.End})
		e.out.Functions[0].Streams = append(e.out.Functions[0].Streams, bytecode.Stream{Name: stream.Name, Code: code})
	}
	return e.out, e.calls, nil
}

// An emitter gathers the tables of the program.
type emitter struct {
	out       *bytecode.Program
	types     []bytecode.Type
	typeIndex map[string]int // by key
	kernels   map[string]int // by key
	calls     []*ir.Call     // of the kernels
	weights   map[int]int    // the buffer of each weight
	indexes   []int          // room for operands
	// The keys under way.
	key, kernelKey []byte
}

func weightRow(w lower.Weight) bytecode.Weight {
	if w.Data != nil {
		return bytecode.NewWeight(w.Name, w.Data)
	}
	return bytecode.Weight{Name: w.Name, Type: typeOf(w.Type)}
}

// A scope is one plan on its way into the program: where its buffers are.
type scope struct {
	e       *emitter
	p       *lower.Plan
	buffers []int // by the plan's index
	// Of a body: where its arena begins, and which buffers stand for its
	// parameters and results.
	offset  int64
	args    []int
	results []int
	inFrame bool
	rounds  bool // of a loop: its results lie where the round's carried values were
}

// placeBuffers gives every buffer of the plan its place in the program.
func (s *scope) placeBuffers() {
	s.buffers = make([]int, len(s.p.Buffers))
	s.e.out.Buffers = slices.Grow(s.e.out.Buffers, len(s.p.Buffers))
	for i := range s.p.Buffers {
		s.buffers[i] = s.place(i)
	}
}

// place finds or makes the program's buffer for one of the plan. In a body,
// parameters and results are buffers of the code around it.
func (s *scope) place(i int) int {
	b := &s.p.Buffers[i]
	row := bytecode.Buffer{
		Space: spaces[b.Space], Slot: b.Slot, Offset: b.Offset, Size: b.Size,
		Type: s.e.types[s.e.typ(b.Type)], Base: -1, Name: b.Name,
	}
	switch {
	case b.Base >= 0:
		row.Offset = b.At
		return s.view(row, s.buffers[b.Base])
	case b.Space == lower.Weights:
		return s.weight(row)
	case b.Space == lower.Arena:
		row.Offset += s.offset
	case s.inFrame && b.Space == lower.Input:
		return s.view(row, s.args[b.Slot])
	case s.inFrame && b.Space == lower.Output:
		if s.rounds || s.p.Root(s.p.Outputs[b.Slot].Buffer) != i {
			return s.instead(row, s.results[b.Slot])
		}
		return s.view(row, s.results[b.Slot])
	}
	return s.add(row)
}

// instead adds a buffer that lies where a result will, until that is made in its
// place.
func (s *scope) instead(row bytecode.Buffer, result int) int {
	b := s.e.out.Buffers[result]
	row.Space, row.Slot, row.Offset, row.Base = b.Space, b.Slot, b.Offset, b.Base
	return s.add(row)
}

// spaces maps the planner's words for memory to those of the bytecode.
var spaces = map[lower.Space]bytecode.Space{
	lower.Input: bytecode.InputSpace, lower.Output: bytecode.OutputSpace,
	lower.Weights: bytecode.WeightSpace, lower.Arena: bytecode.ArenaSpace,
}

func (s *scope) add(row bytecode.Buffer) int {
	s.e.out.Buffers = append(s.e.out.Buffers, row)
	return len(s.e.out.Buffers) - 1
}

// weight returns the one buffer of a weight.
func (s *scope) weight(row bytecode.Buffer) int {
	if id, ok := s.e.weights[row.Slot]; ok {
		return id
	}
	id := s.add(row)
	s.e.weights[row.Slot] = id
	return id
}

// view shows the memory of buffer of under row's type, from row's offset on: of
// itself, if it has that type.
func (s *scope) view(row bytecode.Buffer, of int) int {
	base := s.root(of)
	b := s.e.out.Buffers[base]
	if row.Offset == 0 && s.e.out.Buffers[of].Type.Equal(row.Type) && (s.inFrame || row.Name == s.e.out.Buffers[of].Name) {
		return of
	}
	row.Space, row.Slot, row.Base = b.Space, b.Slot, base
	row.Offset += s.e.out.Buffers[of].Offset
	return s.add(row)
}

func (s *scope) root(b int) int {
	if base := s.e.out.Buffers[b].Base; base >= 0 {
		return base
	}
	return b
}

func (s *scope) ports(list []lower.Port) []bytecode.Port {
	out := make([]bytecode.Port, len(list))
	for i, p := range list {
		out[i] = bytecode.Port{Name: p.Name, Buffer: s.buffers[p.Buffer]}
	}
	return out
}

// room makes a list of n operands. Most have one or two: they share memory.
func (e *emitter) room(n int) []int {
	if len(e.indexes) < n {
		e.indexes = make([]int, max(n, 64))
	}
	list := e.indexes[:n:n]
	e.indexes = e.indexes[n:]
	return list
}

// of maps a list of the plan's buffers.
func (s *scope) of(list []int) []int {
	out := s.e.room(len(list))
	for i, b := range list {
		out[i] = bytecode.Absent
		if b >= 0 {
			out[i] = s.buffers[b]
		}
	}
	return out
}

// task appends the code of a task: the waits, the work, the post.
func (s *scope) task(code []bytecode.Instr, i int) []bytecode.Instr {
	t := &s.p.Tasks[i]
	for _, e := range t.Waits {
		code = append(code, bytecode.Instr{Op: bytecode.Wait, Index: e})
	}
	site := bytecode.Instr{Task: i, Pos: t.Pos}
	switch {
	case t.Region != nil:
		code = s.region(code, t, site)
	case t.Call == nil:
		code = append(code, copyOf(site, s.buffers[t.Out[0]], s.buffers[t.In[0]]))
	default:
		site.Op, site.Out, site.In = bytecode.Exec, s.of(t.Out), s.of(t.In)
		site.Index = s.e.kernel(t, s.inPlace(site.Out, site.In))
		code = append(code, site)
	}
	if t.Post >= 0 {
		code = append(code, bytecode.Instr{Op: bytecode.Post, Index: t.Post})
	}
	return code
}

// inPlace returns the argument that the first result of a task replaces.
func (s *scope) inPlace(out, in []int) int {
	if len(out) == 0 || s.e.out.Buffers[out[0]].Size == 0 {
		return bytecode.Absent
	}
	to := &s.e.out.Buffers[out[0]]
	return slices.IndexFunc(in, func(b int) bool {
		if b == bytecode.Absent {
			return false
		}
		return to.LiesWith(&s.e.out.Buffers[b])
	})
}

func copyOf(site bytecode.Instr, to, from int) bytecode.Instr {
	site.Op, site.Out, site.In = bytecode.Copy, []int{to}, []int{from}
	return site
}
