// Package attn computes attention over whole sequences of floats of four bytes:
//
//	softmax(q · transpose(k) * scale + mask) · v
//
//	some queries of up to 96      times keys    =>   scores, and the largest of each row
//	scores                        of each row   =>   exponentials, sum
//	scores                        times values  =>   results, divided by the sums
//
// As many queries at a time as let their scores stay in the first cache, in whole tiles
// of the products. Beyond 1024 keys they come in blocks of 512, with the largest score and
// the sum of each row so far; what has been added up before is scaled when a larger one
// comes. Keys and values are packed once for all queries of the heads that share them;
// for one or two queries, as in decoding, they are read where they lie. Operands have any
// strides, so that heads which are split and merged around an attention cost nothing.
//
// A query that may attend to nothing is 0. What is hidden by a bool mask or by order
// has no influence, but that 0 times a value that is infinite or NaN is NaN.
//
// Numbers: products as in package gemm; queries are scaled before the product, by
// log2(e) as well, and so are masks: exponentials are powers of two. One is off by 2e-7
// of itself where its score is exact. Results are within 3e-6 of the largest value, as
// long as scores and sums of values stay in the range of float32: a mask of -10000 leaves
// scores three digits behind the point, and masks beyond 2.3e38 count as equal. The levels
// but Portable give the same bits, and so does every range of units. Halves are computed in
// float32 like all else, and rounded once.
//
// Invariants: nothing is written outside of the results or read outside of the
// operands; no allocation once a Scratch has grown. Absent on purpose: threads, which
// take ranges of units.
package attn

//go:generate go run -C ../asm ./attn
