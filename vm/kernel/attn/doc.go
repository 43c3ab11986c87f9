// Package attn computes attention over whole sequences of floats of four bytes:
//
//	softmax(q · transpose(k) * scale + mask) · v
//
//	a tile of queries, times keys   =>   scores, in registers
//	scores, less a guess            =>   weights (their exponentials), and sums
//	weights, times values           =>   results, divided by the sums
//
// The guess is taken from the scores of the first sixteen keys of a query. It may be any
// that is not too far off: weights and sums that are relative to another are larger or
// smaller by a power of two, without a rounding, and their quotients are the same. Where
// the sum shows that it was too far off, or that there are infinities or NaN, the query is
// computed anew, in steps: scores, the largest, exponentials, results. So are all where a
// level has no kernels of tiles.
//
// As many queries at a time as let their weights stay in the first cache, in whole tiles
// of the products. Beyond 1024 keys they come in blocks of 512. In steps, these go with the
// largest score and the sum of each row so far; what has been added up before is scaled
// when a larger one comes. Keys and values are packed once for all queries of the heads that
// share them; for one or two queries, as in decoding, they are read where they lie. Operands
// have any strides, so that heads which are split and merged around an attention cost nothing.
//
// A query that may attend to nothing is 0. What is hidden by a bool mask or by order
// has no influence, but that 0 times a value that is infinite or NaN is NaN.
//
// Numbers: products as in package gemm; queries are scaled before the product, by
// log2(e) as well, and so are masks: exponentials are powers of two. One is off by 2e-7
// of itself where its score is exact. Results are within 3e-6 of the largest value, as
// long as scores and sums of values stay in the range of float32: a mask of -10000 leaves
// scores three digits behind the point, and masks beyond 2.3e38 count as equal. The levels
// but Portable give the same bits, and so does every range of units. But a level may compute
// a query by a guess that another computes in steps, since its tiles are larger or a score is
// infinite: then what leaves the range of float32 on the way, as values below 2**-94 times
// weights by a guess, may leave it on one of them only. Halves are computed in
// float32 like all else, and rounded once.
//
// Invariants: nothing is written outside of the results or read outside of the
// operands; no allocation once a Scratch has grown. Absent on purpose: threads, which
// take ranges of units.
package attn

//go:generate go run -C ../asm ./attn
