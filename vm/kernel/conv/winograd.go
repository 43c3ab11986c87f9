package conv

import (
	"fmt"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A Winograd convolution is one by windows of 3x3 that stand side by side, with constant
// filters, computed by Winograd's F(2x2, 3x3): a quad of 2x2 places, which sees 4x4
// elements, takes 16 products by channel and filter instead of 36.
//
//	y = Aᵗ · [ sum over channels of (G·g·Gᵗ) * (Bᵗ·d·B) ] · A        * element by element
//
//	     1  0 -1  0          1    0    0
//	Bᵗ = 0  1  1  0      G = 1/2  1/2  1/2      Aᵗ = 1  1  1  0
//	     0 -1  1  0          1/2 -1/2  1/2           0  1 -1 -1
//	     0  1  0 -1          0    0    1
//
// Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015,
// section 4.1. So there are 16 products of matrices, one for each point of the
// transformed quads: quads by channels times channels by filters.
//
//	filters      =>   G·g·Gᵗ, in panels, once, by Pack
//	a block of x =>   Bᵗ·d·B of its quads, by bands, in the second-level cache
//	a panel of filters and a block  =>  16 products, and at once Aᵗ·m·A of them
//
// Transforms are sums of elements in a fixed order and products one fused multiply-add
// for each channel in ascending order, so that neither units nor the instruction set
// change a bit; but for Portable, which rounds products before it adds them.
//
// With u = 2^-24, m the largest element that a quad sees and s the sum of the magnitudes
// of a filter, a sum is off by no more than 16(C+8)u·m·s: transformed elements are within
// 4m, transformed filters that meet in one place have magnitudes of 4s together, and each
// product goes through C additions and 7 other roundings. Where the magnitudes of a quad's
// elements differ much, what is small beside m is lost, which a direct sum of small
// elements alone would keep.
//
// What is not finite among the sums, because something else was not, or left the range on
// the way, is computed anew without a transform: it has what Dense gives.
type Winograd struct {
	Shape
	geo    geometry
	fast   *kernels
	level  isa.Level
	grid   grid   // in quads
	direct *Dense // of what is not finite, in the same units

	bands   banding
	parts   []quadPart // of rows
	zeros   []float32  // a row of padding
	offsets []int      // by channel: bytes behind the first, in a band
	deep    int        // channels of a product
	ld      int        // floats between places of sums
	spareLd int        // and between channels of a tile that is upright
	room    struct{ quads, points, products, tile, sums int }
}

// A quadPart is a part of a row of quads, and how they lie in a block: in all that are
// whole, in the last.
type quadPart struct {
	quadRow
	kinds [2][]quadBand
}

// points is how many elements a transformed quad has.
const points = 16

// WinogradAt reports whether a convolution can be computed so: by windows of 3x3 without
// strides or spread, over two axes.
func WinogradAt(s Shape) bool {
	if len(s.Axes) != 2 || s.Filters == 0 || s.Channels == 0 {
		return false
	}
	for _, a := range s.Axes {
		if a.Size != 3 || a.Step != 1 || a.Spread != 1 {
			return false
		}
	}
	return true
}

// WinogradError bounds how far sums are off, as a share of the largest magnitude that a
// sum of the magnitudes of its products may have.
func WinogradError(s Shape) float64 { return 16 * 0x1p-24 * float64(s.Channels+8) }

// NewWinograd readies a convolution, of which WinogradAt holds, for one part.
func NewWinograd(level isa.Level, s Shape) *Winograd {
	w := WinogradFiltersOf(level, s)
	w.direct = newDense(level, s, false)
	w.offsets = make([]int, s.Channels)
	w.deep = evenly(s.Channels, (s.Channels+quadDepth-1)/quadDepth).each
	w.Divide(1)
	return w
}

// WinogradFiltersOf is the convolution of a level, which this processor need not have, for
// Layout, Packed and Pack only.
func WinogradFiltersOf(level isa.Level, s Shape) *Winograd {
	return &Winograd{Shape: s, geo: geometryOf(s.Axes), fast: of(level), level: level}
}

// quadsOf is how many quads an axis has.
func quadsOf(a Axis) int { return (a.Out + 1) / 2 }

// Units is how many blocks the convolution is cut into.
func (c *Winograd) Units() int {
	if c.empty() {
		return 0
	}
	return c.grid.units()
}

// Layout names what Pack makes of w.
func (c *Winograd) Layout() string {
	return fmt.Sprintf("conv winograd panels/%d of %d [m=%d,c=%d]", gemm.Width(c.level), c.Groups, c.Filters, c.Channels)
}

// Room is how many floats of scratch memory Compute takes.
func (c *Winograd) Room() int { return c.room.quads + c.room.products + c.room.tile + c.room.sums }

// lay fixes what follows from the grid.
func (c *Winograd) lay() {
	rows, cols, width := c.grid.rows.each, c.grid.cols.each, gemm.Width(c.level)
	c.bands = bandingOf(lanesOf(cols, c.fast))
	for i := range c.offsets {
		c.offsets[i] = floatBytes * i * c.bands.pitch
	}
	c.zeros = make([]float32, 2*c.bands.lanes+32)
	c.layParts(rows)

	places, line := 4*rows*cols, 2*cols
	if c.grid.cols.parts() == 1 {
		places = 2 * rows * c.geo.cols.Out
		line = places
	}
	if c.spareLd = line; line < c.geo.places() {
		c.spareLd = roundUp(line, 16)
	}
	c.spareLd = spaced(c.spareLd)
	c.ld = spaced(roundUp(c.grid.filters.each, max(16, width)))

	// Points are a cache line away from a multiple of many sets' size.
	c.room.points = roundUp(c.bands.count(rows)*c.bands.pitch*c.Channels, 16) + 16
	c.room.quads = points * c.room.points
	c.room.products = rows * c.parts[0].quads * points * width
	c.room.tile = roundUp(c.grid.filters.each*c.spareLd, 16)
	c.room.sums = (roundUp(places, 8) + 8) * c.ld
	c.layDirect()
}

// layParts lays out the parts of rows, in blocks of some rows and in the last ones.
func (c *Winograd) layParts(rows int) {
	_, rest := c.grid.rows.part(c.grid.rows.parts() - 1)
	c.parts = make([]quadPart, c.grid.cols.parts())
	for i := range c.parts {
		p := &c.parts[i]
		first, n := c.grid.cols.part(i)
		p.quadRow = c.bands.rowOf(c.geo.cols, first, n, c.fast)
		p.kinds = [2][]quadBand{c.bands.list(&p.quadRow, rows, c.fast), c.bands.list(&p.quadRow, rest, c.fast)}
	}
}

// layDirect gives the direct convolution units of the same places, or of their lines where
// rows are cut, and room that it takes in the place of quads, products and the tile.
func (c *Winograd) layDirect() {
	d := c.direct
	d.grid = c.grid
	d.grid.rows, d.grid.cols = cut{c.geo.rows.Out, 2 * c.grid.rows.each}, cut{c.geo.cols.Out, c.geo.cols.Out}
	if c.grid.cols.parts() > 1 {
		d.grid.rows.each, d.grid.cols.each = 1, 2*c.grid.cols.each
	}
	d.lay()
	if more := d.Room() - c.room.quads - c.room.products - c.room.tile; more > 0 {
		c.room.quads += roundUp(more, 16)
	}
}
