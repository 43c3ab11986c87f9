package fusion

import (
	"fmt"
	"slices"
)

// Where memory has priority, no region may raise the largest sum of bytes that
// are live at once, in the order of the list. One kernel holds what all its parts
// read until the last of them is done; in exchange, what goes between the parts
// takes no memory:
//
//	a   reads x, makes u         {a b} reads x, y until both are done
//	... y is made           =>   adds x, which was dead behind a, if nothing later
//	b   reads u, y               reads it, and saves u
//
// Merges are judged one by one against the peak of the list as it was; whether
// they keep to it all together is counted at the end, and regions are given up
// until they do. On the host a region runs operator by operator, and its inner
// values take memory too. Counted is what is live; that a planner cannot always lay
// it out without gaps is its own affair.

// A memory is what values take over the steps of a list.
type memory struct {
	*graph
	host bool

	// Of the last list that was counted.
	base   []int32 // of a value: the one whose memory it has, for views
	free   []bool  // of a base: it takes none of the memory that is planned: leaves, results
	at     []int   // of an operator: its step
	fused  []bool  // of an operator: it is in a region
	last   []int   // of a base: the step that reads it last
	reader []int32 // of a base: the operator that reads it last
	live   []int64 // bytes at each step
}

func newMemory(g *graph, host bool) *memory {
	n := len(g.vals)
	return &memory{graph: g, host: host, base: make([]int32, n), free: make([]bool, n), fused: make([]bool, n), at: make([]int, n), last: make([]int, n), reader: make([]int32, n)}
}

// findBases tells which views have the memory of another value. One that leaves a
// region has its own: the region writes it.
func (m *memory) findBases() {
	for id := range m.vals {
		m.base[id], m.free[id] = int32(id), false
		if m.isView(int32(id)) && m.vals[id].owner == int32(id) && !m.leaves(int32(id)) {
			m.base[id] = m.base[m.number[m.vals[id].v.Args[0]]]
		}
	}
	for id := range m.vals {
		if m.vals[id].owner == none || m.vals[id].result {
			m.free[m.base[id]] = true
		}
	}
}

// leaves reports whether a value is made in a region and read outside.
func (m *memory) leaves(id int32) bool {
	o := m.vals[id].owner
	if !m.fused[o] {
		return false
	}
	for _, r := range m.vals[id].readers {
		if m.at[r] != m.at[o] {
			return true
		}
	}
	return m.vals[id].result
}

// count sums up a list, and gives its peak with the step where it is.
func (m *memory) count(list []step) (peak int64, at int) {
	for i, s := range list {
		m.at[s.id] = i
		m.fused[s.id] = s.members != nil
		for _, id := range s.members {
			m.at[id], m.fused[id] = i, true
		}
	}
	m.findBases()
	m.findLast()
	m.live = make([]int64, len(list)+1)
	for id := range m.vals {
		if b := int32(id); m.planned(b) {
			if made := m.at[m.vals[id].owner]; list[made].members == nil || m.leaves(b) {
				m.live[made] += m.bytes(b)
				m.live[m.last[id]+1] -= m.bytes(b)
			}
		}
	}
	for i := 1; i < len(m.live); i++ {
		m.live[i] += m.live[i-1]
	}
	for i, s := range list {
		if m.host && s.members != nil {
			m.live[i] += m.inner(s)
		}
		if m.live[i] > peak {
			peak, at = m.live[i], i
		}
	}
	return peak, at
}

// planned reports whether a value is the base of memory that is planned.
func (m *memory) planned(id int32) bool {
	return m.base[id] == id && !m.free[id] && m.vals[id].owner != none
}

func (m *memory) bytes(id int32) int64 { return m.size.bytes(m.vals[id].v.Type) }

// findLast finds for each base who reads it last, itself if nobody does.
func (m *memory) findLast() {
	for id := range m.vals {
		if o := m.vals[id].owner; o != none {
			m.last[id], m.reader[id] = m.at[o], int32(id)
		}
	}
	for id := range m.vals {
		b := m.base[id]
		for _, r := range m.vals[id].readers {
			if m.base[r] != r {
				continue // a view: those that read it count
			}
			m.last[b], m.reader[b] = max(m.last[b], m.at[r]), max(m.reader[b], r)
		}
	}
}

// inner is the largest sum of bytes that a region holds at once of values that do
// not leave it.
func (m *memory) inner(s step) int64 {
	ends := map[int32]int64{}
	most, now := int64(0), int64(0)
	for _, id := range s.members {
		if m.planned(id) && !m.leaves(id) {
			now += m.bytes(id)
			most = max(most, now)
			ends[m.reader[id]] += m.bytes(id)
		}
		now -= ends[id]
	}
	return most
}

