package attn

import (
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
	group   int // rows whose scores are there at a time
	out     []float32
	ldOut   int
	q       []float32
	ldQ     int
	top     []float32 // the largest score of each row so far
	base    []float32 // what exponentials are relative to: the nearest integer, or -Inf
	used    []float32 // what is still to be subtracted of that
	sum     []float32 // of exponentials so far
	part    []float32 // of a block of keys
	factors []float32
}

func (b *block) run() {
	p, x := b.p, b.x
	vectors := [...]*[]float32{&b.top, &b.base, &b.used, &b.sum, &b.part, &b.factors}
	for i, v := range vectors {
		*v = grown(&x.rows[i], p.queries)[:b.rows]
	}
	b.scaled()
	b.place()
	b.ld = unlike((min(p.keys, p.T) + rowLanes - 1) / rowLanes * rowLanes)
	b.group = max(groupScores/b.ld/p.tile, 1) * p.tile
	grown(&x.scores, b.group*b.ld)
	if b.tiled() {
		b.tiles()
	} else {
		b.groups()
	}
	b.deliver()
}

// groups computes the results group by group, in steps that are loops each.
func (b *block) groups() {
	b.top[0] = lowest
	for n := 1; n < len(b.top); n *= 2 {
		copy(b.top[n:], b.top[:n])
	}
	for from := 0; from < b.p.T; from += b.p.keys {
		if n := b.seen(b.rows, from, min(b.p.keys, b.p.T-from)); n > 0 {
			b.keys(from, n)
		}
	}
	b.divide()
}

// cut leaves rows lo to before hi of the block.
func (b *block) cut(lo, hi int) {
	b.first, b.rows = b.first+lo, hi-lo
	b.q, b.out = b.q[lo*b.ldQ:], b.out[lo*b.ldOut:]
	for _, v := range [...]*[]float32{&b.top, &b.base, &b.used, &b.sum, &b.part, &b.factors} {
		*v = (*v)[:b.rows]
	}
}

// groupScores is how many scores there are at a time: 16 KB, so that they stay in the
// first cache beside the keys and values that pass by.
const groupScores = 4 << 10

// seen is how many of n keys from one on count for the first rows of the block, if what
// is hidden by order may be left out.
func (b *block) seen(rows, from, n int) int {
	if b.x.skips {
		return min(n, b.first+rows-from)
	}
	return n
}

// scaled copies the queries and scales them.
func (b *block) scaled() {
	p := b.p
	b.ldQ = unlike(p.D)
	b.q = grown(&b.x.q, p.queries*b.ldQ)
	if p.D == 0 {
		return
	}
	q := p.rows(&b.a.Q, b.batch, b.head, b.first, b.rows, p.D, &b.x.wide[0])
	if q.Col != 1 {
		for r := range b.rows {
			for d := range p.D {
				b.q[r*b.ldQ+d] = q.Data[r*q.Row+d*q.Col]
			}
		}
		q.Data, q.Row = b.q, b.ldQ
	}
	p.loops.scaleRows(&b.q[0], b.ldQ, &q.Data[0], q.Row, b.rows, p.D, &p.scale, 0)
}

// place is where the results are added up: in place, if they have rows there.
func (b *block) place() {
	out := b.a.Out
	if out.Col == 1 && b.p.half == nil {
		b.out, b.ldOut = out.Data[out.at(b.batch, b.head, b.first):], out.Row
		return
	}
	b.ldOut = unlike(b.p.E)
	b.out = grown(&b.x.out, b.p.queries*b.ldOut)
}

// panels are the keys and values of a block of n, from one on; packed is how many are
// at a time.
func (b *block) panels(from, n int) (k, v gemm.Panels, packed int) {
	p, x := b.p, b.x
	first, packed, head := 0, p.T, b.head/(p.Heads/p.Groups)
	if !p.whole {
		x.pack(p, b.a, b.batch, head, from, n)
		first, packed = from, n
	}
	k = gemm.PackedPanels(p.level, x.k, p.D).From((from-first)/gemm.Width(p.level), 0)
	return k, x.values(p, &b.a.V, b.batch, head, from, first, packed), packed
}

// keys goes on with n keys from one on.
func (b *block) keys(from, n int) {
	k, v, packed := b.panels(from, n)
	for row := 0; row < b.rows; row += b.group {
		rows := min(b.group, b.rows-row)
		g := group{b, row, rows, from, b.seen(row+rows, from, n), packed}
		if g.n > 0 {
			g.run(k, v)
		}
	}
}

// A group is some rows of a block, whose scores of n keys from one on are under way.
type group struct {
	*block
	row, rows, from, n int
	packed             int // keys at a time
}

// run adds the values to the results, each as often as its score says.
func (g *group) run(k, v gemm.Panels) {
	p, x := g.p, g.x
	if p.lone(&g.a.K, g.packed) {
		g.lone()
	} else {
		x.block = gemm.Block{
			M: g.rows, N: g.n, K: p.D, C: x.scores, Ldc: g.ld,
			A: gemm.Matrix{Data: g.q[g.row*g.ldQ:], Row: g.ldQ, Col: 1}, B: k,
		}
		x.products.Run(p.level, &x.block)
	}
	g.raise()
	g.exponentials()
	x.block = gemm.Block{
		M: g.rows, N: p.E, K: g.n, C: g.out[g.row*g.ldOut:], Ldc: g.ldOut, Add: g.from > 0,
		A: gemm.Matrix{Data: x.scores, Row: g.ld, Col: 1}, B: v,
	}
	x.products.Run(p.level, &x.block)
}

