package gemm

import "github.com/npulang/npu/vm/kernel/isa"

// Blocks says how large the pieces are in which a product goes through the caches.
// It decides about speed, never about bits.
//
// The rows of A are copied to the order in which tiles read them, once for all
// columns, and stay in the second cache (Rows x Deep floats: 288 KB) while panels of B
// go by (Deep x width floats: 64 KB at 16 columns, 128 KB at 32); both and the block of
// C (Rows x Cols: 72 KB) fit an L2 of 1 MB with room. Measured there with AVX2: such a
// block reaches 99 % of the peak, with 36 to 144 rows alike, and 98.7 % with 192; with A
// in place, whose rows are six streams that pass through the first cache beside B, it
// is 93.6 %. That cache decides about nothing else: slices of a panel that fit it beside
// the rows of a tile, C being stored and loaded again between them, gave 97 to 98 %.
// Of deep products the second cache keeps several blocks of C; see order.
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

// BlocksFor makes blocks for a second cache of so many bytes, at least 128 KB: nine
// parts of 32 are for the copy of A, a quarter is for a panel of the widest level.
func BlocksFor(l2 int) Blocks {
	const unit = mostRows // a multiple of every level's rows
	l2 = max(l2, 128<<10)
	deep := min(l2/4/floatBytes/32/8*8, 1024)
	rows := max(l2/32*9/floatBytes/deep/unit*unit, unit)
	return Blocks{Rows: rows, Deep: deep, Cols: 256, Packed: l2 / 2, Copied: l2 / 2, Tall: 1024}
}

// Default are the blocks that Mul uses where it is given none: those for the second
// cache of this processor, 1 MB where it does not tell.
var Default = BlocksFor(isa.SecondCache())

// Band is how many of m rows are gone through together, where tiles have so many rows.
func (b *Blocks) Band(m, rows int) int { return even(m, b.Rows, bandRows(rows)) }

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
