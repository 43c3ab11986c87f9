package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The predicates of VCMPPD, of which only the one that is not equal holds of NaN.
const (
	cmpEqual    = 0
	cmpLess     = 1
	cmpLessSame = 2
	cmpNaN      = 3
	cmpNotEqual = 4
)

// How VROUNDPD rounds, without a sign that it was not exact.
const (
	roundNearest = 8 + iota
	roundDown
	roundUp
	roundToZero
)

// loops are all functions.
var loops = []loop{
	{"addLongs", "a + b of integers", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VPADDQ(b, a, a) })},
	{"subLongs", "a - b of integers", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VPSUBQ(b, a, a) })},
	{"mulLongs", "a * b of integers", 8, 8, 2, fours(product)},
	{"andLongs", "a and b, bit by bit", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VPAND(b, a, a) })},
	{"orLongs", "a or b, bit by bit", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VPOR(b, a, a) })},
	{"xorLongs", "a or b, not both, bit by bit", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VPXOR(b, a, a) })},
	{"notLongs", "the opposite bits of a", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VPXOR(e.ones, a, a) })},
	{"negLongs", "-a of integers", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VPSUBQ(a, e.zero, a) })},
	{"absLongs", "|a| of integers", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) {
		below := e.below(a)
		e.VPXOR(below, a, a)
		e.VPSUBQ(below, a, a)
	})},
	{"reluLongs", "a or 0 of integers", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VPANDN(a, e.below(a), a) })},
	{"maxLongs", "the greater of a and b of integers", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) {
		more := e.YMM()
		e.VPCMPGTQ(a, b, more)
		e.VPBLENDVB(more, b, a, a)
	})},
	{"minLongs", "the smaller of a and b of integers", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) {
		more := e.YMM()
		e.VPCMPGTQ(b, a, more)
		e.VPBLENDVB(more, b, a, a)
	})},
	{"equalLongs", "1 where a is b, else 0", 8, 1, 2, tests(false, sameLongs)},
	{"unequalLongs", "0 where a is b, else 1", 8, 1, 2, tests(true, sameLongs)},
	{"lessLongs", "1 where a is less than b, of integers, else 0", 8, 1, 2, tests(false, func(e *eight, a, b, to reg.VecVirtual) { e.VPCMPGTQ(a, b, to) })},
	{"lessSameLongs", "1 where a is at most b, of integers, else 0", 8, 1, 2, tests(true, func(e *eight, a, b, to reg.VecVirtual) { e.VPCMPGTQ(b, a, to) })},
	{"truthLongs", "0 where a is 0, else 1", 8, 1, 1, tests(true, sameLongs)},
	{"whereLongs", "b where a byte of a is not 0, else c", 8, 8, 3, func(e *eight) {
		for half := range 2 {
			is, y := e.YMM(), e.load(2, half)
			e.VPMOVZXBQ(e.arg[0].Offset(4*half), is)
			e.VPCMPGTQ(e.zero, is, is)
			e.VPBLENDVB(is, e.arg[1].Offset(32*half), y, y)
			e.VMOVDQU(y, e.d.Offset(32*half))
		}
	}},

	{"addDoubles", "a + b of floats", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VADDPD(b, a, a) })},
	{"subDoubles", "a - b of floats", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VSUBPD(b, a, a) })},
	{"mulDoubles", "a * b of floats", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VMULPD(b, a, a) })},
	{"divDoubles", "a / b of floats", 8, 8, 2, fours(func(e *eight, a, b reg.VecVirtual) { e.VDIVPD(b, a, a) })},
	{"negDoubles", "-a of floats", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VPXOR(e.sign, a, a) })},
	{"absDoubles", "|a| of floats", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VPANDN(a, e.sign, a) })},
	{"sqrtDoubles", "the root of a", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VSQRTPD(a, a) })},
	{"rsqrtDoubles", "1 / the root of a", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) {
		e.VSQRTPD(a, a)
		e.VDIVPD(a, e.one(), a)
	})},
	{"reciprocalDoubles", "1 / a", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VDIVPD(a, e.one(), a) })},
	{"squareDoubles", "a * a of floats", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) { e.VMULPD(a, a, a) })},
	{"reluDoubles", "0 where a is below 0, else a, of floats", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) {
		below := e.YMM()
		e.VCMPPD(Imm(cmpLess), e.zero, a, below)
		e.VPANDN(a, below, a)
	})},
	{"signDoubles", "the sign of a as 1, -1 or 0, and NaN of NaN", 8, 8, 1, fours(func(e *eight, a, _ reg.VecVirtual) {
		above, below, nan, one := e.YMM(), e.YMM(), e.YMM(), e.one()
		e.VCMPPD(Imm(cmpLess), a, e.zero, above)
		e.VCMPPD(Imm(cmpLess), e.zero, a, below)
		e.VCMPPD(Imm(cmpNaN), a, a, nan)
		e.VPAND(nan, a, a)
		e.VPAND(one, above, above)
		e.VPOR(e.sign, one, one)
		e.VPAND(one, below, below)
		e.VPOR(above, a, a)
		e.VPOR(below, a, a)
	})},
	{"roundDoubles", "a rounded to the nearest integer, halves to even", 8, 8, 1, fours(rounded(roundNearest))},
	{"floorDoubles", "a rounded down", 8, 8, 1, fours(rounded(roundDown))},
	{"ceilDoubles", "a rounded up", 8, 8, 1, fours(rounded(roundUp))},
	{"truncDoubles", "a rounded toward 0", 8, 8, 1, fours(rounded(roundToZero))},
	{"equalDoubles", "1 where a is b, of floats, else 0", 8, 1, 2, tests(false, compared(cmpEqual))},
	{"unequalDoubles", "0 where a is b, of floats, else 1", 8, 1, 2, tests(false, compared(cmpNotEqual))},
	{"lessDoubles", "1 where a is less than b, of floats, else 0", 8, 1, 2, tests(false, compared(cmpLess))},
	{"lessSameDoubles", "1 where a is at most b, of floats, else 0", 8, 1, 2, tests(false, compared(cmpLessSame))},

	{"longsOfInts", "integers of eight bytes of those of four with a sign", 4, 8, 1, spread(func(e *eight, from Mem, to reg.VecVirtual) { e.VPMOVSXDQ(from, to) })},
	{"longsOfUints", "integers of eight bytes of those of four without a sign", 4, 8, 1, spread(func(e *eight, from Mem, to reg.VecVirtual) { e.VPMOVZXDQ(from, to) })},
	{"doublesOfInts", "floats of eight bytes of integers of four", 4, 8, 1, spread(func(e *eight, from Mem, to reg.VecVirtual) { e.VCVTDQ2PD(from, to) })},
	{"doublesOfFloats", "floats of eight bytes of those of four", 4, 8, 1, spread(func(e *eight, from Mem, to reg.VecVirtual) { e.VCVTPS2PD(from, to) })},
	{"intsOfLongs", "the lower four bytes of eight", 8, 4, 1, func(e *eight) {
		for half := range 2 {
			e.VMOVDQU(e.lower(e.load(0, half)).AsX(), e.d.Offset(16*half))
		}
	}},
	{"floatsOfDoubles", "floats of four bytes of those of eight", 8, 4, 1, func(e *eight) {
		for half := range 2 {
			x := e.XMM()
			e.VCVTPD2PSY(e.arg[0].Offset(32*half), x)
			e.VMOVDQU(x, e.d.Offset(16*half))
		}
	}},
}

