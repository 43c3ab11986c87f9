package lower

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// A schedule is when each task would begin if every task took as long as the
// device's row says. It is an estimate by which streams are chosen, not a promise.
type schedule struct {
	start    []int64 // by task, nanoseconds
	makespan int64   // nanoseconds
}

// A simulator runs streams against the row of a device. The task that can begin
// first begins; of several the first in program order. A task begins when the one
// before it on its stream is done, when those that it reads are done (on other
// streams, sync_ns later), and when what it occupies is free: its units, or on a
// device with workers one of these. The stream of the first task begins at once,
// the others sync_ns later.
type simulator struct {
	*dag
	sync    int64
	workers []int64 // when each is free; nil: the units count
	units   [ir.DMA + 1]int64

	start, done []int64 // by task; done is -1 before it ran
	order       []int32 // tasks by stream
	first       []int32 // where each stream begins in order
	heads       []head
}

// A head is the task of a stream that comes next.
type head struct {
	task  int32 // -1: none
	place int32 // in order
	need  int32 // how many of its needs are known to be done
	ready int64 // when these are
	free  int64 // when the task before is done
}

func newSimulator(g *dag, dev *device.Device) *simulator {
	s := &simulator{dag: g, sync: int64(dev.SyncNs), start: make([]int64, g.n), done: make([]int64, g.n), order: make([]int32, g.n)}
	if dev.Workers > 0 {
		s.workers = make([]int64, min(dev.Workers, device.MaxStreams))
	}
	return s
}

// run is the makespan of tasks on streams numbered from 0 to count-1.
func (s *simulator) run(stream []int32, count int) int64 {
	s.begin(stream, count)
	makespan := int64(0)
	for range s.n {
		best, at := -1, int64(0)
		worker := s.worker()
		for i := range s.heads {
			h := &s.heads[i]
			if h.task < 0 || !s.ready(h, int32(i), stream) {
				continue
			}
			t := max(h.free, h.ready, worker, s.freed(h.task))
			if best < 0 || t < at || t == at && h.task < s.heads[best].task {
				best, at = i, t
			}
		}
		makespan = max(makespan, s.take(best, at))
	}
	return makespan
}

// begin sorts the tasks by stream and forgets the run before.
func (s *simulator) begin(stream []int32, count int) {
	s.first = append(s.first[:0], make([]int32, count+1)...)
	for _, k := range stream {
		s.first[k+1]++
	}
	for k := range count {
		s.first[k+1] += s.first[k]
	}
	s.heads = s.heads[:0]
	for k := range count {
		s.heads = append(s.heads, head{place: s.first[k]})
	}
	for t, k := range stream {
		s.done[t] = -1
		s.order[s.heads[k].place] = int32(t)
		s.heads[k].place++
	}
	for k := range s.heads {
		s.heads[k] = head{place: s.first[k] - 1}
		if s.n > 0 && stream[0] != int32(k) {
			s.heads[k].free = s.sync // the run begins on the first task's stream
		}
		s.follow(k)
	}
	clear(s.workers)
	s.units = [len(s.units)]int64{}
}

// follow goes to the next task of a stream.
func (s *simulator) follow(k int) {
	h := &s.heads[k]
	h.place++
	h.task, h.need, h.ready = -1, 0, 0
	if h.place < s.first[k+1] {
		h.task = s.order[h.place]
	}
}

// ready reports whether all that a task reads is under way; then h.ready is when
// it is done.
func (s *simulator) ready(h *head, k int32, stream []int32) bool {
	needs := s.reads(h.task)
	for ; int(h.need) < len(needs); h.need++ {
		d := needs[h.need]
		switch {
		case s.done[d] < 0:
			return false
		case stream[d] != k:
			h.ready = max(h.ready, s.done[d]+s.sync)
		}
	}
	return true
}

// worker is when some worker is free.
func (s *simulator) worker() int64 {
	if s.workers == nil {
		return 0
	}
	return slices.Min(s.workers)
}

// freed is when the units that a task occupies are free.
func (s *simulator) freed(t int32) (at int64) {
	if s.workers != nil {
		return 0
	}
	for u := range s.units {
		if s.tasks[t].occupies.has(ir.Unit(u)) {
			at = max(at, s.units[u])
		}
	}
	return at
}

// take runs the next task of a stream and returns when it is done.
func (s *simulator) take(k int, at int64) int64 {
	t := s.heads[k].task
	end := at + s.ns[t]
	s.start[t], s.done[t], s.heads[k].free = at, end, end
	if s.workers != nil {
		s.workers[slices.Index(s.workers, slices.Min(s.workers))] = end
	} else {
		for u := range s.units {
			if s.tasks[t].occupies.has(ir.Unit(u)) {
				s.units[u] = end
			}
		}
	}
	s.follow(k)
	return end
}

// schedule lets the streams of the plan run.
func (p *Plan) schedule() *schedule { return p.scheduleOf(p.dag(nil)) }

// scheduleOf does so with the times of g.
func (p *Plan) scheduleOf(g *dag) *schedule {
	s := newSimulator(g, p.device)
	stream := make([]int32, len(p.Tasks))
	for i := range p.Tasks {
		stream[i] = int32(p.Tasks[i].Stream)
	}
	makespan := s.run(stream, len(p.Streams))
	return &schedule{s.start, makespan}
}
