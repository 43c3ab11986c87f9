package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A fold is how taps come together.
type fold struct {
	name, params, doc string
	begin             func(c *Context, l level) // loads the further arguments
	clear             func(c *Context, l level, acc reg.VecVirtual)
	tap               func(c *Context, l level, t reg.GPVirtual) // before the vectors of a tap
	step              func(c *Context, l level, from Mem, acc reg.VecVirtual)
}

// block is how many registers of places are under way at a time: twice the latency
// of a sum, for two units.
const block = 8

func taps(c *Context) {
	for _, l := range levels {
		tapProducts(c, l)
		tapSums(c, l)
		tapMost(c, l)
	}
	planeSums(c)
}

func tapProducts(c *Context, l level) {
	var w reg.GPVirtual
	var value reg.VecVirtual
	fold{
		name: "tapProducts", params: ", w *float32", doc: "the sum of the products of each tap and its w, by one FMA each, in order",
		begin: func(c *Context, l level) { w, value = arg(c, "w"), l.vec(c) },
		clear: func(c *Context, l level, acc reg.VecVirtual) { l.clear(c, acc) },
		tap: func(c *Context, l level, t reg.GPVirtual) {
			c.VBROADCASTSS(Mem{Base: w, Index: t, Scale: 4}, value)
		},
		step: func(c *Context, l level, from Mem, acc reg.VecVirtual) { c.VFMADD231PS(from, value, acc) },
	}.write(c, l)
}

func tapSums(c *Context, l level) {
	fold{
		name: "tapSums", doc: "the sum of the taps, in order",
		begin: func(c *Context, l level) {},
		clear: func(c *Context, l level, acc reg.VecVirtual) { l.clear(c, acc) },
		tap:   func(*Context, level, reg.GPVirtual) {},
		step:  func(c *Context, l level, from Mem, acc reg.VecVirtual) { c.VADDPS(from, acc, acc) },
	}.write(c, l)
}

// larger makes most the larger of both, NaN if one is. VMAXPS gives its second source if one
// is NaN or both are zeros. So the larger of both orders is right but for NaN, if the signs of
// zeros are and-ed: 0 is larger than -0. other and nan are of no use behind it.
func (l level) larger(c *Context, value, most, other, nan reg.VecVirtual) {
	var k reg.OpmaskVirtual
	if l.bytes == 64 {
		k = c.K()
		c.VCMPPS(Imm(3), value, most, k)
	} else {
		c.VCMPPS(Imm(3), value, most, nan)
	}
	c.VMAXPS(most, value, other)
	c.VMAXPS(value, most, most)
	c.VANDPS(other, most, most)
	if l.bytes == 64 {
		c.VPTERNLOGD(Imm(0xff), most, most, k, most) // all ones is a NaN
	} else {
		c.VORPS(nan, most, most)
	}
}

func tapMost(c *Context, l level) {
	var lowest, other, value, nan reg.VecVirtual
	f := fold{
		name: "tapMost", params: ", lowest *float32", doc: "the largest of the taps and lowest, NaN if one is",
		begin: func(c *Context, l level) {
			at := arg(c, "lowest")
			lowest, other, value, nan = l.vec(c), l.vec(c), l.vec(c), l.vec(c)
			c.VBROADCASTSS(Mem{Base: at}, lowest)
		},
		clear: func(c *Context, l level, acc reg.VecVirtual) { c.VMOVAPS(lowest, acc) },
		tap:   func(*Context, level, reg.GPVirtual) {},
	}
	f.step = func(c *Context, l level, from Mem, acc reg.VecVirtual) {
		c.VMOVUPS(from, value)
		l.larger(c, value, acc, other, nan)
	}
	f.write(c, l)
}

