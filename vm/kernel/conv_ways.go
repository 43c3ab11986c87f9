package kernel

import "github.com/npulang/npu/vm/kernel/conv"

// The ways of convolutions, as indices of convWays.
const (
	convTurned   = iota // places are the rows of tiles, and filters the columns
	convUpright         // filters are the rows
	convThin            // no tiles: sums go over planes, tap by tap
	convWinograd        // by transforms of 4x4 elements, with bits of its own
	convFlat            // filters are the rows, and sums are stored by way of what follows
)

var convWays = []string{"turned", "upright", "thin", "winograd", "flat"}

// convWay is the way that is wanted of a convolution, or what package conv finds best.
// Filters that are not constant are not packed, so that these are upright or thin.
//
// Whether it is Winograd's depends on the shape alone, so that the operator by itself, and
// other instruction sets, give the same bits.
func convWay(s conv.Shape, constant bool, o *Options) int {
	way := o.way - 1
	switch {
	case way == convWinograd && constant && conv.WinogradAt(s):
		return way
	case way == convFlat && constant && conv.FlatAt(o.Level, s):
		return way
	case way == convTurned && constant || way == convUpright || way == convThin:
		return way
	case constant && conv.WinogradPays(s):
		return convWinograd
	case conv.ThinAt(s):
		return convThin
	case constant && conv.FlatPays(o.Level, s):
		return convFlat
	case constant && conv.FiltersOf(o.Level, s).Turned():
		return convTurned
	}
	return convUpright
}

func (t *convTask) way() int { return t.own }

// done: four results of Winograd's take 16 products a channel and filter, not 36.
func (t *convTask) done(flops int64) int64 {
	if t.own == convWinograd {
		return flops * 16 / 36
	}
	return flops
}

// works estimates ways by what they are known to be good at: few filters, many places,
// filters that are packed. Winograd's has no rivals, since their bits differ from its own.
func (t *convTask) works(o *Options) []int64 {
	works := make([]int64, len(convWays))
	works[t.own] = t.work
	if t.own == convWinograd {
		return works
	}
	if t.own != convUpright {
		works[convUpright] = 2 * t.work
	}
	if t.own != convTurned && t.constant {
		works[convTurned] = 2 * t.work
	}
	if t.own != convFlat && t.constant && conv.FlatAt(o.Level, t.shape) {
		works[convFlat] = 2 * t.work
	}
	if n := int64(t.shape.Filters); t.own != convThin && n <= thinFilters {
		works[convThin] = n * t.work
	}
	return works
}

// thinFilters is how many filters of a group are not too many for a thin convolution to be
// worth a try.
const thinFilters = 8
