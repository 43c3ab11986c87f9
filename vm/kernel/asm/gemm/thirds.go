package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// Tiles of four rows by one panel and a half: twelve sums, as the largest tile of one
// panel has, and 7 loads for 12 products where that has 8. Tiles of five rows by one panel
// have ten sums, which hide the latency of a product no longer: a Zen 4 does 94 % of its
// peak in them, 98 % in these. So products whose rows are fours and not sixes go faster.
// Two such tiles share three panels: the halves of the middle one.
const (
	thirdRows  = 4
	thirdParts = 3 // registers of a row: two of a panel, one of the half
)

// The further fields of gemm.tile.
const ()

// thirds writes the function.
func thirds(c *Context) {
	t := &third{Context: c, v: avx2}
	name := fmt.Sprintf("thirds%d%s", thirdRows, avx2.name)
	c.Function(name)
	c.Pragma("noescape")
	c.Signature(gen.Pointer("gemm", "t", "tile"))
	c.Doc(fmt.Sprintf("%s computes tiles of %d by %d elements of C.", name, thirdRows, thirdParts*avx2.lanes()))
	t.arg = c.Load(c.Param("t"), c.GP64()).(reg.GPVirtual)
	t.write()
	c.VZEROUPPER()
	c.RET()
}

type third struct {
	*Context
	v    vectors
	arg  reg.GPVirtual
	sums [thirdRows][thirdParts]reg.VecVirtual
	a, c [thirdRows]Mem // rows
	side [thirdRows]Mem // of C, at the half's columns
}

func (t *third) field(offset int) reg.GPVirtual { return field(t.Context, t.arg, offset) }

// rows are those from a place on, at a distance and three times that.
func (t *third) rows(p, by, by3 reg.GPVirtual) [thirdRows]Mem {
	return [thirdRows]Mem{{Base: p}, {Base: p, Index: by, Scale: 1}, {Base: p, Index: by, Scale: 2}, {Base: p, Index: by3, Scale: 1}}
}

// distance loads one, and makes three times that.
func (t *third) distance(offset int) (by, by3 reg.GPVirtual) {
	by, by3 = t.field(offset), t.GP64()
	t.LEAQ(Mem{Base: by, Index: by, Scale: 2}, by3)
	return by, by3
}

// part is where a register of a row lies in C.
func (t *third) part(row, v int) Mem {
	if v == 2 {
		return t.side[row]
	}
	return t.c[row].Offset(v * t.v.bytes)
}

func (t *third) each(f func(i, v int)) {
	for i := range thirdRows {
		for v := range thirdParts {
			f(i, v)
		}
	}
}

func (t *third) write() {
	a, c, next := t.field(fieldA), t.field(fieldC), t.field(fieldNext)
	row, row3 := t.distance(fieldRow)
	ldc, ldc3 := t.distance(fieldLdc)
	side := t.field(fieldSide)
	t.ADDQ(c, side)
	t.a, t.c, t.side = t.rows(a, row, row3), t.rows(c, ldc, ldc3), t.rows(side, ldc, ldc3)
	for i := range t.sums {
		for v := range t.sums[i] {
			t.sums[i][v] = t.YMM()
		}
	}
	t.Label("tile")
	t.begin()
	t.products(a, next)
	t.bias()
	t.each(func(i, v int) { t.VMOVUPS(t.sums[i][v], t.part(i, v)) })
	t.ADDQ(Mem{Base: t.arg, Disp: fieldDown}, a)
	for _, p := range []reg.GPVirtual{c, side} {
		t.LEAQ(Mem{Base: p, Index: ldc, Scale: thirdRows}, p)
	}
	t.DECQ(Mem{Base: t.arg, Disp: fieldCount})
	t.JNE(LabelRef("tile"))
	t.MOVQ(next, Mem{Base: t.arg, Disp: fieldNext})
}

// begin sets the sums to zero or to C.
func (t *third) begin() {
	t.CMPQ(Mem{Base: t.arg, Disp: fieldAdd}, Imm(0))
	t.JNE(LabelRef("fromC"))
	for i := range thirdRows {
		t.PREFETCHT0(t.c[i])
		t.PREFETCHT0(t.side[i])
	}
	t.each(func(i, v int) { t.v.clear(t.Context, t.sums[i][v]) })
	t.JMP(LabelRef("multiply"))
	t.Label("fromC")
	t.each(func(i, v int) { t.VMOVUPS(t.part(i, v), t.sums[i][v]) })
	t.Label("multiply")
}

// products adds the products; a is left behind the tile's first row.
func (t *third) products(a, next reg.GPVirtual) {
	b, half, k, hop := t.field(fieldB), t.field(fieldHalf), t.field(fieldK), t.field(fieldHop)
	start := t.GP64()
	t.MOVQ(a, start)
	t.SUBQ(Imm(eight), k)
	t.JLT(LabelRef("rest"))
	t.Label("eight")
	for i := range eight {
		if i%(eight/2) == 0 {
			t.PREFETCHT1(Mem{Base: next})
			t.ADDQ(hop, next)
		}
		t.step(i, b, half)
	}
	t.advance(eight, a, b, half)
	t.SUBQ(Imm(eight), k)
	t.JGE(LabelRef("eight"))
	t.Label("rest")
	t.ADDQ(Imm(eight), k)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.step(0, b, half)
	t.advance(1, a, b, half)
	t.DECQ(k)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
	t.MOVQ(start, a)
}

// advance goes on by some steps along k.
func (t *third) advance(steps int, a, b, half reg.GPVirtual) {
	t.ADDQ(U32(uint32(4*steps)), a)
	for _, p := range []reg.GPVirtual{b, half} {
		t.ADDQ(U32(uint32(2*t.v.bytes*steps)), p)
	}
}

// step is the step along k that lies so many behind.
func (t *third) step(step int, b, half reg.GPVirtual) {
	at := 2 * t.v.bytes * step
	var r [thirdParts]reg.VecVirtual
	for v, m := range [thirdParts]Mem{{Base: b, Disp: at}, {Base: b, Disp: at + t.v.bytes}, {Base: half, Disp: at}} {
		r[v] = t.YMM()
		t.VMOVUPS(m, r[v])
	}
	for i := range thirdRows {
		a := t.YMM()
		t.VBROADCASTSS(t.a[i].Offset(4*step), a)
		for v := range r {
			t.VFMADD231PS(r[v], a, t.sums[i][v])
		}
	}
}

// bias adds the bias to the sums, if there is one.
func (t *third) bias() {
	bias := t.field(fieldBias)
	t.TESTQ(bias, bias)
	t.JEQ(LabelRef("store"))
	side := t.field(fieldSide)
	for v, m := range [thirdParts]Mem{{Base: bias}, {Base: bias, Disp: t.v.bytes}, {Base: bias, Index: side, Scale: 1}} {
		r := t.YMM()
		t.VMOVUPS(m, r)
		for i := range thirdRows {
			t.VADDPS(r, t.sums[i][v], t.sums[i][v])
		}
	}
	t.Label("store")
}
