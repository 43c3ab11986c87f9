package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// With AVX-512 a product can take its float of A from memory and spread it to all lanes by
// itself. A row of two registers so takes two instructions instead of three, and two loads
// instead of one. Dense tiles do so in two of three rows: a step along k of twelve rows is 30
// instructions, 22 of them with a load, for 24 products. Where two loads of 64 bytes begin in
// a cycle and two products, as on Intel's servers, 26 loads in all rows would be more than the
// products' 12 cycles have room for.
//
// Seen so on an Emerald Rapids whose cores have a busy neighbour on their other half most of
// the time, as parts of what products in registers reached at the same time, of operands in
// the first cache: a load for each row 75 to 77 %, three of twelve rows without 80, six 83,
// eight 85 to 87, nine 85, all 82 to 83; fourteen rows gave no more. A core by itself does 95
// to 97 % in all of them. On AMD's Zen 4, where a step takes 24 cycles, nobody has measured it:
// a macro-op there holds an operation and a load (AMD's optimization guides), so that such a
// product should be one as well.
//
// The place must be a register and a number: with an index the processor takes such an
// instruction apart again, and two of three rows gave 68 % where none gave 82. So rows that
// lie anywhere have a pointer each, but for every third, whose load may have an index.

// spreadsItself reports whether the products of a row take A from memory.
func (t *tile) spreadsItself(row int) bool { return t.embeds() && row%3 != 2 }

// embeds reports whether there is an instruction for that.
func (t *tile) embeds() bool { return t.masks && t.meet != nil }

// A left is where a dense tile has A: the first elements of its rows, and the registers that
// go on along k.
type left struct {
	rows  []Mem
	bases []reg.GPVirtual
}

// findLeft loads them.
func (t *tile) findLeft() {
	switch {
	case t.dense.tiled:
		t.left = left{bases: []reg.GPVirtual{t.field(fieldA)}}
		for i := range t.height {
			t.left.rows = append(t.left.rows, Mem{Base: t.left.bases[0], Disp: 4 * i})
		}
	case t.embeds():
		t.left = t.pointers()
	default:
		r := t.rowsAt(fieldA, fieldRow, t.height)
		t.left = left{bases: []reg.GPVirtual{r.p}}
		if r.p7 != nil {
			t.left.bases = append(t.left.bases, r.p7)
		}
		for i := range t.height {
			t.left.rows = append(t.left.rows, r.row(i))
		}
	}
}

// pointers has one for each row that must not have an index.
func (t *tile) pointers() (l left) {
	p, by := t.field(fieldA), t.field(fieldRow)
	for i := range t.height {
		if !t.spreadsItself(i) {
			l.rows = append(l.rows, Mem{Base: p, Index: by, Scale: 1})
			continue
		}
		if i > 0 {
			last, rows := p, 1
			if !t.spreadsItself(i - 1) { // which has no pointer
				rows = 2
			}
			p = t.GP64()
			t.LEAQ(Mem{Base: last, Index: by, Scale: uint8(rows)}, p)
		}
		l.bases = append(l.bases, p)
		l.rows = append(l.rows, Mem{Base: p})
	}
	return l
}

// leftAdvance goes on by some bytes.
func (t *tile) leftAdvance(bytes int) {
	for _, p := range t.left.bases {
		t.ADDQ(U32(uint32(bytes)), p)
	}
}
