package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of conv.spreader, at their offsets.
const (
	spreadSrc   = 0  // four rows
	spreadFrom  = 32 // by row: bytes from there to what is seen first
	spreadStep  = 64 // by row: bytes from one channel to the next
	spreadMasks = 96 + 8*iota - 24
	spreadDst
	spreadTo     // bytes from one channel to the next
	spreadApart  // bytes from one point to the next
	spreadCount  // channels
	spreadGroups // bytes of lanes of each
)

// The fields of conv.joiner, at their offsets.
const (
	joinSrc   = 8 * iota
	joinDst   // the place that the last quad begins with
	joinLine  // bytes from a place to the one below it
	joinLd    // bytes from one place to the next
	joinCount // quads
	joinBad   // sixteen floats that become NaN
)

// winograd writes the transforms of quads.
func winograd(c *Context) {
	spread(c, "spreadAVX2", "four", 16, c.XMM)
	spread(c, "spreadWideAVX2", "eight", 32, c.YMM)
	for _, l := range levels {
		join(c, l)
	}
}

// A spreader is a function that is being written.
type spreader struct {
	*Context
	bytes int // of a register
	vec   func() reg.VecVirtual
	rows  [4]reg.GPVirtual
	masks reg.GPVirtual
	chose [4]reg.VecVirtual // the masks of a group
	to    [4]reg.GPVirtual  // the first point of each row of points
	index reg.GPVirtual
	apart [4]Mem // the points of a row, without their base
}

// spread transforms quads, of which register A has elements 0 1 2 .. of what each row
// sees, B those behind it, C and D what begins two behind both. Even elements of A and B
// are the first of each quad, odd ones the second, those of C and D the third and fourth.
func spread(c *Context, name, count string, bytes int, vec func() reg.VecVirtual) {
	c.Function(name)
	c.Pragma("noescape")
	c.Signature(gen.Pointer("conv", "s", "spreader"))
	c.Doc(fmt.Sprintf("%s transforms groups of %s quads of a row, for some channels.", name, count))
	at := c.Load(c.Param("s"), c.GP64()).(reg.GPVirtual)
	field := func(offset int) Mem { return Mem{Base: at, Disp: offset} }
	load := func(offset int) reg.GPVirtual {
		r := c.GP64()
		c.MOVQ(field(offset), r)
		return r
	}
	s := &spreader{Context: c, bytes: bytes, vec: vec}
	for i := range s.rows {
		s.rows[i] = load(spreadSrc + 8*i)
		c.ADDQ(field(spreadFrom+8*i), s.rows[i])
	}
	s.masks = load(spreadMasks)
	apart, thrice := load(spreadApart), c.GP64()
	c.LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, thrice)
	s.apart = [4]Mem{{}, {Index: apart, Scale: 1}, {Index: apart, Scale: 2}, {Index: thrice, Scale: 1}}
	s.to[0] = load(spreadDst)
	for i := 1; i < 4; i++ {
		s.to[i] = c.GP64()
		c.LEAQ(Mem{Base: s.to[i-1], Index: apart, Scale: 4}, s.to[i])
	}
	n := load(spreadCount)
	c.TESTQ(n, n)
	c.JE(LabelRef("done"))
	// The index is bytes of lanes: a row of x has twice as many, and masks have four times.
	s.index = c.GP64()
	c.Label("channel")
	c.XORQ(s.index, s.index)
	c.Label("group")
	// The lower rows have been read for no quad yet: they are asked for two channels ahead.
	for i := 2; i < 4; i++ {
		next := c.GP64()
		c.MOVQ(field(spreadStep+8*i), next)
		c.LEAQ(Mem{Base: s.rows[i], Index: next, Scale: 2}, next)
		c.PREFETCHT0(Mem{Base: next, Index: s.index, Scale: 2})
	}
	s.group()
	c.ADDQ(U32(bytes), s.index)
	for i := range s.to {
		c.ADDQ(U32(bytes), s.to[i])
	}
	c.CMPQ(s.index, field(spreadGroups))
	c.JLT(LabelRef("group"))
	for i := range s.rows {
		c.ADDQ(field(spreadStep+8*i), s.rows[i])
		c.ADDQ(field(spreadTo), s.to[i])
		c.SUBQ(s.index, s.to[i])
	}
	c.DECQ(n)
	c.JNE(LabelRef("channel"))
	c.Label("done")
	end(c)
}

// see loads what registers A, B, C and D have of a row.
func (s *spreader) see(row int) (r [4]reg.VecVirtual) {
	for i, first := range [4]int{0, s.bytes, 8, s.bytes + 8} {
		r[i] = s.vec()
		s.VMASKMOVPS(Mem{Base: s.rows[row], Index: s.index, Scale: 2, Disp: first}, s.chose[i], r[i])
	}
	return r
}

