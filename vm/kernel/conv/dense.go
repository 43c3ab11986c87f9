package conv

import (
	"fmt"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A Dense convolution is one with several filters in each group. It is made once,
// divided once, and then computes its units any number of times, also at the same
// time.
//
// Its product stands one way or the other. Turned, places are the rows of tiles and
// filters the columns, packed in panels. Where a level has kernels for it, what the
// places see is read in bunches as it lies; else it is laid out first. Upright, filters
// are the rows, w is read in place, and sums lie as y has them; but what places see has
// to be laid out in panels, so that this is for few filters, for filters that are not
// constant, and for levels without bunches.
type Dense struct {
	Shape
	geo    geometry
	fast   *kernels
	level  isa.Level
	turned bool
	depth  int // k: channels times taps

	sources []int // by slice and outer tap: the plane of x, -1 for padding
	sides   [2]side
	direct  bool // x is read where it lies, unless its channels share few sets of the first-level cache

	shared bool // by several parts, so that other cores may have x in their caches
	scaled bool // what is staged is multiplied by factors of channels

	grid    grid
	stage   stage
	offsets []int       // by k: bytes behind the first place
	whole   []octet     // of a block
	rest    []octet     // of the last block, if it is smaller
	bunches [2]bunching // of the same
	deep    int         // k of a panel
	ld      int         // floats between the rows of a tile
	room    struct{ stage, panel, tile, sums int }
}

// NewDense readies a convolution for one part. packed says that w can be packed
// before runs, which is as Pack does it.
func NewDense(level isa.Level, s Shape, packed bool) *Dense {
	d := newDense(level, s, packed)
	d.Divide(1)
	return d
}

// FiltersOf is the convolution of a level, which this processor need not have, for
// Layout, Packed and Pack only.
func FiltersOf(level isa.Level, s Shape) *Dense { return newDense(level, s, true) }

// Stand makes the product stand turned or upright, in place of what was found better.
// Turned ones take packed filters. It has to be divided anew.
func (d *Dense) Stand(turned bool) { d.turned = turned && d.depth > 0 }

// Turned reports whether the product stands turned.
func (d *Dense) Turned() bool { return d.turned }

func newDense(level isa.Level, s Shape, packed bool) *Dense {
	d := &Dense{Shape: s, geo: geometryOf(s.Axes), fast: of(level), level: level}
	d.depth = s.Channels * d.geo.outerTaps * d.geo.taps()
	d.sources = d.geo.sources()
	d.direct = len(d.geo.outer) == 0 && d.geo.rows.inside() && d.geo.cols.inside() && d.geo.inputs()%512 != 0
	d.sides = [2]side{sideOf(d.geo.rows), sideOf(d.geo.cols)}
	d.turned = packed && d.turns()
	return d
}

// turns reports whether the product is better off turned: by what is left over of the
// filters or of the places of a plane in the last panel, and by what is done besides. It
// goes by the level, not by its kernels, which another processor than this may have.
func (d *Dense) turns() bool {
	width := gemm.Width(d.level)
	places := float64(d.geo.places())
	upright := float64(roundUp(d.geo.places(), width)) / max(places, 1)
	turned := float64(roundUp(d.Filters, width)) / float64(max(d.Filters, 1))
	if d.level == isa.AVX2 || d.level == isa.AVX512 {
		return d.depth > 0 && turned < upright+layCost*float64(width)/float64(d.Filters)
	}
	return d.depth > 0 && turned+turnCost/float64(d.depth) < upright
}

// Units is how many blocks the convolution is cut into.
func (d *Dense) Units() int {
	if d.empty() {
		return 0
	}
	return d.grid.units()
}

// wide is how many places are laid out at a time: a panel, or as many as are laid out
// at least.
func (d *Dense) wide() int { return max(gemm.Width(d.level), 8) }

// Layout names what Pack makes of w: the empty string if Compute takes w as it is.
func (d *Dense) Layout() string {
	if !d.turned {
		return ""
	}
	return fmt.Sprintf("conv panels/%d of %d [m=%d,k=%d]", gemm.Width(d.level), d.Groups, d.Filters, d.depth)
}

// Packed is the number of floats of all filters as Pack lays them out.
func (d *Dense) Packed() int {
	if !d.turned {
		return d.Groups * d.Filters * d.depth
	}
	return d.Groups * d.packedGroup()
}

func (d *Dense) packedGroup() int { return gemm.PackedLen(d.level, d.depth, d.Filters) }

// Pack lays out w as Compute wants it.
func (d *Dense) Pack(dst, w []float32) {
	if !d.turned {
		copy(dst, w)
		return
	}
	size := d.Filters * d.depth
	for g := range d.Groups {
		group := gemm.Matrix{Data: w[g*size:], Row: 1, Col: d.depth}
		gemm.Pack(d.level, dst[g*d.packedGroup():][:d.packedGroup()], group, d.depth, d.Filters)
	}
}

// Room is how many floats of scratch memory Compute takes.
func (d *Dense) Room() int { return d.room.stage + d.room.panel + d.room.tile + d.room.sums }

// slack is what is read behind the last place by whole registers.
const slack = 64

// lay fixes what follows from the grid.
func (d *Dense) lay() {
	rows, cols := d.grid.rows.each, d.grid.cols.each
	pitch := d.geo.cols.In
	if d.direct {
		d.offsets = d.directOffsets()
	} else {
		d.stage = newStage(d.sides, rows, cols, d.fast)
		d.stage.pad(0)
		d.stage.channel = spaced(d.stage.channel)
		pitch = d.stage.pitch
		d.offsets = d.stage.offsets(d.Channels * d.geo.outerTaps)
		d.room.stage = roundUp(d.Channels*d.geo.outerTaps*d.stage.channel+slack, 16) + d.factorsRoom()
	}
	places := rows * cols
	_, lastRows := d.grid.rows.part(d.grid.rows.parts() - 1)
	_, lastCols := d.grid.cols.part(d.grid.cols.parts() - 1)
	rest := lastRows * lastCols
	d.whole, d.rest = octetsOf(places, cols, pitch), octetsOf(rest, lastCols, pitch)
	d.bunches = [2]bunching{
		bunchingOf(liesOf(places, cols, pitch), d.fast), bunchingOf(liesOf(rest, lastCols, pitch), d.fast),
	}
	if d.ld = places; places < d.geo.places() { // a whole plane lies as in y
		d.ld = roundUp(places, 16)
	}
	d.ld = spaced(d.ld)
	d.room.tile = roundUp(d.grid.filters.each*d.ld, 16)
	d.layPanels(places, rest)
}

// layPanels fixes how deep panels are, and what they and sums of turned tiles take.
func (d *Dense) layPanels(places, rest int) {
	deepest := d.fast.depth
	if d.bunched(places) {
		deepest = bunchDepth
	}
	d.deep = evenly(max(d.depth, 1), (d.depth+deepest-1)/deepest).each
	d.room.panel, d.room.sums = d.deep*d.wide(), 0
	if d.turned {
		d.room.panel = 0
		for _, n := range []int{places, rest} {
			if !d.bunched(n) {
				d.room.panel = max(d.room.panel, d.deep*roundUp(n, 8))
			}
		}
		d.room.sums = roundUp(places, 8) * d.turnedLd() // whole blocks are read
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// spaced keeps rows from lying at multiples of 2 KB, where they share few sets of
// the first-level cache.
func spaced(ld int) int {
	if ld%512 == 0 {
		ld += 16
	}
	return ld
}

// directOffsets is where k lies in x, in bytes behind the place.
func (d *Dense) directOffsets() []int {
	var list []int
	for c := range d.Channels {
		for r := range d.geo.rows.Size {
			for q := range d.geo.cols.Size {
				at := c*d.geo.inputs() + r*d.geo.rows.Spread*d.geo.cols.In + q*d.geo.cols.Spread
				list = append(list, 4*at)
			}
		}
	}
	return list
}

// offsets lists the taps of some staged planes in order, in bytes.
func (s *stage) offsets(planes int) []int {
	var list []int
	for p := range planes {
		for r := range s.rows.Size {
			for c := range s.cols.Size {
				list = append(list, 4*(p*s.channel+s.tap(r, c)))
			}
		}
	}
	return list
}

// liesOf is where n places in rows of cols lie, which are pitch floats apart: bytes from
// the first of them.
func liesOf(n, cols, pitch int) []int {
	list := make([]int, n)
	for p := range list {
		list[p] = 4 * (p/cols*pitch + p%cols)
	}
	return list
}
