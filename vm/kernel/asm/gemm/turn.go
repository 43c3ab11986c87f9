package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turn writes the function that transposes eight rows.
func turn(c *Context) {
	c.Function("turn8AVX2")
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *float32, line, row, blocks int)")
	c.Doc("turn8AVX2 writes eight rows of src, row bytes apart, as lines of eight floats,",
		"line bytes apart: blocks times eight of them.")
	dst, src := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("src"), c.GP64())
	line, row := c.Load(c.Param("line"), c.GP64()), c.Load(c.Param("row"), c.GP64())
	n := c.Load(c.Param("blocks"), c.GP64())
	from, to := eight(c, src, row), eight(c, dst, line)
	c.Label("block")
	c.DECQ(n)
	c.JLT(LabelRef("done"))
	var r [8]reg.VecVirtual
	for i := range r {
		r[i] = c.YMM()
		c.PREFETCHT0(from.at(i).Offset(turnAhead))
		c.VMOVUPS(from.at(i), r[i])
	}
	for i, x := range transposed(c, r) {
		c.VMOVUPS(x, to.at(i))
	}
	c.ADDQ(Imm(32), from.p)
	c.LEAQ(Mem{Base: to.p, Index: line, Scale: 8}, to.p)
	from.far(c)
	to.far(c)
	c.JMP(LabelRef("block"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// turnAhead is how many bytes of a row are asked for before they are used: eight
// rows are more streams than some processors follow by themselves.
const turnAhead = 512

// strided reaches eight places by two pointers.
type strided struct{ p, p4, by, by3 reg.Register }

func eight(c *Context, p, by reg.Register) strided {
	s := strided{p: p, p4: c.GP64(), by: by, by3: c.GP64()}
	c.LEAQ(Mem{Base: by, Index: by, Scale: 2}, s.by3)
	s.far(c)
	return s
}

// far sets the second pointer from the first.
func (s strided) far(c *Context) { c.LEAQ(Mem{Base: s.p, Index: s.by, Scale: 4}, s.p4) }

func (s strided) at(i int) Mem {
	base := s.p
	if i >= 4 {
		base, i = s.p4, i-4
	}
	return [...]Mem{{Base: base}, {Base: base, Index: s.by, Scale: 1}, {Base: base, Index: s.by, Scale: 2}, {Base: base, Index: s.by3, Scale: 1}}[i]
}

// transposed is the usual three rounds: pairs of floats, pairs of pairs, halves.
func transposed(c *Context, r [8]reg.VecVirtual) [8]reg.VecVirtual {
	var p, q [8]reg.VecVirtual
	for i := 0; i < 8; i += 2 {
		p[i], p[i+1] = c.YMM(), c.YMM()
		c.VUNPCKLPS(r[i+1], r[i], p[i])
		c.VUNPCKHPS(r[i+1], r[i], p[i+1])
	}
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			q[i+2*j], q[i+2*j+1] = c.YMM(), c.YMM()
			c.VSHUFPS(U8(0x44), p[i+2+j], p[i+j], q[i+2*j])
			c.VSHUFPS(U8(0xee), p[i+2+j], p[i+j], q[i+2*j+1])
		}
	}
	for i := range 4 {
		p[i], p[i+4] = c.YMM(), c.YMM()
		c.VPERM2F128(U8(0x20), q[i+4], q[i], p[i])
		c.VPERM2F128(U8(0x31), q[i+4], q[i], p[i+4])
	}
	return p
}
