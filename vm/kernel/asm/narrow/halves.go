package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func halves(c *Context) {
	order := []string{"dst", "src"}
	widening := map[string]int{"dst": 4, "src": 2}
	narrowing := map[string]int{"dst": 2, "src": 4}
	write(c, "fromBF16AVX2", "func(dst *float32, src *uint16, n int)",
		"fromBF16AVX2 widens n bf16, a multiple of eight.", widening, order, nil,
		func(l *loop) {
			y := c.YMM()
			c.VPMOVZXWD(l.at["src"], y)
			c.VPSLLD(Imm(16), y, y)
			c.VMOVDQU(y, l.at["dst"])
		}, nil)
	write(c, "fromF16AVX2", "func(dst *float32, src *uint16, n int)",
		"fromF16AVX2 widens n f16, a multiple of eight.", widening, order, nil,
		func(l *loop) {
			y := c.YMM()
			c.VCVTPH2PS(l.at["src"], y)
			c.VMOVUPS(y, l.at["dst"])
		}, nil)
	write(c, "toF16AVX2", "func(dst *uint16, src *float32, n int)",
		"toF16AVX2 rounds n floats, a multiple of eight, to f16.", narrowing, order, nil,
		func(l *loop) { c.VCVTPS2PH(Imm(0), l.load("src"), l.at["dst"]) }, nil)
	var r rounder
	write(c, "toBF16AVX2", "func(dst *uint16, src *float32, n int)",
		"toBF16AVX2 rounds n floats, a multiple of eight, to bf16.", narrowing, order,
		func(l *loop) { r = newRounder(l) },
		func(l *loop) {
			y, high, x := r.round(l, l.load("src")), c.XMM(), c.XMM()
			c.VPSRLD(Imm(16), y, y)
			c.VEXTRACTI128(Imm(1), y, high)
			c.VPACKUSDW(high, y.AsX(), x)
			c.VMOVDQU(x, l.at["dst"])
		}, nil)
	write(c, "roundBF16AVX2", "func(dst, src *float32, n int)",
		"roundBF16AVX2 rounds n floats, a multiple of eight, to floats that are bf16.",
		map[string]int{"dst": 4, "src": 4}, order,
		func(l *loop) { r = newRounder(l) },
		func(l *loop) {
			y := r.round(l, l.load("src"))
			c.VPAND(r.upper, y, y)
			c.VMOVDQU(y, l.at["dst"])
		}, nil)
}

// A rounder holds the constants that rounding to bf16 needs.
type rounder struct{ one, half, quiet, upper reg.VecVirtual }

func newRounder(l *loop) rounder {
	return rounder{l.constant(1), l.constant(0x7fff), l.constant(0x400000), l.constant(0xffff0000)}
}

// round makes the upper halves of floats the nearest bf16, ties to even; a NaN keeps
// its upper half, and becomes quiet.
func (r rounder) round(l *loop, x reg.VecVirtual) reg.VecVirtual {
	y, quiet, nan := l.YMM(), l.YMM(), l.YMM()
	l.VPSRLD(Imm(16), x, y)
	l.VPAND(r.one, y, y)
	l.VPADDD(r.half, y, y)
	l.VPADDD(x, y, y)
	l.VPOR(r.quiet, x, quiet)
	l.VCMPPS(Imm(3), x, x, nan) // 3: unordered
	l.VBLENDVPS(nan, quiet, y, y)
	return y
}
