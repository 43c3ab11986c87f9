package attn

import "github.com/npulang/npu/vm/kernel/isa"

// loops are the primitives of one level. They go through rows of x, ld floats apart.
// Of row r the first min(cols, seen + r*step) elements count. Rows of scores may be
// read and written up to a multiple of rowLanes elements.
type loops struct {
	// tops raises top to the largest element of each row that is no NaN; topsAdd adds
	// a mask to the elements before, topsPick makes those -Inf where a mask is.
	tops              func(x *float32, ld, rows, cols, seen, step int, top *float32)
	topsAdd, topsPick func(x *float32, ld, rows, cols, seen, step int, mask, top *float32, maskStep int)
	// exps replaces elements by 2**(x - base), those that don't count by 0, and gives
	// their sums. A base is an integer up to twoFar.
	exps func(x *float32, ld, rows, cols, seen, step int, base, sums *float32)
	// scaleRows writes the elements of each row times a factor, which may be where they
	// are; step is 1, or 0 if all rows have the same factor.
	scaleRows func(dst *float32, ldDst int, src *float32, ld, rows, cols int, by *float32, step int)
	// lone writes the products of a query of deep floats and n keys, ld floats apart;
	// deep is a multiple of loneDeep, n at least loneKeys. nil: keys are packed.
	lone func(dst, q, k *float32, ld, n, deep int)
	// inverse writes 1 divided by floats.
	inverse func(dst, src *float32, n int)
	// weights and values are the kernels of tiles of so many rows; nil: package gemm
	// multiplies.
	weights [mostTile + 1]func(*weightTile)
	values  [mostTile + 1]func(*valueTile)
	// asked is how many rows weights asks for with each panel of keys (ahead.go).
	asked int
	// twofold writes floats in units in which 2**x is what exp(x) was: times log2(e).
	// What is finite stays finite.
	twofold func(dst, src *float32, n int)
	// spread writes 0 for bytes that are not 0, else -Inf.
	spread func(dst *float32, src *byte, n int)
	// panels copies rows, ld floats apart, into count whole panels of columns, which are
	// panel floats apart; nil: package gemm does.
	panels func(dst *float32, panel int, src *float32, ld, rows, count int)
}

// at finds the primitives of a level, or those in Go.
func at(l isa.Level) *loops {
	if p := levels[l]; p != nil {
		return p
	}
	return &portable
}

// rowLanes is how many floats of a row are under way, sumLanes how many sums, which
// in the end are folded, each time the upper half onto the lower.
const rowLanes, sumLanes = 32, 16

// loneKeys and loneDeep are what the loop lone takes at a time.
const loneKeys, loneDeep = 16, 16
