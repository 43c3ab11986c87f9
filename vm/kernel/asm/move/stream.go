package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streams writes the functions that copy lines around the caches, and what waits for them.
func streams(c *Context) {
	streamRows(c, "streamAVX2", 32, c.YMM)
	streamRows(c, "streamAVX512", 64, c.ZMM)

	c.Function("fence")
	c.Pragma("noescape")
	c.SignatureExpr("func()")
	c.Doc("fence waits until what was streamed is written.")
	c.SFENCE()
	c.RET()
}

// streamRows writes the function of registers of some bytes.
func streamRows(c *Context, name string, bytes int, alloc func() reg.VecVirtual) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(d, s *byte, toRow, fromRow uintptr, lines, n int)")
	c.Doc(name+" copies n rows of some lines of 64 bytes, which lie toRow and fromRow bytes apart, around", "the caches. d and toRow are multiples of 64.")
	d, s := c.Load(c.Param("d"), c.GP64()), c.Load(c.Param("s"), c.GP64())
	to, from := c.Load(c.Param("toRow"), c.GP64()), c.Load(c.Param("fromRow"), c.GP64())
	lines, n := c.Load(c.Param("lines"), c.GP64()), c.Load(c.Param("n"), c.GP64())
	left, at := c.GP64(), c.GP64()
	c.Label("row")
	c.MOVQ(lines, left)
	c.XORQ(at, at)
	c.Label("line")
	var list []reg.VecVirtual
	for i := 0; i < 64; i += bytes {
		r := alloc()
		if bytes == 64 {
			c.VMOVDQU64(Mem{Base: s, Index: at, Scale: 1, Disp: i}, r)
		} else {
			c.VMOVDQU(Mem{Base: s, Index: at, Scale: 1, Disp: i}, r)
		}
		list = append(list, r)
	}
	for i, r := range list {
		c.VMOVNTDQ(r, Mem{Base: d, Index: at, Scale: 1, Disp: i * bytes})
	}
	c.ADDQ(Imm(64), at)
	c.DECQ(left)
	c.JNZ(LabelRef("line"))
	c.ADDQ(to, d)
	c.ADDQ(from, s)
	c.DECQ(n)
	c.JNZ(LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}
