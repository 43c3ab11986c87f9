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
	// Bias, if not nil, is N floats that are added to every row of the product, which
	// has been rounded before. Products whose sums are integers have none.
	Bias []float32
	// Tail, if not nil, is called for every finished block of C while it is in the
	// second cache.
	Tail Tail
	// Stop, if not nil, is asked before every piece of some hundred microseconds; Mul
	// ends with the error that it gives.
	Stop Stopper
	// Blocks is Default if it is zero.
	Blocks Blocks

	format *Format // of A and Panels; nil: floats
}

// A Stopper says whether to go on: by nil.
type Stopper interface{ Stop() error }

// A Tail goes on with finished blocks of a product: element (row+i, col+j) is
// c[i*ldc+j]. It may change c, which is the product's C if there is one.
type Tail interface {
	Block(row, col, rows, cols int, c []float32, ldc int)
}

// A Range is the numbers from Lo to before Hi.
type Range struct{ Lo, Hi int }

func (r Range) len() int { return r.Hi - r.Lo }

// piece is what begins at lo and is size long, or up to the end.
func (r Range) piece(lo, size int) Range { return Range{lo, min(lo+size, r.Hi)} }

// Mul computes the rows and columns of C that lie in the ranges. The columns begin at
// a multiple of the level's Width. The bits of an element depend neither on the
// ranges nor on the blocks; see Run for its order of sums. The error is what Stop
// gave; there is none without Stop.
func (x *Scratch) Mul(level isa.Level, p *Product, rows, cols Range) error {
	if rows.len() <= 0 || cols.len() <= 0 {
		return nil
	}
	m := mul{x: x, p: p, level: level, set: p.kernels(level), blocks: p.Blocks}
	if m.blocks == (Blocks{}) {
		m.blocks = Default
	}
	if p.format != nil && p.format.widen != nil {
		m.b = widened
		return m.run(rows, cols)
	}
	if p.Panels.Data != nil || p.K == 0 {
		return m.run(rows, cols)
	}
	// Few rows read B once: where its rows can be seen as panels, that is in place.
	split := cols.Lo
	if p.Matrix.Col == 1 && rows.len() <= m.set.rows {
		m.b = inPlace
		split += cols.len() / m.set.width * m.set.width
		if err := m.run(rows, Range{cols.Lo, split}); err != nil {
			return err
		}
	}
	m.b = packed
	return m.run(rows, Range{split, cols.Hi})
}

// kernels are those of the format, or of floats.
func (p *Product) kernels(level isa.Level) *kernels {
	if p.format != nil {
		return p.format.set
	}
	return at(level)
}

// mul is one call of Mul.
type mul struct {
	x      *Scratch
	p      *Product
	level  isa.Level
	set    *kernels
	blocks Blocks
	b      source
	copied corner // of A, that x.a holds
}

// source says where panels of B are.
type source uint8

const (
	given   source = iota // in the product's Panels
	inPlace               // rows of its Matrix are
	packed                // they are made on the way
	widened               // they are made of the product's Panels
)

// corner is the first row and column of a piece and their numbers.
type corner struct{ row, col, rows, cols int }

