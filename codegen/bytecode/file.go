package bytecode

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/mapped"
	"github.com/npulang/npu/ir/tensor"
)

// A File is what a compiled .npuc holds. Any part may be empty.
//
// On disk: the magic, the version, the number of sections, a table of {name,
// offset, length, CRC-32C}, a CRC-32C of all that; then the sections (see the
// table of them), each at a multiple of 64, the last two, which have the bytes of
// all weights and constants, and those of them in further layouts, at a multiple of
// 4096. Each of those begins at a multiple of 64 in turn, so that tensors can be
// used in place from a mapped file, which processes share. Numbers are
// little-endian. Nothing may lie between sections but zeros.
type File struct {
	Meta    []Pair   // keys are unique
	IR      string   // the function in the IR's text form, for other bindings
	Program *Program // planned for one binding
	Weights []Weight // by the names of the parameters
	Packs   []Packed // further layouts of weights and constants

	large  []checked    // the sections that are not looked at when the file is opened
	mapped *mapped.File // nil: it was read from bytes
}

// A Packed is a weight, or a constant of the program, in a layout that a kernel
// wants. It says nothing that the plain one does not: a reader that does not know
// the layout passes it over.
type Packed struct {
	Of     int    // which of Valued
	Layout string // its name; this package has no opinion on it
	Size   int64  // bytes
	Data   []byte // all of them; what was read begins at a multiple of 64 bytes
	// Make writes the bytes where Data is nil, so that not all have to be in memory
	// at a time. It must always write the same.
	Make func(dst []byte)
}

// A checked section is one whose checksum is compared on demand.
type checked struct {
	name string
	data []byte
	sum  uint32
}

// A Pair is one entry of a file's metadata.
type Pair struct {
	Key, Value string
}

const (
	magic       = "npuc\r\n\x1a\n" // the line ends show transfers that changed them, as PNG's do
	sectionSize = 8 + 8 + 8 + 4
	fileAlign   = 64   // one cache line; tensors begin at its multiples
	dataAlign   = 4096 // a page: no weight shares one with what is read at the start

	dataSection = "data"
	packSection = "packed"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func badFile(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-bytecode", Message: fmt.Sprintf(format, args...)}
}

// alignOf is what a section's offset is a multiple of.
func alignOf(section string) int64 {
	if isLarge(section) {
		return dataAlign
	}
	return fileAlign
}

// isLarge reports whether a section is not looked at when a file is opened.
func isLarge(section string) bool { return section == dataSection || section == packSection }

// WriteTo writes the file.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	type part struct {
		name   string
		chunks []chunk
	}
	var parts []part
	for _, s := range sections {
		if chunks := s.make(f); chunks != nil {
			parts = append(parts, part{s.name, chunks})
		}
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), Version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(parts)))
	end := int64(len(head) + len(parts)*sectionSize + 4)
	for _, p := range parts {
		length, sum := measure(p.chunks)
		offset := padded(end, alignOf(p.name))
		var name [8]byte
		copy(name[:], p.name)
		head = append(head, name[:]...)
		head = binary.LittleEndian.AppendUint64(head, uint64(offset))
		head = binary.LittleEndian.AppendUint64(head, uint64(length))
		head = binary.LittleEndian.AppendUint32(head, sum)
		end = offset + length
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	out := &sink{w: w}
	out.put(head, fileAlign)
	for _, p := range parts {
		out.pad(alignOf(p.name))
		for _, chunk := range p.chunks {
			out.put(chunk(), fileAlign)
		}
	}
	return out.n, out.err
}

func padded(n, align int64) int64 { return (n + align - 1) &^ (align - 1) }

var zeros [dataAlign]byte

// A chunk of a section is asked for its bytes twice: to measure the section, and to
// write it. They hold until the next chunk is asked for.
type chunk func() []byte

func plain(b []byte) chunk { return func() []byte { return b } }

// measure gives the length and checksum of a section. Every chunk but the last
// counts with its padding.
func measure(chunks []chunk) (length int64, sum uint32) {
	for i, chunk := range chunks {
		b := chunk()
		sum = crc32.Update(sum, castagnoli, b)
		length += int64(len(b))
		if i < len(chunks)-1 {
			pad := padded(length, fileAlign) - length
			sum = crc32.Update(sum, castagnoli, zeros[:pad])
			length += pad
		}
	}
	return length, sum
}

// A sink writes and counts until the first error.
type sink struct {
	w   io.Writer
	n   int64
	err error
}

func (s *sink) write(b []byte) {
	if s.err == nil && len(b) > 0 {
		var n int
		n, s.err = s.w.Write(b)
		s.n += int64(n)
	}
}

func (s *sink) pad(align int64) { s.write(zeros[:padded(s.n, align)-s.n]) }

// put writes a chunk with its padding.
func (s *sink) put(b []byte, align int64) {
	s.write(b)
	s.pad(align)
}

// Save writes the file and puts it at path when it is whole, so that nobody ever sees half
// of it.
func (f *File) Save(path string) error {
	d, err := newDraft(path)
	if err != nil {
		return err
	}
	if _, err = f.WriteTo(d); err == nil {
		err = d.publish()
	}
	if err != nil {
		d.discard()
	}
	return err
}

// Lookup finds a weight by its name.
func (f *File) Lookup(name string) (*tensor.T, bool) {
	for _, w := range f.Weights {
		if w.Name == name {
			return &tensor.T{DType: w.Type.DType, Shape: w.Type.Shape, Data: w.Data}, true
		}
	}
	return nil, false
}
