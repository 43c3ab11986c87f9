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
	// Finite, if not nil, says whether the Panels have neither infinities nor NaN: if so, rows
	// of them that meet zeros need not be read. It may look only when it is asked.
	Finite func() bool
	// C has its rows Ldc apart, its columns in one piece. Without C, blocks of it are
	// in scratch memory and Tail takes them.
	C   []float32
	Ldc int
	// Bias, if not nil, is N floats that are added to every row of the product, which
	// has been rounded before; N integers, as Ints views them, where sums are integers.
	Bias []float32
	// Scale, if not nil, makes floats of sums that are integers.
	Scale *Scale
	// Tail, if not nil, is called for every finished block of C while it is in the
	// second cache.
	Tail Tail
	// Stop, if not nil, is asked before every piece of some hundred microseconds; Mul
	// ends with the error that it gives.
	Stop Stopper
	// Blocks is Default if it is zero.
	Blocks Blocks
	// Again says that nothing of A has changed since the last product of the Scratch, so
	// that copies of it are good still; Beside, that there are other calls for further
	// columns of the same rows, which makes a copy worth more.
	Again, Beside bool
	// Backwards goes through the columns from the last to the first. Who multiplies by the
	// same panels again and again asks for that every other time: if they are somewhat larger
	// than a cache, it still has those that came last, with which the next product begins.
	Backwards bool

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
	m := mul{x: x, p: p, level: level, blocks: p.Blocks, back: p.Backwards && !p.ends()}
	m.set = p.kernels(level)
	if m.blocks == (Blocks{}) {
		m.blocks = Default
	}
	m.words = m.set.words()
	if m.words > 1 { // and a step has four lines of a panel
		m.blocks.Deep = max(m.blocks.Deep/(m.words-1), 1)
	}
	if p.Again && x.copiedOf == m.lies() {
		m.copied = x.copied
	} else {
		x.listed.ks = Range{}
	}
	x.copied = corner{} // whatever happens below
	err := m.all(rows, cols)
	x.copied, x.copiedOf = m.copied, m.lies()
	return err
}

// A lying is where a left operand lies, and in how long pieces of how many columns it is
// copied. It keeps nothing alive.
type lying struct {
	at             uintptr
	row, col       int
	k, deep, limit int
}

func (m *mul) lies() lying {
	a := &m.p.A
	return lying{a.address(), a.Row, a.Col, m.p.K, m.blocks.Deep, m.blocks.Copied}
}

// all computes rows and columns.
func (m *mul) all(rows, cols Range) error {
	p := m.p
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
	words  int // of A a step along k takes
	b      source
	back   bool   // columns go from the last to the first, which endings don't
	cols   int    // of the piece of B that is at hand
	once   bool   // no columns come for the same rows, when these have been through all of k
	copied corner // of A, that x.a holds
}

// source says where panels of B are.
type source uint8

const (
	given   source = iota // in the product's Panels
	inPlace               // rows of its Matrix are
	packed                // they are made on the way
)

// corner is the first row and column of a piece and their numbers, and how it is copied: in
// the order of tiles or not, and with how many words of a row in all.
type corner struct {
	row, col, rows, cols int
	tiled                bool
	whole                int
}

// has reports whether a copy is that of a corner, or of one with more columns.
func (c corner) has(of corner) bool {
	more := c.cols >= of.cols
	c.cols = of.cols
	return more && c == of
}

// A piece of a product: B at hand for some rows of it and columns, and C for them.
type piece struct {
	tall, ks, cols Range // the rows of A that use it, rows and columns of B
	b              Panels
	c              []float32 // of all tall rows; nil: there is a place for each block
	ldc            int
	more           bool // there are others for the same rows of A and other columns
}

