package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is what the levels differ in.
type vectors struct {
	name      string
	bytes     int // of a register
	registers int // that there are
	alloc     func(*Context) reg.VecVirtual
	clear     func(c *Context, r reg.VecVirtual)
}

var (
	avx2 = vectors{
		name: "AVX2", bytes: 32, registers: 16,
		alloc: func(c *Context) reg.VecVirtual { return c.YMM() },
		clear: func(c *Context, r reg.VecVirtual) { c.VXORPS(r, r, r) },
	}
	avx512 = vectors{
		name: "AVX512", bytes: 64, registers: 32,
		alloc: func(c *Context) reg.VecVirtual { return c.ZMM() },
		clear: func(c *Context, r reg.VecVirtual) { c.VPXORD(r, r, r) },
	}
)

// numbers is what the kinds of elements differ in.
type numbers struct {
	name string
	size int // bytes of an element
	// sums is how many registers hold the sums of a vector of C: the second has what is
	// added to the upper halves of the first in the end, see halvedLongs.
	sums int
	// spread fills a register with an element of A.
	spread func(t *tile, a Mem, r reg.VecVirtual)
	// add adds the products of a, an element of A in all lanes, and b to the sums.
	add func(t *tile, a, b reg.VecVirtual, sums []reg.VecVirtual)
	// meet does so with A in memory; nil: there is no instruction for it. It is for AVX-512.
	meet func(t *tile, a Mem, b reg.VecVirtual, sums []reg.VecVirtual)
	// turn makes what add wants as well of a vector of B; nil: nothing.
	turn func(t *tile, b, to reg.VecVirtual)
	// join makes one of several sums in the end.
	join func(t *tile, sums []reg.VecVirtual)
}

// rows is how many rows the largest tile has: as many as the sums of two vectors of columns
// leave room for, beside a row of B, an element of A and a product.
func (n numbers) rows(v vectors) int { return (v.registers - 4) / (2 * n.sums) / 3 * 3 }

var floats = numbers{
	name: "F64", size: 8, sums: 1,
	spread: func(t *tile, a Mem, r reg.VecVirtual) { t.VBROADCASTSD(a, r) },
	add:    func(t *tile, a, b reg.VecVirtual, s []reg.VecVirtual) { t.VFMADD231PD(b, a, s[0]) },
	meet:   func(t *tile, a Mem, b reg.VecVirtual, s []reg.VecVirtual) { t.VFMADD231PD_BCST(a, b, s[0]) },
}

var ints = numbers{
	name: "I32", size: 4, sums: 1,
	spread: func(t *tile, a Mem, r reg.VecVirtual) { t.VPBROADCASTD(a, r) },
	add: func(t *tile, a, b reg.VecVirtual, s []reg.VecVirtual) {
		p := t.alloc(t.Context)
		t.VPMULLD(b, a, p)
		t.VPADDD(p, s[0], s[0])
	},
}

// longs are multiplied by one instruction of AVX-512.
var longs = numbers{
	name: "I64", size: 8, sums: 1,
	spread: func(t *tile, a Mem, r reg.VecVirtual) { t.VPBROADCASTQ(a, r) },
	add: func(t *tile, a, b reg.VecVirtual, s []reg.VecVirtual) {
		p := t.alloc(t.Context)
		t.VPMULLQ(b, a, p)
		t.VPADDQ(p, s[0], s[0])
	},
}

// halvedLongs are multiplied by halves, of which AVX2 has products:
//
//	a b = low(a) low(b) + 2^32 (low(a) high(b) + high(a) low(b))    modulo 2^64
//
// VPMULLD gives both products in the brackets, of which 32 bits count, if the halves of b
// have changed places. They are added up by themselves until the end.
var halvedLongs = numbers{
	name: "I64", size: 8, sums: 2,
	spread: func(t *tile, a Mem, r reg.VecVirtual) { t.VPBROADCASTQ(a, r) },
	turn:   func(t *tile, b, to reg.VecVirtual) { t.VPSHUFD(Imm(0xb1), b, to) },
	add: func(t *tile, a, b reg.VecVirtual, s []reg.VecVirtual) {
		p := t.alloc(t.Context)
		t.VPMULUDQ(b, a, p)
		t.VPADDQ(p, s[0], s[0])
		t.VPMULLD(t.turned, a, p)
		t.VPADDD(p, s[1], s[1])
	},
	join: func(t *tile, s []reg.VecVirtual) {
		p := t.alloc(t.Context)
		t.VPSRLQ(Imm(32), s[1], p)
		t.VPADDD(p, s[1], s[1])
		t.VPSLLQ(Imm(32), s[1], s[1])
		t.VPADDQ(s[1], s[0], s[0])
	},
}
