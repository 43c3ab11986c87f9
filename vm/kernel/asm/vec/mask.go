package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Masks are registers of their own in AVX-512, and lanes of ones and zeros before. A
// comparison of integers, which has fewer forms before, is written by their swapping
// and negating.

// truth writes a node that is true or false.
func (e *emitter) truth(n *node) {
	if e.evex {
		e.truthK(n)
		return
	}
	switch n.op {
	case negative, ofLanes: // what chooses looks at the sign only
		r, loaded := e.reg(n.args[0])
		e.done(n.args[0])
		if loaded == none {
			n.reg = e.take(none)
			e.do("VMOVAPS", r, e.regs[n.reg])
			return
		}
		n.reg = loaded
	case both:
		e.binary(n, "VAND", (*emitter).ps, none)
	case either:
		e.binary(n, "VOR", (*emitter).ps, none)
	case compare:
		a, loaded := e.reg(n.args[0])
		b := e.any(n.args[1])
		if loaded != none {
			e.give(loaded)
		}
		e.done(n.args[0])
		e.done(n.args[1])
		n.reg = e.take(none)
		e.do(e.ps("VCMP"), operand.U8(n.imm), b, a, e.regs[n.reg])
	case compareInt:
		name := map[int]string{eq: "VPCMPEQ", gt: "VPCMPGT"}[n.imm]
		if name == "" {
			panic("no such comparison of integers")
		}
		e.binary(n, name, (*emitter).int, none)
	}
}

func (e *emitter) truthK(n *node) {
	var a, b operand.Op
	switch n.op {
	case both, either:
		a, b = e.k(n.args[0]), e.k(n.args[1])
	default:
		r, loaded := e.reg(n.args[0])
		a = r
		if len(n.args) > 1 {
			b = e.any(n.args[1])
		}
		if loaded != none {
			e.give(loaded)
		}
	}
	for _, x := range n.args {
		e.done(x)
	}
	n.reg = e.takeK()
	switch n.op {
	case both:
		e.do("KANDW", a, b, e.k(n))
	case either:
		e.do("KORW", a, b, e.k(n))
	case negative, ofLanes:
		e.do(map[bool]string{false: "VPMOVD2M", true: "VPMOVQ2M"}[e.wide], a, e.k(n))
	case compare:
		e.do(e.ps("VCMP"), operand.U8(n.imm), b, a, e.k(n))
	case compareInt:
		e.do(e.int("VPCMP"), operand.U8(map[int]int{eq: 0, gt: 6}[n.imm]), b, a, e.k(n))
	}
}

// choose takes the first where the mask is set, else the second.
func (e *emitter) choose(n *node, prefer int) {
	m, yes, no := n.args[0], n.args[1], n.args[2]
	b, loaded := e.reg(no)
	a := e.any(yes)
	var mask operand.Op
	loadedMask := none
	if e.evex {
		mask = e.k(m)
	} else {
		mask, loadedMask = e.reg(m)
	}
	for _, l := range []int{loaded, loadedMask} {
		if l != none {
			e.give(l)
		}
	}
	for _, x := range n.args {
		e.done(x)
	}
	n.reg = e.take(prefer)
	if e.evex {
		e.do(e.ps("VBLENDM"), a, b, mask, e.regs[n.reg])
		return
	}
	e.do(e.ps("VBLENDV"), mask, a, b, e.regs[n.reg])
}

// lanes makes ones and zeros of a mask.
func (e *emitter) lanes(n *node, prefer int) {
	m := n.args[0]
	if e.evex {
		k := e.k(m)
		e.done(m)
		n.reg = e.take(prefer)
		e.do(map[bool]string{false: "VPMOVM2D", true: "VPMOVM2Q"}[e.wide], k, e.regs[n.reg])
		return
	}
	from, loaded := e.reg(m)
	if loaded != none {
		e.give(loaded)
	}
	e.done(m)
	n.reg = e.take(prefer)
	if e.regs[n.reg] != from {
		e.do("VMOVAPS", from, e.regs[n.reg])
	}
}

// half rounds to half floats and widens again.
func (e *emitter) half(n *node, prefer int) {
	a, loaded := e.reg(n.args[0])
	if loaded != none {
		e.give(loaded)
	}
	e.done(n.args[0])
	n.reg = e.take(prefer)
	narrow := e.narrow(n.reg)
	e.do("VCVTPS2PH", operand.U8(0), a, narrow)
	e.do("VCVTPH2PS", narrow, e.regs[n.reg])
}

// narrow is the lower half of a register.
func (e *emitter) narrow(r int) reg.VecPhysical {
	if e.evex {
		return e.ymm[r]
	}
	return e.xmm[r]
}
