package gemm

// Blocks says how large the pieces are in which a product goes through the caches.
// It decides about speed, never about bits.
//
// In a block, a panel of B (Deep x width floats: 64 KB at 16 columns, 128 KB at 32)
// goes by while the rows of A (Rows x Deep floats: 288 KB) stay in L2; both and the
// block of C (Rows x Cols: 72 KB) fit an L2 of 512 KB, and one of 1 MB with room.
// Rows is a multiple of the rows of every level's tile. Measured at 512x1024x1024
// with AVX2 and 1 MB: 96.9 % of the peak with 72 rows, 96.7 with 48, 95.1 with 96,
// and 92 to 94 with a Deep of 512 or 256.
type Blocks struct {
	Rows int // of A and C
	Deep int // columns of A: products an element before C is stored and loaded again
	Cols int // of C, where a tail or a packed piece of B asks for pieces
	// Tall is how many rows use a packed piece of B before the next is packed.
	Tall int
}

// Default are the blocks that Mul uses where it is given none.
var Default = Blocks{Rows: 72, Deep: 1024, Cols: 256, Tall: 1024}

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
