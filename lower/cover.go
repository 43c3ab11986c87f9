package lower

// maxPhases bounds the search for longer matchings. After k phases every
// augmenting path has more than 2k edges, so that at least k of k+1 edges of the
// largest matching are there (Hopcroft and Karp 1973): random graphs need about
// ten phases, and none can cost more than this many looks at each edge.
const maxPhases = 64

// cover parts the tasks into as few paths as it takes along the edges from a task
// to those that read it, each task on one path; it returns the next task on the
// path of each, or -1.
//
//	t0 ── t1 ── t3        t0 t1 t3
//	 └─── t2 ───┘     =>  t2
//
// A path is where order costs nothing. The fewest paths are the largest matching
// of tasks with tasks that read them. Only tasks that are for one stream, or for
// any, share a path. Where there is a choice the longest path through the graph
// comes first, so that what takes longest stays in one place.
func (g *dag) cover() []int32 {
	m := &matching{dag: g, next: filled(g.n), before: filled(g.n)}
	m.critical()
	m.greedy()
	for range maxPhases {
		if !m.phase() {
			break
		}
	}
	return m.next
}

func filled(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// A matching gives each task at most one that comes next, and one before.
type matching struct {
	*dag
	next, before []int32
	level        []int32 // of a task as the one before, in the search
	end          int32   // the level behind that of tasks with a free reader
	queue, stack []int32
	cursor       []int32 // of the search, in the readers of each task
}

func (m *matching) join(a, b int32) { m.next[a], m.before[b] = b, a }

// critical joins tasks that are each other's longest way on and back.
func (m *matching) critical() {
	head, tail := m.heads(), m.tails()
	back := filled(m.n) // by task: the need with the longest way to it
	for t := range int32(m.n) {
		back[t] = largestOf(m.reads(t), head)
	}
	for t := range int32(m.n) {
		if on := largestOf(m.readers(t), tail); on >= 0 && back[on] == t && m.pin[t] == m.pin[on] {
			m.join(t, on)
		}
	}
}

// largestOf is the first task of a list with the largest number; -1: none.
func largestOf(list []int32, number []int64) int32 {
	best := int32(-1)
	for _, t := range list {
		if best < 0 || number[t] > number[best] {
			best = t
		}
	}
	return best
}

// greedy joins every task with the first reader that is free.
func (m *matching) greedy() {
	for t := range int32(m.n) {
		if m.next[t] >= 0 {
			continue
		}
		for _, r := range m.readers(t) {
			if m.before[r] < 0 && m.pin[t] == m.pin[r] {
				m.join(t, r)
				break
			}
		}
	}
}

// phase makes the matching longer along shortest augmenting paths that have no
// task in common, and reports whether there was one.
func (m *matching) phase() bool {
	if !m.layers() {
		return false
	}
	m.cursor = append(m.cursor[:0], m.first[:m.n]...)
	found := false
	for t := range int32(m.n) {
		if m.next[t] < 0 && m.augment(t) {
			found = true
		}
	}
	return found
}

// layers counts how many joined edges lie between each task and one without a
// next, and reports whether a reader without a task before it is in reach.
func (m *matching) layers() bool {
	if m.level == nil {
		m.level = make([]int32, m.n)
	}
	m.queue = m.queue[:0]
	for t := range int32(m.n) {
		m.level[t] = -1
		if m.next[t] < 0 {
			m.level[t] = 0
			m.queue = append(m.queue, t)
		}
	}
	m.end = -1
	for i := 0; i < len(m.queue); i++ {
		t := m.queue[i]
		if m.end >= 0 && m.level[t] >= m.end {
			break
		}
		for _, r := range m.readers(t) {
			if m.pin[t] != m.pin[r] {
				continue
			}
			b := m.before[r]
			switch {
			case b < 0:
				m.end = m.level[t] + 1
			case m.level[b] < 0:
				m.level[b] = m.level[t] + 1
				m.queue = append(m.queue, b)
			}
		}
	}
	return m.end >= 0
}

// augment looks for a path through rising levels from a task to a free reader,
// and moves every task on it to its next reader.
func (m *matching) augment(from int32) bool {
	m.stack = append(m.stack[:0], from)
	for len(m.stack) > 0 {
		t := m.stack[len(m.stack)-1]
		if m.cursor[t] == m.first[t+1] {
			m.stack = m.stack[:len(m.stack)-1]
			if len(m.stack) > 0 {
				m.cursor[m.stack[len(m.stack)-1]]++
			}
			continue
		}
		r := m.list[m.cursor[t]]
		b := m.before[r]
		switch {
		case m.pin[t] != m.pin[r]:
			m.cursor[t]++
		case b < 0:
			for _, t := range m.stack {
				m.join(t, m.list[m.cursor[t]])
				m.cursor[t]++
			}
			return true
		case m.level[b] == m.level[t]+1 && m.level[b] < m.end:
			m.stack = append(m.stack, b)
		default:
			m.cursor[t]++
		}
	}
	return false
}
