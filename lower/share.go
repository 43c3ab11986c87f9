package lower

import "github.com/npulang/npu/ir"

// seats puts the paths on streams, as the strategy says: in program order, each
// when its first task is about to begin. The first streams are those with names,
// where what is pinned goes; other paths go to the rest, or, if there is none, to
// the named ones too.
func (a *assigner) seats(count int) []int32 {
	named := len(a.names)
	s := &sharing{assigner: a, lines: make([]line, count), home: filled(len(a.work)), stream: make([]int32, a.n), done: make([]int64, a.n)}
	if count > named {
		s.from = named
	}
	s.fair = a.total / int64(max(count-s.from, 1))
	for k := range s.lines {
		s.lines[k].free = a.sim.sync
	}
	for t := range int32(a.n) {
		s.run(t)
	}
	return s.stream
}

// A sharing is the state of seats: an estimate in program order.
type sharing struct {
	*assigner
	from   int   // the first stream for paths that are not pinned
	fair   int64 // the work of a stream if all had the same
	lines  []line
	home   []int32 // by path: its stream
	stream []int32 // by task
	done   []int64 // by task
	units  [ir.DMA + 1]int64
}

// A line is a stream that is being filled.
type line struct {
	free int64 // when what ran so far is done
	load int64 // the work of its paths
	rest int64 // what of that has not run yet
}

// run gives a task to the stream of its path, and lets it run.
func (s *sharing) run(t int32) {
	path := s.path[t]
	r := s.ready(t)
	if s.home[path] < 0 {
		s.settle(path, t, r)
	}
	k := s.home[path]
	l := &s.lines[k]
	if t == 0 {
		l.free = 0 // the run begins here
	}
	at := max(l.free, r.on(k))
	for u := range s.units {
		if s.tasks[t].occupies.has(ir.Unit(u)) && s.sim.workers == nil {
			at = max(at, s.units[u])
			s.units[u] = at + s.ns[t]
		}
	}
	s.stream[t] = k
	s.done[t] = at + s.ns[t]
	l.free = s.done[t]
	l.rest -= s.ns[t]
}

// settle finds the stream of a path whose first task is about to begin.
func (s *sharing) settle(path, t int32, r readiness) {
	k := s.pin[t] - 1
	if k < 0 {
		k = int32(s.best(path, r).stream)
	}
	s.home[path] = k
	s.lines[k].load += s.work[path]
	s.lines[k].rest += s.work[path]
}

// best is the best seat for a path by the strategy, the first of equals.
func (s *sharing) best(path int32, r readiness) (best seat) {
	for k := s.from; k < len(s.lines); k++ {
		l := &s.lines[k]
		x := seat{k, max(l.free+l.rest, r.on(int32(k))), l.load + s.work[path], s.fair}
		if k == s.from || s.row.better(x, best) {
			best = x
		}
	}
	return best
}

// A readiness tells when what a task reads is done: the latest of it with its
// stream, and the latest on any other stream, sync included.
type readiness struct {
	last, other int64
	stream      int32
}

func (s *sharing) ready(t int32) readiness {
	r := readiness{stream: -1}
	for _, d := range s.reads(t) {
		at := s.done[d] + s.sim.sync
		switch k := s.stream[d]; {
		case k == r.stream:
			r.last = max(r.last, at)
		case at > r.last:
			r = readiness{at, r.last, k}
		default:
			r.other = max(r.other, at)
		}
	}
	return r
}

// on is when a task could begin on a stream. What the stream itself does is in
// order already.
func (r readiness) on(k int32) int64 {
	if k == r.stream {
		return r.other
	}
	return r.last
}
