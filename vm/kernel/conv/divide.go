package conv

import (
	"math"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// How convolutions are cut into units. A unit should have so many places that its
// filters are read seldom, so few that its sums stay in the second-level cache, and
// there should be as much for each part. Whatever is chosen, the bits are the same.

// Costs in cycles of one core with two units for eight FMA, measured.
const (
	stageCost = 0.6  // to stage a float
	layCost   = 0.2  // to lay out a float in a panel
	storeCost = 0.7  // to leave a sum and store it
	turnCost  = 16.0 // to turn a sum back, in steps of k
	readCost  = 0.3  // to read a float of filters that the second-level cache does not hold
	unitCost  = 400  // of each unit
	bunchCost = 25   // of each bunch, by panel
	edgeCost  = 75   // of a part of a channel, whose last line another core may have; on an Emerald Rapids

	tailShare  = 0.125 // of a unit, which executors wait for in the end
	sumLatency = 4     // places that a bunch has to have so that it does not wait for sums
	restCost   = 200   // of what is left of a row behind whole blocks of what follows
)

// Sizes in floats.
const (
	tileRoom   = 96 << 10  // of a tile: 384 KB of a second-level cache
	stageRoom  = 256 << 10 // that are staged
	keptRoom   = 128 << 10 // filters that the second-level cache keeps
	mostCols   = 384       // places of a block that is a part of a row
	mostPlaces = 960
	unitWork   = 32 << 10 // steps of k of places that are worth a unit
	vecBlock   = 64       // places that package vec works on at a time
)

// Divide cuts the convolution for a number of parts, and returns how many there are
// to be: fewer if there is not enough work.
func (d *Dense) Divide(parts int) int {
	each, cost := d.each, d.cost
	switch {
	case d.single():
		each, cost = d.eachSingle, func(g *grid, parts int) float64 { return slowest(g, parts, float64(g.filters.each), 0) }
	case d.turned && d.fast.places != nil:
		each, cost = d.eachBunched, d.bunchedCost
	}
	d.grid, d.shared = cheapest(parts, each, cost), parts > 1
	d.lay()
	return max(1, min(parts, d.Units()))
}

// cheapest is the grid of least cost for a number of parts, of those that each tries; the
// first of several.
func cheapest(parts int, each func(parts int, try func(grid)), cost func(g *grid, parts int) float64) (best grid) {
	least := math.Inf(1)
	each(parts, func(g grid) {
		if c := cost(&g, parts); best.images == 0 || c < least {
			best, least = g, c
		}
	})
	return best
}

// each calls f with the grids that come into question.
func (d *Dense) each(parts int, f func(grid)) {
	unit := d.unit()
	pieces := max((d.Filters+unit-1)/unit, 1)
	rows, cols := max(d.geo.rows.Out, 1), max(d.geo.cols.Out, 1)
	g := grid{images: max(d.Images, 1), groups: max(d.Groups, 1), slices: max(d.geo.slices, 1)}
	least := (d.Filters*64 + tileRoom - 1) / tileRoom
	for n := max(1, least); n <= min(pieces, least+4*parts); n++ {
		g.filters = cut{max(d.Filters, 1), evenly(pieces, n).each * unit}
		if cols > mostCols {
			g.rows = cut{rows, 1}
			for width := 64; width <= mostCols; width += 32 {
				g.cols = cut{cols, width}
				f(g)
			}
			continue
		}
		g.cols = cut{cols, cols}
		for each := range rows {
			if g.rows = (cut{rows, each + 1}); each > 0 && (each+1)*cols > mostPlaces {
				break
			}
			f(g)
		}
	}
}

// unit is how many filters are kept together.
func (d *Dense) unit() int {
	if d.turned {
		return gemm.Width(d.level)
	}
	return gemm.Rows(d.level)
}

// cost is about how many cycles the slowest part takes.
func (d *Dense) cost(g *grid, parts int) float64 {
	rows, cols := g.rows.each, g.cols.each
	filters, places := min(g.filters.each, max(d.Filters, 1)), rows*cols
	wide, high := roundUp(places, gemm.Width(d.level)), filters
	if d.turned {
		wide, high = roundUp(filters, gemm.Width(d.level)), max(places, 4)
	}
	k := float64(d.depth)
	c := unitCost + float64(places)*k*layCost + float64(wide)*float64(high)*k/16 + float64(places)*float64(filters)*storeCost
	if places%vecBlock != 0 && places < d.geo.places() {
		c += restCost * float64(filters)
	}
	if !d.direct {
		s := newStage(d.sides, rows, cols, d.fast)
		staged := d.Channels * d.geo.outerTaps * s.channel
		c += float64(staged) * stageCost
		if staged > stageRoom {
			c += float64(staged)
		}
	}
	if d.Filters*d.depth > keptRoom {
		c += float64(filters) * k * readCost
	}
	if filters*places > tileRoom {
		c *= 2
	}
	units := g.units()
	if units/parts > 4 {
		// Most parts have blocks that are not whole.
		c *= float64(g.rows.n*g.cols.n) / float64(g.rows.parts()*g.cols.parts()*rows*cols)
	}
	worst := float64((units + parts - 1) / parts)
	if parts > 1 {
		worst += tailShare
	}
	return c * worst
}

// eachSingle calls f with the grid of a product of one row: filters are shared out.
func (d *Dense) eachSingle(parts int, f func(grid)) {
	width := gemm.Width(d.level)
	filters := evenly((d.Filters+width-1)/width, parts).each * width
	f(grid{
		images: max(d.Images, 1), groups: max(d.Groups, 1), slices: max(d.geo.slices, 1),
		rows: cut{1, 1}, cols: cut{1, 1}, filters: cut{max(d.Filters, 1), filters},
	})
}

// eachBunched calls f with grids for bunches: any rows, and as many panels of filters as
// are worth a unit.
func (d *Dense) eachBunched(parts int, f func(grid)) {
	width := gemm.Width(d.level)
	rows := max(d.geo.rows.Out, 1)
	g := grid{images: max(d.Images, 1), groups: max(d.Groups, 1), slices: max(d.geo.slices, 1)}
	panels := (d.Filters + width - 1) / width
	for _, g.cols = range d.colCuts(parts) {
		for n := 1; n <= rows; n++ {
			if g.rows = evenly(rows, n); g.rows.parts() != n {
				continue
			}
			work := g.rows.each * g.cols.each * d.depth
			each := min(panels, max(1, unitWork/max(work, 1)))
			g.filters = cut{max(d.Filters, 1), each * width}
			f(g)
			if g.filters.each = width; each > 1 {
				f(g)
			}
		}
	}
}

// colCuts are the ways to cut rows of places: into as few pieces as there have to be; and
// where all places are one row, of which panels of filters might be no equal shares, into
// some for each part too.
func (d *Dense) colCuts(parts int) []cut {
	cols := max(d.geo.cols.Out, 1)
	whole := evenly(cols, (cols+mostCols-1)/mostCols)
	if whole.parts() > 1 {
		whole.each = roundUp(whole.each, vecBlock) // of which no part has something left
		return []cut{whole}
	}
	if d.geo.rows.Out > 1 || parts == 1 || cols < parts*vecBlock/4 {
		return []cut{whole}
	}
	cuts := []cut{whole}
	for n := parts; n <= 2*parts && cols >= n*vecBlock/4; n *= 2 {
		cuts = append(cuts, evenly(cols, n))
	}
	return cuts
}

// bunchedCost is about how many cycles the slowest part takes.
func (d *Dense) bunchedCost(g *grid, parts int) float64 {
	places, width := g.rows.each*g.cols.each, gemm.Width(d.level)
	panels := float64(roundUp(g.filters.each, width) / width)
	bunches := d.fast.bunches(g.rows.each, g.cols.each)
	product := float64(max(places, sumLatency*bunches) * d.depth)
	if d.Filters*d.depth > keptRoom {
		product = max(product, float64(width*d.depth)/filterRate)
	}
	unit := unitCost + panels*(product+float64(places*width/2+bunchCost*bunches))
	staged := d.Channels * d.geo.outerTaps * places
	block := 0.0
	if !d.direct {
		s := newStage(d.sides, g.rows.each, g.cols.each, d.fast)
		staged = d.Channels * d.geo.outerTaps * s.channel
		block = float64(staged) * stageCost
	}
	if staged > stageRoom {
		unit *= 1.1
	}
	if parts > 1 && places < d.geo.places() {
		unit += edgeCost * panels * float64(width)
	}
	return slowest(g, parts, unit, block)
}

// slowest is what the largest part takes, of units that each take a time, and of blocks
// that take one more for their first unit in each part. Parts are executors, who take units
// one by one, so that the others wait for a share of one in the end.
func slowest(g *grid, parts int, unit, block float64) float64 {
	units, pieces := g.units(), g.filters.parts()
	parts = min(parts, units)
	worst := 0.0
	for p := range parts {
		first, end := units*p/parts, units*(p+1)/parts
		blocks := (end-1)/pieces - first/pieces + 1
		worst = max(worst, float64(end-first)*unit+float64(blocks)*block)
	}
	if parts > 1 {
		worst += unit * tailShare
	}
	return worst
}
