package conv

import "github.com/npulang/npu/vm/kernel/gemm"

// Costs in cycles of one core, measured.
const (
	spreadCost = 28 // to transform eight lanes of a channel
	joinCost   = 20 // to make places of a quad for eight filters
)

// quadRoom is how many floats of transformed quads, and what they and a panel come to,
// stay in the second-level cache.
const quadRoom = 160 << 10

// Divide cuts the convolution for a number of parts, and returns how many there are to be:
// fewer if there is not enough work.
func (c *Winograd) Divide(parts int) int {
	c.grid = cheapest(parts, c.each, c.cost)
	c.lay()
	return max(1, min(parts, c.Units()))
}

// each calls f with the grids that come into question: any rows, and panels of filters in
// as many pieces as parts need.
func (c *Winograd) each(parts int, f func(grid)) {
	width := gemm.Width(c.level)
	rows := max(quadsOf(c.geo.rows), 1)
	g := grid{images: max(c.Images, 1), groups: c.Groups, slices: 1, cols: c.columns()}
	panels := (c.Filters + width - 1) / width
	for n := 1; n <= rows; n++ {
		if g.rows = evenly(rows, n); g.rows.parts() != n {
			continue
		}
		for pieces := 1; pieces <= panels; pieces++ {
			each := evenly(panels, pieces)
			if each.parts() != pieces {
				continue
			}
			g.filters = cut{c.Filters, each.each * width}
			f(g)
			if pieces >= 4*parts && g.filters.each*g.rows.each*4*g.cols.each <= tileRoom {
				break
			}
		}
	}
}

// rowRoom is how many floats of transformed quads a row has at most before it is cut;
// fewestQuads are in each part all the same.
const (
	rowRoom     = 96 << 10
	fewestQuads = 16
)

// columns cuts rows that are long, into parts of whole registers.
func (c *Winograd) columns() cut {
	n := max(quadsOf(c.geo.cols), 1)
	most := max(fewestQuads, rowRoom/(points*c.Channels))
	if n <= most {
		return cut{n, n}
	}
	return cut{n, roundUp(evenly(n, (n+most-1)/most).each, 8)}
}

// cost is about how many cycles the slowest part takes.
func (c *Winograd) cost(g *grid, parts int) float64 {
	width := gemm.Width(c.level)
	quads, lanes := g.rows.each*g.cols.each, g.rows.each*lanesOf(g.cols.each, c.fast)
	panels := roundUp(g.filters.each, width) / width
	most := max(len(c.fast.places)-1, 6)
	bunches := (quads + most - 1) / most
	product := float64(points * (max(quads, sumLatency*bunches)*c.Channels + bunchCost*bunches))
	if points*c.Channels*c.Filters > keptRoom {
		product = max(product, float64(points*c.Channels*width)/filterRate)
	}
	panel := product + float64(quads*width/8*joinCost)
	unit := unitCost + float64(panels)*panel + float64(4*quads*g.filters.each)*storeCost
	block := float64(lanes*c.Channels*spreadCost) / 8
	if lanes*points*c.Channels+quads*points*width > quadRoom {
		unit *= 1.1
	}
	if 4*quads*g.filters.each > tileRoom {
		unit *= 1.1
	}
	return slowest(g, parts, unit, block)
}

// What filters take that no cache holds, in floats of a cycle, where all cores read some.
const filterRate = 1.25

// WinogradShare is what a convolution takes so, as a share of what it takes directly,
// about. It goes by the shape alone, and by kernels of AVX2.
func WinogradShare(s Shape) float64 {
	rows, cols := float64(quadsOf(s.Axes[0])), float64(quadsOf(s.Axes[1]))
	channels, filters := float64(s.Channels), float64(roundUp(s.Filters, 16))
	places, quads := float64(s.Axes[0].Out*s.Axes[1].Out), rows*cols
	product := channels*filters + bunchCost*filters/6 // of a quad
	product = max(quads*product, points*channels*filters/filterRate)
	spread := rows * float64(roundUp(quadsOf(s.Axes[1]), 4)) * channels * spreadCost / 8
	join := quads * filters / 8 * joinCost
	return (product + spread + join) / (places * filters * max(9*channels/16, sumLatency))
}

// WinogradPays reports whether a convolution is computed so: it takes clearly less, and has
// several channels and filters.
func WinogradPays(s Shape) bool {
	return WinogradAt(s) && min(s.Channels, s.Filters) >= leastChannels && WinogradShare(s) < winogradShare
}

const (
	leastChannels = 16

	// winogradShare is what it has to take at most: less memory for filters, whose transforms
	// are 16/9 as large, and the smaller error, speak for direct sums.
	winogradShare = 0.7
)
