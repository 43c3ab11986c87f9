package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// write writes a machine: what enters and leaves it, and all codes.
func write(t *target, codes []string) func(*build.Context) {
	return func(c *build.Context) {
		e := &emitter{target: t, c: c, consts: map[string]operand.Mem{}, singles: map[string]bool{}}
		e.enterMachine()
		e.trap()
		names := map[string][]string{"End": {e.endOfProgram()}}
		for _, f := range few {
			names[f.code] = copies(f.code, func(end string) string { return e.code(f, end) })
		}
		for _, f := range pairs() {
			names[f.code] = []string{e.code(f, "")}
		}
		for _, steps := range chains() {
			names[chainName(steps)] = copies(chainName(steps), func(end string) string { return e.chain(steps, end) })
		}
		for _, f := range slices.Concat(elementary, wides) {
			f.long = !slices.Contains(hot, f.code)
			names[f.code] = []string{e.code(f, "")}
		}
		for _, l := range loops {
			names[l.code] = []string{e.loop(l)}
		}
		e.fence()
		for _, m := range moves {
			names[m.code] = copies(m.code, func(end string) string { return e.move(m, end) })
		}
		e.addresses(codes, names)
	}
}

// copyCount is how many copies the functions have that come often and cost little. A processor
// foretells where the jump at the end of a function goes by where it went from there before;
// functions that come several times in a program would go to several places. Seen: twelve codes
// with a row each take 116 cycles a block instead of 186.
const copyCount = 4

// hot are functions that networks spend time in: they are written out for all of the
// accumulator, which in a loop would go through memory, and take a tenth to a fifth more.
var hot = []string{"Exp", "Tanh", "Sigmoid", "Silu", "Softplus", "Gelu", "GeluTanh", "Erf"}

var often = []string{"Load", "Save", "Add", "Sub", "SubFrom", "Mul", "Div", "MaxPlain", "MinPlain", "Neg", "Abs", "Square", "Relu", "Where"}

func copies(code string, write func(end string) string) (names []string) {
	n := 1
	switch {
	case slices.Contains(often, code):
		n = copyCount
	case strings.HasPrefix(code, "Chain"):
		n = copyCount / 2
	}
	for i := range n {
		end := ""
		if i > 0 {
			end = fmt.Sprint(i)
		}
		names = append(names, write(end))
	}
	return names
}

// acc is where the state keeps a vector of the accumulator.
func (e *emitter) acc(i int) operand.Mem { return operand.Mem{Base: state, Disp: accAt + i*e.bytes} }

func stateAt(disp int) operand.Mem { return operand.Mem{Base: state, Disp: disp} }

// enterMachine writes the function that Go calls. All others have its frame, which is
// empty, so that each of them returns to Go, and a traceback finds the caller.
func (e *emitter) enterMachine() {
	name := e.target.name + "Run"
	e.c.Function(name)
	e.c.Attributes(attr.NOSPLIT | attr.NOFRAME)
	e.c.Pragma("noescape")
	e.c.SignatureExpr("func(s, code, operands *byte)")
	e.c.Doc(name + " runs a program from where the state says to its end, or to a code that it can't run.")
	e.c.Load(e.c.Param("s"), state)
	e.c.Load(e.c.Param("code"), program)
	e.c.Load(e.c.Param("operands"), table)
	e.c.MOVQ(stateAt(pcAt), pc)
	e.c.ADDQ(program, pc)
	e.c.MOVQ(stateAt(leftAt), left)
	e.c.MOVQ(stateAt(walkAt), walkers)
	for i := range e.vectors {
		e.do("VMOVUPS", e.acc(i), e.regs[i])
	}
	e.c.MOVQ(operand.Mem{Base: pc}, to)
	e.jump(to)
}

// endOfProgram goes on with the next block.
func (e *emitter) endOfProgram() string {
	name := e.function("End", "ends the program for a block.")
	e.nextBlock(0, e.walk)
	return name
}

// nextBlock goes on with the next block at an instruction of the program, if there is
// one, after what is done before.
func (e *emitter) nextBlock(instruction int, before ...func()) {
	e.c.DECQ(left)
	e.c.JEQ(operand.LabelRef("done"))
	for _, f := range before {
		f()
	}
	e.c.MOVQ(operand.Mem{Base: program, Disp: instruction * instSize}, to)
	if instruction == 0 {
		e.c.MOVQ(program, pc)
	} else {
		e.c.LEAQ(operand.Mem{Base: program, Disp: instruction * instSize}, pc)
	}
	e.jump(to)
	e.c.Label("done")
	e.c.MOVQ(operand.I32(-1), stateAt(pcAt))
	e.c.VZEROUPPER()
	e.c.RET()
}