// A peak is what a function needs before it is fused.
type peak struct {
	*memory
	most  int64
	ranks [][]int64 // the most of 2^k steps from each one on, for every k
}

// newPeak counts the list without regions.
func newPeak(g *graph, host bool) *peak {
	p := &peak{memory: newMemory(g, host)}
	p.most, _ = p.count(g.steps(nil))
	p.ranks = [][]int64{p.live}
	for width := 1; 2*width <= len(p.live); width *= 2 {
		below := p.ranks[len(p.ranks)-1]
		row := make([]int64, len(p.live)-2*width+1)
		for i := range row {
			row[i] = max(below[i], below[i+width])
		}
		p.ranks = append(p.ranks, row)
	}
	return p
}

// between is the most that is live from one step to another.
func (p *peak) between(from, to int) int64 {
	k := 0
	for 2<<k <= to-from+1 {
		k++
	}
	return max(p.ranks[k][from], p.ranks[k][to-(1<<k)+1])
}

// raises turns down a merge for which what is held longer would lift the steps
// between above the peak.
func (w *fusing) raises(m *merge) *reason {
	last := w.peak.lastStep(m.parts)
	adds, saves, from := int64(0), int64(0), last
	for _, p := range m.parts {
		for _, e := range w.groups[p].ins.list {
			b := w.peak.base[e.key]
			if w.peak.planned(b) && !slices.Contains(m.parts, w.groupOf(b)) && w.peak.last[b] < last {
				adds += w.peak.bytes(b)
				from = min(from, w.peak.last[b]+1)
			}
		}
		for _, e := range w.groups[p].outs.list {
			if b := w.peak.base[e.key]; !w.peak.host && w.peak.planned(b) && w.peak.last[b] == last && w.within(e.key, m.parts) {
				saves += w.peak.bytes(b)
			}
		}
	}
	if needs := w.peak.between(from, last) + adds - saves; adds > saves && needs > w.peak.most {
		return &reason{"raises-peak", fmt.Sprintf("needs %d, has %d", needs, w.peak.most)}
	}
	return nil
}

// lastStep is where the last operator of parts stood.
func (p *peak) lastStep(parts []int32) int {
	last := 0
	for _, g := range parts {
		last = max(last, p.at[p.groups[g].last])
	}
	return last
}

// within reports whether only parts read a value.
func (w *fusing) within(value int32, parts []int32) bool {
	x := &w.vals[value]
	return !x.result && !slices.ContainsFunc(x.readers, func(r int32) bool { return !slices.Contains(parts, w.group(r)) })
}

// maxGivenUp bounds how many regions are given up one by one; then all are.
const maxGivenUp = 64

// keepPeak gives up regions until the peak is what it was without any.
func (w *fusing) keepPeak(regions map[int32]bool) {
	for range maxGivenUp {
		list := w.steps(regions)
		needs, at := w.peak.count(list)
		if needs <= w.peak.most {
			return
		}
		root := w.culprit(list, at)
		if root == none {
			break
		}
		delete(regions, root)
		v := w.rootValue(root)
		w.trackerOf(root).refuse(&reason{"raises-peak", fmt.Sprintf("needs %d, has %d", needs, w.peak.most)}, w.name(v), v)
	}
	clear(regions)
}

// culprit is the region at the peak; if there is none, that one whose arguments
// take most of it.
func (w *fusing) culprit(list []step, at int) int32 {
	if m := list[at].members; m != nil {
		return w.group(m[0])
	}
	held := make([]int64, len(list))
	for id := range w.vals {
		b := int32(id)
		if w.peak.planned(b) && w.peak.at[w.vals[b].owner] <= at && at <= w.peak.last[b] {
			held[w.peak.last[b]] += w.peak.bytes(b)
		}
	}
	best := -1
	for i := range list {
		if list[i].members != nil && held[i] > 0 && (best < 0 || held[i] > held[best]) {
			best = i
		}
	}
	if best < 0 {
		return none
	}
	return w.group(list[best].members[0])
}

// trackerOf is that of the rule that made a group.
func (w *fusing) trackerOf(root int32) *tracker {
	t := &w.groups[root].traits
	for i, r := range w.set.rules {
		if r == t.rule {
			return w.Fuser.named[i]
		}
	}
	for i := range growth {
		if t.grown&(1<<i) != 0 {
			return w.grown[i]
		}
	}
	return &tracker{} // of the script
}
