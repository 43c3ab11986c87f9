package bytecode

import (
	"unicode/utf8"
	"unsafe"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A section is one part of a file. Its name has at most 8 bytes.
type section struct {
	name string
	make func(*File) []chunk // each padded to fileAlign; nil: left out
	read func(*File, []byte) error
}

// sections is the table of what a file may hold, in the order of writing and
// reading. The program is spread over program to source, each of which can be
// read by itself; source can be left out.
var sections = []section{
	{"meta", (*File).makeMeta, (*File).readMeta},
	{"ir", (*File).makeIR, (*File).readIR},
	{"program", part(func(*Program) bool { return true }, (*writer).program),
		func(f *File, b []byte) error {
			return unpack("program", b, func(r *reader) { f.Program = r.program() })
		}},
	{"kernels", part(func(p *Program) bool { return len(p.Kernels) > 0 }, func(w *writer, p *Program) { each(w, p.Kernels, w.kernel) }),
		partRead("kernels", func(r *reader, p *Program) { p.Kernels = list(r, r.kernel) })},
	{"buffers", part(func(p *Program) bool { return len(p.Buffers) > 0 }, func(w *writer, p *Program) { each(w, p.Buffers, w.buffer) }),
		partRead("buffers", func(r *reader, p *Program) { p.Buffers = list(r, r.buffer) })},
	{"weights", part(func(p *Program) bool { return len(p.Weights) > 0 }, func(w *writer, p *Program) { each(w, p.Weights, w.weight) }),
		partRead("weights", func(r *reader, p *Program) { p.Weights = list(r, r.weight) })},
	{"code", part(func(p *Program) bool { return len(p.Functions) > 0 }, func(w *writer, p *Program) { w.code(p.Functions) }),
		partRead("code", (*reader).code)},
	{"source", part((*Program).hasSource, (*writer).source), partRead("source", (*reader).source)},
	{"params", (*File).makeParams, (*File).readParams},
	{"packs", (*File).makePacks, (*File).readPacks},
	{dataSection, (*File).makeData, (*File).readData},
	{packSection, (*File).makePacked, (*File).readPacked},
}

// part makes a section of the program, if there is one and it has what belongs
// there.
func part(has func(*Program) bool, write func(*writer, *Program)) func(*File) []chunk {
	return func(f *File) []chunk {
		if f.Program == nil || !has(f.Program) {
			return nil
		}
		return pack(func(w *writer) { write(w, f.Program) })
	}
}

// partRead reads a section of the program.
func partRead(name string, read func(*reader, *Program)) func(*File, []byte) error {
	return func(f *File, b []byte) error {
		if f.Program == nil {
			return badFile("the file has a section %q, but no program", name)
		}
		return unpack(name, b, func(r *reader) { read(r, f.Program) })
	}
}

func (p *Program) hasSource() bool {
	for in := range p.sites() {
		if in.Pos != (diag.Loc{}) {
			return true
		}
	}
	return false
}

func (f *File) makeMeta() []chunk {
	if len(f.Meta) == 0 {
		return nil
	}
	return pack(func(w *writer) {
		each(w, f.Meta, func(p *Pair) { w.string(p.Key); w.string(p.Value) })
	})
}

func (f *File) readMeta(b []byte) error {
	seen := map[string]bool{}
	return unpack("meta", b, func(r *reader) {
		f.Meta = list(r, func() Pair { return Pair{r.string(), r.string()} })
		for _, p := range f.Meta {
			if seen[p.Key] {
				r.fail("the key %q is there twice", p.Key)
			}
			seen[p.Key] = true
		}
	})
}

func (f *File) makeIR() []chunk {
	if f.IR == "" {
		return nil
	}
	return []chunk{plain([]byte(f.IR))}
}

func (f *File) readIR(b []byte) error {
	if !utf8.Valid(b) {
		return badFile("section \"ir\" is no text")
	}
	f.IR = string(b)
	return nil
}

// makeParams writes the names and types of the file's weights.
func (f *File) makeParams() []chunk {
	if len(f.Weights) == 0 {
		return nil
	}
	return pack(func(w *writer) {
		each(w, f.Weights, func(x *Weight) { w.string(x.Name); w.typ(x.Type) })
	})
}

func (f *File) readParams(b []byte) error {
	seen := map[string]bool{}
	return unpack("params", b, func(r *reader) {
		f.Weights = list(r, func() Weight { return Weight{Name: r.string(), Type: r.typ(), Data: []byte{}} })
		for _, w := range f.Weights {
			if seen[w.Name] {
				r.fail("weight %q is there twice", w.Name)
			}
			seen[w.Name] = true
		}
	})
}

// Valued lists what has its bytes in the section of data: the program's
// constants, then the file's weights.
func (f *File) Valued() (list []*Weight) {
	if f.Program != nil {
		for i := range f.Program.Weights {
			if f.Program.Weights[i].Data != nil {
				list = append(list, &f.Program.Weights[i])
			}
		}
	}
	for i := range f.Weights {
		list = append(list, &f.Weights[i])
	}
	return list
}

func (f *File) makeData() (chunks []chunk) {
	for _, w := range f.Valued() {
		if len(w.Data) > 0 {
			chunks = append(chunks, plain(w.Data))
		}
	}
	return chunks
}

// readData finds the bytes of all that has some, without looking at them.
func (f *File) readData(b []byte) error {
	at := int64(0)
	for _, w := range f.Valued() {
		n, ok := w.Type.SizeBytes()
		if !ok {
			return badFile("weight %q has no type", w.Name)
		}
		if n == 0 {
			continue
		}
		if at = padded(at, fileAlign); at > int64(len(b)) || n > int64(len(b))-at {
			return badFile("the data of weight %q are cut off", w.Name)
		}
		w.Data = aligned(w.Type.DType, b[at:at+n:at+n])
		at += n
	}
	if at != int64(len(b)) {
		return badFile("%d bytes of section \"data\" belong to no weight", int64(len(b))-at)
	}
	return nil
}

// aligned returns data, or a copy where elements of d could not be read in
// place.
func aligned(d tensor.DType, data []byte) []byte {
	if tensor.Aligned(d, data) {
		return data
	}
	return copied(data)
}

// onLines returns data, or a copy where they do not begin at a line of the cache.
func onLines(data []byte) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%fileAlign == 0 {
		return data
	}
	return copied(data)
}

func copied(data []byte) []byte {
	b := tensor.AlignedBytes(len(data))
	copy(b, data)
	return b
}
