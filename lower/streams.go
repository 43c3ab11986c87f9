package lower

import (
	"slices"
	"strconv"
)

// assignStreams shares the tasks out among at most as many streams as the options
// say. The graph is parted into as few paths as possible, and the paths are put
// together on streams; of one stream, two, and so on, the fewest are taken that
// end as soon as any number does. All by the simulation: what nobody gains by is
// not there, since every stream costs launches, events and memory.
func (p *Plan) assignStreams(o *Options) {
	a := &assigner{Plan: p, limit: o.streams(), row: o.Strategy.strategist()}
	if a.plan(); a.row.urgent && a.count > 1 {
		a.hurry()
	}
	a.name()
}

// plan finds the best streams for the tasks in the order in which they stand.
func (a *assigner) plan() {
	a.pins()
	if a.limit == 1 || len(a.names) == 0 && len(a.Tasks) < 2 {
		a.names, a.count, a.stream = nil, 1, make([]int32, len(a.Tasks))
		return
	}
	a.dag = a.Plan.dag(a.pinned)
	a.paths()
	a.sim = newSimulator(a.dag, a.device)
	a.choose()
}

// oneStream puts everything on one stream.
func (p *Plan) oneStream() {
	s := Stream{Name: "s0", Tasks: make([]int, len(p.Tasks))}
	for i := range p.Tasks {
		s.Tasks[i] = i
	}
	p.Streams = []Stream{s}
}

// An assigner shares tasks out among streams. The streams that @stream names have
// the first numbers.
type assigner struct {
	*Plan
	*dag
	limit  int
	row    *strategist
	names  []string         // that @stream says
	pinned map[string]int32 // their numbers, from 1
	path   []int32          // by task
	work   []int64          // by path
	free   int              // how many paths may go to any stream
	total  int64            // the work of these
	sim    *simulator

	stream []int32 // by task: the best so far
	count  int     // of streams
	span   int64   // its makespan
}

// pins numbers the streams that @stream names, in order of their first tasks.
func (a *assigner) pins() {
	a.pinned = map[string]int32{}
	for i := range a.Tasks {
		if pin := a.Tasks[i].Pin; pin != "" && a.pinned[pin] == 0 {
			a.names = append(a.names, pin)
			a.pinned[pin] = int32(len(a.names))
		}
	}
}

// paths numbers the paths of the graph in order of their first tasks.
func (a *assigner) paths() {
	next := a.cover()
	a.path = filled(a.n)
	for t := range int32(a.n) {
		if a.path[t] < 0 {
			a.path[t] = int32(len(a.work))
			a.work = append(a.work, 0)
			if a.pin[t] == 0 {
				a.free++
			}
		}
		a.work[a.path[t]] += a.ns[t]
		if a.pin[t] == 0 {
			a.total += a.ns[t]
		}
		if next[t] >= 0 {
			a.path[next[t]] = a.path[t]
		}
	}
}

// choose tries numbers of streams and keeps the best plan.
func (a *assigner) choose() {
	named := len(a.names)
	most := min(a.limit-named, a.free)
	if most == 0 { // all pinned, or no room for others: these go to the named ones
		a.stream, a.count = a.seats(named), named
		a.span = a.sim.run(a.stream, a.count)
		return
	}
	type try struct {
		stream []int32
		count  int
		span   int64
	}
	var tries []try
	best, bound := int64(0), a.bound()
	for c := 1; ; c = min(more(c), most) {
		stream := a.seats(named + c)
		t := try{stream, named + c, a.sim.run(stream, named+c)}
		tries = append(tries, t)
		if c == 1 || t.span < best {
			best = t.span
		}
		if c == most || best <= bound {
			break
		}
	}
	for _, t := range tries {
		if t.span <= a.allowed(best) {
			a.stream, a.count, a.span = t.stream, t.count, t.span
			break
		}
	}
	a.merge(a.allowed(best))
}

// more is the number of streams to try after c: each of the small ones, then twice
// as many, since merging finds what lies between.
func more(c int) int {
	if c < 4 {
		return c + 1
	}
	return 2 * c
}

// allowed is how long a plan with fewer streams may take.
func (a *assigner) allowed(best int64) int64 { return best + best/1000*a.row.slack }

// bound is what no plan can take less than: the longest path, and the work of
// what is occupied most.
func (a *assigner) bound() int64 {
	bound := slices.Max(a.heads())
	var busy [len(a.sim.units)]int64
	sum := int64(0)
	for i := range a.Tasks {
		sum += a.ns[i]
		for u := range busy {
			if a.Tasks[i].occupies&(1<<u) != 0 {
				busy[u] += a.ns[i]
			}
		}
	}
	if w := int64(len(a.sim.workers)); w > 0 {
		return max(bound, (sum+w-1)/w)
	}
	return max(bound, slices.Max(busy[:]))
}

// maxMerging bounds the work of trying to merge streams, in looks of the
// simulation at a stream: a fraction of a second.
const maxMerging = 5_000_000

// merge puts two streams together as long as the plan ends in time, and as there
// is work left to try it.
func (a *assigner) merge(allowed int64) {
	cost := a.n * a.count
	left := maxMerging
	for merged := true; merged; {
		merged = false
	pairs:
		for y := a.count - 1; y > len(a.names); y-- {
			for x := len(a.names); x < y; x++ {
				if left -= cost; left < 0 {
					return
				}
				stream := joined(a.stream, int32(x), int32(y))
				if span := a.sim.run(stream, a.count-1); span <= allowed {
					a.stream, a.count, a.span = stream, a.count-1, span
					merged = true
					break pairs
				}
			}
		}
	}
}

// joined is the assignment with the tasks of stream y on stream x, and no gap.
func joined(stream []int32, x, y int32) []int32 {
	out := make([]int32, len(stream))
	for t, s := range stream {
		switch {
		case s == y:
			s = x
		case s > y:
			s--
		}
		out[t] = s
	}
	return out
}

// name makes the plan's streams, in order of their first tasks.
func (a *assigner) name() {
	number := make([]int, a.count)
	for i := range number {
		number[i] = -1
	}
	auto := 0
	for t, s := range a.stream {
		if number[s] < 0 {
			number[s] = len(a.Streams)
			name := ""
			if int(s) < len(a.names) {
				name = a.names[s]
			} else {
				name, auto = a.unused(auto)
			}
			a.Streams = append(a.Streams, Stream{Name: name})
		}
		k := number[s]
		a.Tasks[t].Stream = k
		a.Streams[k].Tasks = append(a.Streams[k].Tasks, t)
	}
}

// unused is the first name from s0 on, beginning with a number, that @stream does
// not say.
func (a *assigner) unused(n int) (string, int) {
	for {
		name := "s" + strconv.Itoa(n)
		n++
		if a.pinned[name] == 0 {
			return name, n
		}
	}
}