// walk moves the operands that walk on, two at a time: an entry that follows the last is
// of one that stays.
func (e *emitter) walk() {
	e.c.MOVQ(walkers, counter)
	e.c.MOVQ(table, to)
	e.c.Label("walk")
	for i := range 2 {
		e.c.MOVQ(operand.Mem{Base: to, Disp: i*entry + entry/2}, step)
		e.c.ADDQ(step, operand.Mem{Base: to, Disp: i * entry})
	}
	e.c.ADDQ(operand.U8(2*entry), to)
	e.c.SUBQ(operand.U8(2), counter)
	e.c.JHI(operand.LabelRef("walk"))
}

// A loop is a code that saves the accumulator, goes on with the next block and loads it:
// it ends programs that begin with a load, which it then skips.
type loop struct {
	code       string
	two        bool // only what it saves to and loads from walks
	save, load func(e *emitter, i int)
}

var loops = []loop{
	{"SaveLoad", false, save, load},
	{"SaveLoadTwo", true, save, load},
	{"StreamLoad", false, stream, intoFirst.load},
	{"StreamLoadTwo", true, stream, intoFirst.load},
	{"StreamLoadSecond", false, stream, intoSecond.load},
	{"StreamLoadSecondTwo", true, stream, intoSecond.load},
}

func (e *emitter) loop(l loop) string {
	name := e.function(l.code, "is the code "+l.code+".")
	e.operands(1)
	if strings.HasPrefix(l.code, "Stream") {
		e.pageAhead()
	}
	for i := range e.vectors {
		l.save(e, i)
	}
	before := []func(){e.walk, e.second}
	if l.two {
		before = []func(){e.walkTwo}
	}
	e.nextBlock(1, append(before, func() {
		for i := range e.vectors {
			l.load(e, i)
		}
	})...)
	return name
}

// second finds the second operand of an instruction as if it were the first.
func (e *emitter) second() {
	e.c.MOVWLZX(operand.Mem{Base: pc, Disp: instA + 2}, to.As32())
	e.c.MOVQ(operand.Mem{Base: table, Index: to, Scale: 1}, ptrs[1])
}

// walkTwo moves both operands on, and leaves where the second is now.
func (e *emitter) walkTwo() {
	e.c.MOVWLZX(operand.Mem{Base: pc, Disp: instA}, to.As32())
	e.step1(ptrs[1])
	e.second()
	e.step1(ptrs[1])
}

// step1 moves an operand on whose entry is found and whose pointer is in a register.
func (e *emitter) step1(p reg.Register) {
	entryAt := operand.Mem{Base: table, Index: to, Scale: 1}
	e.c.ADDQ(entryAt.Offset(entry/2), p)
	e.c.MOVQ(p, entryAt)
}

// trap leaves the machine at a code that Go has to run.
func (e *emitter) trap() {
	e.function("Trap", "returns to Go at the instruction.")
	e.c.SUBQ(program, pc)
	e.c.MOVQ(pc, stateAt(pcAt))
	e.c.MOVQ(left, stateAt(leftAt))
	for i := range e.vectors {
		e.do("VMOVUPS", e.regs[i], e.acc(i))
	}
	e.c.VZEROUPPER()
	e.c.RET()
}

// An address is that of a function, as data.
type address struct {
	operand.Constant
	name string
}

func (a address) Asm() string { return "$·" + a.name + "(SB)" }

// addresses writes the table of the codes' functions, and the function that gives it
// to Go.
func (e *emitter) addresses(codes []string, names map[string][]string) {
	m := e.c.StaticGlobal(e.target.name + "Addresses")
	e.c.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, code := range codes {
		list := names[code]
		if list == nil {
			list = []string{e.target.name + "Trap"}
		}
		delete(names, code)
		for i := range copyCount {
			e.c.AppendDatum(address{operand.U64(0), list[i%len(list)]})
		}
	}
	for name := range names {
		panic("package vec has no code " + name)
	}
	name := e.target.name + "Table"
	e.c.Function(name)
	e.c.Attributes(attr.NOSPLIT)
	e.c.SignatureExpr("func() *uintptr")
	e.c.Doc(name + " points at the addresses of the codes' functions, four for each code, in their order.")
	r := e.c.GP64()
	e.c.LEAQ(m, r)
	e.c.Store(r, e.c.ReturnIndex(0))
	e.c.RET()
}

