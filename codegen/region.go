package codegen

import (
	"slices"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/lower"
)

// region appends the code of a task with bodies.
func (s *scope) region(code []bytecode.Instr, t *lower.Task, site bytecode.Instr) []bytecode.Instr {
	in, out := s.of(t.In), s.of(t.Out)
	switch t.Region.Kind {
	case lower.Fused:
		site.Op = bytecode.Call
		site.Bodies = []int{s.body(t.Region, 0, in, out, out, nil)}
	case lower.If:
		site.Op, site.In = bytecode.Branch, in[:1]
		site.Bodies = []int{
			s.body(t.Region, 0, in[1:], out, out, nil),
			s.body(t.Region, 1, in[1:], out, out, nil),
		}
	case lower.Loop:
		return s.loop(code, t, site)
	}
	return append(code, site)
}

// loop appends a loop. The buffers of its carried results hold the values
// between rounds: they get the initial values before, and the body ends with
// copies of what it yields. Rows of collected results are stored first, since
// they may be values that the copies overwrite; a yield that is itself carried
// elsewhere was copied aside when the body was planned. Last come the copies of what
// was made in the carried value's place, which only say that it is that value now.
func (s *scope) loop(code []bytecode.Instr, t *lower.Task, site bytecode.Instr) []bytecode.Instr {
	in, out := s.of(t.In), s.of(t.Out)
	r := t.Region
	for i := range r.Carry {
		code = append(code, copyOf(site, out[i], in[i]))
	}
	// What stands for the parameters of the condition: carried values, then
	// captures. The body has the counter before, which is its own.
	given := append(slices.Clone(out[:r.Carry]), in[r.Carry:]...)
	var counter int
	body := s.body(r, 0, append([]int{bytecode.Absent}, given...), out, out, func(b *scope) []bytecode.Instr {
		counter = b.buffers[b.p.Inputs[0].Buffer]
		return b.yield(r.Carry, out, site)
	})
	site.Op, site.Out, site.Bodies = bytecode.Loop, []int{counter}, []int{body, bytecode.NoBody}
	site.From, site.To = r.From, r.To
	if len(r.Bodies) > 1 {
		site.Bodies[1] = s.body(r, 1, given, nil, nil, func(b *scope) []bytecode.Instr {
			site.In = []int{b.buffers[b.p.Outputs[0].Buffer]}
			return nil
		})
	}
	return append(code, site)
}

// yield is the end of a loop's body. What it does is numbered behind the body's tasks.
func (s *scope) yield(carry int, out []int, site bytecode.Instr) (code []bytecode.Instr) {
	for i := carry; i < len(out); i++ {
		row := copyOf(site, out[i], s.buffers[s.p.Outputs[i].Buffer])
		row.Op = bytecode.Row
		code = append(code, row)
	}
	var names []bytecode.Instr
	for i := range carry {
		from := s.buffers[s.p.Outputs[i].Buffer]
		switch {
		case s.root(from) == s.root(out[i]): // carried on as it is
		case s.samePlace(from, out[i]):
			names = append(names, copyOf(site, out[i], from))
		default:
			code = append(code, copyOf(site, out[i], from))
		}
	}
	code = append(code, names...)
	for i := range code {
		code[i].Task = len(s.p.Tasks) + i
	}
	return code
}

// body adds the function of one body and returns its index. args and results
// stand for its parameters and results; writes is what it may write outside of
// its frame; end makes the code behind its tasks.
func (s *scope) body(r *lower.Region, i int, args, results, writes []int, end func(*scope) []bytecode.Instr) int {
	e := s.e
	b := &scope{e: e, p: r.Bodies[i], args: args, results: results, inFrame: true, rounds: r.Kind == lower.Loop}
	index := len(e.out.Functions)
	f := bytecode.Function{Name: bodyNames[r.Kind][i], Frame: -1}
	if r.Frame >= 0 {
		f.Frame = s.buffers[r.Frame]
		b.offset = e.out.Buffers[f.Frame].Offset
	}
	// The index is taken before bodies inside take theirs: callees come later.
	e.out.Functions = append(e.out.Functions, f)
	b.placeBuffers()
	var code []bytecode.Instr
	for _, t := range b.p.Streams[0].Tasks {
		code = b.task(code, t)
	}
	if end != nil {
		code = append(code, end(b)...)
	}
	code = append(code, bytecode.Instr{Op: bytecode.End})
	f.Writes = sorted(writes, nil)
	f.Reads = sorted(b.outside(code), f.Writes)
	f.Streams = []bytecode.Stream{{Name: f.Name, Code: code}}
	e.out.Functions[index] = f
	return index
}

var bodyNames = map[lower.RegionKind][]string{
	lower.Fused: {"fused"}, lower.If: {"then", "else"}, lower.Loop: {"loop", "while"},
}

// outside lists what a body may read that is not in its frame: all that it is
// given, whether it reads it or not, and the weights.
func (s *scope) outside(code []bytecode.Instr) (list []int) {
	for _, a := range s.args {
		if a != bytecode.Absent {
			list = append(list, a)
		}
	}
	weights := func(buffers []int) {
		for _, b := range buffers {
			if b != bytecode.Absent && s.e.out.Buffers[b].Space == bytecode.WeightSpace {
				list = append(list, b)
			}
		}
	}
	for _, port := range s.p.Outputs { // a condition may be a constant
		weights([]int{s.buffers[port.Buffer]})
	}
	for i := range code {
		weights(code[i].In)
		for _, f := range code[i].Bodies {
			if f != bytecode.NoBody {
				weights(s.e.out.Functions[f].Reads)
			}
		}
	}
	return list
}

// samePlace reports whether two buffers are the same memory.
func (s *scope) samePlace(a, b int) bool { return s.e.out.Buffers[a].LiesWith(&s.e.out.Buffers[b]) }

// sorted lists the buffers of a list ascending, each once, without those in
// except, which is sorted.
func sorted(list, except []int) []int {
	var out []int
	for _, b := range list {
		if _, skip := slices.BinarySearch(except, b); !skip {
			out = append(out, b)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
