package norm

import (
	"slices"

	"github.com/npulang/npu/vm/kernel/isa"
)

// loops are the primitives of one level. Slices of one call have the same length, but
// for acc and its like, which may be longer.
type loops struct {
	// pieces calls f with the bounds of the pieces of a long row, until it is to be left;
	// nil: rows are not long.
	pieces func(n int, f func(lo, hi int))

	// Sums of a row, in sixteen lanes of float64.
	sum, sumSquare, sumAbs func(x []float32) float64
	moments                func(x []float32, pivot float32) (d, dd float64)
	// The same of columns: what x has is added to the columns' sums.
	sumColumns, sumSquareColumns, sumAbsColumns, prodColumns func(acc []float64, x []float32)
	momentsColumns                                           func(acc, acc2 []float64, x, pivot []float32)

	// Extremes. top does not see NaN.
	top, most, least                      func(x []float32) float32
	topColumns, mostColumns, leastColumns func(acc, x []float32)
	mostPlaces, leastPlaces               func(best []float32, place []int32, x []float32, row int32)
	find                                  func(x []float32, v float32) int
	count                                 func(x []float32) int

	// exp(x - top) times the power of two of magic, 0 below cut; see Exp.
	exp        func(dst, x []float32, top, magic, cut float32) float64
	expSum     func(x []float32, top, magic, cut float32) float64
	expColumns func(dst []float32, acc []float64, x, top []float32, magic, cut float32)

	// x * s; x - c and x * c in float64, rounded once; dst may be x.
	scale                        func(dst, x []float32, s float32)
	scaleColumns                 func(dst, x, s []float32)
	lower, stretch               func(dst, x []float32, c float64)
	lowerColumns, stretchColumns func(dst, x []float32, c []float64)
	normalWeight, normalBias     func(dst, x, v []float32, hi, lo, r float32)
	normalAffine                 func(dst, x, w, b []float32, hi, lo, r float32)
	normalChannel                func(dst, x []float32, hi, lo, r, w, b float32)
	normalColumns                func(dst, x, hi, lo, r []float32, w, b float32)
	normalEach                   func(dst, x, hi, r, w, b []float32)
	// turn writes column j of src to row j of dst.
	turn func(dst []float32, dstStep int, src []float32, srcStep, rows, cols int)
}

// at finds the primitives of a level, or those of the next lower one that has them.
func at(l isa.Level) *loops {
	if p := levels[l]; p != nil {
		return p
	}
	return &portable
}

// Levels lists the levels that have primitives of their own.
func Levels() []isa.Level {
	return slices.DeleteFunc(isa.Levels(), func(l isa.Level) bool { return levels[l] == nil })
}
