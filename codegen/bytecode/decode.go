package bytecode

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Decode reads a program back from a file that holds one. It trusts nothing:
// every count is covered by bytes that are there, so that neither time nor
// memory exceed a multiple of the input's size. Constants share the input's
// memory where their alignment allows. What the program does, and whether its
// indexes lie in their tables, is left to Verify. The error is a
// *diag.Diagnostic of code bad-bytecode.
func Decode(data []byte) (*Program, error) {
	f, err := Read(data)
	if err != nil {
		return nil, err
	}
	if f.Program == nil {
		return nil, badFile("the file holds no program")
	}
	return f.Program, nil
}

// A reader walks through the input. Its methods leave by panicking with a
// decodeStop, which unpack turns into the error: that keeps them to a line each.
type reader struct {
	section string // for messages
	data    []byte
	at      int
	strings []string
	types   []Type
}

type decodeStop struct{ err error }

// all runs read, which must come to the end of the input.
func (r *reader) all(read func()) (err error) {
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case decodeStop:
			err = stop.err
		default:
			panic(stop)
		}
	}()
	read()
	if r.at != len(r.data) {
		r.fail("%d bytes are left over at the end", len(r.data)-r.at)
	}
	return nil
}

func (r *reader) fail(format string, args ...any) {
	d := fault(diag.Loc{}, "", format, args...)
	d.Message += fmt.Sprintf(" (byte %d of section %q)", r.at, r.section)
	panic(decodeStop{d})
}

func (r *reader) byte() byte {
	if r.at >= len(r.data) {
		r.fail("the section is cut off")
	}
	r.at++
	return r.data[r.at-1]
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.data[r.at:])
	if size <= 0 {
		r.fail("a number is cut off or too long")
	}
	r.at += size
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.data[r.at:])
	if size <= 0 {
		r.fail("a number is cut off or too long")
	}
	r.at += size
	return n
}

// size reads a number of bytes or the like, at most MaxBytes.
func (r *reader) size() int64 {
	n := r.uint()
	if n > MaxBytes {
		r.fail("the size %d is above the limit of %d", n, int64(MaxBytes))
	}
	return int64(n)
}

// small reads a number that fits 31 bits: a line, a column, an event.
func (r *reader) small() int {
	n := r.uint()
	if n > math.MaxInt32 {
		r.fail("the number %d is too large", n)
	}
	return int(n)
}

// count reads the length of a list whose elements take at least one byte each.
func (r *reader) count() int {
	n := r.uint()
	if left := len(r.data) - r.at; n > uint64(left) {
		r.fail("a list of %d elements in %d bytes", n, left)
	}
	return int(n)
}

// index reads an index that may be -1. Tables are checked against each other
// once all of them are there.
func (r *reader) index() int { return r.small() - 1 }

// present reads an index that may not be absent.
func (r *reader) present() int {
	i := r.index()
	if i < 0 {
		r.fail("an operand is missing")
	}
	return i
}

func (r *reader) bytes(n int64) []byte {
	if left := int64(len(r.data) - r.at); n > left {
		r.fail("%d bytes are wanted where %d are left", n, left)
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at : r.at]
}

// text reads a string in place, where there is no table of strings.
func (r *reader) text() string { return string(r.bytes(int64(r.count()))) }

func (r *reader) string() string {
	i := r.uint()
	if i >= uint64(len(r.strings)) {
		r.fail("there is no string %d", i)
	}
	return r.strings[i]
}

func (r *reader) typ() Type {
	i := r.uint()
	if i >= uint64(len(r.types)) {
		r.fail("there is no type %d", i)
	}
	return r.types[i]
}

// list reads a list element by element, growing as it goes.
func list[E any](r *reader, read func() E) []E {
	n := r.count()
	var out []E
	for range n {
		out = append(out, read())
	}
	return out
}

// unpack reads a section that pack made.
func unpack(section string, data []byte, read func(*reader)) error {
	r := &reader{section: section, data: data}
	return r.all(func() {
		r.strings = list(r, r.text)
		r.types = list(r, r.newType)
		read(r)
	})
}

