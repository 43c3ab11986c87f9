package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of conv.ender, at their offsets.
const (
	enderSrc   = 8 * iota
	enderDst   // one channel after another
	enderRest  // as dst; 0: there is none
	enderFrom  // bytes from one place of src to the next, or from one channel
	enderTo    // bytes from one channel of dst to the next, and of rest
	enderCount // blocks of eight places, or places
	enderRows  // channels
	enderSteps // 0: there are none
	enderLd    // bytes from one step to the next
	enderLo    // eight floats
	enderHi    = enderLo + 32
)

// stepCount is how many steps there are.
const stepCount = 5

// ends writes what sums go through when they are stored.
func ends(c *Context) {
	endTurned(c)
	endRows(c)
}

// An ender is a function that is being written.
type ender struct {
	*Context
	at reg.GPVirtual
}

func newEnder(c *Context, name, doc string) ender {
	c.Function(name)
	c.Pragma("noescape")
	c.Signature(gen.Pointer("conv", "e", "ender"))
	c.Doc(name + " " + doc)
	return ender{c, c.Load(c.Param("e"), c.GP64()).(reg.GPVirtual)}
}

func (e ender) field(offset int) reg.GPVirtual {
	r := e.GP64()
	e.MOVQ(Mem{Base: e.at, Disp: offset}, r)
	return r
}

// step takes a register through one of the steps: plus, minus, times, times, plus.
func (e ender) step(i int, by Op, v reg.VecVirtual) {
	switch i {
	case 1:
		e.VSUBPS(by, v, v)
	case 2, 3:
		e.VMULPS(by, v, v)
	default:
		e.VADDPS(by, v, v)
	}
}

// hold keeps a register between lo and hi; NaN and a zero's sign stay.
func (e ender) hold(lo, hi, v reg.VecVirtual) {
	e.VMAXPS(v, lo, v)
	e.VMINPS(v, hi, v)
}

// bounds loads lo and hi.
func (e ender) bounds() (lo, hi reg.VecVirtual) {
	lo, hi = e.YMM(), e.YMM()
	e.VMOVUPS(Mem{Base: e.at, Disp: enderLo}, lo)
	e.VMOVUPS(Mem{Base: e.at, Disp: enderHi}, hi)
	return lo, hi
}

// endTurned transposes blocks of eight places and eight channels.
func endTurned(c *Context) {
	e := newEnder(c, "endTurnedAVX2", "stores eight channels of blocks of eight places, of which src has one after another.")
	from, to, rest := gen.Eight(c, e.field(enderSrc), e.field(enderFrom)), gen.Eight(c, e.field(enderDst), e.field(enderTo)), e.field(enderRest)
	n := e.field(enderCount)
	var with [stepCount]reg.VecVirtual
	steps, ld := e.field(enderSteps), e.field(enderLd)
	c.TESTQ(steps, steps)
	c.JE(LabelRef("block"))
	for i := range with {
		with[i] = c.YMM()
		c.VMOVUPS(Mem{Base: steps}, with[i])
		if i < stepCount-1 {
			c.ADDQ(ld, steps)
		}
	}
	c.Label("block")
	var r [8]reg.VecVirtual
	for i := range r {
		r[i] = c.YMM()
		c.VMOVUPS(from.At(i), r[i])
	}
	c.TESTQ(steps, steps)
	c.JE(LabelRef("turn"))
	for i, w := range with {
		for _, v := range r {
			e.step(i, w, v)
		}
	}
	c.Label("turn")
	r = gen.Transposed(c, r)
	c.TESTQ(rest, rest)
	c.JE(LabelRef("hold"))
	others := gen.Eight(c, rest, to.By)
	for i, v := range r {
		c.VADDPS(others.At(i), v, v)
	}
	c.ADDQ(Imm(32), rest)
	c.Label("hold")
	lo, hi := e.bounds()
	for i, v := range r {
		e.hold(lo, hi, v)
		c.VMOVUPS(v, to.At(i))
	}
	c.LEAQ(Mem{Base: from.P, Index: from.By, Scale: 8}, from.P)
	from.Far(c)
	c.ADDQ(Imm(32), to.P)
	c.ADDQ(Imm(32), to.P4)
	c.DECQ(n)
	c.JNE(LabelRef("block"))
	end(c)
}

// endRows goes through rows of places.
func endRows(c *Context) {
	e := newEnder(c, "endRowsAVX2", "stores channels of places, at least eight, as src has them.")
	src, dst, rest := e.field(enderSrc), e.field(enderDst), e.field(enderRest)
	from, to := e.field(enderFrom), e.field(enderTo)
	n, rows := e.field(enderCount), e.field(enderRows)
	steps, ld := e.field(enderSteps), e.field(enderLd)
	lo, hi := e.bounds()
	with := make([]reg.VecVirtual, stepCount)
	for i := range with {
		with[i] = c.YMM()
	}
	place, i := c.GP64(), c.GP64()
	work := func(label string, at Mem, v reg.VecVirtual) {
		c.TESTQ(steps, steps)
		c.JE(LabelRef(label + "_rest"))
		for i, w := range with {
			e.step(i, w, v)
		}
		c.Label(label + "_rest")
		c.TESTQ(rest, rest)
		c.JE(LabelRef(label + "_hold"))
		at.Base = rest
		c.VADDPS(at, v, v)
		c.Label(label + "_hold")
		e.hold(lo, hi, v)
	}
	c.Label("row")
	c.TESTQ(steps, steps)
	c.JE(LabelRef("places"))
	c.MOVQ(steps, place)
	for i, w := range with {
		c.VBROADCASTSS(Mem{Base: place}, w)
		if i < stepCount-1 {
			c.ADDQ(ld, place)
		}
	}
	c.ADDQ(Imm(4), steps)
	c.Label("places")
	// The last register overlaps the one before: it is read first and written last.
	v, last := c.YMM(), c.YMM()
	end8 := Mem{Index: n, Scale: 4, Disp: -32}
	in := func(m Mem, base reg.GPVirtual) Mem { m.Base = base; return m }
	c.VMOVUPS(in(end8, src), last)
	work("last", end8, last)
	c.MOVQ(U32(8), i)
	c.CMPQ(i, n)
	c.JGE(LabelRef("end"))
	c.Label("next")
	here := Mem{Index: i, Scale: 4, Disp: -32}
	c.VMOVUPS(in(here, src), v)
	work("next", here, v)
	c.VMOVUPS(v, in(here, dst))
	c.ADDQ(Imm(8), i)
	c.CMPQ(i, n)
	c.JLT(LabelRef("next"))
	c.Label("end")
	c.VMOVUPS(last, in(end8, dst))
	c.ADDQ(from, src)
	c.ADDQ(to, dst)
	c.TESTQ(rest, rest)
	c.JE(LabelRef("down"))
	c.ADDQ(to, rest)
	c.Label("down")
	c.DECQ(rows)
	c.JNE(LabelRef("row"))
	end(c)
}
