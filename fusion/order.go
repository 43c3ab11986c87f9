package fusion

import (
	"cmp"
	"slices"
)

// An order keeps the groups in a sequence in which each stands behind those that
// it reads. It is a list whose places carry growing labels, with gaps between
// them for groups that move.
type order struct {
	label      []int64
	prev, next []int32
	first      int32
}

// gap is the distance of neighbouring labels at first. A group that moves takes
// little of it: what moves to one place again and again moves to the same side of
// its neighbour, and is put where it leaves nearly all of the gap.
const (
	gap  = 1 << 40
	bite = 1 << 10
)

// init puts the operators in the order of the body.
func (o *order) init(g *graph) {
	n := len(g.vals)
	o.label, o.prev, o.next, o.first = make([]int64, n), make([]int32, n), make([]int32, n), none
	last := none
	for id := range g.vals {
		if g.vals[id].owner == int32(id) {
			o.insert(int32(id), last)
			last = int32(id)
		}
	}
	o.relabel()
}

// insert puts x behind y, or first if y is none, without a label.
func (o *order) insert(x, y int32) {
	o.prev[x] = y
	if y == none {
		o.next[x], o.first = o.first, x
	} else {
		o.next[x], o.next[y] = o.next[y], x
	}
	if n := o.next[x]; n != none {
		o.prev[n] = x
	}
}

func (o *order) remove(x int32) {
	if p := o.prev[x]; p != none {
		o.next[p] = o.next[x]
	} else {
		o.first = o.next[x]
	}
	if n := o.next[x]; n != none {
		o.prev[n] = o.prev[x]
	}
}

// after moves x to the place behind y.
func (o *order) after(x, y int32) {
	if x == y || o.prev[x] == y {
		return
	}
	o.remove(x)
	o.insert(x, y)
	o.squeeze(x, false)
}

// before moves x to the place in front of y.
func (o *order) before(x, y int32) {
	if x == y || o.next[x] == y {
		return
	}
	o.remove(x)
	o.insert(x, o.prev[y])
	o.squeeze(x, true)
}

// squeeze gives x a label between its neighbours, near one of them.
func (o *order) squeeze(x int32, low bool) {
	from, to := int64(0), int64(0)
	if p := o.prev[x]; p != none {
		from = o.label[p]
	}
	if n := o.next[x]; n != none {
		to = o.label[n]
	} else {
		to = from + 2*gap
	}
	step := max((to-from)/bite, 1)
	switch {
	case to-from < 2:
		o.relabel()
	case low:
		o.label[x] = from + step
	default:
		o.label[x] = to - step
	}
}

func (o *order) relabel() {
	label := int64(gap)
	for x := o.first; x != none; x = o.next[x] {
		o.label[x] = label
		label += gap
	}
}

// maxSearch bounds the edges that one search for a cycle looks at. Real graphs
// need a handful, since groups outside of the two ends' window end it; beyond the
// bound the merge is refused, so that the whole stays linear.
const maxSearch = 4000

// A merge is a set of groups that may become one, and how the others make room.
type merge struct {
	g     *graph
	parts []int32 // in their order
	move  []int32 // groups that have to move, in their order
	ahead bool    // they move in front of the first part, else behind the last
	via   int32   // if there is a cycle: a group on it that is no part, or none: the search was given up
}

// merging finds out whether groups may become one: no path leads from one of them
// through others to another. It looks from both ends at once and is through when
// one of the searches is, which for a value with many readers, or a group that
// reads much, is at once.
func (g *graph) merging(parts ...int32) (*merge, bool) {
	m := &merge{g: g, parts: slices.Clone(parts), via: none}
	slices.SortFunc(m.parts, func(a, b int32) int { return cmp.Compare(g.order.label[a], g.order.label[b]) })
	g.epoch += 4
	for _, p := range m.parts {
		g.mark[p] = g.epoch
	}
	down := &search{merge: m, side: g.epoch + 1, queue: slices.Clone(m.parts), down: true}
	up := &search{merge: m, side: g.epoch + 2, queue: slices.Clone(m.parts)}
	for range maxSearch {
		for _, s := range []*search{down, up} {
			switch done, hit := s.step(); {
			case hit != none:
				m.via = hit
				return m, false
			case done:
				m.move, m.ahead = s.queue[len(m.parts):], s == up
				slices.SortFunc(m.move, func(a, b int32) int { return cmp.Compare(g.order.label[a], g.order.label[b]) })
				return m, true
			}
		}
	}
	return m, false
}

// A search walks from the parts of a merge in one direction, one edge a step.
type search struct {
	*merge
	side  int64 // marks what it has seen
	queue []int32
	at    int // in queue
	edge  int // of queue[at]
	down  bool
}

// step looks at one edge. It is done when there are none; hit is the group from
// which a part was reached.
func (s *search) step() (done bool, hit int32) {
	for ; s.at < len(s.queue); s.at, s.edge = s.at+1, 0 {
		edges := s.g.groups[s.queue[s.at]].preds.list
		if s.down {
			edges = s.g.groups[s.queue[s.at]].succs.list
		}
		if s.edge < len(edges) {
			to := edges[s.edge].key
			s.edge++
			return false, s.visit(to)
		}
	}
	return true, none
}

func (s *search) visit(to int32) (hit int32) {
	switch mark := s.g.mark[to]; {
	case mark == s.side-1 && s.down, mark == s.side-2 && !s.down:
		if s.at >= len(s.parts) {
			return s.queue[s.at]
		}
	case mark == s.side || !s.between(to):
	default:
		// Seen from the other side too: on a path between two parts.
		if mark > s.g.epoch {
			return to
		}
		s.g.mark[to] = s.side
		s.queue = append(s.queue, to)
	}
	return none
}

// between reports whether a group stands between the first part and the last.
func (s *search) between(x int32) bool {
	l := s.g.order.label
	return l[s.parts[0]] < l[x] && l[x] < l[s.parts[len(s.parts)-1]]
}

// do makes one group of the parts, with these traits.
func (m *merge) do(t traits) int32 {
	g, o := m.g, &m.g.order
	first, last := m.parts[0], m.parts[len(m.parts)-1]
	at := last
	if m.ahead {
		at = first
		for _, x := range m.move {
			o.before(x, first)
		}
	} else {
		behind := last
		for _, x := range m.move {
			o.after(x, behind)
			behind = x
		}
	}
	label := o.label[at]
	root := m.parts[0]
	for _, p := range m.parts[1:] {
		root = g.union(root, p)
	}
	g.groups[root].traits = t
	if root != at {
		o.remove(root)
		o.insert(root, o.prev[at])
	}
	o.label[root] = label
	for _, p := range m.parts {
		if p != root {
			o.remove(p)
		}
	}
	return root
}
