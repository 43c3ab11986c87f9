package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func bytes(c *Context) {
	write(c, "widenAVX2", "func(dst *int16, src *uint8, n int)",
		"widenAVX2 widens n bytes, a multiple of eight.", map[string]int{"dst": 2, "src": 1}, []string{"dst", "src"}, nil,
		func(l *loop) {
			x := c.XMM()
			c.VPMOVZXBW(l.at["src"], x)
			c.VMOVDQU(x, l.at["dst"])
		}, nil)
	write(c, "widenSignedAVX2", "func(dst *int16, src *int8, n int)",
		"widenSignedAVX2 widens n bytes with a sign, a multiple of eight.", map[string]int{"dst": 2, "src": 1}, []string{"dst", "src"}, nil,
		func(l *loop) {
			x := c.XMM()
			c.VPMOVSXBW(l.at["src"], x)
			c.VMOVDQU(x, l.at["dst"])
		}, nil)
	copySigned(c)
	largest(c)
	quantizeSigned(c)
	quantizeSmall(c)
}

// copySigned writes the copy of bytes with the sums of what it writes.
func copySigned(c *Context) {
	l := begin(c, "copySignedAVX2", "func(dst, src *uint8, n int, flip uint32) (sum int64)",
		"copySignedAVX2 copies n bytes, a multiple of 32, whose bits it flips, and adds up what it writes as bytes with a sign, each 128 more.",
		map[string]int{"dst": 1, "src": 1}, []string{"dst", "src"})
	flip, signs, zero, sums := l.fill(c.Load(c.Param("flip"), c.GP32())), l.constant(0x80808080), c.YMM(), c.YMM()
	c.VPXOR(zero, zero, zero)
	c.VPXOR(sums, sums, sums)
	l.rounds("some", 4, func() {
		x := c.YMM()
		c.VPXOR(l.at["src"], flip, x)
		c.VMOVDQU(x, l.at["dst"])
		c.VPXOR(signs, x, x)
		c.VPSADBW(zero, x, x)
		c.VPADDQ(x, sums, sums)
	})
	l.returnSum(sums)
	l.end()
}

// returnSum gives back the sum of eight bytes each.
func (l *loop) returnSum(sums reg.VecVirtual) {
	sum := l.GP64()
	l.VMOVQ(l.one(sums, 8, l.VPADDQ), sum)
	l.Store(sum, l.ReturnIndex(0))
}

// returnTop gives back the largest of integers.
func (l *loop) returnTop(tops reg.VecVirtual) {
	top := l.GP32()
	l.VMOVD(l.one(tops, 4, l.VPMAXSD), top)
	l.Store(top, l.ReturnIndex(0))
}

// largest writes the search for the largest magnitude. Without their signs, floats have
// the order of integers, and NaN is above all.
func largest(c *Context) {
	const ways = 4 // as many are compared at a time, since each waits for the last of its own
	l := begin(c, "largestAVX2", "func(src *float32, n int) (top int32)",
		"largestAVX2 is the largest of what n floats hold as bits, a multiple of eight, without their signs.",
		map[string]int{"src": 4}, []string{"src"})
	mask := l.constant(0x7fffffff)
	var tops [ways]reg.VecVirtual
	for i := range tops {
		tops[i] = c.YMM()
		c.VPXOR(tops[i], tops[i], tops[i])
	}
	one := func(i int) {
		x := c.YMM()
		c.VPAND(l.at["src"].Offset(32*i), mask, x)
		c.VPMAXSD(x, tops[i], tops[i])
	}
	l.rounds("many", ways, func() {
		for i := range ways {
			one(i)
		}
	})
	l.rounds("eight", 1, func() { one(0) })
	for i := 1; i < ways; i++ {
		c.VPMAXSD(tops[i], tops[0], tops[0])
	}
	l.returnTop(tops[0])
	l.end()
}

// quantizeSigned writes the rounding of floats to bytes with a sign.
func quantizeSigned(c *Context) {
	var scale, lo, hi reg.VecVirtual
	write(c, "quantizeSignedAVX2", "func(dst *int8, src *float32, n int, scale float32)",
		"quantizeSignedAVX2 makes round(min(max(x/scale, -128), 127)) of n floats, a multiple of eight, and 0 of NaN.",
		map[string]int{"dst": 1, "src": 4}, []string{"dst", "src"},
		func(l *loop) {
			scale, lo, hi = l.spread("scale"), l.constant(0xc3000000), l.constant(0x42fe0000) // -128, 127
		},
		func(l *loop) {
			y, number := l.load("src"), c.YMM()
			c.VDIVPS(scale, y, y)
			c.VCMPPS(Imm(7), y, y, number) // 7: ordered
			c.VANDPS(number, y, y)
			c.VMAXPS(lo, y, y)
			c.VMINPS(hi, y, y)
			c.VCVTPS2DQ(y, y)
			l.storeBytes(y)
		}, nil)
}

// storeBytes stores eight integers as bytes with a sign.
func (l *loop) storeBytes(y reg.VecVirtual) {
	high, x := l.XMM(), l.XMM()
	l.VEXTRACTI128(Imm(1), y, high)
	l.VPACKSSDW(high, y.AsX(), x)
	l.VPACKSSWB(x, x, x)
	l.VMOVQ(x, l.at["dst"])
}

// quantizeSmall writes the same for quotients that are small. A division takes as long as
// all the rest, so they come from the reciprocal of the scale: what is wrong in their last
// digits is found and corrected by two multiplications that round once.
func quantizeSmall(c *Context) {
	l := begin(c, "quantizeSmallAVX2", "func(dst *int8, src *float32, n int, scale, inverse float32)",
		"quantizeSmallAVX2 makes bytes of round(x/scale), held within -128 and 127, of n floats, a multiple of eight, whose quotients are less than 2^20. inverse is 1/scale.",
		map[string]int{"dst": 1, "src": 4}, []string{"dst", "src"})
	scale, inverse := l.spread("scale"), l.spread("inverse")
	whole := func(i int) reg.VecVirtual {
		x, q := c.YMM(), c.YMM()
		c.VMOVUPS(l.at["src"].Offset(32*i), x)
		c.VMULPS(inverse, x, q)
		c.VFNMADD231PS(scale, q, x) // what q is off, times the scale
		c.VFMADD231PS(inverse, x, q)
		c.VCVTPS2DQ(q, q)
		return q
	}
	order := l.table("order", []uint32{0, 4, 1, 5, 2, 6, 3, 7})
	l.rounds("many", 4, func() {
		a, b := whole(0), whole(1)
		c.VPACKSSDW(b, a, a)
		d, e := whole(2), whole(3)
		c.VPACKSSDW(e, d, d)
		c.VPACKSSWB(d, a, a)
		c.VPERMD(a, order, a) // packing works within halves
		c.VMOVDQU(a, l.at["dst"])
	})
	l.rounds("eight", 1, func() { l.storeBytes(whole(0)) })
	l.end()
}
