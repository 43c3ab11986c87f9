package lower

import "slices"

// placeEvents orders the tasks of different streams where one reads what the
// other writes. Memory adds nothing to that: it is used again only where the
// order of tasks is known already.
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
	for i := range p.Tasks {
		t := &p.Tasks[i]
		mine := clock[t.Stream]
		place[i] = mine[t.Stream]
		for _, d := range slices.Backward(t.After) {
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
