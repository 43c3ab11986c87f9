package wide

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A Product is C = A·B, of which Mul computes a part.
type Product[E Element] struct {
	N, K int // columns of C, and products an element
	A    gemm.View[E]
	// B is either packed or, without Panels, a matrix, of which Mul packs pieces on the way.
	Panels []E
	B      gemm.View[E]
	// C has its rows Ldc apart, its columns in one piece.
	C   []E
	Ldc int
	// Bias, if not nil, is N numbers that are added to every row of the product, which has
	// been rounded before.
	Bias []E
	// Stop, if not nil, is asked before every piece of some hundred microseconds; Mul ends
	// with the error that it gives.
	Stop gemm.Stopper
	// Blocks is gemm.Default if it is zero.
	Blocks gemm.Blocks
}

// Scratch is what one product at a time needs on the way. It grows to what its largest product
// asks for and is used again.
type Scratch struct {
	tile tile
	a, b []float32
	edge [mostRows * mostWidth]int64 // of a tile at the last columns of C
}

// room views the first n elements of a buffer, which is made anew if it is too short.
func room[E Element](buffer *[]float32, n int) []E {
	if want := n * sizeOf[E]() / 4; len(*buffer) < want {
		*buffer = gemm.Aligned(want)
	}
	return Elements[E](*buffer)[:n]
}

// Mul computes the rows and columns of C that lie in the ranges. The columns begin at a
// multiple of the level's Width. The error is what Stop gave. The product comes by value, so that
// callers need not keep it in memory of their own.
func Mul[E Element](x *Scratch, level isa.Level, p Product[E], rows, cols gemm.Range) error {
	if rows.Lo >= rows.Hi || cols.Lo >= cols.Hi {
		return nil
	}
	m := mul[E]{x: x, p: p, level: level, set: at[E](level), rows: rows}
	if p.Panels == nil && rows.Hi-rows.Lo == 1 && p.B.Row == 1 && p.K > 0 {
		return m.dots(cols)
	}
	m.few = p.B.Col == 1 && rows.Hi-rows.Lo <= m.set.rows()
	blocks := p.Blocks
	if blocks == (gemm.Blocks{}) {
		blocks = gemm.Default
	}
	m.band = even(rows.Hi-rows.Lo, blocks.Rows, m.set.rows())
	m.deep = even(p.K, max(blocks.Deep*4/sizeOf[E](), 1), 8)
	wide := cols.Hi - cols.Lo
	if p.Panels == nil && !m.few {
		wide = even(wide, max(blocks.Packed*4/sizeOf[E]()/m.deep, 1), m.set.width)
	}
	for n := cols.Lo; n < cols.Hi; n += wide {
		if err := m.columns(gemm.Range{Lo: n, Hi: min(n+wide, cols.Hi)}); err != nil {
			return err
		}
	}
	return nil
}

// even is the size of pieces of n, at most of size most and a multiple of unit but for the
// last, that are as equal as can be.
func even(n, most, unit int) int {
	if n <= most {
		return max(n, 1)
	}
	pieces := (n + most - 1) / most
	size := (n + pieces - 1) / pieces
	return (size + unit - 1) / unit * unit
}

// mul is one call of Mul.
type mul[E Element] struct {
	x          *Scratch
	p          Product[E]
	level      isa.Level
	set        *kernels
	rows       gemm.Range
	band, deep int // rows, and steps along k, of a copy of A

	// few says that the rows are few enough to read rows of B where they lie, once.
	few    bool
	packed []E // the piece of B that is at hand, if it had to be packed
	from   int // its first column
}

// columns computes some columns of all rows, in steps along k.
func (m *mul[E]) columns(cols gemm.Range) error {
	if m.p.K == 0 {
		m.finish(m.rows, cols, true)
		return nil
	}
	for k := 0; k < m.p.K; k += m.deep {
		ks := gemm.Range{Lo: k, Hi: min(k+m.deep, m.p.K)}
		m.take(ks, cols)
		for lo := m.rows.Lo; lo < m.rows.Hi; lo += m.band {
			if err := m.stop(); err != nil {
				return err
			}
			rows := gemm.Range{Lo: lo, Hi: min(lo+m.band, m.rows.Hi)}
			m.block(rows, ks, cols)
			if ks.Hi == m.p.K {
				m.finish(rows, cols, false)
			}
		}
	}
	return nil
}

func (m *mul[E]) stop() error {
	if m.p.Stop == nil {
		return nil
	}
	return m.p.Stop.Stop()
}

