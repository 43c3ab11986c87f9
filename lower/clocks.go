package lower

// Clocks tell which tasks are done when another begins, whatever the streams'
// speed. They follow from the streams and the events alone.
type clocks struct {
	p       *Plan
	streams int
	place   []int32 // by task: how many tasks come before it on its stream
	known   []int32 // by task and stream: how many of the stream's tasks are done when it begins
}

// clocks follows the streams in program order, in which every event is posted
// before it is waited for.
func (p *Plan) clocks() *clocks {
	n := len(p.Streams)
	c := &clocks{p: p, streams: n, place: make([]int32, len(p.Tasks)), known: make([]int32, len(p.Tasks)*n)}
	last := make([]int, n) // by stream: its latest task, plus one
	for i := range p.Tasks {
		t := &p.Tasks[i]
		mine := c.known[i*n : i*n+n]
		if before := last[t.Stream]; before > 0 {
			copy(mine, c.known[(before-1)*n:before*n])
			c.place[i] = c.place[before-1] + 1
		}
		mine[t.Stream] = c.place[i]
		last[t.Stream] = i + 1
		for _, e := range t.Waits {
			c.learn(mine, p.Events[e])
		}
	}
	return c
}

// learn adds what is known when a task is done.
func (c *clocks) learn(mine []int32, task int) {
	for s, k := range c.known[task*c.streams : (task+1)*c.streams] {
		mine[s] = max(mine[s], k)
	}
	s := c.p.Tasks[task].Stream
	mine[s] = max(mine[s], c.place[task]+1)
}

// before reports whether task a is always done when task b begins.
func (c *clocks) before(a, b int) bool {
	return c.known[b*c.streams+c.p.Tasks[a].Stream] > c.place[a]
}
