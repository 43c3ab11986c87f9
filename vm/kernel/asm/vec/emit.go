package main

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// none is the register of a node that is in none.
const none = -1

// A target is an instruction set of amd64: its registers and what its instructions
// are called.
type target struct {
	name    string // begins the names of functions
	regs    []reg.VecPhysical
	xmm     []reg.VecPhysical
	ymm     []reg.VecPhysical
	vectors int // registers of the accumulator, the first ones
	bytes   int // of a register
	evex    bool
}

var (
	xmms = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23, reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31}
	ymms = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
		reg.Y16, reg.Y17, reg.Y18, reg.Y19, reg.Y20, reg.Y21, reg.Y22, reg.Y23, reg.Y24, reg.Y25, reg.Y26, reg.Y27, reg.Y28, reg.Y29, reg.Y30, reg.Y31}
	zmms = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
	kregs = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7}

	avx2   = &target{name: "avx2", regs: ymms[:16], xmm: xmms, ymm: ymms, vectors: 8, bytes: 32}
	avx512 = &target{name: "avx512", regs: zmms, xmm: xmms, ymm: ymms, vectors: 4, bytes: 64, evex: true}
)

// An emitter writes the functions of a target.
type emitter struct {
	*target
	c      *build.Context
	consts map[string]operand.Mem
	// singles are the names of those that are there once.
	singles map[string]bool
	wide    bool
	free    []int // registers
	kfree   []int // mask registers of evex
	memory  [3]operand.Mem
	now     int     // the node that is written
	live    []*node // the graph's
	slots   []bool  // which places aside are in use
}

// do writes the instruction of a name.
func (e *emitter) do(name string, ops ...operand.Op) {
	if slices.ContainsFunc(ops, e.single) {
		name = e.spreading(name)
	}
	m := reflect.ValueOf(e.c).MethodByName(name)
	if !m.IsValid() {
		panic("no instruction " + name)
	}
	in := make([]reflect.Value, len(ops))
	for i, o := range ops {
		in[i] = reflect.ValueOf(o)
	}
	m.Call(in)
}

// function begins a function without a frame.
func (e *emitter) function(name, doc string) string {
	full := e.target.name + name
	e.c.Function(full)
	e.c.Attributes(attr.NOSPLIT | attr.NOFRAME)
	e.c.SignatureExpr("func()")
	e.c.Doc(full + " " + doc)
	return full
}

// jump ends a function by a jump to an address in a register, or to another function.
func (e *emitter) jump(to operand.Op) {
	e.c.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []operand.Op{to}, Inputs: []operand.Op{to}, IsTerminal: true})
}

func symbol(name string) operand.Mem {
	return operand.Mem{Symbol: operand.Symbol{Name: "·" + name}, Base: reg.StaticBase}
}

// single reports whether an operand is a constant that fills a register on its way.
func (e *emitter) single(o operand.Op) bool {
	m, ok := o.(operand.Mem)
	return ok && e.singles[m.Symbol.Name]
}

// spreading is the name of an instruction with such an operand.
func (e *emitter) spreading(name string) string {
	switch {
	case name != "VMOVUPS":
		return name + "_BCST"
	case e.wide:
		return "VBROADCASTSD"
	}
	return "VBROADCASTSS"
}

// constantOf is where a constant lies, as often as a register has lanes or, where
// instructions can spread it, once.
func (e *emitter) constantOf(n *node) operand.Mem {
	size := 4
	if e.wide {
		size = 8
	}
	key := fmt.Sprintf("%s%d%x", e.target.name, size, n.bits)
	if m, ok := e.consts[key]; ok {
		return m
	}
	m := e.c.StaticGlobal(key)
	e.c.DataAttributes(attr.RODATA | attr.NOPTR)
	bits := n.bits
	if size == 4 {
		bits |= bits << 32
	}
	switch {
	case !e.evex:
		for range e.bytes / 8 {
			e.c.AppendDatum(operand.U64(bits))
		}
	case size == 8:
		e.c.AppendDatum(operand.U64(bits))
	default:
		e.c.AppendDatum(operand.U32(n.bits))
	}
	e.singles[m.Symbol.Name] = e.evex
	e.consts[key] = m
	return m
}

// suffixes of instructions: of floats, of integers, of bit operations.
func (e *emitter) ps(name string) string {
	if e.wide {
		return name + "PD"
	}
	return name + "PS"
}

func (e *emitter) int(name string) string {
	if e.wide {
		return name + "Q"
	}
	return name + "D"
}

func (e *emitter) bit(name string) string {
	if e.evex {
		return e.int(name)
	}
	return name
}

