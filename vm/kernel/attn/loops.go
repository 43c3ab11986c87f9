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
	// exps replaces elements by exp(x - top), those that don't count by 0, and gives
	// their sums.
	exps func(x *float32, ld, rows, cols, seen, step int, top, sums *float32)
	// scaleRows multiplies the elements of each row by a factor.
	scaleRows func(x *float32, ld, rows, cols, seen, step int, by *float32)
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

// rowLanes is how many floats of a row are under way: their sums are folded, the upper
// half onto the lower.
const rowLanes = 32