func (r *reader) newType() Type {
	d := tensor.DType(r.byte())
	if d > tensor.Bool {
		r.fail("there is no dtype %d", d)
	}
	t := Type{DType: d, Shape: list(r, func() int { return int(r.size()) })}
	if t.Shape == nil {
		t.Shape = []int{}
	}
	if _, ok := t.SizeBytes(); !ok && (d != tensor.Invalid || len(t.Shape) > 0) {
		r.fail("there is no tensor of the type %s", t)
	}
	return t
}

func (r *reader) program() *Program {
	p := &Program{
		Name:    r.string(),
		Env:     list(r, func() Binding { return Binding{r.string(), r.int()} }),
		Arena:   r.size(),
		Align:   r.size(),
		Events:  r.small(),
		Inputs:  list(r, r.port),
		Outputs: list(r, r.port),
	}
	p.Functions = []Function{{Name: p.Name, Frame: -1}}
	return p
}

func (r *reader) port() Port { return Port{r.string(), r.index()} }

func (r *reader) kernel() Kernel {
	return Kernel{Op: r.string(), Attrs: r.string(), Unit: r.string(), In: list(r, r.typ), Out: list(r, r.typ), InPlace: r.index()}
}

func (r *reader) buffer() Buffer {
	s := Space(r.byte())
	if s > ArenaSpace {
		r.fail("there is no space %d", s)
	}
	return Buffer{Space: s, Slot: r.small(), Offset: r.size(), Size: r.size(), Type: r.typ(), Base: r.index(), Name: r.string()}
}

// weight reads a row; the bytes of a constant come with the data.
func (r *reader) weight() Weight {
	w := Weight{Name: r.string(), Type: r.typ()}
	switch r.byte() {
	case 0:
	case 1:
		w.Data = []byte{}
	default:
		r.fail("weight %q is neither a parameter nor a constant", w.Name)
	}
	return w
}

// code reads the streams of the program, then the bodies.
func (r *reader) code(p *Program) {
	p.Functions[0].Streams = list(r, func() Stream { return Stream{r.string(), r.block()} })
	p.Functions = append(p.Functions, list(r, func() Function {
		f := Function{Name: r.string(), Frame: r.index(), Reads: list(r, r.index), Writes: list(r, r.index)}
		f.Streams = []Stream{{f.Name, r.block()}}
		return f
	})...)
}

func (r *reader) block() []Instr {
	n, size := r.count(), r.count()
	if n > size {
		r.fail("%d instructions in %d bytes", n, size)
	}
	end := r.at + size
	code := make([]Instr, 0, n)
	for range n {
		code = append(code, r.instr())
	}
	if r.at != end {
		r.fail("the code of a stream ends at byte %d, not here", end)
	}
	return code
}

func (r *reader) instr() Instr {
	op := Opcode(r.byte())
	if int(op) >= len(opcodes) {
		r.fail("there is no opcode %d", op)
	}
	in := Instr{Op: op}
	for _, f := range opcodes[op].fields {
		r.field(&in, f)
	}
	return in
}

func (r *reader) field(in *Instr, f field) {
	switch f {
	case fIndex:
		in.Index = r.small()
	case fOut:
		in.Out = []int{r.present()}
	case fOuts:
		in.Out = list(r, r.index)
	case fIn:
		in.In = []int{r.present()}
	case fIns:
		in.In = list(r, r.index)
	case fIfCond:
		if in.hasCond() {
			in.In = []int{r.present()}
		}
	case fBody:
		in.Bodies = append(in.Bodies, r.present())
	case fOptBody:
		in.Bodies = append(in.Bodies, r.index())
	case fRange:
		in.From, in.To = r.int(), r.int()
	case fSite:
		in.Task = r.index()
	}
}

// source reads where the instructions come from.
func (r *reader) source(p *Program) {
	file := 0
	var last diag.Loc
	for in := range p.sites() {
		file = r.near(file, len(r.strings)-1)
		last = diag.Loc{File: r.strings[file], Line: r.near(last.Line, math.MaxInt32), Col: r.near(last.Col, math.MaxInt32)}
		in.Pos = last
	}
}

// near reads a number from 0 to most as its difference to another.
func (r *reader) near(to, most int) int {
	n := r.int()
	if n < int64(-to) || n > int64(most-to) {
		r.fail("a file, line or column is out of range")
	}
	return to + int(n)
}
