package gemm

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Width is how many columns a panel of B has at a level.
func Width(level isa.Level) int { return at(level).width }

// Rows is how many rows of A the largest tile of a level has: products whose rows
// are a multiple of it, or many, run fastest.
func Rows(level isa.Level) int { return at(level).rows }

// A Block is one product of an m by k matrix and panels of n columns, small enough
// for the caches; see Blocks.
type Block struct {
	M, N, K int
	C       []float32 // row i begins at C[i*Ldc]
	Ldc     int
	A       Matrix
	B       Panels
	Add     bool // C += A·B
}

// Run computes the block, in tiles, panel by panel. Every element is the sum of its
// products in ascending order of k, each added with one rounding (the portable level
// rounds twice), beginning with zero or with C.
func (x *Scratch) Run(level isa.Level, b *Block) {
	if b.M <= 0 || b.N <= 0 {
		return
	}
	k := at(level)
	t := &x.tile
	const size = int(unsafe.Sizeof(float32(0)))
	t.row, t.step = b.A.Row*size, b.A.Col*size
	t.line, t.panel = b.B.Line*size, b.B.Panel*size
	t.ldc, t.k, t.add = b.Ldc*size, b.K, 0
	if b.Add {
		t.add = 1
	}
	// Heights differ by one at most, so that no tile is much smaller than the rest.
	tiles := (b.M + k.rows - 1) / k.rows
	low, high := b.M/tiles, b.M%tiles // high tiles have one row more
	group := k.panels(low)
	a, bp, c := pointer(b.A.Data), pointer(b.B.Data), pointer(b.C)
	for n := 0; n < b.N; n += group * k.width {
		row := 0
		for i := range tiles {
			height := low
			if i < high {
				height++
			}
			t.a = unsafe.Add(a, row*t.row)
			x.across(k, height, min(group*k.width, b.N-n), bp, unsafe.Add(c, row*t.ldc+n*size))
			row += height
		}
		bp = unsafe.Add(bp, group*t.panel)
	}
}

// across runs tiles of one height over n columns.
func (x *Scratch) across(k *kernels, height, n int, b, c unsafe.Pointer) {
	t := &x.tile
	wide := k.panels(height)
	for n > 0 {
		p := 1
		if n > (wide-1)*k.width {
			p = wide
		}
		t.b, t.c, t.n = b, c, min(n, p*k.width)
		k.tiles[height][p](t)
		n -= p * k.width
		b = unsafe.Add(b, p*t.panel)
		c = unsafe.Add(c, p*k.width*4)
	}
}
