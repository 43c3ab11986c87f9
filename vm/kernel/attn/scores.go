package attn

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A scoreTile is the argument of a kernel that computes the scores of some queries and
// all keys of a block, panel by panel, and raises the queries' tops. Distances are in
// bytes. The generator of the kernels knows the offsets of the fields.
//
// Places are numbers, not pointers; the block keeps the memory alive.
type scoreTile struct {
	q    uintptr
	row  int // from one query to the next
	k    uintptr
	c    uintptr
	ldc  int     // from one row of scores to the next
	n    int     // keys
	deep int     // floats of a query
	mask uintptr // what is added to every row; 0: nothing
	top  uintptr // the largest score of each row
	best uintptr // the same on the way, a line of the cache each
}

// mostTile is how many rows tiles have at most, over all levels.
const mostTile = 12

func place(s []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// scores computes the group's scores, adds the mask to every row, if it is not nil, and
// raises the tops.
func (g *group) scores(keys gemm.Panels, mask, top []float32) {
	p, x := g.p, g.x
	q := g.q[g.row*g.ldQ:]
	if p.loops.scores[1] == nil {
		x.block = gemm.Block{
			M: g.rows, N: g.n, K: p.D, C: x.scores, Ldc: g.ld, Bias: mask,
			A: gemm.Matrix{Data: q, Row: g.ldQ, Col: 1}, B: keys,
		}
		x.products.Run(p.level, &x.block)
		p.loops.tops(&x.scores[0], g.ld, g.rows, g.n, g.n, 0, &top[0])
		return
	}
	t := &x.tile
	t.row, t.ldc, t.deep, t.best = 4*g.ldQ, 4*g.ld, p.D, place(grown(&x.best, mostTile*16))
	tiles := (g.rows + p.tile - 1) / p.tile
	for at := 0; tiles > 0; tiles-- {
		height := (g.rows - at + tiles - 1) / tiles
		t.q, t.k, t.c, t.n = place(q[at*g.ldQ:]), place(keys.Data), place(x.scores[at*g.ld:]), g.n
		t.mask, t.top = place(mask), place(top[at:])
		p.loops.scores[height](t)
		at += height
	}
}

// lone computes the group's scores query by query, of keys where they lie. Where there are
// fewer than it takes at a time, it takes further ones, before them at the end of all.
func (g *group) lone() {
	p, k := g.p, &g.a.K
	n := max(g.n, loneKeys)
	from := min(g.from, p.T-n)
	keys := &k.Data[k.at(g.batch, g.head/(p.Heads/p.Groups), from)]
	for r := range g.rows {
		row := g.x.scores[r*g.ld:][:g.ld]
		p.loops.lone(&row[0], &g.q[(g.row+r)*g.ldQ], keys, k.Row, n, p.D)
		if from < g.from {
			copy(row, row[g.from-from:n])
		}
	}
}
