package conv

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Pool computes the largest element or the mean of the elements that each place of
// a window sees, for planes [planes, in...] by themselves. The window is folded along
// its columns first, then along rows and what lies outside of them, so that one of
// k x k takes 2k steps a place.
//
// Sums are of float32, the taps of each fold in ascending order.
type Pool struct {
	planes int
	geo    geometry
	fast   *kernels
	mean   bool
	counts []float32 // by place of y in a plane: how many elements a mean counts

	sources []int
	sides   [2]side
	grid    grid // its filters are planes
	windows windowing
	stage   stage
	across  []int // the taps of columns, in bytes, in one remainder of the rows
	down    []int // the taps of rows and outer axes, in what columns have left
	folded  int   // floats that columns leave of one plane of x
	flat    int
	ld      int
}

// NewMaxPool and NewMeanPool ready a pool of some planes for one part. Of a place
// that sees padding only the largest element is -inf. counts has, for each axis,
// how many elements a place counts.
func NewMaxPool(level isa.Level, planes int, axes []Axis) *Pool {
	return newPool(level, planes, axes, nil)
}

func NewMeanPool(level isa.Level, planes int, axes []Axis, counts [][]int) *Pool {
	return newPool(level, planes, axes, product(counts))
}

func newPool(level isa.Level, planes int, axes []Axis, counts []float32) *Pool {
	p := &Pool{planes: planes, geo: geometryOf(axes), fast: of(level), mean: counts != nil, counts: counts}
	p.sources = p.geo.sources()
	p.sides = [2]side{sideOf(p.geo.rows), sideOf(p.geo.cols)}
	if !p.mean {
		p.windows = windowingOf(&p.geo, p.fast.mostWindows)
	}
	p.Divide(1)
	return p
}

// product is the counts of all places, the last axis fastest.
func product(counts [][]int) []float32 {
	all := []float32{1}
	for _, axis := range counts {
		next := make([]float32, 0, len(all)*len(axis))
		for _, a := range all {
			for _, n := range axis {
				next = append(next, a*float32(n))
			}
		}
		all = next
	}
	return all
}

// Counts is how many elements the places of a window along an axis see, or those
// of padding too.
func (a Axis) Counts(padding bool) []int {
	list := make([]int, a.Out)
	before, end := 0, a.In
	if padding {
		before, end = -a.Before, a.In+a.Behind
	}
	for p := range list {
		for t := range a.Size {
			if q := p*a.Step + t*a.Spread - a.Before; q >= before && q < end {
				list[p]++
			}
		}
	}
	return list
}

// Divide cuts the pool for a number of parts, and returns how many there are to be.
func (p *Pool) Divide(parts int) int {
	rows, cols := max(p.geo.rows.Out, 1), max(p.geo.cols.Out, 1)
	g := grid{images: 1, groups: 1, slices: max(p.geo.slices, 1)}
	g.cols = cut{cols, min(cols, thinCols)}
	g.rows = evenly(rows, (rows*g.cols.each+thinCols-1)/thinCols)
	each := max(1, thinTile/(g.rows.each*g.cols.each))
	others := g.slices * g.rows.parts() * g.cols.parts()
	for each > 1 && others*((p.planes+each-1)/each) < 4*parts {
		each--
	}
	g.filters = evenly(max(p.planes, 1), (p.planes+each-1)/each)
	p.grid = g
	p.lay()
	return max(1, min(parts, p.Units()))
}

func (p *Pool) lay() {
	fill := float32(math.Inf(-1))
	if p.mean {
		fill = 0
	}
	s := newStage(p.sides, p.grid.rows.each, p.grid.cols.each, p.fast)
	s.pad(fill)
	p.stage, p.across, p.down = s, nil, nil
	for t := range s.cols.Size {
		p.across = append(p.across, 4*(s.cols.part[t]*s.plane+s.cols.shift[t]))
	}
	p.folded = len(s.rows.rests) * s.plane
	for i := range p.geo.outerTaps {
		for t := range s.rows.Size {
			p.down = append(p.down, 4*(i*p.folded+s.rows.part[t]*s.plane+s.rows.shift[t]*s.pitch))
		}
	}
	p.flat = p.grid.rows.each*s.pitch + slack
	p.ld = roundUp(p.grid.rows.each*p.grid.cols.each, 16)
	if p.windows.there() {
		p.windows.lay(p.grid.cols, fill)
	}
}