// take packs a piece of B, if it has to be.
func (m *mul[E]) take(ks, cols gemm.Range) {
	if m.p.Panels != nil {
		return
	}
	m.from = cols.Lo
	if m.few { // but for the last columns, which are no whole panel
		m.from += (cols.Hi - cols.Lo) / m.set.width * m.set.width
	}
	k, n := ks.Hi-ks.Lo, cols.Hi-m.from
	m.packed = room[E](&m.x.b, PackedLen[E](m.level, k, n))
	Pack(m.level, m.packed, viewFrom(m.p.B, ks.Lo, m.from), k, n)
}

// panel finds the panel that begins at a column, and how many elements lie between its rows.
func (m *mul[E]) panel(ks gemm.Range, n int) (*E, int) {
	w := m.set.width
	switch {
	case m.p.Panels != nil:
		return &m.p.Panels[n*m.p.K+ks.Lo*w], w
	case n < m.from:
		return &m.p.B.Data[ks.Lo*m.p.B.Row+n], m.p.B.Row
	}
	return &m.packed[(n-m.from)*(ks.Hi-ks.Lo)], w
}

// block adds up a step along k of some rows and columns.
func (m *mul[E]) block(rows, ks, cols gemm.Range) {
	t, size := &m.x.tile, sizeOf[E]()
	high, deep := rows.Hi-rows.Lo, ks.Hi-ks.Lo
	a := room[E](&m.x.a, high*deep)
	tiles := (high + m.set.rows() - 1) / m.set.rows()
	m.copyA(a, rows, ks, tiles)
	*t = tile{k: deep}
	if ks.Lo > 0 {
		t.add = 1
	}
	for n := cols.Lo; n < cols.Hi; n += m.set.width {
		b, line := m.panel(ks, n)
		t.b, t.line = unsafe.Pointer(b), line*size
		row := 0
		for i := range tiles {
			h := height(high, tiles, i)
			t.a = unsafe.Pointer(&a[row*deep])
			m.run(t, rows.Lo+row, h, n, min(m.set.width, cols.Hi-n))
			row += h
		}
	}
	*t = tile{}
}

// height is how many rows tile i of some has that share rows evenly.
func height(rows, tiles, i int) int {
	if i < rows%tiles {
		return rows/tiles + 1
	}
	return rows / tiles
}

// copyA lays a piece of A out as tiles read it: tile by tile, in each the rows' elements of
// a column side by side.
func (m *mul[E]) copyA(dst []E, rows, ks gemm.Range, tiles int) {
	a, row, deep := &m.p.A, 0, ks.Hi-ks.Lo
	for i := range tiles {
		h := height(rows.Hi-rows.Lo, tiles, i)
		to, from := dst[row*deep:], a.Data[(rows.Lo+row)*a.Row+ks.Lo*a.Col:]
		if a.Row == 1 {
			for j := range deep {
				copy(to[j*h:][:h], from[j*a.Col:])
			}
		} else {
			turn(to, h, from, a.Row, a.Col, h, deep)
		}
		row += h
	}
}

// run computes a tile of h rows of which n columns exist: where they are fewer than those of
// a panel, in a place of its own.
func (m *mul[E]) run(t *tile, row, h, col, n int) {
	at, w := row*m.p.Ldc+col, m.set.width
	if n == w {
		t.c, t.ldc = unsafe.Pointer(&m.p.C[at]), m.p.Ldc*sizeOf[E]()
		m.set.tiles[h-1](t)
		return
	}
	edge := unsafe.Slice((*E)(unsafe.Pointer(&m.x.edge)), h*w)
	if t.add != 0 {
		for i := range h {
			copy(edge[i*w:][:n], m.p.C[at+i*m.p.Ldc:])
		}
	}
	t.c, t.ldc = unsafe.Pointer(&m.x.edge), w*sizeOf[E]()
	m.set.tiles[h-1](t)
	for i := range h {
		copy(m.p.C[at+i*m.p.Ldc:][:n], edge[i*w:])
	}
}

// finish adds the bias to rows; without products these are zero before.
func (m *mul[E]) finish(rows, cols gemm.Range, empty bool) {
	if m.p.Bias == nil && !empty {
		return
	}
	for i := rows.Lo; i < rows.Hi; i++ {
		c := m.p.C[i*m.p.Ldc+cols.Lo : i*m.p.Ldc+cols.Hi]
		if empty {
			clear(c)
		}
		if m.p.Bias != nil {
			for j, b := range m.p.Bias[cols.Lo:cols.Hi] {
				c[j] += b
			}
		}
	}
}
