package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The registers of the machine, in every function of it.
var (
	pc      = reg.R8  // the instruction
	table   = reg.R9  // of operands
	left    = reg.R10 // how many blocks are to come, this one included
	walkers = reg.R11 // how many operands, the first of the table, walk
	program = reg.R12
	state   = reg.R13
	to      = reg.RAX // where the machine jumps
	ptrs    = [3]reg.GPPhysical{1: reg.RBX, 2: reg.RCX}
	counter = reg.RCX
	step    = reg.RDX
)

// Places in package vec's types.
const (
	instSize = 16
	instA    = 8
	accAt    = 0
	pcAt     = 256
	leftAt   = 264
	walkAt   = 272
	spillAt  = 320
	spills   = 8
	entry    = 16 // an operand's size; its step is in the second half
)

// operands finds n operands.
func (e *emitter) operands(n int) {
	for i := 1; i <= n; i++ {
		e.c.MOVWLZX(operand.Mem{Base: pc, Disp: instA + 2*(i-1)}, to.As32())
		e.c.MOVQ(operand.Mem{Base: table, Index: to, Scale: 1}, ptrs[i])
	}
}

// next jumps to the following instruction.
func (e *emitter) next() { e.after(1) }

// after jumps to the instruction that is so many further.
func (e *emitter) after(n int) {
	e.c.MOVQ(operand.Mem{Base: pc, Disp: n * instSize}, to)
	e.c.ADDQ(operand.U8(n*instSize), pc)
	e.jump(to)
}

// A function is a code's name, how many operands it has, whether it takes long, whether it
// computes in float64, and what it computes. guard, if there, finds lanes that it can't do.
type function struct {
	code  string
	args  int
	long  bool
	wide  bool
	make  func(g *graph, x, a, b *node) *node
	steps []function // instead of make: what it computes in turn
	guard func(g *graph, x, a, b *node) *node
}

// code writes a function, whose name has an end of its own.
func (e *emitter) code(f function, end string) string {
	name := e.function(f.code+end, "is the code "+f.code+".")
	e.wide = false
	e.operands(f.args)
	if f.guard != nil {
		e.guard(f)
	}
	e.wide = f.wide
	if f.long {
		e.byPieces(f)
		e.next()
		return name
	}
	for _, f := range f.inTurn() {
		for i := range e.vectors {
			e.point(i)
			g, result := e.graph(f, f.make)
			e.run(g, result, i, e.temps())
		}
	}
	e.next()
	return name
}

// inTurn are the functions that a function is made of, each of which is computed for all
// of the accumulator before the next, so that no instruction waits for the one before.
func (f function) inTurn() []function {
	if f.steps != nil {
		return f.steps
	}
	return []function{f}
}

// point sets where the operands of a vector lie.
func (e *emitter) point(i int) {
	for j := range e.memory {
		e.memory[j] = operand.Mem{Base: ptrs[j], Disp: i * e.bytes}
	}
}

// last are the last n registers, the first of which is taken first.
func (e *emitter) last(n int) (free []int) {
	for r := range n {
		free = append(free, len(e.regs)-1-r)
	}
	return free
}

// temps are the registers besides the accumulator's.
func (e *emitter) temps() []int { return e.last(len(e.regs) - e.vectors) }

func (e *emitter) graph(f function, make func(g *graph, x, a, b *node) *node) (*graph, *node) {
	g := newGraph(e.wide)
	g.scaled, g.bySign = e.evex, !e.evex
	ins := [3]*node{g.in(0)}
	for i := 1; i <= f.args; i++ {
		ins[i] = g.in(i)
	}
	result := make(g, ins[0], ins[1], ins[2])
	g.keep(result)
	return g, result
}

// run computes a graph whose first input is in a register, which the result takes.
func (e *emitter) run(g *graph, result *node, r int, temps []int) {
	e.begin(g, temps)
	last := len(g.nodes) - 1
	for i, n := range g.nodes {
		e.now = i
		if n.op == input {
			e.enter(n, r)
			continue
		}
		prefer := none
		if i == last {
			prefer = r
		}
		e.compute(n, prefer)
	}
	e.leave(result, r)
}

// begin makes ready for the nodes of a graph.
func (e *emitter) begin(g *graph, free []int) {
	g.readers()
	e.live, e.free = g.nodes, free
	e.slots = e.slots[:0]
	e.kfree = []int{6, 5, 4, 3, 2, 1, 0}
}