// Units is how many blocks the pool is cut into.
func (p *Pool) Units() int {
	if p.planes*p.geo.slices*p.geo.places() == 0 {
		return 0
	}
	return p.grid.units()
}

// Room is how many floats of scratch memory Compute takes.
func (p *Pool) Room() int {
	return p.staged() + p.middle() + p.flat + p.grid.filters.each*p.ld + slack
}

func (p *Pool) staged() int { return roundUp(p.stage.channel+slack, 16) }
func (p *Pool) middle() int { return roundUp(p.geo.outerTaps*p.folded+slack, 16) }

// Compute computes unit number u and stores it in y.
func (p *Pool) Compute(w *Work, u int, x, y []float32) {
	b := p.grid.block(u)
	size := p.geo.places()
	if p.windows.straight(&b) {
		of := planes{x: x[b.first*p.geo.inputs():], to: y[b.first*size+b.row*p.geo.cols.Out+b.col:], ld: size, pitch: p.geo.cols.Out}
		p.windows.slide(&w.windows, &b, &of)
		return
	}
	room := w.Room
	stage, room := room[:p.staged()], room[p.staged():]
	middle, room := room[:p.middle()], room[p.middle():]
	flat, tile := room[:p.flat], room[p.flat:]
	place := (b.slice*p.geo.rows.Out+b.row)*p.geo.cols.Out + b.col
	for c := b.first; c < b.last; c++ {
		p.plane(&b, c, stage, middle, flat, x)
		to := tile[(c-b.first)*p.ld:]
		packRows(to, flat, &b, p.stage.pitch)
		if p.mean {
			p.divide(to[:b.places()], place, x[c*p.geo.planes*p.geo.inputs():])
		}
	}
	t := Tile{Channel: b.first, Channels: b.last - b.first, Place: place, Places: b.places(), Data: tile, Ld: p.ld}
	t.Copy(y, p.planes, p.geo.slices*size)
}

// divide makes means of sums from a place on. Where the sum of floats has no number,
// the sum of float64 may have one.
func (p *Pool) divide(sums []float32, place int, x []float32) {
	counts := p.counts[place:][:len(sums)]
	for i, s := range sums {
		if sums[i] = s / counts[i]; s-s != 0 {
			sums[i] = float32(p.exact(place+i, x) / float64(counts[i]))
		}
	}
}

// exact is the sum of what a place sees of a plane.
func (p *Pool) exact(place int, x []float32) float64 {
	g := &p.geo
	slice, row, col := place/g.places(), place/g.cols.Out%g.rows.Out, place%g.cols.Out
	var sum float64
	for _, plane := range p.sources[slice*g.outerTaps:][:g.outerTaps] {
		for r := range g.rows.Size {
			for c := range g.cols.Size {
				if at, ok := g.element(row, col, r, c); ok && plane >= 0 {
					sum += float64(x[plane*g.inputs()+at])
				}
			}
		}
	}
	return sum
}

// plane folds the windows of one plane.
func (p *Pool) plane(b *Block, c int, stage, middle, flat, x []float32) {
	size := p.geo.inputs()
	x = x[c*p.geo.planes*size:]
	s := &p.stage
	for i, plane := range p.sources[b.slice*p.geo.outerTaps:][:p.geo.outerTaps] {
		var from []float32
		if plane >= 0 {
			from = x[plane*size:][:size]
		}
		s.put(stage, from, b)
		for r := range s.rows.rests {
			n := (b.rows+s.rows.reach-1)*s.pitch + b.cols
			p.fold(middle[i*p.folded+r*s.plane:], stage[r*len(s.cols.rests)*s.plane:], n, p.across)
		}
	}
	p.fold(flat, middle, (b.rows-1)*s.pitch+b.cols, p.down)
}

var lowest = float32(math.Inf(-1))

// fold folds the taps of n places, and of some behind them.
func (p *Pool) fold(dst, src []float32, n int, taps []int) {
	regs := (n + p.fast.lanes - 1) / p.fast.lanes
	to, from := unsafe.SliceData(dst), unsafe.SliceData(src)
	if p.mean {
		p.fast.sums(to, from, regs, &taps[0], len(taps))
	} else {
		p.fast.most(to, from, regs, &taps[0], len(taps), &lowest)
	}
}
