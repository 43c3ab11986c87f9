package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A paired tile takes two rows at once: one load fills a register with their elements of a
// column in turns, and multiplies by B and by B with neighbours exchanged.
//
//	a         a0 a1 a0 a1 ...       sums of   a0b0 a1b1 a0b2 a1b3 ...
//	B         b0 b1 b2 b3 ...       and of    a0b1 a1b0 a0b3 a1b2 ...
//
// So six rows take three loads and two exchanges instead of six loads. One of the registers
// of B is not loaded at all but comes from memory: a step is 18 instructions for 12
// products, 8 of them with a load. Both count where something else runs on the other
// half of a processor's core. Seen so on a Zen 4 that was left half of its instructions, of
// operands in the first cache, as parts of what products in registers reached at the same
// time: 97 %. A load for each row (20 instructions, 8 loads) had 88 %, four rows by three
// registers (19 and 7) 92 %, six rows of which two are kept in memory as broadcasts (18 and
// 10) 84 %. The order matters as much: with the products that take B from memory last it was
// 79 %; with them behind the first exchange 96 %, but a core by itself did 98 instead of 100.
//
// Halves, which are widened on the way, gain nothing: that takes the units that exchange,
// and bf16 lost an eighth.
//
// Each sum adds the same products in the same order as in other tiles.

// pairs is how many pairs of rows the tile has; a last row may be left.
func (t *tile) pairs() int { return t.height / 2 }

// exchanged makes of a register one with neighbours exchanged.
const exchanged = 0xb1

// pairedStep is a step along k.
func (t *tile) pairedStep(step int) {
	a := make([]reg.VecVirtual, t.pairs(), t.pairs()+1)
	for i := range a {
		a[i] = t.alloc(t.Context)
		t.VBROADCASTSD(t.denseA(2*i, step), a[i])
	}
	if t.height%2 == 1 {
		last := t.alloc(t.Context)
		t.spread(t, t.denseA(t.height-1, step), last)
		a = append(a, last)
	}
	first, second := t.denseB(0, step), t.denseB(1, step)
	b := t.alloc(t.Context)
	t.VPERMILPS(Imm(exchanged), first, b)
	t.crossed(a, b, 0)
	b = t.alloc(t.Context)
	t.operands.load(t, second, b)
	t.straight(a, b, 1)
	t.VPERMILPS(Imm(exchanged), b, b)
	t.straight(a, first, 0)
	t.crossed(a, b, 1)
}

// denseB is a register of B.
func (t *tile) denseB(v, step int) Mem {
	return Mem{Base: t.b.p, Disp: step*t.line() + v*t.lineBytes()}
}

// straight adds the products by B as it is, in the first sums of each pair; and those of a
// last row.
func (t *tile) straight(a []reg.VecVirtual, b Op, v int) {
	for i, r := range a {
		t.VFMADD231PS(b, r, t.sums[2*i][v])
	}
}

// crossed adds those by B with neighbours exchanged, in the second sums.
func (t *tile) crossed(a []reg.VecVirtual, b Op, v int) {
	for i := range t.pairs() {
		t.VFMADD231PS(b, a[i], t.sums[2*i+1][v])
	}
}

// odd are the lanes that are taken from the second of two registers.
const odd = 0xaa

// pair makes sums of pairs of what are rows of C.
func (t *tile) pair() {
	t.eachPair(func(row, next reg.VecVirtual) {
		other := t.alloc(t.Context)
		t.VBLENDPS(Imm(odd), row, next, other)
		t.VBLENDPS(Imm(odd), next, row, row)
		t.VPERMILPS(Imm(exchanged), other, next)
	})
}

// unpair makes rows of C of sums of pairs.
func (t *tile) unpair() {
	t.eachPair(func(straight, crossed reg.VecVirtual) {
		other := t.alloc(t.Context)
		t.VPERMILPS(Imm(exchanged), crossed, other)
		t.VBLENDPS(Imm(odd), straight, other, crossed)
		t.VBLENDPS(Imm(odd), other, straight, straight)
	})
}

func (t *tile) eachPair(f func(first, second reg.VecVirtual)) {
	for i := range t.pairs() {
		for v := range t.width() {
			f(t.sums[2*i][v], t.sums[2*i+1][v])
		}
	}
}