// run goes through pieces of B, and for each through the rows that use it.
func (m *mul) run(rows, cols Range) error {
	high := even(rows.len(), m.blocks.Rows, m.set.rows)
	tall := high
	if m.b >= packed {
		tall = even(rows.len(), m.blocks.Tall, high)
	}
	wide := even(cols.len(), m.blocks.Cols, m.set.width)
	for lo := rows.Lo; lo < rows.Hi; lo += tall {
		band := rows.piece(lo, tall)
		for n := cols.Lo; n < cols.Hi; n += wide {
			if err := m.column(band, cols.piece(n, wide), high); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mul) stop() error {
	if m.p.Stop == nil {
		return nil
	}
	return m.p.Stop.Stop()
}

// column computes a piece of C in steps along k.
func (m *mul) column(band, cols Range, high int) error {
	deep := even(m.p.K, m.blocks.Deep, 8)
	c, ldc := m.place(band, cols)
	for k := 0; ; k += deep {
		ks := Range{k, min(k+deep, m.p.K)}
		b := m.panels(ks, cols)
		for lo := band.Lo; lo < band.Hi; lo += high {
			if err := m.stop(); err != nil {
				return err
			}
			rows := band.piece(lo, high)
			at := c[(lo-band.Lo)*ldc:]
			m.x.run(m.set, &Block{
				M: rows.len(), N: cols.len(), K: ks.len(), Add: k > 0,
				C: at, Ldc: ldc, A: m.left(rows, ks, cols), B: b, Next: m.next(ks, cols), Bias: m.bias(ks, cols),
			})
			if ks.Hi == m.p.K && m.p.Tail != nil {
				m.p.Tail.Block(lo, cols.Lo, rows.len(), cols.len(), at, ldc)
			}
		}
		if ks.Hi == m.p.K {
			return nil
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
	switch m.b {
	case given:
		return m.p.Panels.From(cols.Lo/m.set.width, ks.Lo)
	case inPlace:
		b := m.p.Matrix.From(ks.Lo, cols.Lo)
		return Panels{Data: b.Data, Panel: m.set.width, Line: b.Row}
	case widened:
		b := m.p.Panels.From(cols.Lo/m.set.width, ks.Lo)
		to := floats(&m.x.b, PackedLen(m.p.format.level, ks.len(), cols.len()))
		return m.p.format.widened(to, b, ks.len(), cols.len())
	}
	b := floats(&m.x.b, PackedLen(m.level, ks.len(), cols.len()))
	Pack(m.level, b, m.p.Matrix.From(ks.Lo, cols.Lo), ks.len(), cols.len())
	return PackedPanels(m.level, b, ks.len())
}

// bias is what is added to a piece whose products end there.
func (m *mul) bias(ks, cols Range) []float32 {
	if m.p.Bias == nil || ks.Hi < m.p.K {
		return nil
	}
	return m.p.Bias[cols.Lo:cols.Hi]
}

// next is where B goes on behind a piece of it.
func (m *mul) next(ks, cols Range) []float32 {
	switch {
	case m.b != given:
		return nil
	case ks.Hi < m.p.K:
		return m.p.Panels.From(cols.Lo/m.set.width, ks.Hi).Data
	}
	return m.p.Panels.From(ceil(cols.Hi, m.set.width), 0).Data
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

// left is a piece of A: in place, or of a copy where its rows would be in each
// other's way. The copy has all of k, if that is not too much, so that it is made once
// for all columns.
func (m *mul) left(rows, ks, cols Range) Matrix {
	if !m.copies(rows, ks, cols) {
		return m.p.A.From(rows.Lo, ks.Lo)
	}
	of := ks
	if rows.len()*m.p.K <= mostCopied {
		of = Range{0, m.p.K}
	}
	a := m.p.A.From(rows.Lo, of.Lo)
	want := corner{rows.Lo, of.Lo, rows.len(), of.len()}
	fresh := m.copied != want
	m.copied = want
	if a.Row == 1 && a.Col != 1 { // columns in one piece stay columns
		ld := unlike(rows.len())
		to := Matrix{floats(&m.x.a, of.len()*ld), 1, ld}
		if fresh {
			copyLines(to.Data, ld, a.Data, a.Col, of.len(), rows.len())
		}
		return to.From(0, ks.Lo-of.Lo)
	}
	ld := unlike(of.len())
	to := Matrix{floats(&m.x.a, rows.len()*ld), ld, 1}
	if fresh {
		copyRows(to, a, rows.len(), of.len())
	}
	return to.From(0, ks.Lo-of.Lo)
}

// mostCopied is how many floats of A are copied at a time: 2 MB.
const mostCopied = 1 << 19

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

// copyLines copies lines of floats to lines at another distance.
func copyLines(to []float32, ld int, from []float32, by, lines, n int) {
	for i := range lines {
		copy(to[i*ld:i*ld+n], from[i*by:])
	}
}

// copyRows copies m rows of k columns of a to rows in one piece.
func copyRows(to, a Matrix, m, k int) {
	if a.Col == 1 {
		copyLines(to.Data, to.Row, a.Data, a.Row, m, k)
		return
	}
	for i := range m {
		row, at := to.Data[i*to.Row:i*to.Row+k], i*a.Row
		for j := range row {
			row[j] = a.Data[at]
			at += a.Col
		}
	}
}
