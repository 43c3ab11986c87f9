package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Thin convolution is one with few filters in each group: depthwise ones have one.
// Its blocks are groups times rows, and its sums go tap by tap over all places of a
// block at once, as they lie in what is staged: with what lies between the rows, which
// is dropped when the sums are copied to a tile.
type Thin struct {
	Shape
	geo     geometry
	fast    *kernels
	level   isa.Level
	depth   int // taps of a sum
	sources []int
	sides   [2]side

	grid      grid // its filters are groups
	windowing windowing
	stage     stage
	offsets   []int
	flat      int // floats of sums with what lies between
	ld        int
}

// ThinAt reports whether a convolution has so few filters in each group that laying
// out panels for them does not pay.
func ThinAt(s Shape) bool { return s.Filters <= 2 }

// NewThin readies a convolution for one part.
func NewThin(level isa.Level, s Shape) *Thin {
	t := &Thin{Shape: s, geo: geometryOf(s.Axes), fast: of(level), level: level}
	t.depth = s.Channels * t.geo.outerTaps * t.geo.taps()
	t.sources = t.geo.sources()
	t.sides = [2]side{sideOf(t.geo.rows), sideOf(t.geo.cols)}
	if s.Channels == 1 && s.Filters == 1 {
		t.windowing = windowingOf(&t.geo, t.fast.windows)
	}
	t.Divide(1)
	return t
}

// Work of a thin unit: floats of sums that are about to be in the first-level
// cache, floats of a tile, floats that are staged.
const (
	thinCols  = 2048
	thinTile  = 4 << 10
	thinStage = 32 << 10

	// Windows lay nothing out, so that larger units cost what follows less often.
	windowsCols = 8 << 10
	windowsTile = 16 << 10
)

// Divide cuts the convolution for a number of parts, and returns how many there are
// to be.
func (t *Thin) Divide(parts int) int {
	rows, cols := max(t.geo.rows.Out, 1), max(t.geo.cols.Out, 1)
	g := grid{images: max(t.Images, 1), groups: 1, slices: max(t.geo.slices, 1)}
	g.cols = cut{cols, min(cols, thinCols)}
	together, tile := thinCols, thinTile
	if t.windowing.there() {
		tile = windowsTile
		if parts == 1 && g.cols.parts() == 1 { // others share rows as convolutions before do
			together = windowsCols
		}
	}
	g.rows = evenly(rows, (rows*g.cols.each+together-1)/together)
	for !t.windowing.there() {
		s := newStage(t.sides, g.rows.each, g.cols.each, t.fast)
		if g.rows.each == 1 || s.channel*t.Channels*t.geo.outerTaps <= thinStage {
			break
		}
		g.rows.each = (g.rows.each + 1) / 2
	}
	each := max(1, tile/max(1, t.Filters*g.rows.each*g.cols.each))
	others := g.images * g.slices * g.rows.parts() * g.cols.parts()
	for each > 1 && others*((t.Groups+each-1)/each) < 4*parts {
		each--
	}
	g.filters = shared(max(t.Groups, 1), each, others, parts)
	t.grid = g
	t.lay()
	return max(1, min(parts, t.Units()))
}

// shared cuts n things into runs of each, or of somewhat less, so that parts have about as
// many of them, of which there are so many others.
func shared(n, each, others, parts int) cut {
	best, least := evenly(n, (n+each-1)/each), 0
	for e := best.each; e > best.each/2; e-- {
		c := cut{n, e}
		if most := (c.parts()*others + parts - 1) / parts * e; least == 0 || most < least {
			best, least = c, most
		}
	}
	return best
}

func (t *Thin) lay() {
	t.ld = t.grid.rows.each * t.grid.cols.each
	if t.windowing.there() {
		t.windowing.lay(t.grid.cols, 0)
		return
	}
	t.stage = newStage(t.sides, t.grid.rows.each, t.grid.cols.each, t.fast)
	t.stage.pad(0)
	t.offsets = t.stage.offsets(t.Channels * t.geo.outerTaps)
	t.flat = t.grid.rows.each*t.stage.pitch + slack
}

// Units is how many blocks the convolution is cut into.
func (t *Thin) Units() int {
	if t.empty() {
		return 0
	}
	return t.grid.units()
}

// Room is how many floats of scratch memory Compute takes.
func (t *Thin) Room() int { return t.staged() + t.flat + t.tiles() }

func (t *Thin) staged() int {
	if t.windowing.there() {
		return 0
	}
	return roundUp(t.Channels*t.geo.outerTaps*t.stage.channel+slack, 16)
}

// tiles leaves room for what is written behind: some places, and three rows of windows, of
// which the smallest groups have four.
func (t *Thin) tiles() int { return t.grid.filters.each*t.Filters*t.ld + 3*t.grid.cols.each + slack }

