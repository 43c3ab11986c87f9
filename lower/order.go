package lower

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// streamOrder is the order in which streams are listed.
var streamOrder = [...]ir.Unit{ir.Cube, ir.Vector, ir.Scalar, ir.DMA}

// assignStreams gives each task to the stream of its unit, in program order.
// Only streams that have a task exist.
func (p *Plan) assignStreams(one bool) {
	if one {
		p.oneStream()
		return
	}
	var used [len(streamOrder)]bool
	for i := range p.Tasks {
		used[p.Tasks[i].Unit] = true
	}
	var stream [len(streamOrder)]int
	for _, u := range streamOrder {
		if used[u] {
			stream[u] = len(p.Streams)
			p.Streams = append(p.Streams, Stream{Name: u.String() + "0", Unit: u})
		}
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Stream = stream[t.Unit]
		p.Streams[t.Stream].Tasks = append(p.Streams[t.Stream].Tasks, i)
	}
}

// oneStream puts everything on the stream of the scalar unit, which is the one
// that drives the others.
func (p *Plan) oneStream() {
	s := Stream{Name: ir.Scalar.String() + "0", Unit: ir.Scalar}
	for i := range p.Tasks {
		s.Tasks = append(s.Tasks, i)
	}
	p.Streams = []Stream{s}
}

// placeEvents orders the tasks of different streams where one needs it of the
// other: because it reads what the other writes, or because it is given memory
// that the other still uses.
//
// Each stream has a clock: how many tasks of every stream are known to be done
// when its next task begins. A task waits for another only if the clock does
// not say so already. Needs are looked at from the latest to the earliest in
// program order, since the later one may have waited for the earlier, never the
// other way round: so no wait can be left out.
func (p *Plan) placeEvents() {
	n := len(p.Streams)
	clock := make([][]int32, n)
	for s := range clock {
		clock[s] = make([]int32, n)
	}
	done := make([]int32, len(p.Tasks)*n) // the clock behind each task
	place := make([]int32, len(p.Tasks))  // of a task in its stream
	waits := map[int][]int{}              // by task: the tasks that it waits for
	h := newHazards(p)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		mine := clock[t.Stream]
		place[i] = mine[t.Stream]
		for _, d := range h.needs(i) {
			s := p.Tasks[d].Stream
			if s == t.Stream || mine[s] > place[d] {
				continue
			}
			waits[i] = append(waits[i], d)
			p.Tasks[d].Post = 0 // numbered below
			for k, c := range done[d*n : d*n+n] {
				mine[k] = max(mine[k], c)
			}
		}
		mine[t.Stream]++
		copy(done[i*n:], mine)
	}
	p.numberEvents(waits)
}

// numberEvents numbers events in the order of the tasks that post them.
func (p *Plan) numberEvents(waits map[int][]int) {
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Post >= 0 {
			t.Post = len(p.Events)
			p.Events = append(p.Events, i)
		}
	}
	for i := range p.Tasks {
		for _, d := range waits[i] {
			p.Tasks[i].Waits = append(p.Tasks[i].Waits, p.Tasks[d].Post)
		}
		slices.Sort(p.Tasks[i].Waits)
	}
}

// hazards finds out, task by task in program order, which earlier tasks each
// one needs.
type hazards struct {
	p       *Plan
	writer  []int   // by buffer: the task that writes it; -1: none yet
	readers [][]int // by buffer: the last task of each stream that reads it
	tenants *tenancy
}

func newHazards(p *Plan) *hazards {
	h := &hazards{p: p, writer: make([]int, len(p.Buffers)), readers: make([][]int, len(p.Buffers)), tenants: newTenancy()}
	for i := range h.writer {
		h.writer[i] = -1
	}
	return h
}

// needs lists the tasks that must be done before task i, latest first. It also
// notes in the plan whose results the task reads and whose memory it is given.
func (h *hazards) needs(i int) []int {
	t := &h.p.Tasks[i]
	var needs []int
	for _, in := range t.In {
		if in < 0 {
			continue
		}
		b := h.p.root(in)
		h.readers[b] = noteReader(h.p, h.readers[b], i)
		if w := h.writer[b]; w >= 0 {
			t.After = append(t.After, w)
			if h.p.Buffers[b].Size > 0 {
				needs = append(needs, w)
			}
		}
	}
	slices.Sort(t.After)
	t.After = slices.Compact(t.After)
	for _, out := range t.writes() {
		needs = append(needs, h.occupy(i, out)...)
	}
	slices.Sort(needs)
	slices.Reverse(needs)
	return slices.Compact(needs)
}

// writes lists the buffers that a task writes, its frame included.
func (t *Task) writes() []int {
	if t.Region == nil || t.Region.Frame < 0 {
		return t.Out
	}
	return append(slices.Clone(t.Out), t.Region.Frame)
}

// occupy lets task i write a buffer, and lists the tasks that used its memory
// before.
func (h *hazards) occupy(i, out int) (needs []int) {
	b := &h.p.Buffers[out]
	h.writer[out] = i
	if b.Space != Arena || b.Size == 0 {
		return nil
	}
	for _, old := range h.tenants.move(b.Offset, b.Offset+b.Size, out) {
		if b.Reuses < 0 {
			b.Reuses = old
		}
		needs = append(append(needs, h.writer[old]), h.readers[old]...)
	}
	return needs
}

// noteReader keeps the last reader of each stream: the others are done before.
func noteReader(p *Plan, readers []int, i int) []int {
	for k, r := range readers {
		if p.Tasks[r].Stream == p.Tasks[i].Stream {
			readers[k] = i
			return readers
		}
	}
	return append(readers, i)
}

// frameType is the type of a buffer that holds bodies' arenas.
func frameType(size int64) ir.Type { return ir.T(tensor.U8, ir.N(size)) }
