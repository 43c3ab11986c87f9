package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A spreader is the argument of a kernel that transforms groups of quads of a row, all as
// wide, for some channels. Distances are in bytes; the generator of the kernels knows the
// offsets of the fields.
type spreader struct {
	src    [4]unsafe.Pointer // rows of x, or of zeros, at their first element
	from   [4]int            // from there to what the first quad sees first; it may be below 0
	step   [4]int            // from one channel to the next
	masks  unsafe.Pointer    // of the first group; those of the others follow
	dst    unsafe.Pointer    // the first point of the first channel's first lane
	to     int               // from one channel to the next
	apart  int               // from one point to the next
	count  int               // channels
	groups int               // bytes of their lanes

	first, end int // of what the quads see, what lies in x
}

// A joiner is the argument of a kernel that makes places of the products of a row of quads
// with a panel of filters, the last quad first: what the last one of an odd row writes too
// much is then overwritten.
type joiner struct {
	src   unsafe.Pointer // of the last quad: its points, each a panel's row
	dst   unsafe.Pointer // its first place
	line  int            // from a place to the one below it
	ld    int            // from one place to the next
	count int            // quads
	bad   [16]float32    // becomes NaN, somewhere, if a place does or is infinite

	width int // of a panel
}

// Compute computes unit number u. packed is what Pack has made, and w.Plain the filters as
// the operator has them. The tile is good until the next unit.
func (c *Winograd) Compute(w *Work, u int, x, packed []float32) Tile {
	b := c.grid.block(u)
	room := w.Room
	quads, room := room[:c.room.quads], room[c.room.quads:]
	products, room := room[:c.room.products], room[c.room.products:]
	tile, sums := room[:c.room.tile], room[c.room.tile:]
	if !w.holds || !sameInput(&w.staged, &b) {
		c.spread(w, &b, quads, x)
		w.staged, w.holds = b, true
	}
	t := Tile{
		Image: b.image, Channel: b.group*c.Filters + b.first, Channels: b.last - b.first,
		Place: 2 * (b.row*c.geo.cols.Out + b.col), Places: c.line(&b),
		Data: sums, Ld: c.ld, turned: true, spare: tile, spareLd: c.spareLd,
		lines: min(2*b.rows, c.geo.rows.Out-2*b.row), step: c.geo.cols.Out,
	}
	if t.Places == t.step {
		t.Places, t.lines = t.lines*t.step, 1
	}
	if !c.multiply(w, &b, quads, products, sums, packed) {
		w.holds = false
		c.mend(w, &b, &t, w.Room[:c.room.quads+c.room.products+c.room.tile], x)
	}
	return t
}

// line is how many places of a row belong to a block.
func (c *Winograd) line(b *Block) int { return min(2*b.cols, c.geo.cols.Out-2*b.col) }

// part is the part of rows that a block has.
func (c *Winograd) part(b *Block) *quadPart { return &c.parts[b.col/c.grid.cols.each] }

// spreadFloats is how many floats are written between the first group of a band and its
// last, so that their lines are in the first-level cache.
const spreadFloats = 4 << 10

// spread transforms what the quads of a block see, for some channels at a time.
func (c *Winograd) spread(w *Work, b *Block, quads, x []float32) {
	size, pitch, runs := c.geo.inputs(), c.bands.pitch, c.part(b).runs
	x = x[(b.image*c.Groups+b.group)*c.Channels*size:]
	s := &w.spreader
	s.to, s.apart = floatBytes*pitch, floatBytes*c.room.points
	each := max(1, spreadFloats/(points*pitch))
	for first := 0; first < c.Channels; first += each {
		s.count = min(each, c.Channels-first)
		for row := range b.rows {
			for i := range runs {
				r := &runs[i]
				c.see(s, r, x[first*size:], 2*(b.row+row)-c.geo.rows.Before)
				band, at := c.bands.lane(row, r.lane)
				s.dst = ptr(quads[(band*c.Channels+first)*pitch+at:])
				if r.wide {
					c.fast.spreadWide(s)
				} else {
					c.fast.spread(s)
				}
			}
		}
	}
}