// write is the function that folds the taps of n registers of places.
func (f fold) write(c *Context, l level) {
	begin(c, f.name+l.name, "func(dst, src *float32, n int, offsets *int, taps int"+f.params+")",
		fmt.Sprintf("writes n times %d floats of dst: %s. Tap t of a place lies offsets[t] bytes behind the place in src.", l.bytes/4, f.doc))
	dst, src, n, offsets, taps := arg(c, "dst"), arg(c, "src"), arg(c, "n"), arg(c, "offsets"), arg(c, "taps")
	f.begin(c, l)
	sums := l.vecs(c, block)
	t, offset := c.GP64(), c.GP64()
	part := func(label string, wide int) {
		for _, s := range sums[:wide] {
			f.clear(c, l, s)
		}
		c.XORQ(t, t)
		c.TESTQ(taps, taps)
		c.JE(LabelRef(label + "_store"))
		c.Label(label + "_tap")
		c.MOVQ(Mem{Base: offsets, Index: t, Scale: 8}, offset)
		f.tap(c, l, t)
		for v, s := range sums[:wide] {
			f.step(c, l, Mem{Base: src, Index: offset, Scale: 1, Disp: v * l.bytes}, s)
		}
		c.INCQ(t)
		c.CMPQ(t, taps)
		c.JLT(LabelRef(label + "_tap"))
		c.Label(label + "_store")
		for v, s := range sums[:wide] {
			c.VMOVUPS(s, Mem{Base: dst, Disp: v * l.bytes})
		}
		c.ADDQ(U32(wide*l.bytes), src)
		c.ADDQ(U32(wide*l.bytes), dst)
	}
	c.SUBQ(Imm(block), n)
	c.JLT(LabelRef("few"))
	c.Label("many")
	part("many", block)
	c.SUBQ(Imm(block), n)
	c.JGE(LabelRef("many"))
	c.Label("few")
	c.ADDQ(Imm(block), n)
	c.JE(LabelRef("done"))
	c.Label("single")
	part("single", 1)
	c.DECQ(n)
	c.JNE(LabelRef("single"))
	c.Label("done")
	end(c)
}

// planeSums writes the sums of small planes by sixteen lanes, which then are added in
// halves.
func planeSums(c *Context) {
	begin(c, "planeSumsAVX2", "func(dst, src *float32, planes, n, rest int, masks *[16]int32)",
		"writes the sums of planes of 16n + rest floats, in sixteen lanes whose halves are added until one is left. The masks choose the rest.")
	dst, src, planes, n, rest, masks := arg(c, "dst"), arg(c, "src"), arg(c, "planes"), arg(c, "n"), arg(c, "rest"), arg(c, "masks")
	low, high, maskLow, maskHigh, v := c.YMM(), c.YMM(), c.YMM(), c.YMM(), c.YMM()
	c.VMOVUPS(Mem{Base: masks}, maskLow)
	c.VMOVUPS(Mem{Base: masks, Disp: 32}, maskHigh)
	i := c.GP64()
	c.Label("plane")
	c.VXORPS(low, low, low)
	c.VXORPS(high, high, high)
	c.MOVQ(n, i)
	c.TESTQ(i, i)
	c.JE(LabelRef("rest"))
	c.Label("whole")
	c.VADDPS(Mem{Base: src}, low, low)
	c.VADDPS(Mem{Base: src, Disp: 32}, high, high)
	c.ADDQ(Imm(64), src)
	c.DECQ(i)
	c.JNE(LabelRef("whole"))
	c.Label("rest")
	c.TESTQ(rest, rest)
	c.JE(LabelRef("halves"))
	c.VMASKMOVPS(Mem{Base: src}, maskLow, v)
	c.VADDPS(v, low, low)
	c.VMASKMOVPS(Mem{Base: src, Disp: 32}, maskHigh, v)
	c.VADDPS(v, high, high)
	c.LEAQ(Mem{Base: src, Index: rest, Scale: 4}, src)
	c.Label("halves")
	c.VADDPS(high, low, low)
	four, upper := low.AsX(), c.XMM()
	c.VEXTRACTF128(Imm(1), low, upper)
	c.VADDPS(upper, four, four)
	c.VMOVHLPS(four, four, upper)
	c.VADDPS(upper, four, four)
	c.VMOVSHDUP(four, upper)
	c.VADDSS(upper, four, four)
	c.VMOVSS(four, Mem{Base: dst})
	c.ADDQ(Imm(4), dst)
	c.DECQ(planes)
	c.JNE(LabelRef("plane"))
	end(c)
}
