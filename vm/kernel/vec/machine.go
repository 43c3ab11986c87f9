package vec

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// An Inst is one instruction: its code, and up to two operands as places in the
// table that the program runs with. Make it with Level.Inst.
type Inst struct {
	run  uintptr // the address of the code's assembly; 0 in the portable machine
	a, b uint16  // offsets of the operands in the table, in bytes
	code Code
	_    uint16
}

// An Operand is memory that instructions read and write: a block or, if it walks, one
// for each block of the run, behind each other. The elements have the size that the
// code says.
type Operand struct {
	Ptr  unsafe.Pointer
	step int // bytes from one block to the next
}

// Stays is an operand that is the same for every block.
func Stays(p unsafe.Pointer) Operand { return Operand{Ptr: p} }

// Walks is an operand of elements of some bytes that goes on by a block for each
// block of the run.
func Walks(p unsafe.Pointer, size int) Operand { return Operand{p, size * Lanes} }

// Steps is an operand that goes on by some bytes for each block of the run.
func Steps(p unsafe.Pointer, bytes int) Operand { return Operand{p, bytes} }

// MaxOperands is how many entries a table may have.
const MaxOperands = 1 << 16 / operandSize

const (
	operandSize = 16
	instSize    = 16
)

// A State is what a run needs besides its program. Each goroutine has its own; the
// zero value is ready for use. Assembly knows the places of its fields.
type State struct {
	acc Block
	pc  uintptr // bytes from the start of the program; done at its end

	left    int // blocks that are to come, the current one included
	walkers int
	_       [5]uintptr
	_       [8]Block // what assembly puts aside

	apart apart
}

// apart is what an instruction runs with whose assembly can't do some lanes.
type apart struct {
	x, a    Block // what it computes of; a with something harmless there
	program [3]Inst
	table   [2]Operand
	spared  [Lanes]bool
}

// done is the place in the program behind its last instruction.
const done = ^uintptr(0)

// A machine runs programs on a level.
type machine struct {
	addresses *[Codes][copies]uintptr // of the codes' assembly
	run       func(s, program, table *byte)
	fence     func()
}

// copies is how many copies of its assembly a code may have. A processor foretells by
// its past where the jump at a copy's end goes, so that codes which come several times
// in a program had better take turns.
const copies = 4

// NewInst makes the instruction of a code for a level, with the places of its
// operands in the table; 0 for one that it has not. turn counts the instructions of
// the code that the program has before.
func NewInst(level isa.Level, code Code, a, b, turn int) Inst {
	in := Inst{code: code, a: uint16(a * operandSize), b: uint16(b * operandSize)}
	if m := machines[level]; m.run != nil {
		in.run = m.addresses[code][turn%copies]
	}
	return in
}

// Fence waits until what programs have streamed is written: others that are told
// of it afterwards find it.
func Fence(level isa.Level) {
	if m := machines[level]; m.fence != nil {
		m.fence()
	}
}

// Run runs a program, whose last instruction has the code End, on blocks of the
// operands in the table. The program must have been made for the level. Of the
// operands only the first walkers walk, at least one; afterwards they are those of the
// last block. If their number is odd, an operand that stays follows them.
func Run(level isa.Level, s *State, program []Inst, table []Operand, walkers, blocks int) {
	if blocks <= 0 {
		return
	}
	_ = table[(walkers+1)&^1-1] // walking goes by two
	s.pc, s.left, s.walkers = 0, blocks, walkers
	m := machines[level]
	if m.run == nil {
		s.interpret(program, table)
		return
	}
	sp, pp, tp := (*byte)(unsafe.Pointer(s)), (*byte)(unsafe.Pointer(&program[0])), (*byte)(unsafe.Pointer(&table[0]))
	for m.run(sp, pp, tp); s.pc != done; m.run(sp, pp, tp) {
		at := int(s.pc / instSize)
		if rows[program[at].code].spares != nil {
			s.sparing(level, &program[at], table)
			at++
		} else { // the code has no assembly
			at = s.step(program, at, table)
		}
		s.pc = uintptr(at) * instSize
	}
}

// sparing runs an instruction whose assembly can't do some lanes: it does the others beside
// 0 and 1, and Go does these. So no lane's bits depend on what lies beside it.
func (s *State) sparing(level isa.Level, in *Inst, table []Operand) {
	t, row, a := &s.apart, &rows[in.code], &s.acc
	if row.args > 0 {
		a = (*Block)(table[in.a/operandSize].Ptr)
	}
	t.x, t.a = s.acc, *a
	for i, x := range t.x {
		if t.spared[i] = row.spares(x, t.a[i]); t.spared[i] {
			s.acc[i], t.a[i] = 0, 1
		}
	}
	t.program = [...]Inst{{run: in.run, code: in.code}, NewInst(level, Save, 1, 0, 0), NewInst(level, End, 0, 0, 0)}
	t.table = [...]Operand{Stays(t.a.Pointer()), Stays(s.acc.Pointer())}
	left, walkers := s.left, s.walkers
	Run(level, s, t.program[:], t.table[:], len(t.table), 1)
	s.left, s.walkers = left, walkers
	row.run(&t.x, unsafe.Pointer(a), nil)
	for i, spared := range t.spared {
		if spared {
			s.acc[i] = t.x[i]
		}
	}
}

// interpret is the portable machine.
func (s *State) interpret(program []Inst, table []Operand) {
	program = program[:len(program)-1]
	for {
		for at := 0; at < len(program); {
			at = s.step(program, at, table)
		}
		if s.left--; s.left == 0 {
			return
		}
		for i := range table[:s.walkers] {
			table[i].Ptr = unsafe.Add(table[i].Ptr, table[i].step)
		}
	}
}

// step runs the instruction at a place on the current block and gives the place of the
// next.
func (s *State) step(program []Inst, at int, table []Operand) int {
	in := &program[at]
	if in.code.IsChain() {
		rows[in.code].run(&s.acc, unsafe.Pointer(&program[at+1]), nil)
		return at + 2
	}
	rows[in.code].run(&s.acc, table[in.a/operandSize].Ptr, table[in.b/operandSize].Ptr)
	return at + 1
}
