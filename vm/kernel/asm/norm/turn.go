package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// turns writes the transpose of a block, by tiles of eight by eight. AVX-512 would
// move no more bytes in a cycle.
func turns(c *build.Context) {
	l := lanes.Both(c)[0]
	l.Func("turn", "func(dst []float32, dstStep int, src []float32, srcStep, rows, cols int)", "writes column j of src, whose rows lie srcStep apart, to row j of dst.")
	dst, src := l.Base("dst"), l.Base("src")
	dstStep, srcStep := l.Arg("dstStep"), l.Arg("srcStep")
	l.SHLQ(U8(2), dstStep)
	l.SHLQ(U8(2), srcStep)
	rows := l.Arg("rows")

	l.Label("rows8")
	l.CMPQ(rows, U8(0))
	l.JLE(LabelRef("done"))
	cols, from, to := l.Arg("cols"), l.GP64(), l.GP64()
	l.MOVQ(src, from)
	l.MOVQ(dst, to)
	l.Label("cols8")
	l.CMPQ(cols, U8(0))
	l.JLE(LabelRef("next"))
	turn8(l, from, srcStep, rows, to, dstStep, cols)
	l.ADDQ(U8(32), from)
	eight := l.GP64()
	l.LEAQ(Mem{Base: to, Index: dstStep, Scale: 8}, eight)
	l.MOVQ(eight, to)
	l.SUBQ(U8(8), cols)
	l.JMP(LabelRef("cols8"))

	l.Label("next")
	l.ADDQ(U8(32), dst)
	l.LEAQ(Mem{Base: src, Index: srcStep, Scale: 8}, eight)
	l.MOVQ(eight, src)
	l.SUBQ(U8(8), rows)
	l.JMP(LabelRef("rows8"))
	l.Label("done")
	l.End()
}

// turn8 does one tile, of which rows and cols may be less than eight.
func turn8(l *lanes.Level, from, srcStep, rows, to, dstStep, cols reg.GPVirtual) {
	v := l.Vecs(8)
	p := l.GP64()
	l.MOVQ(from, p)
	l.CMPQ(cols, U8(8))
	l.JLT(LabelRef("narrow"))
	l.CMPQ(rows, U8(8))
	l.JLT(LabelRef("narrow"))
	for i := range v {
		l.VMOVUPS(Mem{Base: p}, v[i])
		if i < 7 {
			l.ADDQ(srcStep, p)
		}
	}
	l.JMP(LabelRef("loaded"))

	l.Label("narrow")
	some, eight := l.GP64(), l.GP64()
	l.MOVQ(U32(8), eight)
	l.MOVQ(cols, some)
	l.CMPQ(some, eight)
	l.CMOVQGT(eight, some)
	m := l.Masks(some, 1, false)[0]
	for i := range v {
		if i > 0 {
			l.CMPQ(rows, U8(i))
			l.JLE(LabelRef("loaded"))
		}
		l.LoadMasked(m, Mem{Base: p}, nil, v[i])
		if i < 7 {
			l.ADDQ(srcStep, p)
		}
	}

	l.Label("loaded")
	t := transposed(l, v)
	l.MOVQ(to, p)
	l.CMPQ(rows, U8(8))
	l.JLT(LabelRef("short"))
	storeRows(l, t, p, dstStep, cols, func(v reg.VecVirtual) { l.VMOVUPS(v, Mem{Base: p}) })
	l.JMP(LabelRef("stored"))
	l.Label("short")
	m = l.Masks(rows, 1, false)[0]
	storeRows(l, t, p, dstStep, cols, func(v reg.VecVirtual) { l.StoreMasked(m, v, Mem{Base: p}) })
	l.Label("stored")
}

func storeRows(l *lanes.Level, t []reg.VecVirtual, p, step, cols reg.GPVirtual, store func(reg.VecVirtual)) {
	for i, v := range t {
		if i > 0 {
			l.ADDQ(step, p)
			l.CMPQ(cols, U8(i))
			l.JLE(LabelRef("stored"))
		}
		store(v)
	}
}

// transposed turns eight vectors of eight floats: pairs, fours, halves.
func transposed(l *lanes.Level, v []reg.VecVirtual) []reg.VecVirtual {
	pairs := l.Vecs(8)
	for i := 0; i < 8; i += 2 {
		l.VUNPCKLPS(v[i+1], v[i], pairs[i])
		l.VUNPCKHPS(v[i+1], v[i], pairs[i+1])
	}
	fours := l.Vecs(8)
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			l.VUNPCKLPD(pairs[i+j+2], pairs[i+j], fours[i+2*j])
			l.VUNPCKHPD(pairs[i+j+2], pairs[i+j], fours[i+2*j+1])
		}
	}
	for i := range 4 {
		low, high := v[i], v[i+4]
		l.VPERM2F128(U8(0x20), fours[i+4], fours[i], low)
		l.VPERM2F128(U8(0x31), fours[i+4], fours[i], high)
	}
	return v
}
