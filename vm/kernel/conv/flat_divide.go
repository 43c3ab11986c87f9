package conv

// Costs in cycles of one core with two units for eight FMA, measured.
const (
	flatEnd   = 20.0 // to end a tile of sixteen places
	flatCall  = 40.0 // of each row of places
	flatReach = 0.02 // to read a float that another core may have
	scaleCost = 0.3  // to stage a float and multiply it
)

// flatRoom is bytes of what the places of a unit see: it stays in the second-level cache.
const flatRoom = 128 << 10

// flatTile is floats of a tile that something else reads: they stay in the second-level cache,
// and what reads them does not begin anew too often. flatStrip is places of its rows.
const (
	flatTile  = 16 << 10
	flatStrip = 2048
)

// Divide cuts the convolution for a number of parts, and returns how many there are to be.
func (f *Flat) Divide(parts int) int {
	f.grid = cheapest(parts, f.each, f.cost)
	f.lay()
	return max(1, min(parts, f.Units()))
}

// each calls try with the grids that come into question: places by strips or rows, and
// filters by panels.
func (f *Flat) each(parts int, try func(grid)) {
	g := grid{images: max(f.Images, 1), groups: max(f.Groups, 1), slices: 1}
	rows, cols := max(f.geo.rows.Out, 1), max(f.geo.cols.Out, 1)
	panels := max(f.panels.parts(), 1)
	pieces := func() {
		if f.tiled {
			g.filters = evenly(panels, (panels*flatRows*g.rows.each*g.cols.each+flatTile-1)/flatTile)
			try(g)
			return
		}
		for n := 1; n <= min(panels, 2*parts); n++ {
			g.filters = evenly(panels, n)
			try(g)
		}
	}
	if rows == 1 {
		least := max(1, (f.depth*cols*floatBytes+flatRoom-1)/flatRoom)
		if f.tiled {
			least = max(least, (cols+flatStrip-1)/flatStrip)
		}
		for n := least; n <= least+2*parts; n++ {
			g.rows, g.cols = cut{1, 1}, cut{cols, roundUp((cols+n-1)/n, f.wide)}
			pieces()
		}
		return
	}
	g.cols = cut{cols, cols}
	least := max(1, (f.Channels*f.geo.taps()*rows*cols*floatBytes+flatRoom-1)/flatRoom)
	for n := min(rows, least); n <= min(rows, least+2*parts); n++ {
		g.rows = evenly(rows, n)
		pieces()
	}
}

// cost is about how many cycles the slowest part takes.
func (f *Flat) cost(g *grid, parts int) float64 {
	rows, cols := g.rows.each, min(g.cols.each, g.cols.n)
	lines, line := rows, cols
	block := 0.0
	if !f.direct {
		s := newStage(f.sides, rows, cols, f.fast)
		if s.pitch == cols {
			lines, line = 1, rows*cols
		}
		block = stageCost
		if f.scaled {
			block = scaleCost
		}
		block *= float64(f.Channels * s.channel)
	}
	filters := float64(min(f.Filters, g.filters.each*flatRows))
	tile := filters*float64(f.depth) + flatEnd*filters/flatRows
	unit := unitCost + float64(lines)*(flatSteps(f.level, line)*tile+flatCall*float64(g.filters.each))
	unit += flatReach * float64(f.depth*rows*cols+int(filters)*f.depth)
	return slowest(g, parts, unit, block)
}
