package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The left operands of int8Split, and the rests that are added behind the tiles.

// split writes what int8Split needs beside its tiles.
func split(c *Context) {
	splitTables(c)
	splitRow(c)
}

// Constants behind each other, 32 bytes each, and a table: for each set of eight lanes,
// in its bits, the numbers of its lanes.
const (
	onesBytes = 32 * iota
	onesWords
	limitWords // what two neighbours may sum up to
	highBytes  // what is left of one of two neighbours that sum up to more
	lowBytes   //
	eightInts
	zeroInts
)

func splitTables(c *Context) {
	c.StaticGlobal("consts")
	c.DataAttributes(24) // RODATA|NOPTR
	for at, bits := range []uint32{0x01010101, 0x00010001, 0x00800080, 0x40404040, 0xc0c0c0c0, 8, 0} {
		for i := range 8 {
			c.AddDatum(32*at+4*i, U32(bits))
		}
	}
	c.StaticGlobal("lanesOf")
	c.DataAttributes(24)
	for set := range 256 {
		lanes := uint64(0)
		for s, at := uint(set), 0; s != 0; at++ {
			lanes |= uint64(bits.TrailingZeros(s)) << (8 * at)
			s &= s - 1
		}
		c.AddDatum(8*set, U64(lanes))
	}
}

// consts is the place of constants.
func consts(c *Context, at int) Mem { return NewDataAddr(NewStaticSymbol("consts"), at) }

// splitRow writes the function that takes apart what two neighbours have too much.
func splitRow(c *Context) {
	c.Function("splitRowAVX2")
	c.Pragma("noescape")
	c.SignatureExpr("func(row *int8, values, quads *int32, n int) (count, sum int)")
	c.Doc("splitRowAVX2 makes of n bytes, a multiple of 32, ones of which two neighbours sum up to",
		"128 at most, or -128. What it takes away it writes in fours, those that have some: to",
		"values, and to quads their numbers. Both have room for eight more. It returns how many,",
		"and the sum of all bytes as they were.")
	arg := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	row, values, quads, n := arg("row"), arg("values"), arg("quads"), arg("n")
	at, sum := c.YMM(), c.YMM()
	c.VPXOR(at, at, at)
	c.VPXOR(sum, sum, sum)
	count := c.GP64()
	c.XORQ(count, count)
	constant := func(at int) reg.VecVirtual {
		r := c.YMM()
		c.VMOVDQU(consts(c, at), r)
		return r
	}
	ones, words, high, low := constant(onesBytes), constant(onesWords), constant(highBytes), constant(lowBytes)
	table := c.GP64()
	c.LEAQ(NewDataAddr(NewStaticSymbol("lanesOf"), 0), table)
	c.Label("bytes")
	c.SUBQ(Imm(32), n)
	c.JLT(LabelRef("done"))
	a, pairs, t := c.YMM(), c.YMM(), c.YMM()
	c.VMOVDQU(Mem{Base: row}, a)
	c.VPMADDUBSW(a, ones, pairs)
	c.VPMADDWD(words, pairs, t)
	c.VPADDD(t, sum, sum)
	c.VPABSW(pairs, pairs)
	c.VPCMPGTW(consts(c, limitWords), pairs, pairs)
	c.VPMINSB(high, a, t)
	c.VPMAXSB(low, t, t)
	c.VPSUBB(t, a, t)
	c.VPAND(pairs, t, t)
	c.VPSUBB(t, a, a)
	c.VMOVDQU(a, Mem{Base: row})
	none, set := c.YMM(), c.GP64()
	c.VPCMPEQD(consts(c, zeroInts), t, none)
	c.VMOVMSKPS(none, set.As32())
	c.XORL(U32(255), set.As32())
	lanes := c.YMM()
	c.VPMOVZXBD(Mem{Base: table, Index: set, Scale: 8}, lanes)
	c.VPERMD(t, lanes, t)
	c.VMOVDQU(t, Mem{Base: values, Index: count, Scale: 4})
	c.VPADDD(at, lanes, lanes)
	c.VMOVDQU(lanes, Mem{Base: quads, Index: count, Scale: 4})
	c.VPADDD(consts(c, eightInts), at, at)
	c.POPCNTL(set.As32(), set.As32())
	c.ADDQ(set, count)
	c.ADDQ(Imm(32), row)
	c.JMP(LabelRef("bytes"))
	c.Label("done")
	c.Store(count, c.ReturnIndex(0))
	c.Store(addLanes(c, sum), c.ReturnIndex(1))
	c.VZEROUPPER()
	c.RET()
}

// addLanes is the sum of eight integers, with its sign.
func addLanes(c *Context, r reg.VecVirtual) reg.Register {
	x, y := r.AsX(), c.XMM()
	c.VEXTRACTI128(Imm(1), r, y)
	c.VPADDD(y, x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		c.VPSHUFD(Imm(order), x, y)
		c.VPADDD(y, x, x)
	}
	sum := c.GP64()
	c.VMOVD(x, sum.As32())
	c.MOVLQSX(sum.As32(), sum)
	return sum
}

// field loads a field of eight bytes of an argument.
func field(c *Context, arg reg.GPVirtual, offset int) reg.GPVirtual {
	r := c.GP64()
	c.MOVQ(Mem{Base: arg, Disp: offset}, r)
	return r
}

// multiplyAdd adds to eight sums the products of four bytes with a sign by four without
// one. The products use a register, which may be that of the latter; ones are sixteen
// integers.
func multiplyAdd(c *Context, signed, unsigned reg.VecVirtual, ones Op, products, sum reg.VecVirtual) {
	c.VPMADDUBSW(signed, unsigned, products)
	c.VPMADDWD(ones, products, products)
	c.VPADDD(products, sum, sum)
}
