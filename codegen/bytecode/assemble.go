package bytecode

import (
	"fmt"
	"math"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

const (
	maxText = 1 << 30 // bytes of a listing
	// maxFill bounds the bytes that [x ...] may ask for in one listing, since there
	// a few characters stand for any number of bytes.
	maxFill = 1 << 28
	// maxFaults is how many wrong lines are reported.
	maxFaults = 20
)

// Assemble makes the program that a listing describes: Disassemble and Assemble
// are each other's inverse. Comments and byte offsets have no meaning and may be
// left out, as may tasks and places; what is between words is free. Like Decode,
// it leaves to Verify whether the program is in order. The list, empty when there
// is a program, has at most one error for each line and 20 in all, each of code
// bad-bytecode with its place.
func Assemble(src *diag.Source) (*Program, diag.List) {
	a := &assembler{p: &Program{Functions: []Function{{Frame: -1}}}}
	if len(src.Text) > maxText {
		return nil, diag.List{{Code: "bad-bytecode", Loc: diag.Loc{File: src.Name}, Message: "the listing is too long"}}
	}
	var faults diag.List
	for at := 0; at < len(src.Text) && len(faults) < maxFaults; {
		l, next := lineAt(src, at)
		a.line(l)
		if l.fault != nil {
			faults, a.lost = append(faults, l.fault), true
		}
		at = next
	}
	if len(faults) == 0 && a.table == nil {
		l, _ := lineAt(src, len(src.Text))
		l.fail(1, "the listing has no line that begins with program")
		faults = append(faults, l.fault)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return a.p, nil
}

// An assembler makes a program line by line.
type assembler struct {
	p      *Program
	table  func(*assembler, *line) // reads the lines of the table or code that was begun
	filled int64                   // bytes asked for by [x ...]
	lost   bool                    // there was a wrong line
}

// titles are the words that begin a table or code, and what reads the rest of
// their line.
var titles = map[string]func(*assembler, *line){
	"program": (*assembler).header,
	"ports":   begin((*assembler).port),
	"kernels": begin((*assembler).kernel),
	"buffers": begin((*assembler).buffer),
	"weights": begin((*assembler).weight),
	"code":    (*assembler).stream,
	"body":    (*assembler).body,
}

func begin(table func(*assembler, *line)) func(*assembler, *line) {
	return func(a *assembler, l *line) { a.table = table }
}

// line reads one line.
func (a *assembler) line(l *line) {
	if l.done() {
		return
	}
	word := l.peek()
	read, title := titles[word]
	switch {
	case a.table == nil && word != "program":
		l.expected("the line of the program first")
		a.table = (*assembler).nothing // said once
	case a.table != nil && word == "program":
		l.fail(len(word), "there is one program in a listing")
	case title:
		l.word()
		read(a, l)
	default:
		a.table(a, l)
	}
	l.finish()
}

// nothing stands where no table has begun.
func (a *assembler) nothing(l *line) {
	if a.table != nil {
		l.expected("ports, kernels, buffers, weights, code or body")
	}
}

// header reads program @main  with B=4  version 2  arena 64  align 64  events 0.
func (a *assembler) header(l *line) {
	a.table = (*assembler).nothing
	if !l.punct("@") {
		l.expected("@ and the name of the program")
	}
	a.p.Name = l.name("the name of the program")
	a.p.Functions[0].Name = a.p.Name
	if l.accept("with") {
		for l.fault == nil && l.peek() != "version" {
			b := Binding{Symbol: l.name("a symbol")}
			if !l.punct("=") {
				l.expected(`"=" and the size of the symbol`)
			}
			b.Size = l.integer("a size", math.MinInt64, math.MaxInt64)
			a.p.Env = append(a.p.Env, b)
		}
	}
	l.expect("version")
	a.version(l)
	l.expect("arena")
	a.p.Arena = l.integer("the size of the arena", 0, MaxBytes)
	l.expect("align")
	a.p.Align = l.integer("the alignment", 0, MaxBytes)
	l.expect("events")
	a.p.Events = int(l.integer("the number of events", 0, math.MaxInt32))
}

func (a *assembler) version(l *line) {
	size := len(l.peek())
	if v := l.integer("the version", 0, math.MaxInt32); l.fault == nil && v != Version {
		l.at -= size
		l.fail(size, "the listing has version %d, and this program reads version %d", v, Version)
	}
}

// next takes the number of a row, which must be that of the next. Behind a wrong
// line, which may have been a row, any will do.
func (a *assembler) next(l *line, prefix string, rows int) {
	l.space()
	start, want := l.at, fmt.Sprintf("%s%d", prefix, rows)
	if n := l.after(prefix, want); l.fault == nil && n != rows && !a.lost {
		size := l.at - start
		l.at = start
		l.fail(size, "expected %s, since rows are counted from 0", want)
	}
}

// port reads input0  b0  x.
func (a *assembler) port(l *line) {
	prefix, ports := InputSpace.String(), &a.p.Inputs
	if l.isIndex(OutputSpace.String()) {
		prefix, ports = OutputSpace.String(), &a.p.Outputs
	}
	a.next(l, prefix, len(*ports))
	port := Port{Buffer: Absent}
	if !l.accept("_") {
		port.Buffer = l.buffer()
	}
	port.Name = l.name("the name of the " + prefix)
	*ports = append(*ports, port)
}

// kernel reads k0  vector  softmax {axis=0}  f32[4] -> f32[4]  in place 0.
func (a *assembler) kernel(l *line) {
	a.next(l, "k", len(a.p.Kernels))
	k := Kernel{Unit: l.name("a unit"), Op: l.name("an operator"), InPlace: Absent}
	k.Attrs = l.attrs()
	for l.isType() {
		k.In = append(k.In, l.typ())
	}
	l.expect("->")
	for l.isType() && l.peek() != "in" {
		k.Out = append(k.Out, l.typ())
	}
	if l.accept("in") {
		l.expect("place")
		k.InPlace = int(l.integer("the number of an argument", 0, math.MaxInt32-1))
	}
	a.p.Kernels = append(a.p.Kernels, k)
}

// buffer reads b6  output0  24  f32[6]  %y  views b5.
func (a *assembler) buffer(l *line) {
	a.next(l, "b", len(a.p.Buffers))
	b := Buffer{Base: -1}
	b.Space, b.Slot, b.Offset = l.where()
	b.Size = l.integer("the size of the buffer", 0, MaxBytes)
	b.Type = l.typ()
	if !l.done() && l.peek() != "views" {
		b.Name = l.name("the name of a value")
	}
	if l.accept("views") {
		b.Base = l.buffer()
	}
	a.p.Buffers = append(a.p.Buffers, b)
}

// where takes the place of a buffer: 0x40, input0, output1+0x40.
func (l *line) where() (space Space, slot int, offset int64) {
	word := l.peek()
	if strings.HasPrefix(word, "0x") {
		return ArenaSpace, 0, l.hex("0x", word)
	}
	root, offsetText, moved := strings.Cut(word, "+")
	for s := InputSpace; s <= ArenaSpace; s++ {
		digits, ok := strings.CutPrefix(root, s.String())
		if !ok {
			continue
		}
		l.at += len(root) - len(digits)
		slot = int(l.number(digits, 10, "the number of the "+s.String(), 0, math.MaxInt32))
		if moved {
			offset = l.hex("+0x", "+"+offsetText)
		}
		return s, slot, offset
	}
	l.expected("a place such as 0x40, input0 or output1+0x40")
	return 0, 0, 0
}

// hex takes a prefix and hexadecimal digits.
func (l *line) hex(prefix, word string) int64 {
	digits, ok := strings.CutPrefix(word, prefix)
	if !ok {
		l.expected(prefix + " and an offset")
		return 0
	}
	if l.fault == nil {
		l.at += len(prefix)
	}
	return l.number(digits, 16, "an offset", 0, MaxBytes)
}

// weight reads weight0  const  f32[2]  %c  = [1.0, 2.0].
func (a *assembler) weight(l *line) {
	a.next(l, "weight", len(a.p.Weights))
	constant := l.accept("const")
	if !constant {
		l.expect("param")
	}
	w := Weight{Type: l.typ(), Name: l.name("the name of the weight")}
	if constant {
		l.expect("=")
		w.Data = a.constant(l, w.Type)
	}
	a.p.Weights = append(a.p.Weights, w)
}

// constant reads the values of a constant.
func (a *assembler) constant(l *line, t Type) []byte {
	l.space()
	start := l.at
	v := l.values()
	if l.fault != nil {
		return nil
	}
	size := l.at - start
	l.at = start
	n, ok := t.SizeBytes()
	if !ok {
		l.fail(size, "a constant has a type")
		return nil
	}
	if v.Fill {
		if a.filled += n; a.filled > maxFill {
			l.fail(size, "the listing fills more than %d bytes of constants", maxFill)
			return nil
		}
	}
	x, err := v.Tensor(t.DType, t.Shape)
	if err != nil {
		l.fail(size, "%s", err.Error())
		return nil
	}
	l.at += size
	return x.Data
}

// stream reads code cube0.
func (a *assembler) stream(l *line) {
	streams := &a.p.Functions[0].Streams
	*streams = append(*streams, Stream{Name: l.name("the name of the stream")})
	a.table = instrs(&(*streams)[len(*streams)-1].Code)
}

// body reads body f1  fused  frame b4  reads b0 b1  writes b3.
func (a *assembler) body(l *line) {
	a.next(l, "f", len(a.p.Functions))
	f := Function{Name: l.name("the name of the body"), Frame: -1}
	if l.accept("frame") {
		f.Frame = l.buffer()
	}
	if l.accept("reads") {
		f.Reads = l.buffers(true)
	}
	if l.accept("writes") {
		f.Writes = l.buffers(true)
	}
	f.Streams = []Stream{{Name: f.Name}}
	a.p.Functions = append(a.p.Functions, f)
	a.table = instrs(&f.Streams[0].Code)
}

// instrs reads instructions, one a line.
func instrs(code *[]Instr) func(*assembler, *line) {
	return func(_ *assembler, l *line) { *code = append(*code, l.instr()) }
}

// opcodesByName finds an opcode.
var opcodesByName = func() map[string]Opcode {
	m := map[string]Opcode{}
	for op := range opcodes {
		m[opcodes[op].name] = Opcode(op)
	}
	return m
}()

// instr takes an instruction, with its offset before it or not.
func (l *line) instr() (in Instr) {
	if isNumber(l.peek(), 16) {
		l.word()
	}
	op, ok := opcodesByName[l.peek()]
	if !ok {
		l.expected("an instruction")
		return in
	}
	l.word()
	in.Op = op
	for _, f := range opcodes[op].fields {
		l.field(&in, f)
	}
	return in
}

func (l *line) field(in *Instr, f field) {
	switch f {
	case fIndex:
		in.Index = l.after(opcodes[in.Op].table, opcodes[in.Op].table+" and a number")
	case fOut:
		in.Out = []int{l.buffer()}
	case fOuts:
		in.Out = l.buffers(true)
	case fIn:
		if in.Op != Branch {
			l.expect("<-")
		}
		in.In = []int{l.buffer()}
	case fIns:
		l.expect("<-")
		in.In = l.buffers(true)
	case fIfCond:
		if in.hasCond() {
			in.In = []int{l.buffer()}
		}
	case fBody:
		in.Bodies = append(in.Bodies, l.after("f", "a body"))
	case fOptBody:
		body := NoBody
		if l.isIndex("f") {
			body = l.after("f", "a body")
		}
		in.Bodies = append(in.Bodies, body)
	case fRange:
		in.From, in.To = l.span()
	case fSite:
		in.Task = Absent
		if digits, ok := strings.CutPrefix(l.peek(), "t"); ok {
			l.at++
			in.Task = int(l.number(digits, 10, "the number of a task", Absent, math.MaxInt32-1))
		}
		in.Pos = l.place()
	}
}

// span takes the range of a loop: 0..16, or 0.. without end.
func (l *line) span() (from, to int64) {
	first, last, ok := strings.Cut(l.peek(), "..")
	if !ok {
		l.expected("a range such as 0..16")
		return 0, 0
	}
	from = l.number(first, 10, "where the loop begins", math.MinInt64, math.MaxInt64)
	if l.fault != nil {
		return 0, 0
	}
	l.at += len("..")
	if last == "" {
		return from, Unbounded
	}
	return from, l.number(last, 10, "where the loop ends", math.MinInt64, math.MaxInt64)
}