// take takes a register, that of the result by preference.
func (e *emitter) take(prefer int) int {
	if len(e.free) == 0 {
		e.spill()
	}
	for i, r := range e.free {
		if r == prefer {
			e.free = append(e.free[:i], e.free[i+1:]...)
			return r
		}
	}
	r := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	return r
}

// spill puts aside the node that is read last among those in registers that the
// current one does not read.
func (e *emitter) spill() {
	var victim *node
	next := -1
	for _, n := range e.live[:e.now] {
		if n.reg == none || n.uses == 0 || n.mask && e.evex || count(e.live[e.now].args, n) > 0 {
			continue
		}
		if at := n.next(e.now); at > next {
			victim, next = n, at
		}
	}
	if victim == nil {
		panic("out of registers")
	}
	k := 0
	for k < len(e.slots) && e.slots[k] {
		k++
	}
	if k == spills {
		panic("out of places to put registers aside")
	}
	if k == len(e.slots) {
		e.slots = append(e.slots, false)
	}
	e.slots[k] = true
	victim.slot = k + 1
	e.do("VMOVUPS", e.regs[victim.reg], e.aside(victim))
	e.give(victim.reg)
	victim.reg = none
}

// next is where a node is read next, from a place on.
func (n *node) next(now int) int {
	for _, at := range n.last {
		if at >= now {
			return at
		}
	}
	return -1
}

// aside is the place of a node that was put aside.
func (e *emitter) aside(n *node) operand.Mem {
	return operand.Mem{Base: state, Disp: spillAt + (n.slot-1)*e.bytes}
}

// readers notes where each node is read.
func (g *graph) readers() {
	for i, n := range g.nodes {
		for _, a := range n.args {
			a.last = append(a.last, i)
		}
	}
}

func (e *emitter) give(r int) { e.free = append(e.free, r) }

// reg is the register of a node; one in memory is loaded. loaded says that it has to
// be given back.
func (e *emitter) reg(n *node) (r reg.VecPhysical, loaded int) {
	if n.reg != none {
		return e.regs[n.reg], none
	}
	t := e.take(none)
	e.do("VMOVUPS", e.where(n), e.regs[t])
	return e.regs[t], t
}

// where is the memory of a node that is not computed.
func (e *emitter) where(n *node) operand.Mem {
	if n.op == constant {
		return e.constantOf(n)
	}
	if n.slot > 0 {
		return e.aside(n)
	}
	if n.op != input {
		panic(fmt.Sprintf("operation %d has no memory", n.op))
	}
	return e.memory[n.imm]
}

// any is a node as the operand of an instruction that may be in memory.
func (e *emitter) any(n *node) operand.Op {
	if n.reg != none {
		return e.regs[n.reg]
	}
	return e.where(n)
}

// done notes that an instruction has read a node, and frees its register if it was
// the last.
func (e *emitter) done(n *node) {
	n.uses--
	if n.uses == 0 && n.slot > 0 {
		e.slots[n.slot-1] = false
	}
	if n.uses == 0 && n.reg != none {
		if n.mask && e.evex {
			e.kfree = append(e.kfree, n.reg)
		} else {
			e.give(n.reg)
		}
	}
}

func (e *emitter) k(n *node) reg.OpmaskPhysical { return kregs[n.reg] }

func (e *emitter) takeK() int {
	if len(e.kfree) == 0 {
		panic("out of mask registers")
	}
	k := e.kfree[len(e.kfree)-1]
	e.kfree = e.kfree[:len(e.kfree)-1]
	return k
}

// simple are the operations that are one instruction of two arguments, the second in
// a register of its own: what it is called, and which suffix it takes. swap says that
// the arguments commute.
var simple = map[op]struct {
	name string
	end  func(*emitter, string) string
	swap bool
}{
	add: {"VADD", (*emitter).ps, true}, sub: {"VSUB", (*emitter).ps, false}, mul: {"VMUL", (*emitter).ps, true}, div: {"VDIV", (*emitter).ps, false},
	least: {"VMIN", (*emitter).ps, false}, most: {"VMAX", (*emitter).ps, false},
	and: {"VPAND", (*emitter).bit, true}, or: {"VPOR", (*emitter).bit, true}, xor: {"VPXOR", (*emitter).bit, true}, andn: {"VPANDN", (*emitter).bit, false},
	addInt: {"VPADD", (*emitter).int, true}, subInt: {"VPSUB", (*emitter).int, false}, mulInt: {"VPMULL", (*emitter).int, true},
	leastInt: {"VPMINS", (*emitter).int, true}, mostInt: {"VPMAXS", (*emitter).int, true},
}

