package conv

import (
	"fmt"
	"runtime"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Flat convolution has its filters as rows of tiles, and as columns places that are
// neighbours where they lie, in the input or in what is staged. Sums go through an ending
// while they are in registers, and from there to where they belong: they never lie in a
// tile, unless what follows is the caller's.
//
// It is for windows of one element, and for those whose places are many in a row.
type Flat struct {
	Shape
	geo    geometry
	fast   *kernels
	level  isa.Level
	depth  int // k: channels times taps
	sides  [2]side
	direct bool // x is read where it lies
	scaled bool // what is staged is multiplied by factors of channels
	tiled  bool // units leave tiles
	wide   int  // places of a tile

	grid    grid // its filters are panels
	panels  cut  // of filters, of a group
	stage   stage
	offsets []int // by k: bytes behind a place
	ld      int   // floats between the rows of a tile
	room    struct{ stage, tile int }
}

// flatRows is how many filters a tile has at most, flatPlaces how many places.
const flatRows = 6

var flatPlaces = map[isa.Level]int{isa.AVX2: 16, isa.AVX512: 64}

// FlatAt reports whether a level has kernels for a convolution by way of a Flat. Its
// filters have to be packed.
func FlatAt(level isa.Level, s Shape) bool {
	g := geometryOf(s.Axes)
	room := g.rows.Out == 1 || g.cols.Out <= mostCols // whole rows are staged
	return flatPlaces[level] > 0 && len(g.outer) == 0 && s.Channels*g.taps() > 0 && s.Filters > 0 && room
}

// FlatPays reports whether it is to be preferred to other ways: rows of places fill tiles
// well, or sums are so short that what others do with each of them weighs more.
func FlatPays(level isa.Level, s Shape) bool {
	if !FlatAt(level, s) || ThinAt(s) {
		return false
	}
	g := geometryOf(s.Axes)
	line := g.cols.Out
	if g.taps() == 1 {
		line = g.places()
		if g.rows.Out > 1 { // rows are staged, as many as a unit has
			line = min(line, g.cols.Out*max(1, flatRoom/(floatBytes*s.Channels*g.cols.Out)))
		}
	}
	depth := float64(s.Channels * g.taps())
	return line >= leastLine && flatSteps(level, line) <= float64(line)/16*(1+endShare/depth)
}

// leastLine is how many places in a row are worth it. Other ways take endShare steps of k
// more for each sum, on its way to where it belongs.
const (
	leastLine = 48
	endShare  = 8
)

// flatSteps is about how many tiles of sixteen places a row takes the time of.
func flatSteps(level isa.Level, line int) float64 {
	wide := flatPlaces[level]
	steps, over := float64(line/wide*wide)/16, line%wide
	half := max(wide/2, 8)
	switch {
	case over == 0:
	case wide > 16:
		steps += float64((over + half - 1) / half * half / 16)
	case over > half:
		steps++
	default:
		steps += 0.67 // of half as many sums, which wait for each other
	}
	return steps
}

// NewFlat readies a convolution for one part.
func NewFlat(level isa.Level, s Shape) *Flat {
	f := FlatFiltersOf(level, s)
	f.Divide(1)
	return f
}

// FlatFiltersOf is the convolution of a level, which this processor need not have, for
// Layout, Packed and Pack only.
func FlatFiltersOf(level isa.Level, s Shape) *Flat {
	f := &Flat{Shape: s, geo: geometryOf(s.Axes), fast: of(level), level: level, wide: flatPlaces[level]}
	f.depth = s.Channels * f.geo.taps()
	f.sides = [2]side{sideOf(f.geo.rows), sideOf(f.geo.cols)}
	f.direct = f.geo.rows.still() && f.geo.cols.still()
	f.panels = cut{s.Filters, flatRows}
	return f
}

// Scale lets the convolution, of which ScaledAt holds, multiply by Work.Factors, as those of
// Dense do. It has to be divided anew.
func (f *Flat) Scale() { f.scaled, f.direct = true, false }

// Tile readies the convolution for Ended: units are of a size that suits what reads tiles.
// It has to be divided anew.
func (f *Flat) Tile() { f.tiled = true }

// panel is which filters a panel has: they are shared out evenly.
func (f *Flat) panel(i int) (first, n int) {
	parts := f.panels.parts()
	each, more := f.Filters/parts, f.Filters%parts
	if first = i*each + min(i, more); i < more {
		each++
	}
	return first, each
}

// Layout names what Pack makes of w.
func (f *Flat) Layout() string {
	return fmt.Sprintf("conv rows/%d of %d [m=%d,k=%d]", flatRows, f.Groups, f.Filters, f.depth)
}

// Packed is the number of floats of all filters as Pack lays them out.
func (f *Flat) Packed() int { return f.Groups * f.Filters * f.depth }

// Pack lays out w as Compute wants it: the filters of a panel side by side, for each k.
func (f *Flat) Pack(dst, w []float32) {
	for g := range f.Groups {
		for p := range f.panels.parts() {
			first, n := f.panel(p)
			at := (g*f.Filters + first) * f.depth
			from, to := w[at:][:n*f.depth], dst[at:][:n*f.depth]
			for k := range f.depth {
				for r := range n {
					to[k*n+r] = from[r*f.depth+k]
				}
			}
		}
	}
}

// Units is how many blocks the convolution is cut into.
func (f *Flat) Units() int {
	if f.empty() {
		return 0
	}
	return f.grid.units()
}

// Room is how many floats of scratch memory Compute takes.
func (f *Flat) Room() int { return f.room.stage + f.room.tile }

// lay fixes what follows from the grid.
func (f *Flat) lay() {
	rows, cols := f.grid.rows.each, f.grid.cols.each
	f.offsets, f.room.stage = nil, 0
	switch {
	case f.direct:
		for c := range f.Channels {
			f.offsets = append(f.offsets, floatBytes*c*f.geo.inputs())
		}
	default:
		f.stage = newStage(f.sides, rows, cols, f.fast)
		f.stage.pad(0)
		f.stage.channel = spaced(roundUp(f.stage.channel, 16))
		f.offsets = f.stage.offsets(f.Channels)
		f.room.stage = roundUp(f.Channels*f.stage.channel+slack, 16)
	}
	if f.ld = rows * min(cols, f.geo.cols.Out); f.ld < f.geo.places() { // a whole plane lies as in y
		f.ld = spaced(roundUp(f.ld, 16))
	}
	f.room.tile = min(f.Filters, f.grid.filters.each*flatRows) * f.ld
}

// Compute computes unit number u. packed is what Pack has made. The tile is good until the
// next unit.
func (f *Flat) Compute(w *Work, u int, x, packed []float32) Tile {
	return f.Ended(w, u, x, packed, nil)
}

// Ended is Compute, and takes the tile through an ending too, but for residuals.
func (f *Flat) Ended(w *Work, u int, x, packed []float32, e *Ending) Tile {
	b := f.grid.block(u)
	first, channels := f.filtersOf(&b)
	tile := w.Room[f.room.stage:][:f.room.tile]
	t := Tile{
		Image: b.image, Channel: b.group*f.Filters + first, Channels: channels,
		Place: b.row*f.geo.cols.Out + b.col, Places: b.places(), Data: tile, Ld: f.ld,
	}
	f.compute(w, &b, x, packed, e, tile, nil, f.ld)
	return t
}

// Store computes unit number u, takes it through an ending and stores it in y. rest, if not
// nil, has a residual for each element of y, and may be y.
func (f *Flat) Store(w *Work, u int, x, packed []float32, e *Ending, y, rest []float32) {
	b := f.grid.block(u)
	first, _ := f.filtersOf(&b)
	size := f.geo.places()
	at := ((b.image*f.Groups+b.group)*f.Filters+first)*size + b.row*f.geo.cols.Out + b.col
	if rest != nil {
		rest = rest[at:]
	}
	f.compute(w, &b, x, packed, e, y[at:], rest, size)
}

// filtersOf is the filters of a block's group that it computes.
func (f *Flat) filtersOf(b *Block) (first, n int) {
	first, _ = f.panel(b.first)
	last, n := f.panel(b.last - 1)
	return first, last + n - first
}

// compute computes a block panel by panel. y is its first place; its channels are ld floats
// apart.
func (f *Flat) compute(w *Work, b *Block, x, packed []float32, e *Ending, y, rest []float32, ld int) {
	src := f.source(w, b, x)
	lines, line, pitch := f.lines(b)
	begin, _ := f.panel(b.first)
	p := &w.flats
	*p = flats{offsets: address(&f.offsets[0]), yNext: floatBytes * ld, k: f.depth}
	p.ending(e)
	for i := b.first; i < b.last; i++ {
		first, n := f.panel(i)
		p.w = address(&packed[(b.group*f.Filters+first)*f.depth])
		if p.has != 0 {
			p.steps = address(&e.steps[b.group*f.Filters+first])
		}
		for l := range lines {
			at := (first-begin)*ld + l*f.geo.cols.Out
			p.x, p.y = address(&src[l*pitch]), address(&y[at])
			if rest != nil {
				p.rest = address(&rest[at])
			}
			p.some(f.fast.flat[n], f.wide, line)
		}
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(src)
	runtime.KeepAlive(packed)
	runtime.KeepAlive(e)
	runtime.KeepAlive(y)
	runtime.KeepAlive(rest)
}

// lines is how the places of a block lie: some rows of neighbours, pitch floats apart.
func (f *Flat) lines(b *Block) (n, places, pitch int) {
	switch {
	case f.direct:
		return 1, b.places(), 0
	case b.cols == f.stage.pitch:
		return 1, b.places(), f.stage.pitch
	}
	return b.rows, b.cols, f.stage.pitch
}

// source is what the places of a block see.
func (f *Flat) source(w *Work, b *Block, x []float32) []float32 {
	x = x[(b.image*f.Groups+b.group)*f.Channels*f.geo.inputs():]
	if f.direct {
		return x[b.col:]
	}
	stage := w.Room[:f.room.stage]
	if w.holds && sameInput(&w.staged, b) {
		return stage
	}
	if f.scaled {
		f.scale(stage, w.Factors[b.image*f.Channels:][:f.Channels], x[b.col:], b.cols)
	} else {
		for c := range f.Channels {
			f.stage.put(stage[c*f.stage.channel:], x[c*f.geo.inputs():][:f.geo.inputs()], b)
		}
	}
	w.staged, w.holds = *b, true
	return stage
}

// scale stages the products of n places of all channels.
func (f *Flat) scale(stage, factors, x []float32, n int) {
	if n >= 8 && f.fast.scaleRows != nil {
		f.fast.scaleRows(&stage[0], &x[0], &factors[0], f.Channels, n, floatBytes*f.stage.channel, floatBytes*f.geo.inputs())
		return
	}
	for c, factor := range factors {
		to := stage[c*f.stage.channel:][:n]
		for i, v := range x[c*f.geo.inputs():][:n] {
			to[i] = v * factor
		}
	}
}

// Flats are neighbouring places and some filters, whose sums are in registers and go by
// way of an ending to where they are stored. It is the argument of a kernel, which goes
// through tiles of places. Distances are in bytes; the generator of the kernels knows the
// offsets of the fields.
//
// Places in memory are numbers, as those of bunches are; compute keeps the memory alive.
type flats struct {
	x       uintptr // what the first place sees
	offsets uintptr // by k: from a place to what it sees
	w       uintptr // filters: by k, one number of each
	y       uintptr // the first filter's places
	yNext   int     // from one filter's places to the next
	rest    uintptr // a residual that lies as y does; 0: there is none
	steps   uintptr // of the first filter's channel
	ld      int     // from one step to the next
	has     int     // which steps there are
	k       int
	tiles   int     // whole ones; it goes down to 0
	over    int     // places behind them
	masks   uintptr // of the last eight of those
	lo, hi  [8]float32
}

// ending sets what sums go through; nil leaves them as they are.
func (p *flats) ending(e *Ending) {
	if e == nil {
		e = noEnding
	}
	p.has, p.ld, p.lo, p.hi = e.has, floatBytes*e.ld, e.lo, e.hi
}

// some goes through a row of n places, not too many at a time: the garbage collector waits
// meanwhile.
func (p *flats) some(kernel func(*flats), wide, n int) {
	const atOnce = 1 << 18 // steps of k of a place: some hundred microseconds
	each := max(wide, atOnce/p.k/wide*wide)
	for ; n > 0; n -= each {
		part := min(n, each)
		p.tiles, p.over = part/wide, part%wide
		p.masks = address(&firsts[(p.over-1)&7+1][0])
		kernel(p)
		p.x, p.y = p.x+uintptr(floatBytes*part), p.y+uintptr(floatBytes*part)
		if p.rest != 0 {
			p.rest += uintptr(floatBytes * part)
		}
	}
}
