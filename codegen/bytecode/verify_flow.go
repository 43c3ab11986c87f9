package bytecode

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/diag"
)

// A flow follows the code of one function through memory: one stream after the
// other as far as each can go, with a vector clock for each stream. An access
// is ordered before the current one iff the clock has seen it; whatever order
// the streams are followed in, an unordered pair shows up.
type flow struct {
	v      *verifier
	fn     int
	mem    *memory
	clocks [][]int32    // by stream: the last instruction seen of each stream, plus one
	posted [][]int32    // by event: the clock at its post
	postAt []place      // by event: where
	reads  spans        // outside of the frame: what a body may read
	writes spans        // and what it may write
	rows   map[int]bool // buffers that rows are stored in: not read in this body
	loop   *Instr       // the loop whose body this is
	work   []task       // bodies that this function runs
	buf    []piece
}

// A task is one body to check, with what its caller promises.
type task struct {
	fn    int
	loop  *Instr // nil unless it is a loop's main body
	enter []int  // buffers that are written when it begins
	leave []int  // buffers that the caller reads when it has ended
}

// code checks the flow of every function, the bodies with what is known at the
// one place that runs each.
func (v *verifier) code() error {
	p := v.p
	first := task{fn: 0}
	for b := range p.Buffers {
		if s := p.Buffers[b].Space; p.Buffers[b].Base < 0 && (s == InputSpace || s == WeightSpace) {
			first.enter = append(first.enter, b)
		}
	}
	for _, port := range p.Outputs {
		first.leave = append(first.leave, port.Buffer)
	}
	for work := []task{first}; len(work) > 0; {
		t := work[len(work)-1]
		work = work[:len(work)-1]
		f := v.newFlow(t)
		if err := f.run(); err != nil {
			return err
		}
		if err := f.leave(t); err != nil {
			return err
		}
		work = append(work, f.work...)
	}
	return nil
}

func (v *verifier) newFlow(t task) *flow {
	fn := &v.p.Functions[t.fn]
	n := len(fn.Streams)
	f := &flow{v: v, fn: t.fn, loop: t.loop, rows: map[int]bool{}}
	f.clocks = make([][]int32, n)
	for s := range f.clocks {
		f.clocks[s] = make([]int32, n)
	}
	if t.fn == 0 {
		f.posted = make([][]int32, v.p.Events)
		f.postAt = make([]place, v.p.Events)
	}
	f.reads, f.writes = v.spans(fn.Reads, fn.Writes), v.spans(fn.Writes)
	f.layOut(t)
	for _, b := range t.enter {
		lo, hi := f.segments(b)
		f.mem.put(lo, hi, cell{root: v.p.root(b), writer: access{stream: -1}})
	}
	return f
}

// touches calls visit with every buffer that a function touches, as often as it
// does.
func (f *flow) touches(t task, visit func(b int)) {
	all := func(lists ...[]int) {
		for _, list := range lists {
			for _, b := range list {
				if b != Absent {
					visit(b)
				}
			}
		}
	}
	fn := &f.v.p.Functions[f.fn]
	all(t.enter, t.leave, fn.Reads, fn.Writes)
	for _, stream := range fn.Streams {
		for at := range stream.Code {
			in := &stream.Code[at]
			all(in.Out, in.In)
			for _, body := range in.Bodies {
				if body == NoBody {
					continue
				}
				g := &f.v.p.Functions[body]
				all(g.Reads, g.Writes)
				if g.Frame >= 0 {
					visit(g.Frame)
				}
			}
		}
	}
}

// layOut makes the memory of a function, and notes for each buffer that it
// touches which segments that is.
func (f *flow) layOut(t task) {
	v := f.v
	var own []int
	accesses := 0
	f.touches(t, func(b int) {
		accesses++
		if v.places[b].fn != f.fn+1 {
			v.places[b].fn = f.fn + 1
			own = append(own, b)
		}
	})
	points := make([]int64, 0, 2*len(own))
	for _, b := range own {
		lo, hi := v.span(b)
		points = append(points, lo, hi)
	}
	f.mem = newMemory(points, accesses)
	for _, b := range own {
		v.places[b].lo, v.places[b].hi = f.mem.segments(v.span(b))
	}
}

// A segments is where a buffer lies in the memory of a function; fn is that
// function plus one.
type segments struct{ fn, lo, hi int }

// segments are those of a buffer that the function touches.
func (f *flow) segments(b int) (lo, hi int) { return f.v.places[b].lo, f.v.places[b].hi }

// run follows the streams. A stream that waits for an event lies aside until
// the event is posted; when all lie aside there is a deadlock.
func (f *flow) run() error {
	streams := f.v.p.Functions[f.fn].Streams
	next := make([]int, len(streams))
	waiting := map[int][]int{} // event: streams
	ready := make([]int, len(streams))
	for s := range ready {
		ready[s] = len(ready) - 1 - s
	}
	for len(ready) > 0 {
		s := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for next[s] < len(streams[s].Code) {
			pl := place{f.fn, s, next[s]}
			in := f.v.instr(pl)
			if in.Op == Wait && f.posted[in.Index] == nil {
				waiting[in.Index] = append(waiting[in.Index], s)
				break
			}
			next[s]++
			f.clocks[s][s] = int32(next[s])
			if err := flowChecks[in.Op](f, pl, in); err != nil {
				return err
			}
			if in.Op == Post {
				ready = append(ready, waiting[in.Index]...)
				delete(waiting, in.Index)
			}
		}
	}
	return f.deadlock(next)
}

