package attn

import (
	"math"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A block is some queries of one head.
type block struct {
	x           *Scratch
	p           *Plan
	a           *Args
	batch, head int
	first, rows int // the queries

	ld      int // of scores
	out     []float32
	ldOut   int
	q       []float32
	ldQ     int
	top     []float32 // the largest score of each row so far
	used    []float32 // the same, 0 where there is none
	sum     []float32 // of exponentials so far
	part    []float32 // of a block of keys
	factors []float32
}

func (b *block) run() {
	p, x := b.p, b.x
	vectors := [...]*[]float32{&b.top, &b.used, &b.sum, &b.part, &b.factors}
	for i, v := range vectors {
		*v = grown(&x.rows[i], p.queries)[:b.rows]
	}
	for r := range b.top {
		b.top[r], b.sum[r] = lowest, 0
	}
	b.scaled()
	b.place()
	b.ld = unlike((min(p.keys, p.T) + rowLanes - 1) / rowLanes * rowLanes)
	grown(&x.scores, b.rows*b.ld)
	for from := 0; from < p.T; from += p.keys {
		n := min(p.keys, p.T-from)
		if x.skips {
			n = min(n, b.first+b.rows-from)
		}
		if n <= 0 {
			break
		}
		b.keys(from, n)
	}
	b.finish()
}

// scaled copies the queries and scales them.
func (b *block) scaled() {
	p, q := b.p, b.a.Q
	b.ldQ = unlike(p.D)
	b.q = grown(&b.x.q, p.queries*b.ldQ)
	for r := range b.rows {
		row, at := b.q[r*b.ldQ:][:p.D], q.at(b.batch, b.head, b.first+r)
		if q.Col == 1 {
			copy(row, q.Data[min(at, len(q.Data)):])
			continue
		}
		for d := range row {
			row[d] = q.Data[at+d*q.Col]
		}
	}
	if p.scale != 1 {
		for r := range b.factors {
			b.factors[r] = p.scale
		}
		p.loops.scaleRows(&b.q[0], b.ldQ, b.rows, p.D, p.D, 0, &b.factors[0])
	}
}

// place is where the results are added up: in place, if they have rows there.
func (b *block) place() {
	out := b.a.Out
	if out.Col == 1 {
		b.out, b.ldOut = out.Data[out.at(b.batch, b.head, b.first):], out.Row
		return
	}
	b.ldOut = unlike(b.p.E)
	b.out = grown(&b.x.out, b.p.queries*b.ldOut)
}

// keys goes on with n keys from one on.
func (b *block) keys(from, n int) {
	p, x := b.p, b.x
	at := from
	if !p.whole {
		x.pack(p, b.a, b.batch, b.head/(p.Heads/p.Groups), from, n)
		at = 0
	}
	x.block = gemm.Block{
		M: b.rows, N: n, K: p.D, C: x.scores, Ldc: b.ld,
		A: gemm.Matrix{Data: b.q, Row: b.ldQ, Col: 1},
		B: gemm.PackedPanels(p.level, x.k, p.D).From(at/gemm.Width(p.level), 0),
	}
	x.products.Run(p.level, &x.block)
	b.exponentials(from, n)
	depth := p.T
	if !p.whole {
		depth = n
	}
	x.block = gemm.Block{
		M: b.rows, N: p.E, K: n, C: b.out, Ldc: b.ldOut, Add: from > 0,
		A: gemm.Matrix{Data: x.scores, Row: b.ld, Col: 1},
		B: gemm.PackedPanels(p.level, x.v, depth).From(0, at),
	}
	x.products.Run(p.level, &x.block)
}

// exponentials replaces scores by their exponentials, and scales what has been added up
// before for a larger top. A row of -Inf has none: its exponentials are 0.
func (b *block) exponentials(from, n int) {
	p, x := b.p, b.x
	seen, step := n, 0
	if p.causal {
		seen, step = b.first+1-from, 1
	}
	before := b.factors
	copy(before, b.top)
	b.raise(from, n, seen, step)
	for r, t := range b.top {
		if t == lowest {
			t = 0
		}
		b.used[r] = t
	}
	p.loops.exps(&x.scores[0], b.ld, b.rows, n, seen, step, &b.used[0], &b.part[0])
	if from == 0 {
		copy(b.sum, b.part)
		return
	}
	b.lower(before)
	for r, s := range b.part {
		b.sum[r] = b.sum[r]*before[r] + s
	}
}

// maskRows is how many rows of a mask are turned to floats at a time.
const maskRows = 8

// raise applies the mask and raises the tops.
func (b *block) raise(from, n, seen, step int) {
	l, m, scores := b.p.loops, &b.a.Mask, b.x.scores
	if m.Add == nil && m.Allow == nil {
		l.tops(&scores[0], b.ld, b.rows, n, seen, step, &b.top[0])
		return
	}
	tops, rows := l.topsAdd, b.rows
	if m.Allow != nil {
		tops = l.topsPick
	}
	if m.Row != 0 && !m.plain() {
		rows = maskRows
	}
	for r := 0; r < b.rows; r += rows {
		here := min(rows, b.rows-r)
		mask, maskStep := b.mask(r, here, from, n)
		tops(&scores[r*b.ld], b.ld, here, n, seen+r*step, step, &mask[0], &b.top[r], maskStep)
	}
}

// plain reports whether rows of a mask are floats in one piece.
func (m *Mask) plain() bool { return m.Add != nil && m.Col == 1 }

// lower scales the results so far, each row by exp(before - top), which replaces
// before.
func (b *block) lower(before []float32) {
	changed := false
	for r, t := range before {
		changed = changed || t != b.top[r]
	}
	if !changed {
		for r := range before {
			before[r] = 1
		}
		return
	}
	// One column of rows: the sums are not asked for.
	rest := grown(&b.x.mask, len(before)*rowLanes)
	for r, t := range before {
		rest[r*rowLanes] = t
	}
	sums := before
	b.p.loops.exps(&rest[0], rowLanes, b.rows, 1, 1, 0, &b.used[0], &sums[0])
	b.p.loops.scaleRows(&b.out[0], b.ldOut, b.rows, b.p.E, b.p.E, 0, &before[0])
}

// mask is the mask of some rows and n keys from one on, as floats in one piece, and
// the distance of its rows.
func (b *block) mask(row, rows, from, n int) ([]float32, int) {
	m := &b.a.Mask
	at := m.at(b.batch, b.head, b.first+row) + from*m.Col
	if m.plain() {
		return m.Add[at:], m.Row
	}
	step := (n + rowLanes - 1) / rowLanes * rowLanes
	if m.Row == 0 {
		to := grown(&b.x.mask, step)
		b.maskRow(to, at, n)
		return to, 0
	}
	to := grown(&b.x.mask, rows*step)
	for r := range rows {
		b.maskRow(to[r*step:][:step], at+r*m.Row, n)
	}
	return to, step
}

// maskRow writes n elements of the mask as floats.
func (b *block) maskRow(to []float32, at, n int) {
	m := &b.a.Mask
	switch {
	case m.Add != nil:
		for j := range n {
			to[j] = m.Add[at+j*m.Col]
		}
	case m.Col == 1:
		b.p.loops.spread(&to[0], &m.Allow[at], n)
	default:
		for j := range n {
			to[j] = 0
			if m.Allow[at+j*m.Col] == 0 {
				to[j] = lowest
			}
		}
	}
}

// finish divides by the sums and puts the results where they belong.
func (b *block) finish() {
	if b.p.T == 0 {
		for r := range b.rows {
			clear(b.out[r*b.ldOut:][:b.p.E])
		}
	} else {
		b.divide()
	}
	out := b.a.Out
	if out.Col == 1 {
		return
	}
	for r := range b.rows {
		at := out.at(b.batch, b.head, b.first+r)
		for e, v := range b.out[r*b.ldOut:][:b.p.E] {
			out.Data[at+e*out.Col] = v
		}
	}
}

func (b *block) divide() {
	for r, s := range b.sum {
		b.factors[r] = 1 / s
	}
	b.p.loops.scaleRows(&b.out[0], b.ldOut, b.rows, b.p.E, b.p.E, 0, &b.factors[0])
	for r, s := range b.sum {
		if !(s > 0) && !b.attends(r) {
			clear(b.out[r*b.ldOut:][:b.p.E])
		}
	}
}

// attends reports whether there is a key that row r may attend to.
func (b *block) attends(r int) bool {
	m, seen := &b.a.Mask, b.p.T
	if b.p.causal {
		seen = min(seen, b.first+r+1)
	}
	at := m.at(b.batch, b.head, b.first+r)
	for j := range seen {
		switch {
		case m.Allow != nil && m.Allow[at+j*m.Col] == 0:
		case m.Add != nil && math.IsInf(float64(m.Add[at+j*m.Col]), -1):
		default:
			return true
		}
	}
	return false
}
