package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// turns writes the functions that transpose one to eight rows.
func turns(c *Context) {
	for rows := 1; rows <= 8; rows++ {
		turn(c, rows)
	}
}

// turnHead begins a function.
func turnHead(c *Context, name string, rows int) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *float32, line, row, blocks int)")
	c.Doc(fmt.Sprintf("%s writes rows of src, row bytes apart, as lines of %d floats, line bytes", name, rows),
		"apart: blocks times eight of them.")
}

func turn(c *Context, rows int) {
	turnHead(c, fmt.Sprintf("turn%dAVX2", rows), rows)
	arg := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, line, row, n := arg("dst"), arg("src"), arg("line"), arg("row"), arg("blocks")
	from, to := gen.Eight(c, src, row), gen.Eight(c, dst, line)
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
		c.PREFETCHT0(from.At(i).Offset(turnAhead))
		c.VMOVUPS(from.At(i), r[i])
	}
	if rows <= 4 {
		for i, x := range gen.Quarters(c, [4]reg.VecVirtual(r[:4])) {
			storeSome(c, x.AsX(), rows, to.At(i))
			upper := c.XMM()
			c.VEXTRACTF128(U8(1), x, upper)
			storeSome(c, upper, rows, to.At(i+4))
		}
	} else {
		for i, x := range gen.Transposed(c, r) {
			if rows == 8 {
				c.VMOVUPS(x, to.At(i))
				continue
			}
			c.VMOVUPS(x.AsX(), to.At(i))
			upper := c.XMM()
			c.VEXTRACTF128(U8(1), x, upper)
			storeSome(c, upper, rows-4, to.At(i).Offset(16))
		}
	}
	c.ADDQ(Imm(32), from.P)
	c.LEAQ(Mem{Base: to.P, Index: line, Scale: 8}, to.P)
	from.Far(c)
	to.Far(c)
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

// turnAhead is how many bytes of a row are asked for before they are used: eight
// rows are more streams than some processors follow by themselves.
const turnAhead = 512
