package gemm

// Blocks says how large the pieces are in which a product goes through the caches.
// It decides about speed, never about bits.
//
// The rows of A are copied to the order in which tiles read them, once for all
// columns, and stay in the second cache (Rows x Deep floats: 288 KB) while panels of B
// go by (Deep x width floats: 64 KB at 16 columns, 128 KB at 32); both and the block of
// C (Rows x Cols: 72 KB) fit an L2 of 512 KB, and one of 1 MB with room. Rows is a
// multiple of the rows of every level's tile. Measured with AVX2 and 1 MB: such a block
// reaches 99 % of the peak; with A in place, whose rows are six streams that pass
// through the first cache beside B, it is 93.6 %.
type Blocks struct {
	Rows int // of A and C
	Deep int // columns of A: products an element before C is stored and loaded again
	Cols int // of C, which a tail sees at a time
	// Packed is how many floats of B are packed at a time where it is packed on the way,
	// and Copied how many of A are copied: pieces that can be used again.
	Packed, Copied int
	// Tall is how many rows use a packed piece of B before the next is packed, where
	// not a single panel of it can be packed in its whole length.
	Tall int
}

// Default are the blocks that Mul uses where it is given none.
var Default = Blocks{Rows: 72, Deep: 1024, Cols: 256, Packed: 512 << 10, Copied: 512 << 10, Tall: 1024}

// even is the size of pieces of n, at most of size most and a multiple of unit but
// for the last, that are as equal as can be.
func even(n, most, unit int) int {
	if n <= most {
		return max(n, 1)
	}
	pieces := (n + most - 1) / most
	size := (n + pieces - 1) / pieces
	return (size + unit - 1) / unit * unit
}
