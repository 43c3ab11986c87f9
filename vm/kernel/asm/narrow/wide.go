package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A wide is a register of 64 bytes, or of 32 for the last eight elements, and where its
// elements are in the arrays.
type wide struct {
	*loop
	lanes, first int
}

func (w *wide) register() reg.VecVirtual {
	if w.lanes == 8 {
		return w.YMM()
	}
	return w.ZMM()
}

// place is where the register's elements of an array are.
func (w *wide) place(array string) Mem { return w.at[array].Offset(w.first * w.size[array]) }

// constant is one of those of the loop, in as many lanes.
func (w *wide) constant(z reg.VecVirtual) reg.Register {
	if w.lanes == 8 {
		return z.AsY()
	}
	return z
}

// writeWide emits a function for AVX-512: thirty-two elements a round, then eight.
func writeWide(c *Context, name, signature, doc string, arrays map[string]int, first func(*loop), each func(*wide)) {
	l := begin(c, name, signature, doc, arrays, []string{"dst", "src"})
	if first != nil {
		first(l)
	}
	l.rounds("thirtytwo", 4, func() {
		each(&wide{l, 16, 0})
		each(&wide{l, 16, 16})
	})
	l.rounds("eight", 1, func() { each(&wide{l, 8, 0}) })
	l.end()
}

// wideHalves writes the loops of halves for AVX-512.
func wideHalves(c *Context) {
	widening := map[string]int{"dst": 4, "src": 2}
	narrowing := map[string]int{"dst": 2, "src": 4}
	doc := func(name, what string) string { return fmt.Sprintf("%s %s, a multiple of eight.", name, what) }
	writeWide(c, "fromBF16AVX512", "func(dst *float32, src *uint16, n int)", doc("fromBF16AVX512", "widens n bf16"),
		widening, nil, func(w *wide) {
			r := w.register()
			w.VPMOVZXWD(w.place("src"), r)
			w.VPSLLD(Imm(16), r, r)
			w.VMOVDQU32(r, w.place("dst"))
		})
	writeWide(c, "fromF16AVX512", "func(dst *float32, src *uint16, n int)", doc("fromF16AVX512", "widens n f16"),
		widening, nil, func(w *wide) {
			r := w.register()
			w.VCVTPH2PS(w.place("src"), r)
			w.VMOVUPS(r, w.place("dst"))
		})
	writeWide(c, "toF16AVX512", "func(dst *uint16, src *float32, n int)", doc("toF16AVX512", "rounds n floats to f16"),
		narrowing, nil, func(w *wide) {
			r := w.register()
			w.VMOVUPS(w.place("src"), r)
			w.VCVTPS2PH(Imm(0), r, w.place("dst"))
		})
	var r wideRounder
	writeWide(c, "toBF16AVX512", "func(dst *uint16, src *float32, n int)", doc("toBF16AVX512", "rounds n floats to bf16"),
		narrowing, func(l *loop) { r = newWideRounder(l) }, func(w *wide) {
			y := r.round(w)
			w.VPSRLD(Imm(16), y, y)
			w.VPMOVDW(y, w.place("dst"))
		})
	writeWide(c, "roundBF16AVX512", "func(dst, src *float32, n int)", doc("roundBF16AVX512", "rounds n floats to floats that are bf16"),
		map[string]int{"dst": 4, "src": 4}, func(l *loop) { r = newWideRounder(l) }, func(w *wide) {
			y := r.round(w)
			w.VPANDD(w.constant(r.upper), y, y)
			w.VMOVDQU32(y, w.place("dst"))
		})
}

// A wideRounder is a rounder of 64 bytes. VCVTNEPS2BF16 would be none: it makes zero of
// subnormal numbers.
type wideRounder struct{ one, half, quiet, upper reg.VecVirtual }

func newWideRounder(l *loop) wideRounder {
	c := l.Context
	return wideRounder{wideConstant(c, 1), wideConstant(c, 0x7fff), wideConstant(c, 0x400000), wideConstant(c, 0xffff0000)}
}

// round is that of a rounder.
func (r wideRounder) round(w *wide) reg.VecVirtual {
	x, y, nan := w.register(), w.register(), w.K()
	w.VMOVUPS(w.place("src"), x)
	w.VPSRLD(Imm(16), x, y)
	w.VPANDD(w.constant(r.one), y, y)
	w.VPADDD(w.constant(r.half), y, y)
	w.VPADDD(x, y, y)
	w.VCMPPS(Imm(3), x, x, nan) // 3: unordered
	w.VPORD(w.constant(r.quiet), x, nan, y)
	return y
}