// exponentials replaces scores by their exponentials, and scales what has been added up
// before for a larger top. A row of -Inf has none: its exponentials are 0.
func (g *group) exponentials() {
	before, part, sum := g.factors[g.row:][:g.rows], g.part[g.row:][:g.rows], g.sum[g.row:][:g.rows]
	copy(before, g.base[g.row:])
	g.rebase()
	seen, step := g.order()
	g.p.loops.exps(&g.x.scores[0], g.ld, g.rows, g.n, seen, step, &g.used[g.row], &part[0])
	if g.from == 0 {
		copy(sum, part)
		return
	}
	g.lower(before)
	for r, s := range part {
		sum[r] = sum[r]*before[r] + s
	}
}

// rebase makes bases of the tops.
func (g *group) rebase() {
	base, used := g.base[g.row:][:g.rows], g.used[g.row:][:g.rows]
	for r, t := range g.top[g.row:][:g.rows] {
		switch {
		case t == lowest:
			base[r], used[r] = t, 0
		case t <= twoFar && t >= -twoFar:
			base[r] = nearest(t)
			used[r] = base[r]
		default:
			base[r], used[r] = t, 0
			row := g.x.scores[r*g.ld:][:g.n]
			for i := range row {
				row[i] -= t
			}
		}
	}
}

// order says how many of the keys the first row may attend to, and how many more each
// row that follows.
func (g *group) order() (seen, step int) {
	if g.p.causal {
		return g.first + g.row + 1 - g.from, 1
	}
	return g.n, 0
}

// maskRows is how many rows of a mask are turned to floats at a time.
const maskRows = 8

// masked reports whether some rows have scores hidden or changed.
func (b *block) masked() bool { return b.p.causal || b.a.Mask.is() }

// raise applies the mask and raises the tops.
func (g *group) raise() {
	l, m, scores := g.p.loops, &g.a.Mask, g.x.scores
	seen, step := g.order()
	if !m.is() {
		l.tops(&scores[0], g.ld, g.rows, g.n, seen, step, &g.top[g.row])
		return
	}
	tops, rows := l.topsAdd, g.rows
	if m.Allow != nil {
		tops = l.topsPick
	}
	if m.Row != 0 {
		rows = maskRows
	}
	for r := 0; r < g.rows; r += rows {
		here := min(rows, g.rows-r)
		mask, maskStep := g.mask(g.row+r, here, g.from, g.n)
		tops(&scores[r*g.ld], g.ld, here, g.n, seen+r*step, step, &mask[0], &g.top[g.row+r], maskStep)
	}
}

// lower scales the results so far, each row by 2**(before - base), which replaces
// before.
func (g *group) lower(before []float32) {
	changed := false
	rest, none := grown(&g.x.rest, g.rows*rowLanes), g.used[g.row:][:g.rows]
	for r, t := range before {
		now := g.base[g.row+r]
		changed = changed || t != now
		rest[r*rowLanes], none[r] = t-now, 0
		if t == now {
			rest[r*rowLanes] = 0 // also where both are infinite
		}
	}
	if !changed {
		for r := range before {
			before[r] = 1
		}
		return
	}
	// One column of rows: the sums are their powers.
	l, out := g.p.loops, &g.out[g.row*g.ldOut]
	l.exps(&rest[0], rowLanes, g.rows, 1, 1, 0, &none[0], &before[0])
	l.scaleRows(out, g.ldOut, out, g.ldOut, g.rows, g.p.E, &before[0], 1)
}

// mask is the mask of some rows and n keys from one on, as floats in units of scores,
// up to a multiple of rowLanes, and the distance of its rows.
func (b *block) mask(row, rows, from, n int) ([]float32, int) {
	m := &b.a.Mask
	at := m.at(b.batch, b.head, b.first+row) + from*m.Col
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
	l, m := b.p.loops, &b.a.Mask
	switch {
	case m.Add != nil && m.Col == 1:
		l.twofold(&to[0], &m.Add[at], n)
	case m.Halves != nil:
		b.p.half.load(b.p.level, to[:n], m.Halves, at, m.Col)
		l.twofold(&to[0], &to[0], n)
	case m.Add != nil:
		for j := range n {
			to[j] = m.Add[at+j*m.Col]
		}
		l.twofold(&to[0], &to[0], n)
	case m.Col == 1:
		l.spread(&to[0], &m.Allow[at], n)
	default:
		for j := range n {
			to[j] = 0
			if m.Allow[at+j*m.Col] == 0 {
				to[j] = lowest
			}
		}
	}
}

// deliver puts the results where they belong.
func (b *block) deliver() {
	out := b.a.Out
	switch {
	case b.p.half != nil:
		b.round()
		return
	case out.Col == 1:
		return
	}
	for r := range b.rows {
		at := out.at(b.batch, b.head, b.first+r)
		for e, v := range b.out[r*b.ldOut:][:b.p.E] {
			out.Data[at+e*out.Col] = v
		}
	}
}

// divide divides the results by the sums.
func (b *block) divide() {
	l := b.p.loops
	if b.p.T == 0 {
		for r := range b.rows {
			clear(b.out[r*b.ldOut:][:b.p.E])
		}
		return
	}
	l.inverse(&b.factors[0], &b.sum[0], b.rows)
	l.scaleRows(&b.out[0], b.ldOut, &b.out[0], b.ldOut, b.rows, b.p.E, &b.factors[0], 1)
	if !b.masked() {
		return // all rows attend to something
	}
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
		case m.Add != nil && m.Add[at+j*m.Col] == lowest:
		case m.Halves != nil && b.p.half.wide(m.Halves[at+j*m.Col]) == lowest:
		default:
			return true
		}
	}
	return false
}
