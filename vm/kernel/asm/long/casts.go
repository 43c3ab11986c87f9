package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// casts writes casts of eight elements at a time by way of integers of four bytes, for as
// long as these hold all eight.
func casts(c *Context) {
	cast(c, "longsOfFloats", "makes integers of floats of four bytes, toward 0", 4, 8, func(a, d Mem) {
		y, least, none := c.YMM(), c.YMM(), c.GP32()
		c.VCVTTPS2DQ(a, y)
		c.VPCMPEQD(least, least, least)
		c.VPSLLD(Imm(31), least, least) // what stands for numbers that do not fit
		c.VPCMPEQD(y, least, least)
		c.VMOVMSKPS(least, none)
		c.TESTL(none, none)
		c.JNZ(LabelRef("end"))
		high, low := c.XMM(), c.YMM()
		c.VEXTRACTI128(Imm(1), y, high)
		c.VPMOVSXDQ(y.AsX(), low)
		c.VPMOVSXDQ(high, y)
		c.VMOVDQU(low, d)
		c.VMOVDQU(y, d.Offset(32))
	})
	cast(c, "floatsOfLongs", "makes floats of four bytes of integers", 8, 4, func(a, d Mem) {
		e, all := &eight{Context: c}, c.GP32()
		var lower [2]reg.VecVirtual
		for i := range lower {
			y, again := c.YMM(), c.YMM()
			c.VMOVDQU(a.Offset(32*i), y)
			lower[i] = e.lower(y)
			c.VPMOVSXDQ(lower[i].AsX(), again)
			c.VPCMPEQQ(again, y, y)
			c.VMOVMSKPD(y, all)
			c.CMPL(all, Imm(15))
			c.JNE(LabelRef("end"))
		}
		for i, x := range lower {
			c.VCVTDQ2PS(x, x)
			c.VMOVUPS(x.AsX(), d.Offset(16*i))
		}
	})
}

// cast emits a function of elements of some bytes.
func cast(c *Context, name, what string, from, to int, round func(a, d Mem)) {
	c.Function(name + "AVX2")
	c.Pragma("noescape")
	c.SignatureExpr("func(d, a *byte, n int) (done int)")
	c.Doc(name+"AVX2 "+what+", where integers of four bytes hold them.", "n is a multiple of eight, more than 0. It ends before eight of which one is not held, with how many are done.")
	d, a := Mem{Base: c.Load(c.Param("d"), c.GP64())}, Mem{Base: c.Load(c.Param("a"), c.GP64())}
	n, done := c.Load(c.Param("n"), c.GP64()), c.GP64()
	c.XORQ(done, done)
	c.Label("eight")
	round(a, d)
	c.ADDQ(Imm(uint64(8*from)), a.Base)
	c.ADDQ(Imm(uint64(8*to)), d.Base)
	c.ADDQ(Imm(8), done)
	c.CMPQ(done, n)
	c.JLT(LabelRef("eight"))
	c.Label("end")
	c.VZEROUPPER()
	c.Store(done, c.ReturnIndex(0))
	c.RET()
}
