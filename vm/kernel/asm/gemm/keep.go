package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A keeping tile is the first of some that lie below each other and share a panel of halves.
// What it makes floats of on the way to registers it writes to memory too, so that the tiles
// below it are those of floats. A panel is widened once so, beside products: that takes the
// units that multiply half as long as a row of A, where a loop of its own took as long as
// five rows, most of it to write and to read again.

// keepingTiles lists the heights of such tiles: those of the first of several in a block.
func keepingTiles(v vectors, o operands, write func(rows int)) {
	if !o.keeps {
		return
	}
	for rows := leastDense(v); rows <= v.rows; rows++ {
		write(rows)
	}
}

// keepingProducts is products for a keeping tile. By itself it asks for the whole panel that
// follows, line by line.
func (t *tile) keepingProducts() {
	t.a = t.rowsAt(fieldA, fieldRow, t.height)
	t.b = rowsAt{p: t.field(fieldB)}
	t.keep = t.field(fieldKeep)
	t.step = t.field(fieldStep)
	line := t.GP64()
	t.MOVQ(U32(uint32(2*t.lineBytes())), line)
	t.along(line, func() func() {
		next := t.field(fieldNext)
		t.SUBQ(t.b.p, next)
		return func() {
			for at := 0; at < unroll*2*t.lineBytes(); at += 64 {
				t.PREFETCHT1(Mem{Base: next, Index: t.b.p, Scale: 1, Disp: at})
			}
		}
	})
}

// keepRow writes a row of the panel, if the tile is a keeping one.
func (t *tile) keepRow(row []reg.VecVirtual) {
	if !t.keeping {
		return
	}
	for v, r := range row {
		t.VMOVUPS(r, Mem{Base: t.keep, Disp: v * t.bytes})
	}
	t.ADDQ(U32(uint32(len(row)*t.bytes)), t.keep)
}