// run goes through pieces of B, and for each through the rows that use it.
func (m *mul) run(rows, cols Range) error {
	tall, deep, wide := rows.len(), max(m.p.K, 1), cols.len()
	if m.b == packed {
		deep = even(m.p.K, max(m.blocks.Packed/m.set.width, 1), 8)
		wide = even(wide, max(m.blocks.Packed/deep/m.set.width, 1)*m.set.width, m.set.width)
	}
	if deep < m.p.K {
		tall = even(tall, m.blocks.Tall, m.set.rows)
		wide = even(wide, m.blocks.Cols, m.set.width)
	}
	for lo := rows.Lo; lo < rows.Hi; lo += tall {
		for n := cols.Lo; n < cols.Hi; n += wide {
			w := piece{tall: rows.piece(lo, tall), cols: cols.piece(n, wide), more: wide < cols.len()}
			if deep < m.p.K {
				w.c, w.ldc = m.place(w.tall, w.cols, 0)
			}
			for k := 0; k < m.p.K || k == 0; k += deep {
				w.ks = Range{k, min(k+deep, m.p.K)}
				w.b = m.panels(w.ks, w.cols)
				if err := m.bands(&w); err != nil {
					return err
				}
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

// right gives a block memory for panels that become floats, if they do, and its kernels.
func (m *mul) right(b *Block) *kernels {
	if m.p.format == nil {
		return m.set
	}
	set, widens := m.p.format.kernels(b.M)
	if widens {
		b.widen = m.p.format
		b.wide = floats(&m.x.b, b.wideLen(set))
	}
	return set
}

// place is where a piece of C is computed: in scratch memory from one of its floats on, if the
// product has no C.
func (m *mul) place(rows, cols Range, from int) ([]float32, int) {
	if m.p.C != nil {
		return m.p.C[rows.Lo*m.p.Ldc+cols.Lo:], m.p.Ldc
	}
	ldc := unlike(cols.len())
	return floats(&m.x.c, from+rows.len()*ldc)[from:], ldc
}

// panels is a piece of B.
func (m *mul) panels(ks, cols Range) Panels {
	switch m.b {
	case given:
		return m.p.Panels.From(cols.Lo/m.set.width, ks.Lo)
	case inPlace:
		b := m.p.Matrix.From(ks.Lo, cols.Lo)
		return Panels{Data: b.Data, Panel: m.set.width, Line: b.Row}
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

func ceil(n, unit int) int { return (n + unit - 1) / unit }

// left gives a block its piece of A: in place, or of a copy, which halves have in any case.
// Unless all columns use it at once, that has all of k, if it is not too much, so that it is
// made once for all of them.
func (m *mul) left(b *Block, rows, ks Range) {
	b.A, b.tiled = m.p.A.From(rows.Lo, ks.Lo), m.copies(rows, ks)
	if !b.tiled && b.A.halves == nil {
		return
	}
	want, from := corner{rows.Lo, 0, rows.len(), ks.Hi, b.tiled, m.words * m.p.K}, m.words*ks.Lo
	if m.once || rows.len()*want.whole > m.blocks.Copied {
		want.col, want.whole, from = ks.Lo, m.words*ks.len(), 0
	}
	here, copied := b.A, m.toTiles
	b.A = Matrix{Data: floats(&m.x.a, rows.len()*unlike(want.whole))}
	if b.tiled {
		b.A.Data = b.A.Data[rows.len()*from:]
	} else {
		b.A, copied = Matrix{Data: b.A.Data[from:], Row: unlike(want.whole), Col: 1}, m.toRows
	}
	if !m.copied.has(want) {
		copied(b.A, here, rows.len(), m.words*ks.len())
		m.copied = want
	}
}

// copies reports whether a piece of A is worth a copy: it costs about as much as
// half a panel of products. Rows in one piece do as well in place if they are short, so
// that a tile's lie in the first cache beside a panel, or if there are two tiles only,
// unless they share sets of that cache, as rows near a multiple of 2 KB apart do. Of a tile
// by itself that counts from more rows on than a set has lines.
func (m *mul) copies(rows, ks Range) bool {
	s := m.set.stack(rows.len())
	deep := m.words * ks.len()
	if m.set.inThirds(rows.len(), m.p.A) || m.set.panels(s.low) > 1 || m.wide() < 4*m.set.width || deep < 16 {
		return false
	}
	near := (m.p.A.Row+32)%512 < 64 && deep > 64 && m.p.A.halves == nil
	if s.tiles < 2 {
		return near && s.low > setLines && m.p.A.Col == m.words
	}
	return m.p.A.Col != m.words || s.tiles > 2 && deep > shortRows || near
}

// wide is how many columns what is made of A serves.
func (m *mul) wide() int {
	if m.p.Beside {
		return m.p.N
	}
	return m.cols
}

// setLines is how many lines a set of the first cache has: eight of most processors, twelve
// of some.
const setLines = 8

// shortRows is how many floats of its rows a tile may have that reads them in place: at
// 384 it takes 1.3 % less than the copy for 384 columns of C, at 1024 rows in place
// take 5 % more than tiles.
const shortRows = 512

// unlike is a distance of rows of n floats at which they don't share sets of the
// first cache: 64 bytes more than a multiple of 256 bytes.
func unlike(n int) int { return (n+47)/64*64 + 16 }
