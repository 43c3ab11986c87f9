package draw

import (
	"cmp"
	"slices"
)

// A grid is the boxes in rows, with waypoints where links pass rows. Its items
// are the boxes, then the waypoints.
type grid struct {
	boxes []box
	items []item
	rows  [][]int // items, from left to right
	hops  [][]hop // of each box, the pieces of its links: each piece is drawn once
	bands []band  // where the rows are
}

// A band is the room of a row, from top to bottom.
type band struct{ top, bottom int }

// An item is a box or a waypoint.
type item struct {
	x    int // of its middle
	w    int
	pull int
	row  int
	up   []tie
	down []tie
}

// A tie is a neighbour in the row above or below: the item itself should be at
// the neighbour's x plus shift.
type tie struct{ item, shift, pull int }

// A hop is one piece of a link.
type hop struct {
	from, to     int // items
	leave, enter int
}

// waypointWidth is the room that a line takes in a row that it passes.
const waypointWidth = 10

// How much the place of an item matters, to its neighbours and among those of its
// row: the main line of a graph is straight before its weights stand well, and a
// line that passes many rows does so without bends.
const (
	sourcePull = 1
	nodePull   = 4
	linePull   = 6
)

// newGrid stands the boxes in their rows and leads the links past what is
// between.
func newGrid(boxes []box, links []link, rows int) *grid {
	g := &grid{boxes: boxes, items: make([]item, len(boxes)), rows: make([][]int, rows), hops: make([][]hop, len(boxes))}
	for i, b := range boxes {
		g.items[i] = item{w: b.w, row: b.row, pull: b.pull}
		g.rows[b.row] = append(g.rows[b.row], i)
	}
	bundles := bundle(boxes, links)
	left := waypointsPerBox * len(boxes)
	for _, b := range bundles {
		if left -= b.span - 1; left < 0 {
			g.straight(b)
			continue
		}
		g.lead(b)
	}
	return g
}

// A linkBundle has all links that leave one box at one point. They share
// their waypoints.
type linkBundle struct {
	links []link
	span  int // rows from the box to its last reader
}

// bundle gathers links that leave together, those that pass the fewest rows first.
func bundle(boxes []box, links []link) []linkBundle {
	sorted := slices.Clone(links)
	slices.SortStableFunc(sorted, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.leave, b.leave), cmp.Compare(boxes[a.to].row, boxes[b.to].row))
	})
	var bundles []linkBundle
	for i := 0; i < len(sorted); {
		begin := i
		for ; i < len(sorted) && sorted[i].from == sorted[begin].from && sorted[i].leave == sorted[begin].leave; i++ {
		}
		bundles = append(bundles, linkBundle{sorted[begin:i], boxes[sorted[i-1].to].row - boxes[sorted[begin].from].row})
	}
	slices.SortStableFunc(bundles, func(a, b linkBundle) int { return cmp.Compare(a.span, b.span) })
	return bundles
}

// straight draws the links of a bundle without regard to what is between.
func (g *grid) straight(b linkBundle) {
	for _, l := range b.links {
		g.hops[l.from] = append(g.hops[l.from], hop(l))
	}
}

// lead gives a bundle waypoints in the rows that it passes.
func (g *grid) lead(b linkBundle) {
	box := b.links[0].from
	at, leave := box, b.links[0].leave
	for _, l := range b.links {
		for g.items[at].row < g.boxes[l.to].row-1 {
			next := g.waypoint(g.items[at].row + 1)
			g.join(box, hop{at, next, leave, 0})
			at, leave = next, 0
		}
		g.join(box, hop{at, l.to, leave, l.enter})
	}
}

func (g *grid) waypoint(row int) int {
	i := len(g.items)
	g.items = append(g.items, item{w: waypointWidth, row: row, pull: linePull})
	g.rows[row] = append(g.rows[row], i)
	return i
}

// join adds a piece between neighbouring rows.
func (g *grid) join(box int, h hop) {
	g.hops[box] = append(g.hops[box], h)
	from, to := &g.items[h.from], &g.items[h.to]
	shift, pull := h.leave-h.enter, min(from.pull, to.pull)
	to.up = append(to.up, tie{h.from, shift, pull})
	from.down = append(from.down, tie{h.to, -shift, pull})
}
