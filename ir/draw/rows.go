package draw

import (
	"cmp"
	"slices"
)

// A box is what the layout knows of a node. The middle of its upper edge is at
// x, y.
type box struct {
	w, h int
	ends ends
	pull int // how much its place matters
	x, y int
	row  int
}

// ends says whether a box must stand in the first row or the last one.
type ends uint8

const (
	anywhere ends = iota
	atTop
	atBottom
)

// A link leads from a box to a later one. The points where it leaves and arrives
// are so far to the right of the boxes' middles.
type link struct {
	from, to     int
	leave, enter int
}

const (
	// widest is how many boxes stand in one row. A fan of thousands of nodes takes
	// several rows, so that the picture can be looked at.
	widest = 60
	// waypointsPerBox bounds the waypoints of all links: where every node of a long
	// chain is read far below, their number would be the square of the nodes'. A
	// link that finds none is drawn straight through.
	waypointsPerBox = 8
)

// assignRows says in which row each box stands, and returns how many there are.
func assignRows(boxes []box, links []link) int {
	readers, reads := degrees(boxes, links)
	for _, l := range byTo(links) {
		boxes[l.to].row = max(boxes[l.to].row, boxes[l.from].row+1)
	}
	lower(boxes, links, readers, reads)
	last := 0
	for i := range boxes {
		last = max(last, boxes[i].row)
	}
	for i := range boxes {
		if boxes[i].ends == atBottom {
			boxes[i].row = last
		}
	}
	return splitRows(boxes, last+1)
}

func degrees(boxes []box, links []link) (readers, reads []int) {
	readers, reads = make([]int, len(boxes)), make([]int, len(boxes))
	for _, l := range links {
		readers[l.from]++
		reads[l.to]++
	}
	return readers, reads
}

// byTo orders links by where they lead, and those by where they come from: what
// a box reads is known before its turn.
func byTo(links []link) []link {
	sorted := slices.Clone(links)
	slices.SortStableFunc(sorted, func(a, b link) int { return cmp.Compare(a.to, b.to) })
	return sorted
}

// lower moves boxes down to their first reader where that makes no more lines
// longer than shorter: weights stand beside what they are multiplied with.
func lower(boxes []box, links []link, readers, reads []int) {
	sorted := slices.Clone(links)
	slices.SortStableFunc(sorted, func(a, b link) int { return cmp.Compare(b.from, a.from) })
	for i := 0; i < len(sorted); {
		from := sorted[i].from
		nearest := boxes[sorted[i].to].row
		for ; i < len(sorted) && sorted[i].from == from; i++ {
			nearest = min(nearest, boxes[sorted[i].to].row)
		}
		if b := &boxes[from]; b.ends == anywhere && reads[from] <= readers[from] {
			b.row = nearest - 1
		}
	}
}

// splitRows deals the boxes of rows that are too wide to several, and returns the
// number of rows.
func splitRows(boxes []box, rows int) int {
	count := make([]int, rows)
	for i := range boxes {
		count[boxes[i].row]++
	}
	first := make([]int, rows+1)
	for r, n := range count {
		first[r+1] = first[r] + max(1, (n+widest-1)/widest)
	}
	seen := make([]int, rows)
	for i := range boxes {
		r := boxes[i].row
		boxes[i].row = first[r] + seen[r]*(first[r+1]-first[r])/count[r]
		seen[r]++
	}
	return first[rows]
}
