package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turns writes the functions that transpose one to eight rows.
func turns(c *Context) {
	for rows := 1; rows <= 8; rows++ {
		turn(c, rows)
	}
}

func turn(c *Context, rows int) {
	name := fmt.Sprintf("turn%dAVX2", rows)
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *float32, line, row, blocks int)")
	c.Doc(fmt.Sprintf("%s writes rows of src, row bytes apart, as lines of %d floats, line bytes", name, rows),
		"apart: blocks times eight of them.")
	dst, src := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("src"), c.GP64())
	line, row := c.Load(c.Param("line"), c.GP64()), c.Load(c.Param("row"), c.GP64())
	n := c.Load(c.Param("blocks"), c.GP64())
	from, to := eight(c, src, row), eight(c, dst, line)
	c.Label("block")
	c.DECQ(n)
	c.JLT(LabelRef("done"))
	var r [8]reg.VecVirtual
	for i := range r {
		if i >= rows {
			r[i] = r[rows-1] // whose floats are not written
			continue
		}
		r[i] = c.YMM()
		c.PREFETCHT0(from.at(i).Offset(turnAhead))
		c.VMOVUPS(from.at(i), r[i])
	}
	if rows <= 4 {
		for i, x := range quarters(c, [4]reg.VecVirtual(r[:4])) {
			storeSome(c, x.AsX(), rows, to.at(i))
			upper := c.XMM()
			c.VEXTRACTF128(U8(1), x, upper)
			storeSome(c, upper, rows, to.at(i+4))
		}
	} else {
		for i, x := range transposed(c, r) {
			if rows == 8 {
				c.VMOVUPS(x, to.at(i))
				continue
			}
			c.VMOVUPS(x.AsX(), to.at(i))
			upper := c.XMM()
			c.VEXTRACTF128(U8(1), x, upper)
			storeSome(c, upper, rows-4, to.at(i).Offset(16))
		}
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

// storeSome writes the first one to four floats of a register.
func storeSome(c *Context, x reg.Register, n int, m Mem) {
	switch n {
	case 1:
		c.VMOVSS(x, m)
	case 2, 3:
		c.VMOVLPS(x, m)
		if n == 3 {
			c.VEXTRACTPS(U8(2), x, m.Offset(8))
		}
	case 4:
		c.VMOVUPS(x, m)
	}
}

// quarters transposes four rows of eight within halves: column i is in the lower half
// of the result's register i, and column i+4 in the upper one.
func quarters(c *Context, r [4]reg.VecVirtual) (q [4]reg.VecVirtual) {
	var p [4]reg.VecVirtual
	for i := 0; i < 4; i += 2 {
		p[i], p[i+1] = c.YMM(), c.YMM()
		c.VUNPCKLPS(r[i+1], r[i], p[i])
		c.VUNPCKHPS(r[i+1], r[i], p[i+1])
	}
	for j := range 2 {
		q[2*j], q[2*j+1] = c.YMM(), c.YMM()
		c.VSHUFPS(U8(0x44), p[2+j], p[j], q[2*j])
		c.VSHUFPS(U8(0xee), p[2+j], p[j], q[2*j+1])
	}
	return q
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
func transposed(c *Context, r [8]reg.VecVirtual) (t [8]reg.VecVirtual) {
	a, b := quarters(c, [4]reg.VecVirtual(r[:4])), quarters(c, [4]reg.VecVirtual(r[4:]))
	for i := range 4 {
		t[i], t[i+4] = c.YMM(), c.YMM()
		c.VPERM2F128(U8(0x20), b[i], a[i], t[i])
		c.VPERM2F128(U8(0x31), b[i], a[i], t[i+4])
	}
	return t
}
