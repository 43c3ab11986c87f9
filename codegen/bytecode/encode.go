package bytecode

import (
	"encoding/binary"

	"github.com/npulang/npu/ir/tensor"
)

// Encode writes the program in its compact form: a table of strings, a table
// of types, then the tables of Program in order. Numbers are varints, signed
// ones zigzag; an index that may be absent is written plus one. The same
// program always gives the same bytes.
func Encode(p *Program) []byte {
	w := &writer{strings: map[string]int{}, types: map[string]int{}}
	w.program(p)
	out := binary.AppendUvarint(nil, Version)
	out = binary.AppendUvarint(out, uint64(len(w.stringList)))
	for _, s := range w.stringList {
		out = appendBytes(out, []byte(s))
	}
	out = binary.AppendUvarint(out, uint64(len(w.typeList)))
	for _, t := range w.typeList {
		out = appendType(out, t)
	}
	return append(out, w.b...)
}

// A writer gathers the body, and strings and types in order of first use.
type writer struct {
	b          []byte
	strings    map[string]int
	stringList []string
	types      map[string]int
	typeList   []Type
	offsets    map[*Instr]int // where each instruction begins; nil: not wanted
}

func appendBytes(b, s []byte) []byte {
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

func (w *writer) string(s string) {
	i, ok := w.strings[s]
	if !ok {
		i = len(w.stringList)
		w.strings[s] = i
		w.stringList = append(w.stringList, s)
	}
	w.uint(int64(i))
}

func (w *writer) typ(t Type) {
	key := string(appendType(nil, t))
	i, ok := w.types[key]
	if !ok {
		i = len(w.typeList)
		w.types[key] = i
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
	each(w, p.Kernels, w.kernel)
	each(w, p.Buffers, w.buffer)
	each(w, p.Weights, w.weight)
	each(w, p.Inputs, w.port)
	each(w, p.Outputs, w.port)
	each(w, p.Functions, w.function)
}

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

// weight writes a constant's bytes in place. Their length follows from the
// type, so a flag is enough.
func (w *writer) weight(x *Weight) {
	w.string(x.Name)
	w.typ(x.Type)
	if x.Data == nil {
		w.b = append(w.b, 0)
		return
	}
	w.b = append(append(w.b, 1), x.Data...)
}

func (w *writer) port(p *Port) { w.string(p.Name); w.index(p.Buffer) }

func (w *writer) function(f *Function) {
	w.string(f.Name)
	w.index(f.Frame)
	w.indexes(f.Reads)
	w.indexes(f.Writes)
	each(w, f.Streams, func(s *Stream) { w.string(s.Name); each(w, s.Code, w.instr) })
}

func (w *writer) instr(in *Instr) {
	if w.offsets != nil {
		w.offsets[in] = len(w.b)
	}
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
			w.string(in.Pos.File)
			w.uint(int64(in.Pos.Line))
			w.uint(int64(in.Pos.Col))
		}
	}
}

// NewWeight makes the row of a constant, which keeps the tensor's bytes.
func NewWeight(name string, t *tensor.T) Weight {
	return Weight{Name: name, Type: Type{t.DType, t.Shape}, Data: t.Data}
}