// deadlock reports the first stream that has not come to its end.
func (f *flow) deadlock(next []int) error {
	streams := f.v.p.Functions[f.fn].Streams
	for s := range streams {
		if next[s] == len(streams[s].Code) {
			continue
		}
		pl := place{f.fn, s, next[s]}
		event := f.v.instr(pl).Index
		for t := range streams {
			for at := next[t]; at < len(streams[t].Code); at++ {
				if in := &streams[t].Code[at]; in.Op == Post && in.Index == event {
					return f.v.fault(pl, "never ends: %s comes after %s, which waits in turn",
						f.v.where(place{f.fn, t, at}), f.v.where(place{f.fn, t, next[t]}))
				}
			}
		}
		return f.v.fault(pl, "never ends: no stream posts e%d", event)
	}
	return nil
}

// leave checks that what the caller counts on has been written in the end.
func (f *flow) leave(t task) error {
	for _, list := range [][]int{t.leave, f.v.p.Functions[f.fn].Writes} {
		for _, b := range list {
			if !f.holds(b) {
				return fault(diag.Loc{}, "", "%s is not written by the end of %s", f.v.label(b), f.v.name(f.fn))
			}
		}
	}
	return nil
}

func (v *verifier) name(fn int) string {
	if fn == 0 {
		return "the program"
	}
	return fmt.Sprintf("the body f%d", fn)
}

// holds reports whether every byte of b was last written as b.
func (f *flow) holds(b int) bool {
	lo, hi := f.segments(b)
	pieces, ok := f.mem.pieces(lo, hi, f.buf[:0])
	f.buf = pieces
	return ok && !slices.ContainsFunc(pieces, func(q piece) bool {
		return q.id == 0 || f.mem.cells[q.id].root != f.v.p.root(b)
	})
}

// flowChecks has for each opcode what it does to memory and clocks.
var flowChecks = [...]func(*flow, place, *Instr) error{
	End:    func(*flow, place, *Instr) error { return nil },
	Exec:   (*flow).exec,
	Copy:   (*flow).copy,
	Row:    (*flow).row,
	Wait:   (*flow).wait,
	Post:   (*flow).post,
	Branch: (*flow).branch,
	Loop:   (*flow).loops,
	Call:   (*flow).call,
}

func (f *flow) wait(pl place, in *Instr) error {
	mine := f.clocks[pl.stream]
	for s, at := range f.posted[in.Index] {
		mine[s] = max(mine[s], at)
	}
	return nil
}

func (f *flow) post(pl place, in *Instr) error {
	if f.posted[in.Index] != nil {
		return f.v.fault(pl, "posts an event that %s posts too", f.v.where(f.postAt[in.Index]))
	}
	f.posted[in.Index] = slices.Clone(f.clocks[pl.stream])
	f.postAt[in.Index] = pl
	return nil
}

// exec reads all arguments, then writes all results: a result that lies where
// an argument or another result does meets this instruction's own access. Only
// the argument that the kernel replaces leaves none.
func (f *flow) exec(pl place, in *Instr) error {
	replaced := f.v.p.Kernels[in.Index].InPlace
	for i, b := range in.In {
		if b == Absent {
			continue
		}
		if err := f.readAs(pl, b, i != replaced); err != nil {
			return err
		}
	}
	return f.storeAll(pl, in)
}

// copy reads one buffer and writes another, or gives what it has read another name.
func (f *flow) copy(pl place, in *Instr) error {
	if err := f.readAs(pl, in.In[0], !f.v.p.Renames(in)); err != nil {
		return err
	}
	return f.storeAll(pl, in)
}

func (f *flow) storeAll(pl place, in *Instr) error {
	for _, b := range in.Out {
		if err := f.store(pl, b); err != nil {
			return err
		}
	}
	return nil
}

// row checks that the buffer has just the rows that the loop makes.
func (f *flow) row(pl place, in *Instr) error {
	loop := f.loop
	if loop == nil || loop.hasCond() || loop.To == Unbounded {
		return f.v.fault(pl, "stores a row, but not in the body of a loop whose rounds are known")
	}
	all, one, rounds := f.v.p.Buffers[in.Out[0]].Size, f.v.p.Buffers[in.In[0]].Size, loop.Rounds()
	if one == 0 && all != 0 || one != 0 && (all%one != 0 || all/one != rounds) {
		return f.v.fault(pl, "stores rows of %d bytes in %s, which has %d bytes, for %d rounds", one, f.v.label(in.Out[0]), all, rounds)
	}
	if err := f.read(pl, in.In[0]); err != nil {
		return err
	}
	f.rows[f.v.p.root(in.Out[0])] = true
	return f.store(pl, in.Out[0])
}
