package draw

import "sort"

const (
	// sweeps is how often the rows are ordered, down and up in turn.
	sweeps = 8
	// settles is how often they are moved after that, each in its order.
	settles = 6
	// gap is the least distance of boxes side by side.
	gap = 14
	// rowGap is the distance of rows, which the lines turn in.
	rowGap = 34
)

// arrange puts boxes and waypoints in their places.
func (g *grid) arrange() (width, height int) {
	for _, row := range g.rows {
		g.pack(row)
	}
	for i := range sweeps {
		g.sweep(i%2 == 0, true)
	}
	for i := range settles {
		g.sweep(i%2 == 0, false)
	}
	return g.trim(), g.stack()
}

// pack sets the items of a row side by side.
func (g *grid) pack(row []int) {
	x := 0
	for _, i := range row {
		g.items[i].x = x + g.items[i].w/2
		x += g.items[i].w + gap
	}
}

// sweep goes over the rows, down or up, and brings each item below or above the
// mean of its neighbours. If it orders, neighbours in the row just gone through
// decide, and items change places; else both sides decide.
func (g *grid) sweep(down, order bool) {
	for k := range g.rows {
		row := g.rows[k]
		if !down {
			row = g.rows[len(g.rows)-1-k]
		}
		want := make([]int, len(row))
		for i, at := range row {
			want[i] = g.wanted(&g.items[at], down, order)
		}
		if order {
			sort.Stable(&byWant{row, want})
		}
		g.settle(row, want)
	}
}

// wanted is where an item would stand by itself: an item that has no neighbours
// on the side that decides goes by the other side, else it stays.
func (g *grid) wanted(it *item, down, order bool) int {
	sides := [2][]tie{it.up, it.down}
	if !down {
		sides[0], sides[1] = sides[1], sides[0]
	}
	if !order {
		return g.mean(it, sides[0], sides[1])
	}
	if len(sides[0]) == 0 {
		return g.mean(it, sides[1], nil)
	}
	return g.mean(it, sides[0], nil)
}

func (g *grid) mean(it *item, sides ...[]tie) int {
	sum, n := 0, 0
	for _, side := range sides {
		for _, t := range side {
			sum += (g.items[t.item].x + t.shift) * t.pull
			n += t.pull
		}
	}
	if n == 0 {
		return it.x
	}
	return floorDiv(sum, n)
}

// floorDiv rounds down, below zero too, so that equal distances stay equal.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// byWant sorts a row by where its items want to stand.
type byWant struct{ row, want []int }

func (s *byWant) Len() int           { return len(s.row) }
func (s *byWant) Less(i, j int) bool { return s.want[i] < s.want[j] }
func (s *byWant) Swap(i, j int) {
	s.row[i], s.row[j] = s.row[j], s.row[i]
	s.want[i], s.want[j] = s.want[j], s.want[i]
}

// A run is neighbours of a row that touch. Its start is the mean of where its
// members would have it, by their pulls.
type run struct{ count, pull, sum int }

func (r run) start() int { return floorDiv(r.sum, r.pull) }

// settle sets a row so that no items overlap and the sum of the squares of what
// each is off from where it wants to be is smallest: what would overlap becomes
// one run (the pool-adjacent-violators algorithm, linear).
func (g *grid) settle(row, want []int) {
	offset := make([]int, len(row)) // from the row's start, if all touched
	for i := 1; i < len(row); i++ {
		offset[i] = offset[i-1] + (g.items[row[i-1]].w+g.items[row[i]].w)/2 + gap
	}
	var runs []run
	for i := range row {
		pull := g.items[row[i]].pull
		runs = append(runs, run{1, pull, (want[i] - offset[i]) * pull})
		for last := len(runs) - 1; last > 0 && runs[last-1].start() >= runs[last].start(); last-- {
			runs[last-1].count += runs[last].count
			runs[last-1].pull += runs[last].pull
			runs[last-1].sum += runs[last].sum
			runs = runs[:last]
		}
	}
	i := 0
	for _, r := range runs {
		for range r.count {
			g.items[row[i]].x = r.start() + offset[i]
			i++
		}
	}
}

// trim moves everything so that the leftmost edge is at 0, and returns the width.
func (g *grid) trim() int {
	if len(g.items) == 0 {
		return 0
	}
	left, right := g.items[0].x, g.items[0].x
	for _, it := range g.items {
		left, right = min(left, it.x-it.w/2), max(right, it.x+it.w-it.w/2)
	}
	for i := range g.items {
		g.items[i].x -= left
	}
	return right - left
}

// stack sets the rows below each other, each box in the middle of its row, and
// returns the height.
func (g *grid) stack() int {
	y := 0
	g.bands = make([]band, len(g.rows))
	for k, row := range g.rows {
		tallest := 0
		for _, i := range row {
			if i < len(g.boxes) {
				tallest = max(tallest, g.boxes[i].h)
			}
		}
		for _, i := range row {
			if i < len(g.boxes) {
				b := &g.boxes[i]
				b.x, b.y = g.items[i].x, y+(tallest-b.h)/2
			}
		}
		g.bands[k] = band{y, y + tallest}
		y += tallest + rowGap
	}
	return max(0, y-rowGap)
}