// enter gives the inputs registers: the first has one; another that is read several
// times is loaded once.
func (e *emitter) enter(n *node, r int) {
	if n.imm == 0 {
		n.reg = r
		return
	}
	if n.uses > 1 {
		n.reg = e.take(none)
		e.do("VMOVUPS", e.memory[n.imm], e.regs[n.reg])
	}
}

// leave moves the result to its register.
func (e *emitter) leave(result *node, r int) {
	switch {
	case result.reg == none:
		e.do("VMOVUPS", e.where(result), e.regs[r])
	case result.reg != r:
		e.do("VMOVAPS", e.regs[result.reg], e.regs[r])
	}
}

// byPieces computes a function with the accumulator in memory, piece by piece in a loop: what
// takes long needs no code of its own for each register.
func (e *emitter) byPieces(f function) {
	for i, r := range e.regs[:e.vectors] {
		e.do("VMOVUPS", r, e.acc(i))
	}
	e.c.XORL(step.As32(), step.As32())
	e.c.Label("piece")
	for range pieces {
		e.piece(f)
	}
	e.c.CMPQ(step, operand.I32(e.bytes*e.vectors))
	e.c.JLT(operand.LabelRef("piece"))
	for i, r := range e.regs[:e.vectors] {
		e.do("VMOVUPS", e.acc(i), r)
	}
}

// pieces is how many pieces a loop has in a row.
const pieces = 1

// piece computes what fits a register: of floats of eight bytes half as many.
func (e *emitter) piece(f function) {
	at := operand.Mem{Base: state, Disp: accAt, Index: step, Scale: 1}
	for i := range e.memory {
		e.memory[i] = operand.Mem{Base: ptrs[i], Index: step, Scale: 1}
	}
	g, result := e.graph(f, f.make)
	e.begin(g, e.last(len(e.regs)))
	for i, n := range g.nodes {
		e.now = i
		switch {
		case n.op != input:
			e.compute(n, none)
		case n.imm == 0:
			e.load(n, at)
		case f.wide || n.uses > 1:
			e.load(n, e.memory[n.imm])
		}
	}
	r, bytes := result.reg, e.bytes
	if f.wide {
		bytes /= 2
		e.do(map[bool]string{false: "VCVTPD2PSY", true: "VCVTPD2PS"}[e.evex], e.regs[r], e.narrow(r))
		e.do("VMOVUPS", e.narrow(r), at)
	} else {
		e.do("VMOVUPS", e.regs[r], at)
	}
	e.c.ADDQ(operand.U8(bytes), step)
}

// load brings an input into a register, wide if the function is.
func (e *emitter) load(n *node, from operand.Mem) {
	n.reg = e.take(none)
	name := "VMOVUPS"
	if e.wide {
		name = "VCVTPS2PD"
	}
	e.do(name, from, e.regs[n.reg])
}

// guard leaves the machine if there are lanes that the function can't do.
func (e *emitter) guard(f function) {
	sum := len(e.regs) - 1
	for i := range e.vectors {
		e.point(i)
		g, m := e.graph(f, f.guard)
		result := g.lanesOf(m)
		result.uses++
		var free []int
		for r := sum - 1; r >= e.vectors; r-- {
			free = append(free, r)
		}
		e.begin(g, free)
		for at, n := range g.nodes {
			e.now = at
			if n.op == input {
				if n.imm == 0 {
					n.reg, n.uses = i, n.uses+1 // it stays
				}
				continue
			}
			e.compute(n, none)
		}
		if i == 0 {
			e.do("VMOVAPS", e.regs[result.reg], e.regs[sum])
			continue
		}
		e.do(e.bit("VPOR"), e.regs[result.reg], e.regs[sum], e.regs[sum])
	}
	if e.evex {
		e.do("VPMOVD2M", e.regs[sum], reg.K1)
		e.do("KORTESTW", reg.K1, reg.K1)
	} else {
		e.do("VMOVMSKPS", e.regs[sum], to.As32())
		e.do("TESTL", to.As32(), to.As32())
	}
	e.c.JEQ(operand.LabelRef("all"))
	e.jump(symbol(e.target.name + "Trap"))
	e.c.Label("all")
}
