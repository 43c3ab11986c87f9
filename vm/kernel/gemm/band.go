package gemm

// An order is how a band of rows goes through a piece of B: block by block of columns, and each
// in steps along k. Where the second cache does not hold A's copy for all steps beside a panel,
// several blocks are a run, and go through a step together: so A's copy for it stays there, and
// their C, which is as large as that copy, from one step to the next.
type order struct {
	wide, deep         int // of a block
	blocks, run, steps int
}

// heldSteps is how many steps the second cache holds A's copy for: nine parts of 32 are for each
// (see BlocksFor).
const heldSteps = 2

// order is that of bands of so many rows.
func (m *mul) order(w *piece, high int) order {
	unit := m.set.width
	if m.set.inThirds(high, m.p.A) {
		unit *= thirdPanels
	}
	o := order{
		wide: even(w.cols.len(), max(m.blocks.Cols, fewRows/high), unit),
		deep: even(w.ks.len(), m.blocks.Deep, 8),
		run:  1,
	}
	o.blocks, o.steps = ceil(w.cols.len(), o.wide), max(ceil(w.ks.len(), o.deep), 1)
	if o.steps > heldSteps {
		o.run = min(max(m.blocks.Deep/o.wide, 1), o.blocks)
	}
	return o
}

// fewRows is how many floats of C a block of few rows has at most: they stay in the first
// cache until the tail has seen them.
const fewRows = 4096

// all is how many steps all blocks have.
func (o *order) all() int { return o.blocks * o.steps }

// at says which step of which block is number i, and which one of its run the block is.
func (o *order) at(i int) (block, step, inRun int) {
	first := i / (o.run * o.steps) * o.run
	i -= first * o.steps
	run := min(o.run, o.blocks-first)
	return first + i%run, i / run, i % run
}

// at is what number i of an order has of a piece.
func (m *mul) at(w *piece, o *order, i int) (ks, cols Range, inRun int) {
	block, step, inRun := o.at(i)
	ks = w.ks.piece(w.ks.Lo+step*o.deep, o.deep)
	cols = w.cols.piece(w.cols.Lo+turned(block, o.blocks, m.back)*o.wide, o.wide)
	return ks, cols, inRun
}

// bands computes what a piece of B is for: for some rows after the other, in order.
func (m *mul) bands(w *piece) error {
	high := even(w.tall.len(), m.blocks.Rows, bandRows(m.set.rows))
	o := m.order(w, high)
	m.cols, m.once = w.cols.len(), o.run > 1 && o.run == o.blocks && !w.more && !m.p.Beside
	if w.c == nil && m.p.C == nil {
		floats(&m.x.c, o.run*high*unlike(o.wide)) // which stays where it is for a run
	}
	for lo := w.tall.Lo; lo < w.tall.Hi; lo += high {
		for i := range o.all() {
			if err := m.stop(); err != nil {
				return err
			}
			m.block(w, &o, w.tall.piece(lo, high), i)
		}
	}
	return nil
}

// block computes number i of an order: a step along k of a block of C.
func (m *mul) block(w *piece, o *order, rows Range, i int) {
	ks, cols, inRun := m.at(w, o, i)
	c, ldc := w.c, w.ldc
	if c == nil {
		c, ldc = m.place(rows, cols, inRun*rows.len()*unlike(o.wide))
	} else {
		c = c[(rows.Lo-w.tall.Lo)*ldc+cols.Lo-w.cols.Lo:]
	}
	b := Block{
		M: rows.len(), N: cols.len(), K: ks.len(), Add: ks.Lo > 0, C: c, Ldc: ldc,
		B: w.b.From((cols.Lo-w.cols.Lo)/m.set.width, ks.Lo-w.ks.Lo), Next: m.next(w, o, i),
		Bias: m.bias(ks, cols), Backwards: m.back, origins: m.p.origins(rows),
	}
	m.left(&b, rows, ks)
	b.terms = m.sparse(rows, ks)
	whole := ks.Hi == m.p.K
	if whole && m.p.ends() {
		b.end = m.ending(rows, cols)
	}
	m.x.run(m.right(&b), &b)
	if whole && m.p.Tail != nil {
		m.p.Tail.Block(rows.Lo, cols.Lo, rows.len(), cols.len(), c, ldc)
	}
}

// next is where B is read behind number i of an order.
func (m *mul) next(w *piece, o *order, i int) []float32 {
	switch {
	case m.b == inPlace:
		return nil
	case i+1 < o.all():
		i++
	case m.p.Beside && m.b == given && !m.back && w.cols.Hi < m.p.N: // for the next call
		return m.first(w, Range{w.cols.Hi, m.p.N}, 0)
	default: // for the next rows
		i = 0
	}
	ks, cols, _ := m.at(w, o, i)
	return m.first(w, cols, ks.Lo-w.ks.Lo)
}

// first is what is read first of some columns of a piece of B, from row k of it on.
func (m *mul) first(w *piece, cols Range, k int) []float32 {
	from, panels := ceil(cols.Lo-w.cols.Lo, m.set.width), ceil(cols.len(), m.set.width)
	return w.b.From(from+turned(0, panels, m.back), k).Data
}