// Compute computes unit number u. The tile is good until the next unit.
func (t *Thin) Compute(w *Work, u int, x, filters []float32) Tile {
	return t.Ended(w, u, x, filters, nil)
}

// Ended is Compute, and takes the tile through an ending too, but for residuals.
func (t *Thin) Ended(w *Work, u int, x, filters []float32, e *Ending) Tile {
	b := t.grid.block(u)
	return t.tile(w, &b, x, filters, e)
}

func (t *Thin) tile(w *Work, b *Block, x, filters []float32, e *Ending) Tile {
	room := w.Room
	stage, flat, data := room[:t.staged()], room[t.staged():][:t.flat], room[t.staged()+t.flat:]
	tile := Tile{
		Image: b.image, Channel: b.first * t.Filters, Channels: (b.last - b.first) * t.Filters,
		Place: (b.slice*t.geo.rows.Out+b.row)*t.geo.cols.Out + b.col, Places: b.places(),
		Data: data, Ld: t.ld,
	}
	if t.windowing.there() {
		t.slide(w, b, planes{end: e, to: data, ld: t.ld, pitch: b.cols}, x, filters)
		return tile
	}
	t.groups(b, stage, flat, data, x, filters)
	if e != nil {
		tile.Upright(w, t.level, e)
	}
	return tile
}

// Store computes unit number u, takes it through an ending and stores it in y. rest, if not
// nil, has a residual for each element of y, and may be y.
func (t *Thin) Store(w *Work, u int, x, filters []float32, e *Ending, y, rest []float32) {
	b := t.grid.block(u)
	if rest == nil && t.windowing.straight(&b) {
		size := t.geo.places()
		at := (b.image*t.Groups+b.first)*size + b.row*t.geo.cols.Out + b.col
		t.slide(w, &b, planes{end: e, to: y[at:], ld: size, pitch: t.geo.cols.Out}, x, filters)
		return
	}
	tile := t.tile(w, &b, x, filters, nil)
	tile.Store(w, t.level, e, y, rest, t.Groups*t.Filters, t.geo.slices*t.geo.places())
}

// slide goes through the windows of a unit, which is of one channel a group.
func (t *Thin) slide(w *Work, b *Block, of planes, x, filters []float32) {
	of.x, of.filters = x[(b.image*t.Groups+b.first)*t.geo.inputs():], filters[b.first*t.depth:]
	of.channel = b.first
	t.windowing.slide(&w.windows, b, &of)
}

// groups sums up group by group.
func (t *Thin) groups(b *Block, stage, flat, tile, x, filters []float32) {
	for g := b.first; g < b.last; g++ {
		t.fill(b, g, stage, x)
		for f := range t.Filters {
			t.sum(b, flat, stage, filters[(g*t.Filters+f)*t.depth:])
			packRows(tile[((g-b.first)*t.Filters+f)*t.ld:], flat, b, t.stage.pitch)
		}
	}
}

// fill stages all planes of a group.
func (t *Thin) fill(b *Block, group int, stage, x []float32) {
	size := t.geo.inputs()
	channel := t.geo.planes * size
	x = x[(b.image*t.Groups+group)*t.Channels*channel:]
	for c := range t.Channels {
		for i, plane := range t.sources[b.slice*t.geo.outerTaps:][:t.geo.outerTaps] {
			var from []float32
			if plane >= 0 {
				from = x[c*channel+plane*size:][:size]
			}
			t.stage.put(stage[(c*t.geo.outerTaps+i)*t.stage.channel:], from, b)
		}
	}
}

// sum adds up the taps of one filter.
func (t *Thin) sum(b *Block, flat, stage, w []float32) {
	n := ((b.rows-1)*t.stage.pitch + b.cols + t.fast.lanes - 1) / t.fast.lanes
	if t.depth == 0 {
		clear(flat[:n*t.fast.lanes])
		return
	}
	t.fast.products(unsafe.SliceData(flat), unsafe.SliceData(stage), n, &t.offsets[0], t.depth, unsafe.SliceData(w))
}

// packRows copies rows of places that are pitch floats apart behind each other. It
// may write up to eight floats behind them.
func packRows(dst, flat []float32, b *Block, pitch int) {
	if b.cols == pitch {
		copy(dst, flat[:b.places()])
		return
	}
	for r := range b.rows {
		from, to := flat[r*pitch:], dst[r*b.cols:]
		if b.cols > 16 {
			copy(to[:b.cols], from)
			continue
		}
		// The next row overwrites what is too much.
		*(*[8]float32)(to) = *(*[8]float32)(from)
		if b.cols > 8 {
			*(*[8]float32)(to[8:]) = *(*[8]float32)(from[8:])
		}
	}
}