// below is all ones where an integer is below 0.
func (e *eight) below(a reg.VecVirtual) reg.VecVirtual {
	y := e.YMM()
	e.VPCMPGTQ(a, e.zero, y)
	return y
}

// one is 1 as floats.
func (e *eight) one() reg.VecVirtual {
	y := e.YMM()
	e.VPSRLQ(Imm(54), e.ones, y) // ten bits
	e.VPSLLQ(Imm(52), y, y)
	return y
}

// product adds up what of the products of halves of four bytes has a place in eight.
func product(e *eight, a, b reg.VecVirtual) {
	high, other := e.YMM(), e.YMM()
	e.VPSRLQ(Imm(32), a, high)
	e.VPMULUDQ(b, high, high)
	e.VPSRLQ(Imm(32), b, other)
	e.VPMULUDQ(a, other, other)
	e.VPADDQ(other, high, high)
	e.VPSLLQ(Imm(32), high, high)
	e.VPMULUDQ(b, a, a)
	e.VPADDQ(high, a, a)
}

func sameLongs(e *eight, a, b, to reg.VecVirtual) { e.VPCMPEQQ(b, a, to) }

func rounded(how uint64) func(e *eight, a, _ reg.VecVirtual) {
	return func(e *eight, a, _ reg.VecVirtual) { e.VROUNDPD(Imm(how), a, a) }
}

func compared(how uint64) func(e *eight, a, b, to reg.VecVirtual) {
	return func(e *eight, a, b, to reg.VecVirtual) { e.VCMPPD(Imm(how), b, a, to) }
}

// spread makes elements of eight bytes of four.
func spread(f func(e *eight, from Mem, to reg.VecVirtual)) func(e *eight) {
	return func(e *eight) {
		for half := range 2 {
			y := e.YMM()
			f(e, e.arg[0].Offset(16*half), y)
			e.VMOVDQU(y, e.d.Offset(32*half))
		}
	}
}
