package gemm

import "github.com/npulang/npu/vm/kernel/isa"

// A tile is the argument of a kernel: C = A·B or C += A·B, where C has a few rows
// and as many columns as one or a few panels of B. Distances are in bytes. The
// generator of the kernels knows the offsets of the fields.
//
// Places are numbers, not pointers, since some lie behind the end of what they walk
// through; the block keeps the memory alive.
type tile struct {
	a, b, c uintptr
	row     int     // from one row of A to the next
	step    int     // from one column of A to the next
	line    int     // from one row of a panel to the next
	panel   int     // from one panel to the next
	ldc     int     // from one row of C to the next
	k       int     // products an element
	n       int     // columns of C that exist; the panels have more
	add     int     // 0: begin with zero; 1: with C
	next    uintptr // what tiles of one panel ask for, two lines of the caches a hop, ahead of its use
	hop     int     // how far that goes on every four products, or for a dense tile in the end
	bias    uintptr // what is added to every row in the end, for n columns; 0: nothing
	// Dense functions, and those of columns, compute so many tiles of one height, and leave a,
	// c and next behind the last: from one tile to the next it is down bytes in A, fall in C.
	count, down, fall int
	half              uintptr // the half panel of thirds
	side              int     // from the columns of the panel beside it to its own, in C
	origin            uintptr // what sums of quads begin with, by row; columns leave it behind the last
	keep              uintptr // where keeping tiles write the floats of their panel
	lost              int     // what sparse tiles say: not 0 if they have written nothing, since a sum is -0

	of Block // for the code in Go
	//lint:ignore U1000 levels_arm64.go has kernels that compute whole panels only
	edge [96]float32 // a tile for them
	//lint:ignore U1000 levels_arm64.go as well
	edgeBias [64]float32 // and its bias
}

const (
	mostRows   = 12 // of a tile, over all levels
	mostPanels = 4  // that a tile spans
)

// A kernel set is what a level has.
type kernels struct {
	rows  int // of the largest tile
	width int // columns of a panel
	// tiles has the function for tiles of so many rows and panels, where there is
	// one; for a panel by itself there is one for every number of rows.
	tiles [mostRows + 1][mostPanels + 1]func(*tile)
	// columns says that those of one panel compute several tiles, as dense ones do.
	columns bool
	// sparse has those of one row that leave zeros out, by panels; a is a list of terms.
	sparse [mostPanels + 1]func(*tile)
	// dense are faster ones, of several tiles, for one panel whose rows are line bytes
	// apart, by where A lies; nil: there is none.
	dense [2][mostRows + 1]func(*tile)
	line  int
	asks  int // lines of the next panel that they ask for on eight steps
	// group is how many times four bytes of A a step along k takes that goes through one less
	// lines of a panel (see splitter); 0: once, and one line. All of its tiles are dense.
	group int
	// thirds computes count tiles of thirdRows rows, which lie in one piece each, by one
	// panel and a half, all of whose columns exist; nil: there is none.
	thirds func(*tile)
	turns  *turns
}

// Where a dense tile has A.
const (
	inTiles = iota // as packTiles has laid it out
	inRows         // its rows are in one piece each
)

// turns have, by their number, the functions that write rows of src, row bytes apart, as
// lines of as many floats, line bytes apart: blocks times eight of them. There are those of
// one to eight rows, and of some levels more.
type turns [mostRows + 1]func(dst, src *float32, line, row, blocks int)

// most is how many of n rows are turned at once.
func (t *turns) most(n int) int {
	if n < len(t) && t[n] != nil {
		return n
	}
	return min(n, 8)
}

// panels is how many panels tiles of so many rows span at most.
func (k *kernels) panels(rows int) int {
	for p := mostPanels; p > 1; p-- {
		if k.tiles[rows][p] != nil {
			return p
		}
	}
	return 1
}

// at finds the kernels of a level; the processor must have it.
func at(level isa.Level) *kernels { return levels[level] }