// group transforms quads: down the columns first, then along rows.
func (s *spreader) group() {
	for i := range s.chose {
		s.chose[i] = s.vec()
		s.VMOVUPS(Mem{Base: s.masks, Index: s.index, Scale: 4, Disp: i * s.bytes}, s.chose[i])
	}
	each := func(a, b [4]reg.VecVirtual, op func(a, b, to reg.VecVirtual)) {
		for i := range a {
			op(a[i], b[i], a[i])
		}
	}
	sub := func(a, b, to reg.VecVirtual) { s.VSUBPS(b, a, to) }
	upper, lower := s.see(0), s.see(2)
	each(upper, lower, sub)
	s.along(0, upper)

	upper, lower = s.see(1), s.see(3)
	each(upper, lower, sub)
	s.along(3, upper)

	upper, lower = s.see(1), s.see(2)
	for i := range upper {
		sum := s.vec()
		s.VADDPS(lower[i], upper[i], sum)
		s.VSUBPS(upper[i], lower[i], lower[i])
		upper[i] = sum
	}
	s.along(1, upper)
	s.along(2, lower)
}

// along transforms along the rows and writes a row of points.
func (s *spreader) along(row int, v [4]reg.VecVirtual) {
	var d [4]reg.VecVirtual
	for i := range d {
		d[i] = s.vec()
		s.VSHUFPS(U8([]int{0b10_00_10_00, 0b11_01_11_01}[i%2]), v[i/2*2+1], v[i/2*2], d[i])
	}
	put := func(point int, r reg.VecVirtual) {
		m := s.apart[point]
		m.Base = s.to[row]
		s.VMOVUPS(r, m)
	}
	r := []reg.VecVirtual{s.vec(), s.vec(), s.vec(), s.vec()}
	s.VSUBPS(d[2], d[0], r[0])
	put(0, r[0])
	s.VADDPS(d[2], d[1], r[1])
	put(1, r[1])
	s.VSUBPS(d[1], d[2], r[2])
	put(2, r[2])
	s.VSUBPS(d[3], d[1], r[3])
	put(3, r[3])
}

// join makes places of quads, two registers of filters wide.
func join(c *Context, l level) {
	name := "join" + l.name
	c.Function(name)
	c.Pragma("noescape")
	c.Signature(gen.Pointer("conv", "j", "joiner"))
	c.Doc(fmt.Sprintf("%s makes places of quads for %d filters, the last quad first.", name, l.bytes/2))
	at := c.Load(c.Param("j"), c.GP64()).(reg.GPVirtual)
	load := func(offset int) reg.GPVirtual {
		r := c.GP64()
		c.MOVQ(Mem{Base: at, Disp: offset}, r)
		return r
	}
	src, upper, lower, ld, n := load(joinSrc), load(joinDst), load(joinLine), load(joinLd), load(joinCount)
	c.ADDQ(upper, lower)
	zero, bad := l.vec(c), l.vec(c)
	l.clear(c, zero)
	l.clear(c, bad)
	c.TESTQ(n, n)
	c.JE(LabelRef("done"))
	c.Label("quad")
	for v := range 2 {
		// Down the columns, then along rows.
		point := func(i int) Mem { return Mem{Base: src, Disp: (2*i + v) * l.bytes} }
		var rows [2][4]reg.VecVirtual
		for i := range 4 {
			b, m := l.vec(c), l.vec(c)
			c.VMOVUPS(point(4+i), b)
			c.VMOVAPS(b, m)
			c.VADDPS(point(i), b, b)
			c.VADDPS(point(8+i), b, b)
			c.VSUBPS(point(8+i), m, m)
			c.VSUBPS(point(12+i), m, m)
			rows[0][i], rows[1][i] = b, m
		}
		all := l.vec(c)
		for r, to := range [2]reg.GPVirtual{upper, lower} {
			p, left, right := rows[r], l.vec(c), l.vec(c)
			c.VADDPS(p[1], p[0], left)
			c.VADDPS(p[2], left, left)
			c.VSUBPS(p[2], p[1], right)
			c.VSUBPS(p[3], right, right)
			c.VMOVUPS(left, Mem{Base: to, Disp: v * l.bytes})
			c.VMOVUPS(right, Mem{Base: to, Index: ld, Scale: 1, Disp: v * l.bytes})
			if r == 0 {
				c.VADDPS(right, left, all)
				continue
			}
			c.VADDPS(right, left, left)
			c.VADDPS(left, all, all)
		}
		c.VFMADD231PS(all, zero, bad)
	}
	c.SUBQ(U32(2*points*l.bytes), src)
	for _, to := range []reg.GPVirtual{upper, lower} {
		c.SUBQ(ld, to)
		c.SUBQ(ld, to)
	}
	c.DECQ(n)
	c.JNE(LabelRef("quad"))
	c.VADDPS(Mem{Base: at, Disp: joinBad}, bad, bad)
	c.VMOVUPS(bad, Mem{Base: at, Disp: joinBad})
	c.Label("done")
	end(c)
}

// points is how many elements a transformed quad has.
const points = 16