// compute writes one node.
func (e *emitter) compute(n *node, prefer int) {
	switch n.op {
	case input, constant:
		return
	case fma, fnma:
		e.product(n, prefer)
	case compare, compareInt, both, either, negative, ofLanes:
		e.truth(n)
	case choose:
		e.choose(n, prefer)
	case lanes:
		e.lanes(n, prefer)
	case scale:
		e.binary(n, "VSCALEF", (*emitter).ps, prefer)
	case half:
		e.half(n, prefer)
	case sqrt, round, toInt, toFloat, shl, shr, sar:
		e.unary(n, prefer)
	default:
		s := simple[n.op]
		a := n.args
		if s.swap && a[0].reg == none && a[1].reg != none {
			a[0], a[1] = a[1], a[0]
		}
		e.binary(n, s.name, s.end, prefer)
	}
}

func (e *emitter) binary(n *node, name string, end func(*emitter, string) string, prefer int) {
	a, loaded := e.reg(n.args[0])
	b := e.any(n.args[1])
	if loaded != none {
		e.give(loaded)
	}
	e.done(n.args[0])
	e.done(n.args[1])
	n.reg = e.take(prefer)
	e.do(end(e, name), b, a, e.regs[n.reg])
}

func (e *emitter) unary(n *node, prefer int) {
	a := e.any(n.args[0])
	if n.op == shl || n.op == shr || n.op == sar {
		var loaded int
		var r reg.VecPhysical
		if r, loaded = e.reg(n.args[0]); loaded != none {
			e.give(loaded)
		}
		a = r
	}
	e.done(n.args[0])
	n.reg = e.take(prefer)
	to := e.regs[n.reg]
	switch n.op {
	case sqrt:
		e.do(e.ps("VSQRT"), a, to)
	case round:
		if e.evex {
			e.do(e.ps("VRNDSCALE"), operand.U8(n.imm), a, to)
		} else {
			e.do(e.ps("VROUND"), operand.U8(n.imm), a, to)
		}
	case toInt:
		e.do("VCVTTPS2DQ", a, to)
	case toFloat:
		e.do("VCVTDQ2PS", a, to)
	case shl:
		e.do(e.int("VPSLL"), operand.U8(n.imm), a, to)
	case shr:
		e.do(e.int("VPSRL"), operand.U8(n.imm), a, to)
	case sar:
		e.do(e.int("VPSRA"), operand.U8(n.imm), a, to)
	}
}

// product writes a product and sum. One of its three registers is overwritten: that of
// an argument that nobody reads again, or a copy.
func (e *emitter) product(n *node, prefer int) {
	a, b, c := n.args[0], n.args[1], n.args[2]
	if a.reg == none && b.reg != none {
		a, b = b, a
	}
	name := "VFMADD"
	if n.op == fnma {
		name = "VFNMADD"
	}
	dies := func(x *node) bool { return x.reg != none && x.uses == count(n.args, x) }
	var loaded []int
	in := func(x *node) reg.VecPhysical {
		r, l := e.reg(x)
		if l != none {
			loaded = append(loaded, l)
		}
		return r
	}
	finish := func(to int) {
		for _, l := range loaded {
			if l != to {
				e.give(l)
			}
		}
		for _, x := range n.args {
			if x.reg == to {
				x.uses--
				continue
			}
			e.done(x)
		}
		n.reg = to
	}
	switch {
	case b.reg == none: // a*m + c
		if dies(a) && a != c {
			e.do(e.ps(name+"132"), e.any(b), in(c), e.regs[a.reg])
			finish(a.reg)
			return
		}
		if dies(c) && a != c {
			e.do(e.ps(name+"231"), e.any(b), in(a), e.regs[c.reg])
			finish(c.reg)
			return
		}
		if c.reg == none {
			to := e.take(prefer)
			e.do("VMOVUPS", e.any(c), e.regs[to])
			e.do(e.ps(name+"231"), e.any(b), in(a), e.regs[to])
			finish(to)
			return
		}
		to := e.take(prefer)
		e.do("VMOVAPS", in(a), e.regs[to])
		e.do(e.ps(name+"132"), e.any(b), in(c), e.regs[to])
		finish(to)
	case dies(c) && a != c && b != c:
		e.do(e.ps(name+"231"), in(b), in(a), e.regs[c.reg])
		finish(c.reg)
	case dies(a) && a != b && a != c:
		e.do(e.ps(name+"213"), e.any(c), in(b), e.regs[a.reg])
		finish(a.reg)
	case dies(b) && a != b && b != c:
		e.do(e.ps(name+"213"), e.any(c), in(a), e.regs[b.reg])
		finish(b.reg)
	default:
		to := e.take(prefer)
		e.do("VMOVUPS", e.any(c), e.regs[to])
		e.do(e.ps(name+"231"), in(b), in(a), e.regs[to])
		finish(to)
	}
}

func count(list []*node, x *node) (n int) {
	for _, y := range list {
		if x == y {
			n++
		}
	}
	return n
}
