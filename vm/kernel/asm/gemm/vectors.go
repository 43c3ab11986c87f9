package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is what the levels differ in.
type vectors struct {
	name  string
	bytes int // of one register
	rows  int // of the largest tile

	masks bool // a load with a mask costs no more than one without

	registers int // that there are
	alloc     func(*Context) reg.VecVirtual
	clear     func(*Context, reg.VecVirtual)
	// mask makes what load and store ask for to touch only the first n-first lanes
	// of a register; n is a register of 32 bits.
	mask        func(c *Context, n reg.Register, first int) Op
	load, store func(c *Context, mask Op, m Mem, r reg.VecVirtual)
	// equal says which integers of a register are a number, by a bit each.
	equal func(c *Context, r reg.VecVirtual, number uint32) reg.GPVirtual
}

// AVX2: six rows of two registers leave two for B and two for broadcasts.
var avx2 = vectors{
	name: "AVX2", bytes: 32, rows: 6, registers: 16,
	alloc: func(c *Context) reg.VecVirtual { return c.YMM() },
	clear: func(c *Context, r reg.VecVirtual) { c.VXORPS(r, r, r) },
	mask: func(c *Context, n reg.Register, first int) Op {
		x, y, lanes := c.XMM(), c.YMM(), c.YMM()
		c.VMOVD(n, x)
		c.VPBROADCASTD(x, y)
		c.VMOVDQU(lane(c, first), lanes)
		c.VPCMPGTD(lanes, y, y)
		return y
	},
	load:  func(c *Context, mask Op, m Mem, r reg.VecVirtual) { c.VMASKMOVPS(m, mask, r) },
	store: func(c *Context, mask Op, m Mem, r reg.VecVirtual) { c.VMASKMOVPS(r, mask, m) },
	equal: equalYMM,
}

// AVX-512: twelve rows of two registers leave two for B and six for broadcasts.
// Fourteen rows fit too and are no faster.
var avx512 = vectors{
	name: "AVX512", bytes: 64, rows: 12, registers: 32, masks: true,
	alloc: func(c *Context) reg.VecVirtual { return c.ZMM() },
	clear: func(c *Context, r reg.VecVirtual) { c.VPXORD(r, r, r) },
	mask: func(c *Context, n reg.Register, first int) Op {
		z, k := c.ZMM(), c.K()
		c.VPBROADCASTD(n, z)
		c.VPCMPD(U8(6), lane(c, first), z, k) // 6: greater than
		return k
	},
	load:  func(c *Context, mask Op, m Mem, r reg.VecVirtual) { c.VMOVUPS_Z(m, mask, r) },
	store: func(c *Context, mask Op, m Mem, r reg.VecVirtual) { c.VMOVUPS(r, mask, m) },
	equal: equalZMM,
}

// lanes is how many floats of four bytes a register holds.
func (v vectors) lanes() int { return v.bytes / 4 }

// lane is the place of a table that holds first, first+1, first+2, ...
func lane(c *Context, first int) Mem {
	return NewDataAddr(NewStaticSymbol("lane"), 0).Offset(4 * first)
}

// laneTable lists the numbers of lanes, as many as the widest tile has columns.
func laneTable(c *Context, most int) {
	c.StaticGlobal("lane")
	c.DataAttributes(24) // RODATA|NOPTR
	for i := range most {
		c.AddDatum(4*i, U32(i))
	}
}
