package attn

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A weightTile is the argument of a kernel that computes the scores of some queries and
// all keys of a block, panel by panel, and turns them into powers of two while they are
// in registers. Distances are in bytes. The generator of the kernels knows the offsets of
// the fields.
//
// Places are numbers, not pointers; the block keeps the memory alive.
type weightTile struct {
	q        uintptr
	row      int // from one query to the next
	k        uintptr
	deep     int // floats of a query
	c        uintptr
	ldc      int     // from one row of weights to the next
	n        int     // keys
	seen     int     // those of them that the first query may attend to
	step     int     // how many more each query that follows may
	mask     uintptr // what is added, a whole panel at a time; 0: nothing
	maskRow  int     // from one row of it to the next
	first    int     // 1: bases are found, and it becomes 0 if one is; 0: they are there
	magic    uintptr // what turns a score into a power, magicRow floats for each query
	sums     uintptr // of weights, sumRow floats for each query
	ahead    uintptr // rows that will be wanted: each panel asks for some of them (loops.asked)
	aheadRow int     // from one of them to the next
}

// A valueTile is the argument of a kernel that adds values up by weights, panel by panel.
type valueTile struct {
	a       uintptr // weights
	row     int     // from one row of them to the next
	b       uintptr // packed values
	panel   int     // from one panel to the next
	keys    int
	c       uintptr // results
	ldc     int     // from one row of results to the next
	cols    int     // columns of results
	add     int     // 0: begin with zero; 1: with the results
	sums    uintptr // of weights, which the rows are divided by in the end; 0: they are not
	factors uintptr // where 1 divided by those is written
}

const (
	mostTile = 12 // rows of a tile, over all levels
	magicRow = 16
	sumRow   = sumLanes
	// mostSum is what the weights of a query come to at most. A base lies 2**32 above the
	// largest of the first sixteen scores, so that most queries are far below.
	mostSum = 2
)

func place(s []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// tiled reports whether blocks go by tiles that turn scores into weights at once.
func (b *block) tiled() bool {
	p := b.p
	return p.loops.weights[1] != nil && p.T > 0 && !p.inPlace(&b.a.V) && !p.lone(&b.a.K, min(p.keys, p.T))
}

// tiles computes the results tile by tile. A base, which all scores of a query are
// relative to, is guessed: powers of two differ by exact factors from those of another
// base, which the division takes away. Queries whose sums show that the guess was bad
// are computed anew.
func (b *block) tiles() {
	p, x := b.p, b.x
	clear(grown(&x.sums, p.queries*sumRow)[:b.rows*sumRow])
	grown(&x.magic, p.queries*magicRow)
	x.again = x.again[:0]
	for from := 0; from < p.T; from += p.keys {
		if n := b.seen(b.rows, from, min(p.keys, p.T-from)); n > 0 {
			b.tilesOf(from, n)
		}
	}
	for _, r := range x.again {
		some := *b
		some.cut(r.lo, r.hi)
		some.groups()
	}
}

// tilesOf goes on with n keys from one on.
func (b *block) tilesOf(from, n int) {
	k, v, _ := b.panels(from, n)
	mask := []float32(nil)
	if m := &b.a.Mask; m.is() && m.Row == 0 {
		mask, _ = b.mask(0, 1, from, n)
	}
	left := (b.rows + b.p.tile - 1) / b.p.tile
	s := stack{block: b, from: from, n: n, mask: mask}
	for row := 0; row < b.rows; {
		s.row, s.tiles = row, 0
		for ; s.tiles < b.group/b.p.tile && left > 0; left-- {
			h := (b.rows - row + left - 1) / left
			s.heights[s.tiles] = h
			s.tiles++
			row += h
		}
		s.run(k, v)
	}
}

// mostStack is how many tiles there are at a time, at most.
const mostStack = 64

// A stack is some tiles of a block, whose weights are there at a time.
type stack struct {
	*block
	row, from, n int
	mask         []float32 // of all rows; nil: each has its own, or there is none
	values       uintptr
	tiles        int
	heights      [mostStack]int
}

// each calls f for every tile, with its first row in the block and in the stack.
func (s *stack) each(f func(s *stack, row, at, rows, n int)) {
	row := s.row
	for _, h := range s.heights[:s.tiles] {
		if n := s.seen(row+h, s.from, s.n); n > 0 {
			f(s, row, row-s.row, h, n)
		}
		row += h
	}
}

func (s *stack) run(k, v gemm.Panels) {
	x := s.x
	x.weighing = weightTile{row: 4 * s.ldQ, k: place(k.Data), deep: s.p.D, ldc: 4 * s.ld, mask: place(s.mask)}
	x.mixing = valueTile{row: 4 * s.ld, panel: 4 * v.Panel, ldc: 4 * s.ldOut, add: min(s.from, 1)}
	s.values = place(v.Data)
	s.each((*stack).weigh)
	s.each((*stack).mix)
}

// weigh computes the weights of a tile.
func (s *stack) weigh(row, at, rows, n int) {
	p, x := s.p, s.x
	t := &x.weighing
	t.q, t.c = place(s.q[row*s.ldQ:]), place(x.scores[at*s.ld:])
	t.n, t.seen, t.step = n, n, 0
	t.magic, t.sums = place(x.magic[row*magicRow:]), place(x.sums[row*sumRow:])
	if p.causal {
		t.seen, t.step = s.first+row+1-s.from, 1
	}
	if s.mask == nil && s.a.Mask.is() {
		mask, step := s.block.mask(row, rows, s.from, n)
		t.mask, t.maskRow = place(mask), 4*step
	}
	t.ahead, t.aheadRow = x.ahead.take(n/gemm.Width(p.level)*p.loops.asked, t.k)
	t.first = 0
	if s.from == 0 {
		t.first = 1
	}
	p.loops.weights[rows](t)
	if t.first != 0 {
		x.spoil(row, rows)
	}
}

// spoil marks rows without a base.
func (x *Scratch) spoil(row, rows int) {
	for i := range rows * magicRow {
		x.magic[row*magicRow+i] = nan
	}
	for i := range rows * sumRow {
		x.sums[row*sumRow+i] = nan
	}
}

var nan = float32(math.NaN())

// mix adds up the values of a tile, and divides by the sums in the end.
func (s *stack) mix(row, at, rows, n int) {
	p, x := s.p, s.x
	t := &x.mixing
	t.a, t.b, t.c, t.cols = place(x.scores[at*s.ld:]), s.values, place(s.out[row*s.ldOut:]), p.E
	t.keys, t.sums = n, 0
	if s.seen(row+rows, s.from, p.T-s.from) > n { // there are further keys
		p.loops.values[rows](t)
		return
	}
	factors := s.factors[row:][:rows]
	t.sums, t.factors = place(x.sums[row*sumRow:]), place(factors)
	p.loops.values[rows](t)
	for r, f := range factors {
		if !(f >= 1./mostSum) {
			x.note(row + r)
		}
	}
}

// A span is some rows of a block.
type span struct{ lo, hi int }

// note adds a row to those that are computed anew.
func (x *Scratch) note(row int) {
	if n := len(x.again); n > 0 && x.again[n-1].hi == row {
		x.again[n-1].hi++
		return
	}
	x.again = append(x.again, span{row, row + 1})
}
