package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// With AVX-512 the rows of a high tile are turned at once. Loads bring four columns of rows i, i+4
// and i+8 to quarters of a register, so that one round of exchanges within quarters ends with
// a column of all rows in one piece:
//
//	a0 a1 a2 a3 | e0 e1 e2 e3 | i0 ..      a0 b0 c0 d0 | e0 f0 g0 h0 | i0 ..
//	b0 b1 b2 b3 | f0 f1 f2 f3 | j0 ..  =>  a1 b1 c1 d1 | e1 f1 g1 h1 | i1 ..
//	c0 ..                                  a2 ..
//	d0 ..                                  a3 ..
//
// Twelve rows so take 16 exchanges for eight columns, where eight rows and then four, with
// AVX2, take 36. Seen on an Emerald Rapids: twelve rows 6.3 floats a nanosecond instead of
// 4.6, eleven 5.0 instead of 4.1. Most of the time goes into lines of 48 bytes, of which every
// other one lies in two lines of the cache. Eight rows and fewer are better off with AVX2.
const (
	leastWideTurn = 9
	mostWideTurn  = 12
	quarter       = 4 // floats
)

// wideTurns writes the functions that transpose so many rows.
func wideTurns(c *Context) {
	for rows := leastWideTurn; rows <= mostWideTurn; rows++ {
		wideTurn(c, rows)
	}
}

func wideTurn(c *Context, rows int) {
	name := fmt.Sprintf("turn%dAVX512", rows)
	turnHead(c, name, rows)
	arg := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, line, row, n := arg("dst"), arg("src"), arg("line"), arg("row"), arg("blocks")
	from, to := gen.Eight(c, src, row), gen.Eight(c, dst, line)
	last := c.GP64() // the rows from eight on
	c.LEAQ(Mem{Base: src, Index: row, Scale: 8}, last)
	at := func(i int) Mem {
		if i < 8 {
			return from.At(i)
		}
		return gen.Strided{P: last, By: from.By, By3: from.By3}.At(i - 8)
	}
	second, third, all := lanesMask(c, 0xf0), lanesMask(c, 0xf00), lanesMask(c, 1<<rows-1)
	c.Label("block")
	c.DECQ(n)
	c.JLT(LabelRef("done"))
	for i := range rows {
		c.PREFETCHT0(at(i).Offset(turnAhead))
	}
	for half := range 2 {
		var r [quarter]reg.VecVirtual
		for i := range r {
			r[i] = c.ZMM()
			four := func(j int) Mem { return at(i + j).Offset(4 * quarter * half) }
			c.VBROADCASTF32X4(four(0), r[i])
			c.VBROADCASTF32X4(four(quarter), second, r[i])
			if i+2*quarter < rows {
				c.VBROADCASTF32X4(four(2*quarter), third, r[i])
			}
		}
		for i, x := range gen.Quarters(c, r) {
			c.VMOVUPS(x, all, to.At(quarter*half+i))
		}
	}
	for _, p := range []reg.GPVirtual{from.P, last} {
		c.ADDQ(Imm(32), p)
	}
	c.LEAQ(Mem{Base: to.P, Index: line, Scale: 8}, to.P)
	from.Far(c)
	to.Far(c)
	c.JMP(LabelRef("block"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// lanesMask is a mask of lanes.
func lanesMask(c *Context, lanes uint32) reg.OpmaskVirtual {
	bits, k := c.GP32(), c.K()
	c.MOVL(U32(lanes), bits)
	c.KMOVW(bits, k)
	return k
}