// see sets what the quads of a run see of x, whose row y is that of their first elements.
func (c *Winograd) see(s *spreader, r *laneRun, x []float32, y int) {
	s.masks, s.groups = unsafe.Pointer(unsafe.SliceData(r.masks)), floatBytes*r.lanes
	s.first, s.end = r.first, r.end
	for i := range s.src {
		s.src[i], s.from[i], s.step[i] = ptr(c.zeros), 0, 0
		if at := y + i; at >= 0 && at < c.geo.rows.In {
			s.src[i], s.from[i], s.step[i] = ptr(x[at*c.geo.cols.In:]), floatBytes*r.col, floatBytes*c.geo.inputs()
		}
	}
}

// multiply makes the sums of a block of what its quads see, and reports whether all are
// finite.
func (c *Winograd) multiply(w *Work, b *Block, quads, products, sums, packed []float32) bool {
	width, part, line := gemm.Width(c.level), c.part(b), c.line(b)
	bands := part.kinds[0]
	if b.rows != c.grid.rows.each {
		bands = part.kinds[1]
	}
	j := &w.joiner
	j.ld, j.line, j.count, j.width = floatBytes*c.ld, floatBytes*line*c.ld, b.cols, width
	j.bad = [16]float32{}
	panel := points * c.Channels * width
	packed = packed[b.group*c.packedGroup():]
	for at := b.first; at < b.last; at += width {
		c.panel(w, bands, quads, products, packed[at/width*panel:][:panel])
		for row := range b.rows {
			last := row*part.quads + j.count - 1
			j.src = ptr(products[last*points*width:])
			j.dst = ptr(sums[2*(row*line+j.count-1)*c.ld+at-b.first:])
			c.fast.join(j)
		}
	}
	for _, v := range j.bad {
		if v != v {
			return false
		}
	}
	return true
}

// quadDepth is k of a product at most, where places go by bunches: filters and quads of
// so many channels stay in the first-level cache while all bunches of a band read them.
const quadDepth = 256

// panel multiplies all quads with a panel of filters, point by point.
func (c *Winograd) panel(w *Work, bands []quadBand, quads, products, filters []float32) {
	width := gemm.Width(c.level)
	for p := range points {
		of, from := filters[p*c.Channels*width:][:c.Channels*width], quads[p*c.room.points:]
		for k := 0; k < c.Channels; k += c.deep {
			n := min(c.deep, c.Channels-k)
			for i := range bands {
				band := &bands[i]
				if len(band.lies) == 0 {
					continue // of a part of a row that is shorter than the others
				}
				at := (i*c.Channels + k) * c.bands.pitch
				c.product(w, band, from[at:], of[k*width:], products[(band.first*points+p)*width:], n, k > 0)
			}
		}
	}
}

// product multiplies the quads of a band at a point with n rows of a panel.
func (c *Winograd) product(w *Work, band *quadBand, quads, filters, to []float32, n int, add bool) {
	width := gemm.Width(c.level)
	if c.fast.places == nil {
		w.Gemm.Run(c.level, &gemm.Block{
			M: len(band.lies), N: width, K: n, C: to, Ldc: points * width, Add: add,
			A: gemm.Matrix{Data: quads, Row: 1, Col: c.bands.pitch},
			B: gemm.Panels{Data: filters, Panel: n * width, Line: width},
		})
		return
	}
	b := &w.bunches
	*b = bunches{
		src: address(&quads[0]), offsets: address(&c.offsets[0]),
		filters: address(&filters[0]), sums: address(&to[0]), ld: points * width * floatBytes, k: n,
	}
	if add {
		b.add = 1
	}
	b.all(&band.bunching, width)
}

// mend puts in the place of sums that are not finite what a direct convolution gives.
func (c *Winograd) mend(w *Work, b *Block, t *Tile, room, x []float32) {
	if w.direct == nil {
		w.direct = &Work{Gemm: w.Gemm}
	}
	d, g := w.direct, &c.direct.grid
	d.Room, d.holds = room, false
	for i := range t.Lines() {
		row, col := (2*b.row+i)/g.rows.each, 2*b.col/g.cols.each
		unit := ((b.image*g.groups+b.group)*g.rows.parts()+row)*g.cols.parts() + col
		right := c.direct.Compute(d, unit*g.filters.parts()+b.first/g.filters.each, x, w.Plain)
		line := t.Line(i)
		line.mend(&right)
	}
}

// mend takes from an upright tile of the same places what is not finite in a turned one.
func (t *Tile) mend(right *Tile) {
	for p := range t.Places {
		for f := range t.Channels {
			if v := &t.Data[p*t.Ld+f]; *v-*v != 0 {
				*v = right.Data[f*right.Ld+p]
			}
		}
	}
}
