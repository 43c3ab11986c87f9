package bytecode

import (
	"slices"
	"sort"
)

// A memory remembers, for each byte that a function touches, which buffer was
// last written there, by whom, and who has read it since. Bytes that begin and
// end together in every access are one segment; a tree over the segments holds
// a cell for a whole range where the range has one, so that an access costs
// the logarithm of their number and not its own length.
type memory struct {
	points []int64 // where segments begin and end, ascending
	leaves int     // segments, rounded up to a power of two
	node   []int32 // index of the cell of a whole subtree; mixed: look below
	cells  []cell  // cell 0 is memory that nothing has written
	budget int     // cells that may still be visited
}

const mixed = -1

// A cell is what is known about a range of segments.
type cell struct {
	lo, hi int // the segments it was made for; others may have taken some since
	root   int // the buffer that was written
	writer access
	reads  []access // the last on each stream
}

// An access is one instruction's touch of memory. Before any instruction
// the stream is -1.
type access struct {
	stream, at int
}

// newMemory makes the memory for accesses of the given addresses.
func newMemory(points []int64, accesses int) *memory {
	slices.Sort(points)
	points = slices.Compact(points)
	leaves := 1
	for leaves < len(points)-1 {
		leaves *= 2
	}
	// A plan visits a handful of cells for each access. A program that is made
	// to need more is turned down rather than followed.
	return &memory{points: points, leaves: leaves, node: make([]int32, 2*leaves), cells: make([]cell, 1), budget: 1<<20 + 256*accesses}
}

// segments turns addresses, which must be among the points, into segments.
func (m *memory) segments(lo, hi int64) (int, int) {
	if lo >= hi {
		return 0, 0
	}
	i := sort.Search(len(m.points), func(i int) bool { return m.points[i] >= lo })
	j := sort.Search(len(m.points), func(i int) bool { return m.points[i] >= hi })
	return i, j
}

// put gives the segments [lo, hi) to one new cell.
func (m *memory) put(lo, hi int, c cell) {
	if lo >= hi {
		return
	}
	c.lo, c.hi = lo, hi
	m.cells = append(m.cells, c)
	m.set(1, 0, m.leaves, lo, hi, int32(len(m.cells)-1))
}

func (m *memory) set(n, from, to, lo, hi int, id int32) {
	if hi <= from || to <= lo {
		return
	}
	if lo <= from && to <= hi {
		m.node[n] = id
		return
	}
	m.push(n)
	mid := (from + to) / 2
	m.set(2*n, from, mid, lo, hi, id)
	m.set(2*n+1, mid, to, lo, hi, id)
	if l, r := m.node[2*n], m.node[2*n+1]; l == r {
		m.node[n] = l
	}
}

// push hands the cell of a whole subtree down to its halves.
func (m *memory) push(n int) {
	if m.node[n] != mixed {
		m.node[2*n], m.node[2*n+1] = m.node[n], m.node[n]
		m.node[n] = mixed
	}
}

// A piece is a run of segments within one subtree that have one cell.
type piece struct {
	lo, hi int
	id     int32
}

// pieces lists the cells of the segments [lo, hi). ok is false when the
// budget is used up.
func (m *memory) pieces(lo, hi int, buf []piece) (_ []piece, ok bool) {
	if lo >= hi {
		return buf, true
	}
	buf = m.collect(1, 0, m.leaves, lo, hi, buf)
	m.budget -= len(buf)
	return buf, m.budget > 0
}

func (m *memory) collect(n, from, to, lo, hi int, buf []piece) []piece {
	if hi <= from || to <= lo || len(buf) > m.budget {
		return buf
	}
	if id := m.node[n]; id != mixed {
		lo, hi = max(lo, from), min(hi, to)
		if k := len(buf); k > 0 && buf[k-1].id == id {
			buf[k-1].hi = hi
			return buf
		}
		return append(buf, piece{lo, hi, id})
	}
	mid := (from + to) / 2
	buf = m.collect(2*n, from, mid, lo, hi, buf)
	return m.collect(2*n+1, mid, to, lo, hi, buf)
}

// mark notes a read of one piece. Where the cell reaches beyond the range that
// is read, the piece gets a cell of its own.
func (m *memory) mark(q piece, lo, hi int, by access) {
	c := &m.cells[q.id]
	if lo <= c.lo && c.hi <= hi {
		c.reads = noteRead(c.reads, by)
		return
	}
	m.put(q.lo, q.hi, cell{root: c.root, writer: c.writer, reads: noteRead(slices.Clone(c.reads), by)})
}

func noteRead(reads []access, by access) []access {
	for i := range reads {
		if reads[i].stream == by.stream {
			reads[i].at = by.at
			return reads
		}
	}
	return append(reads, by)
}
