// Package norm computes along rows of floats of four bytes: softmax and the norms,
// which give a row for a row, and reductions, which give a number.
//
//	Space{Outer: 2, N: 5, Inner: 3}   =>   6 rows of 5 elements, element i of row
//	                                       (o, c) at (o*5 + i)*3 + c
//
// Rows that lie in one piece are computed one by one. Rows that lie side by side
// (Inner is not 1) are computed as columns, as many as fit a cache at a time, and short
// rows in one piece are turned into columns first, so that an axis of four
// elements takes no longer than one of four thousand.
//
// Numbers: sums, squares and products are added up in float64, a row in sixteen lanes
// that are folded, the upper half onto the lower, until one is left (one longer than
// 2**20 in pieces of as many, whose sums are added in turn); columns in ascending order.
// Variances take distances from the row's first element: one pass,
// in which nothing cancels but what the row's own size bounds. So a reduction is the
// float64 result, off by its last bits, rounded once; see the functions for the error
// of the others. All levels give the same bits but for the portable one's exp.
//
// NaN, infinities, zeros of both signs and subnormal numbers are what the operators'
// evaluations make of them.
//
// Invariants: nothing is read behind the end of a slice or written outside of the
// results; results may lie exactly where x lies; no allocation once a Scratch has grown.
// Absent on purpose: threads, which take ranges of units, and what a tensor means.
package norm

//go:generate go run -C ../asm ./norm