// A move is a code that loads or saves.
type move struct {
	code  string
	shift int // an element in memory has four bytes shifted right
	write func(e *emitter, i int)
}

func (e *emitter) move(m move, end string) string {
	name := e.function(m.code+end, "is the code "+m.code+".")
	e.wide = false
	e.operands(1)
	for i := range e.vectors {
		m.write(e, i)
	}
	e.next()
	return name
}

// part is where the elements of vector i lie.
func (e *emitter) part(i, shift int) operand.Mem {
	return operand.Mem{Base: ptrs[1], Disp: i * e.bytes >> shift}
}

var moves = []move{
	{"Load", 0, load},
	{"LoadAhead", 0, intoFirst.load},
	{"LoadAheadSecond", 0, intoSecond.load},
	{"Save", 0, save},
	{"Stream", 0, stream},
	{"LoadBool", 2, loadBool},
	{"SaveBool", 2, saveBool},
	{"LoadF16", 1, func(e *emitter, i int) { e.do("VCVTPH2PS", e.part(i, 1), e.regs[i]) }},
	{"SaveF16", 1, func(e *emitter, i int) { e.do("VCVTPS2PH", operand.U8(0), e.regs[i], e.part(i, 1)) }},
	{"LoadBF16", 1, func(e *emitter, i int) {
		e.do("VPMOVZXWD", e.part(i, 1), e.regs[i])
		e.do("VPSLLD", operand.U8(16), e.regs[i], e.regs[i])
	}},
	{"SaveBF16", 1, saveBF16},
	{"LoadI8", 2, func(e *emitter, i int) { e.do("VPMOVSXBD", e.part(i, 2), e.regs[i]) }},
	{"LoadU8", 2, func(e *emitter, i int) { e.do("VPMOVZXBD", e.part(i, 2), e.regs[i]) }},
	{"SaveByte", 2, saveByte},
}

func load(e *emitter, i int)   { e.do("VMOVUPS", e.part(i, 0), e.regs[i]) }
func save(e *emitter, i int)   { e.do("VMOVUPS", e.regs[i], e.part(i, 0)) }
func stream(e *emitter, i int) { e.do("VMOVNTPS", e.regs[i], e.part(i, 0)) }

// fence is for Go to call: what was written around the caches is seen by others before
// what is written next.
func (e *emitter) fence() {
	e.function("Fence", "waits until what was streamed is written.")
	e.c.SFENCE()
	e.c.RET()
}

// An ahead is how what comes is brought into a cache before it is loaded.
type ahead struct {
	prefetch string
	bytes    int // how far before
}

// What is read once may pass the second cache: a chain that does not displace what lies
// there took a tenth less on a Zen 4. Not so where it comes by the few buffers of the first
// cache: package vec says which processors those are. On an Emerald Rapids a chain took
// 0.87 copies through the second cache, and 1.4 past it; 2 KB to 16 KB before were as good.
var (
	intoFirst  = ahead{"PREFETCHNTA", 2048}
	intoSecond = ahead{"PREFETCHT1", 4096}
)

// pageAhead touches the page after next of what is streamed: stores around the caches
// wait for the walk through the page tables, which then is over. It is always the same
// line of a page, so that memory is read for one line of 64.
func (e *emitter) pageAhead() {
	e.c.LEAQ(operand.Mem{Base: ptrs[1], Disp: 2 * page}, to)
	e.c.ANDQ(operand.I32(-page), to)
	e.c.PREFETCHNTA(operand.Mem{Base: to})
}

const page = 4096

func (a ahead) load(e *emitter, i int) {
	for line := i * e.bytes; line < (i+1)*e.bytes; line++ {
		if line%64 == 0 {
			e.do(a.prefetch, operand.Mem{Base: ptrs[1], Disp: a.bytes + line})
		}
	}
	load(e, i)
}

