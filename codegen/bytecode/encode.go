package bytecode

import (
	"bytes"
	"encoding/binary"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Encode writes the program as a file that holds nothing else. The same program
// always gives the same bytes.
func Encode(p *Program) []byte {
	var b bytes.Buffer
	_, _ = (&File{Program: p}).WriteTo(&b) // a Buffer does not fail
	return b.Bytes()
}

// A writer makes one section: a table of strings, a table of types, both in
// order of first use, then what refers to them. Numbers are varints, signed
// ones zigzag; an index that may be absent is written plus one.
type writer struct {
	b          []byte
	strings    map[string]int
	stringList []string
	types      map[string]int
	typeList   []Type
}

// pack makes a section of what write writes.
func pack(write func(*writer)) []chunk {
	w := &writer{strings: map[string]int{}, types: map[string]int{}}
	write(w)
	head := binary.AppendUvarint(nil, uint64(len(w.stringList)))
	for _, s := range w.stringList {
		head = appendBytes(head, s)
	}
	head = binary.AppendUvarint(head, uint64(len(w.typeList)))
	for _, t := range w.typeList {
		head = appendType(head, t)
	}
	return []chunk{plain(append(head, w.b...))}
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendType(b []byte, t Type) []byte {
	b = binary.AppendUvarint(append(b, byte(t.DType)), uint64(len(t.Shape)))
	for _, n := range t.Shape {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (w *writer) uint(n int64) { w.b = binary.AppendUvarint(w.b, uint64(n)) }
func (w *writer) int(n int64)  { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) index(i int)  { w.uint(int64(i) + 1) }

func (w *writer) string(s string) { w.uint(int64(w.stringIndex(s))) }

func (w *writer) stringIndex(s string) int {
	i, ok := w.strings[s]
	if !ok {
		i = len(w.stringList)
		w.strings[s] = i
		w.stringList = append(w.stringList, s)
	}
	return i
}

func (w *writer) typ(t Type) {
	var buf [32]byte
	key := appendType(buf[:0], t)
	i, ok := w.types[string(key)]
	if !ok {
		i = len(w.typeList)
		w.types[string(key)] = i
		w.typeList = append(w.typeList, t)
	}
	w.uint(int64(i))
}

func (w *writer) indexes(list []int) {
	w.uint(int64(len(list)))
	for _, i := range list {
		w.index(i)
	}
}

func (w *writer) typeSeq(list []Type) {
	w.uint(int64(len(list)))
	for _, t := range list {
		w.typ(t)
	}
}

// each writes a list: its length, then its elements.
func each[E any](w *writer, list []E, write func(*E)) {
	w.uint(int64(len(list)))
	for i := range list {
		write(&list[i])
	}
}

func (w *writer) program(p *Program) {
	w.string(p.Name)
	each(w, p.Env, func(b *Binding) { w.string(b.Symbol); w.int(b.Size) })
	w.uint(p.Arena)
	w.uint(p.Align)
	w.uint(int64(p.Events))
	each(w, p.Inputs, w.port)
	each(w, p.Outputs, w.port)
}

func (w *writer) port(p *Port) { w.string(p.Name); w.index(p.Buffer) }

func (w *writer) kernel(k *Kernel) {
	w.string(k.Op)
	w.string(k.Attrs)
	w.string(k.Unit)
	w.typeSeq(k.In)
	w.typeSeq(k.Out)
	w.index(k.InPlace)
}

func (w *writer) buffer(b *Buffer) {
	w.b = append(w.b, byte(b.Space))
	w.uint(int64(b.Slot))
	w.uint(b.Offset)
	w.uint(b.Size)
	w.typ(b.Type)
	w.index(b.Base)
	w.string(b.Name)
}

// weight says of a constant that it is one: its bytes are in the section of data.
func (w *writer) weight(x *Weight) {
	w.string(x.Name)
	w.typ(x.Type)
	kind := byte(0)
	if x.Data != nil {
		kind = 1
	}
	w.b = append(w.b, kind)
}

// code writes the streams of the program, then the bodies.
func (w *writer) code(fs []Function) {
	each(w, fs[0].Streams, func(s *Stream) { w.string(s.Name); w.block(s.Code) })
	each(w, fs[1:], func(f *Function) {
		w.string(f.Name)
		w.index(f.Frame)
		w.indexes(f.Reads)
		w.indexes(f.Writes)
		w.block(f.Streams[0].Code)
	})
}

// block writes the instructions of one stream: their number, the bytes that they
// take, then themselves.
func (w *writer) block(code []Instr) {
	w.uint(int64(len(code)))
	outer := w.b
	w.b = nil
	for i := range code {
		w.instr(&code[i])
	}
	inner := w.b
	w.b = outer
	w.uint(int64(len(inner)))
	w.b = append(w.b, inner...)
}

func (w *writer) instr(in *Instr) {
	w.b = append(w.b, byte(in.Op))
	body := 0
	for _, f := range opcodes[in.Op].fields {
		switch f {
		case fIndex:
			w.uint(int64(in.Index))
		case fOut:
			w.index(in.Out[0])
		case fOuts:
			w.indexes(in.Out)
		case fIn:
			w.index(in.In[0])
		case fIns:
			w.indexes(in.In)
		case fIfCond:
			if in.hasCond() {
				w.index(in.In[0])
			}
		case fBody, fOptBody:
			w.index(in.Bodies[body])
			body++
		case fRange:
			w.int(in.From)
			w.int(in.To)
		case fSite:
			w.index(in.Task)
		}
	}
}

// source writes where the instructions come from, each as the difference to the
// one before.
func (w *writer) source(p *Program) {
	file := 0
	var last diag.Loc
	for in := range p.sites() {
		next := w.stringIndex(in.Pos.File)
		w.int(int64(next - file))
		w.int(int64(in.Pos.Line - last.Line))
		w.int(int64(in.Pos.Col - last.Col))
		file, last = next, in.Pos
	}
}

// NewWeight makes the row of a constant, which keeps the tensor's bytes.
func NewWeight(name string, t *tensor.T) Weight {
	return Weight{Name: name, Type: Type{t.DType, t.Shape}, Data: t.Data}
}
