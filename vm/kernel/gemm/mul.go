package gemm

import "github.com/npulang/npu/vm/kernel/isa"

// A Product is C = A·B, of which Mul computes a part.
type Product struct {
	M, N, K int
	A       Matrix
	// B is either in Panels, as Pack writes them or as rows of a matrix can be seen,
	// or a Matrix, of which Mul packs pieces on the way.
	Panels Panels
	Matrix Matrix
	// C has its rows Ldc apart, its columns in one piece. Without C, blocks of it are
	// in scratch memory and Tail takes them.
	C   []float32
	Ldc int
	// Tail, if not nil, is called for every finished block of C while it is in the
	// second cache.
	Tail Tail
	// Blocks is Default if it is zero.
	Blocks Blocks
}

// A Tail goes on with finished blocks of a product: element (row+i, col+j) is
// c[i*ldc+j]. It may change c, which is the product's C if there is one.
type Tail interface {
	Block(row, col, rows, cols int, c []float32, ldc int)
}

// A Range is the numbers from Lo to before Hi.
type Range struct{ Lo, Hi int }

func (r Range) len() int { return r.Hi - r.Lo }

// pieces goes through a range in even pieces of at most so many; the first
// boundaries are multiples of unit from Lo on.
func (r Range) piece(lo, size int) Range { return Range{lo, min(lo+size, r.Hi)} }

// Mul computes the rows and columns of C that lie in the ranges. The columns begin at
// a multiple of the level's Width. The bits of an element depend neither on the
// ranges nor on the blocks; see Run for its order of sums.
func (x *Scratch) Mul(level isa.Level, p *Product, rows, cols Range) {
	if rows.len() <= 0 || cols.len() <= 0 {
		return
	}
	m := mul{x: x, p: p, level: level, set: at(level), blocks: p.Blocks}
	if m.blocks == (Blocks{}) {
		m.blocks = Default
	}
	m.packs = p.Panels.Data == nil && p.K > 0
	m.run(rows, cols)
}

// mul is one call of Mul.
type mul struct {
	x      *Scratch
	p      *Product
	level  isa.Level
	set    *kernels
	blocks Blocks
	packs  bool   // pieces of B are packed on the way
	copied corner // of A, that x.a holds
}

// corner is the first row and column of a piece and their numbers.
type corner struct{ row, col, rows, cols int }

// run goes through pieces of B, and for each through the rows that use it.
func (m *mul) run(rows, cols Range) {
	high := even(rows.len(), m.blocks.Rows, m.set.rows)
	tall, wide := high, cols.len()
	if m.packs {
		tall = even(rows.len(), m.blocks.Tall, high)
	}
	if m.packs || m.p.Tail != nil {
		wide = even(wide, m.blocks.Cols, m.set.width)
	}
	for lo := rows.Lo; lo < rows.Hi; lo += tall {
		band := rows.piece(lo, tall)
		for n := cols.Lo; n < cols.Hi; n += wide {
			m.column(band, cols.piece(n, wide), high)
		}
	}
}

// column computes a piece of C in steps along k.
func (m *mul) column(band, cols Range, high int) {
	deep := even(m.p.K, m.blocks.Deep, 8)
	c, ldc := m.place(band, cols)
	for k := 0; ; k += deep {
		ks := Range{k, min(k+deep, m.p.K)}
		b := m.panels(ks, cols)
		for lo := band.Lo; lo < band.Hi; lo += high {
			rows := band.piece(lo, high)
			at := c[(lo-band.Lo)*ldc:]
			m.x.block = Block{
				M: rows.len(), N: cols.len(), K: ks.len(), Add: k > 0,
				C: at, Ldc: ldc, A: m.left(rows, ks, cols), B: b,
			}
			m.x.Run(m.level, &m.x.block)
			if ks.Hi == m.p.K && m.p.Tail != nil {
				m.p.Tail.Block(lo, cols.Lo, rows.len(), cols.len(), at, ldc)
			}
		}
		if ks.Hi == m.p.K {
			return
		}
	}
}

// place is where a piece of C is computed.
func (m *mul) place(rows, cols Range) ([]float32, int) {
	if m.p.C != nil {
		return m.p.C[rows.Lo*m.p.Ldc+cols.Lo:], m.p.Ldc
	}
	ldc := unlike(cols.len())
	return floats(&m.x.c, rows.len()*ldc), ldc
}

// panels is a piece of B.
func (m *mul) panels(ks, cols Range) Panels {
	if !m.packs {
		return m.p.Panels.From(cols.Lo/m.set.width, ks.Lo)
	}
	b := floats(&m.x.b, PackedLen(m.level, ks.len(), cols.len()))
	Pack(m.level, b, m.p.Matrix.From(ks.Lo, cols.Lo), ks.len(), cols.len())
	return PackedPanels(m.level, b, ks.len())
}

// left is a piece of A: in place, or a copy where its rows would be in each other's
// way.
func (m *mul) left(rows, ks, cols Range) Matrix {
	a := m.p.A.From(rows.Lo, ks.Lo)
	if !m.copies(rows, ks, cols) {
		return a
	}
	ld := unlike(ks.len())
	to := floats(&m.x.a, rows.len()*ld)
	if want := (corner{rows.Lo, ks.Lo, rows.len(), ks.len()}); m.copied != want {
		m.copied = want
		copyRows(to, ld, a, rows.len(), ks.len())
	}
	return Matrix{Data: to, Row: ld, Col: 1}
}

// copies reports whether a piece of A is worth a copy: it costs about as much as
// half a panel of products, and rows whose distance is near a multiple of 2 KB share
// few sets of the first cache.
func (m *mul) copies(rows, ks, cols Range) bool {
	if rows.len() < 4 || cols.len() < 4*m.set.width || ks.len() < 16 {
		return false
	}
	a := m.p.A
	near := (a.Row + 32) % 512
	return a.Col != 1 || near < 64 && ks.len() > 64
}

// unlike is a distance of rows of n floats at which they don't share sets of the
// first cache: 64 bytes more than a multiple of 256 bytes.
func unlike(n int) int { return (n+47)/64*64 + 16 }

// copyRows copies m rows of k columns of a to rows ld apart.
func copyRows(to []float32, ld int, a Matrix, m, k int) {
	for i := range m {
		row := to[i*ld : i*ld+k]
		if a.Col == 1 {
			copy(row, a.Data[i*a.Row:])
			continue
		}
		at := i * a.Row
		for j := range row {
			row[j] = a.Data[at]
			at += a.Col
		}
	}
}