func loadBool(e *emitter, i int) {
	e.do("VPMOVZXBD", e.part(i, 2), e.regs[i])
	if e.evex {
		e.do("VPTESTMD", e.regs[i], e.regs[i], reg.K1)
		e.do("VPMOVM2D", reg.K1, e.regs[i])
		return
	}
	zero := e.regs[e.vectors]
	e.do("VPXOR", zero, zero, zero)
	e.do("VPCMPGTD", zero, e.regs[i], e.regs[i])
}

// saveBool packs four registers at a time before AVX-512; packing works within halves
// of registers, so that groups of four bytes come out in another order.
func saveBool(e *emitter, i int) {
	if e.evex {
		t := e.regs[e.vectors]
		e.do("VPSRLD", operand.U8(31), e.regs[i], t)
		e.do("VPMOVDB", t, e.part(i, 2))
		return
	}
	if i%4 != 0 {
		return
	}
	a, b := e.regs[8], e.regs[9]
	e.do("VPACKSSDW", e.regs[i+1], e.regs[i], a)
	e.do("VPACKSSDW", e.regs[i+3], e.regs[i+2], b)
	e.do("VPACKSSWB", b, a, a)
	e.do("VMOVDQU", e.words("order", 0, 4, 1, 5, 2, 6, 3, 7), b)
	e.do("VPERMD", a, b, a)
	e.do("VPAND", e.words("bytes", 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101), a, a)
	e.do("VMOVDQU", a, e.part(i, 2))
}

// saveByte packs as saveBool does; what is packed has no bits above the lowest byte.
func saveByte(e *emitter, i int) {
	if e.evex {
		e.do("VPMOVDB", e.regs[i], e.part(i, 2))
		return
	}
	if i%4 != 0 {
		return
	}
	a, b, low := e.regs[8], e.regs[9], e.regs[10]
	e.do("VMOVDQU", e.words("low", 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), low)
	for _, r := range []struct{ x, y, to int }{{i, i + 1, 8}, {i + 2, i + 3, 9}} {
		t := e.regs[11]
		e.do("VPAND", low, e.regs[r.x], e.regs[r.to])
		e.do("VPAND", low, e.regs[r.y], t)
		e.do("VPACKUSDW", t, e.regs[r.to], e.regs[r.to])
	}
	e.do("VPACKUSWB", b, a, a)
	e.do("VMOVDQU", e.words("order", 0, 4, 1, 5, 2, 6, 3, 7), b)
	e.do("VPERMD", a, b, a)
	e.do("VMOVDQU", a, e.part(i, 2))
}

// words is a constant of its own.
func (e *emitter) words(name string, words ...uint32) operand.Mem {
	key := e.target.name + name
	if m, ok := e.consts[key]; ok {
		return m
	}
	m := e.c.StaticGlobal(key)
	e.c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < len(words); i += 2 {
		e.c.AppendDatum(operand.U64(uint64(words[i]) | uint64(words[i+1])<<32))
	}
	e.consts[key] = m
	return m
}

// saveBF16 rounds two registers into those behind the accumulator's, and packs their upper
// halves.
func saveBF16(e *emitter, i int) {
	if i%2 != 0 {
		return
	}
	a, b := e.vectors, e.vectors+1
	for j, r := range []int{a, b} {
		g, result := e.graph(function{}, func(g *graph, x, _, _ *node) *node { return upperBF16(g, x) })
		e.do("VMOVAPS", e.regs[i+j], e.regs[r])
		var free []int
		for t := len(e.regs) - 1; t > b; t-- {
			free = append(free, t)
		}
		e.run(g, result, r, free)
	}
	if e.evex {
		odd := make([]uint32, 16) // words of both
		for j := range odd {
			odd[j] = uint32(4*j + 1 | (4*j+3)<<16)
		}
		to := e.regs[b+1]
		e.do("VMOVDQU32", e.words("odd", odd...), to)
		e.do("VPERMI2W", e.regs[b], e.regs[a], to)
		e.do("VMOVDQU32", to, e.part(i, 1))
		return
	}
	for _, r := range []int{a, b} {
		e.do("VPSRLD", operand.U8(16), e.regs[r], e.regs[r])
	}
	e.do("VPACKUSDW", e.regs[b], e.regs[a], e.regs[a])
	e.do("VPERMQ", operand.U8(0xd8), e.regs[a], e.regs[a])
	e.do("VMOVDQU", e.regs[a], e.part(i, 1))
}
