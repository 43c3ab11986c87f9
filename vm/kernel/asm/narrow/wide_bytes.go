package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// wideBytes writes the loops of bytes for AVX-512 that pay: those that go through all
// activations of a network in int8. Sixty-four elements a round, then eight.
func wideBytes(c *Context) {
	wideCopySigned(c)
	wideLargest(c)
	wideQuantizeSmall(c)
}

// wideCopySigned is copySigned.
func wideCopySigned(c *Context) {
	l := begin(c, "copySignedAVX512", "func(dst, src *uint8, n int, flip uint32) (sum int64)",
		"copySignedAVX512 copies n bytes, a multiple of 32, whose bits it flips, and adds up what it writes as bytes with a sign, each 128 more.",
		map[string]int{"dst": 1, "src": 1}, []string{"dst", "src"})
	flip, signs, zero, sums := wideFill(c, c.Load(c.Param("flip"), c.GP32())), wideConstant(c, 0x80808080), c.ZMM(), c.ZMM()
	c.VPXORD(zero, zero, zero)
	c.VPXORD(sums, sums, sums)
	some := func(w *wide) {
		x := w.register()
		c.VPXORD(l.at["src"], w.constant(flip), x)
		c.VMOVDQU32(x, l.at["dst"])
		c.VPXORD(w.constant(signs), x, x)
		c.VPSADBW(w.constant(zero), x, x)
		all := x.(reg.Vec).AsZ() // above a half register there are zeros
		c.VPADDQ(all, sums, sums)
	}
	l.rounds("sixtyfour", 8, func() { some(&wide{l, 16, 0}) })
	l.rounds("thirtytwo", 4, func() { some(&wide{l, 8, 0}) })
	l.returnSum(sums)
	l.end()
}

// wideLargest is largest.
func wideLargest(c *Context) {
	const ways = 4
	l := begin(c, "largestAVX512", "func(src *float32, n int) (top int32)",
		"largestAVX512 is the largest of what n floats hold as bits, a multiple of eight, without their signs.",
		map[string]int{"src": 4}, []string{"src"})
	mask := wideConstant(c, 0x7fffffff)
	var tops [ways]reg.VecVirtual
	for i := range tops {
		tops[i] = c.ZMM()
		c.VPXORD(tops[i], tops[i], tops[i])
	}
	some := func(w *wide, top reg.VecVirtual) {
		x := w.register()
		c.VPANDD(w.place("src"), w.constant(mask), x)
		c.VPMAXSD(x.(reg.Vec).AsZ(), top, top)
	}
	l.rounds("many", 2*ways, func() {
		for i := range ways {
			some(&wide{l, 16, 16 * i}, tops[i])
		}
	})
	l.rounds("eight", 1, func() { some(&wide{l, 8, 0}, tops[0]) })
	for i := 1; i < ways; i++ {
		c.VPMAXSD(tops[i], tops[0], tops[0])
	}
	l.returnTop(tops[0])
	l.end()
}

// wideQuantizeSmall is quantizeSmall. It asks for the next row, whose largest element is looked
// for behind it: rows from beyond the second cache took 15 to 25 % less so on an Emerald Rapids,
// others as long as before or up to 5 % more.
func wideQuantizeSmall(c *Context) {
	l := begin(c, "quantizeSmallAVX512", "func(dst *int8, src *float32, n int, scale, inverse float32)",
		"quantizeSmallAVX512 makes bytes of round(x/scale), held within -128 and 127, of n floats, a multiple of eight, whose quotients are less than 2^20. inverse is 1/scale.",
		map[string]int{"dst": 1, "src": 4}, []string{"dst", "src"})
	scale, inverse := wideSpread(c, "scale"), wideSpread(c, "inverse")
	next := c.GP64() // to the row behind this one, in bytes
	c.MOVQ(l.n, next)
	c.SHLQ(Imm(2), next)
	whole := func(w *wide) reg.VecVirtual {
		x, q := w.register(), w.register()
		c.VMOVUPS(w.place("src"), x)
		c.VMULPS(w.constant(inverse), x, q)
		c.VFNMADD231PS(w.constant(scale), q, x)
		c.VFMADD231PS(w.constant(inverse), x, q)
		c.VCVTPS2DQ(q, q)
		return q
	}
	order := c.ZMM()
	c.VMOVDQU32(quarters(l), order)
	l.rounds("many", 8, func() {
		var q [4]reg.VecVirtual
		for i := range q {
			c.PREFETCHT0(Mem{Base: l.at["src"].Base, Index: next, Scale: 1, Disp: 64 * i})
			q[i] = whole(&wide{l, 16, 16 * i})
		}
		c.VPACKSSDW(q[1], q[0], q[0])
		c.VPACKSSDW(q[3], q[2], q[2])
		c.VPACKSSWB(q[2], q[0], q[0])
		c.VPERMD(q[0], order, q[0]) // packing works within quarters
		c.VMOVDQU32(q[0], l.at["dst"])
	})
	l.rounds("eight", 1, func() { c.VPMOVSDB(whole(&wide{l, 8, 0}), l.at["dst"]) })
	l.end()
}

// quarters is the order of fours of bytes that were packed within quarters of a register.
func quarters(l *loop) Mem {
	data := l.StaticGlobal(l.name + "order")
	l.DataAttributes(24) // RODATA|NOPTR
	for i := range 16 {
		l.AddDatum(4*i, U32(uint32(i%4*4+i/4)))
	}
	return data
}

// wideConstant, wideFill and wideSpread are constant, fill and spread of a loop.
func wideConstant(c *Context, bits uint32) reg.VecVirtual {
	r := c.GP32()
	c.MOVL(U32(bits), r)
	return wideFill(c, r)
}

func wideFill(c *Context, r reg.Register) reg.VecVirtual {
	z := c.ZMM()
	c.VPBROADCASTD(r, z)
	return z
}

func wideSpread(c *Context, name string) reg.VecVirtual {
	z := c.ZMM()
	c.VBROADCASTSS(gen.Argument(c, name), z)
	return z
}
