package bytecode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A File is what a compiled .npuc holds. Any part may be empty.
//
// On disk: the magic, the version, the number of sections, a table of {name,
// offset, length, CRC-32C}, a CRC-32C of all that; then the sections, each at a
// multiple of 64, so that weights can be used in place from a mapped file.
// Numbers are little-endian. Nothing may lie between sections but zeros.
type File struct {
	Meta    []Pair   // keys are unique
	IR      string   // the function in the IR's text form, for other bindings
	Program *Program // planned for one binding
	Weights []Weight // by the names of the parameters

	close func() error
}

// A Pair is one entry of a file's metadata.
type Pair struct {
	Key, Value string
}

const (
	magic       = "npuc\r\n\x1a\n" // the line ends show transfers that changed them, as PNG's do
	fileVersion = 1
	sectionSize = 8 + 8 + 8 + 4
	fileAlign   = 64 // one cache line; tensors begin at its multiples
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A section is one part of a file. Its name has at most 8 bytes.
type section struct {
	name string
	read func(*File, []byte) error
	make func(*File) [][]byte // in pieces, each padded to the alignment; nil: left out
}

// sections is the table of what a file may hold, in the order of writing.
var sections = []section{
	{"meta", (*File).readMeta, (*File).makeMeta},
	{"ir", (*File).readIR, (*File).makeIR},
	{"code", (*File).readCode, (*File).makeCode},
	{"weights", (*File).readWeights, (*File).makeWeights},
}

func badFile(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-bytecode", Message: fmt.Sprintf(format, args...)}
}

// WriteTo writes the file.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	type part struct {
		section
		pieces [][]byte
	}
	var parts []part
	for _, s := range sections {
		if pieces := s.make(f); pieces != nil {
			parts = append(parts, part{s, pieces})
		}
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), fileVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(parts)))
	offset := padded(int64(len(head) + len(parts)*sectionSize + 4))
	for _, p := range parts {
		length, sum := measure(p.pieces)
		var name [8]byte
		copy(name[:], p.name)
		head = append(head, name[:]...)
		head = binary.LittleEndian.AppendUint64(head, uint64(offset))
		head = binary.LittleEndian.AppendUint64(head, uint64(length))
		head = binary.LittleEndian.AppendUint32(head, sum)
		offset += padded(length)
	}
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	written, err := writePadded(w, head)
	for _, p := range parts {
		for _, piece := range p.pieces {
			if err != nil {
				return written, err
			}
			var n int64
			n, err = writePadded(w, piece)
			written += n
		}
	}
	return written, err
}

func padded(n int64) int64 { return (n + fileAlign - 1) &^ (fileAlign - 1) }

var zeros [fileAlign]byte

// measure gives the length and checksum of a section. Every piece but the last
// counts with its padding.
func measure(pieces [][]byte) (length int64, sum uint32) {
	for i, piece := range pieces {
		sum = crc32.Update(sum, castagnoli, piece)
		length += int64(len(piece))
		if i < len(pieces)-1 {
			pad := padded(int64(len(piece))) - int64(len(piece))
			sum = crc32.Update(sum, castagnoli, zeros[:pad])
			length += pad
		}
	}
	return length, sum
}

func writePadded(w io.Writer, b []byte) (int64, error) {
	n, err := w.Write(b)
	if err != nil {
		return int64(n), err
	}
	m, err := w.Write(zeros[:padded(int64(len(b)))-int64(len(b))])
	return int64(n + m), err
}

// Save writes the file beside path and moves it there when it is whole, so
// that nobody ever sees half of it.
func (f *File) Save(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteTo(tmp)
	if err == nil {
		err = tmp.Chmod(0o644) // CreateTemp's files are for their owner alone
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// Open maps a file into memory and reads it. Tensors share that memory until
// Close. The error of a file that is not in order is a *diag.Diagnostic of
// code bad-bytecode.
func Open(path string) (*File, error) {
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(data)
	if err != nil {
		unmap()
		return nil, err
	}
	f.close = unmap
	return f, nil
}

// Close gives a mapped file back. Its weights must not be used any more.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	unmap := f.close
	f.close = nil
	return unmap()
}

// Read reads a file from bytes, which it goes on to share.
func Read(data []byte) (*File, error) {
	head := len(magic) + 8
	switch {
	case len(data) < head:
		return nil, badFile("the file is cut off, or no compiled program: it has only %d bytes", len(data))
	case string(data[:len(magic)]) != magic:
		return nil, badFile("the file is no compiled program: it does not begin with the mark of a .npuc")
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v != fileVersion {
		return nil, badFile("the file has version %d, and this program reads version %d: build it again", v, fileVersion)
	}
	n := binary.LittleEndian.Uint32(data[len(magic)+4:])
	if n > uint32(len(sections)) {
		return nil, badFile("the file names %d sections where there are %d kinds", n, len(sections))
	}
	end := head + int(n)*sectionSize
	if len(data) < end+4 {
		return nil, badFile("the file is cut off in its table of sections")
	}
	if crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, badFile("the head of the file is damaged: its checksum differs")
	}
	f := &File{}
	at := int64(end + 4)
	for i := range int(n) {
		next, err := f.readSection(data, data[head+i*sectionSize:][:sectionSize], at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	if !allZero(data[min(at, int64(len(data))):]) || int64(len(data)) > padded(at) {
		return nil, badFile("the file has %d bytes after its last section", int64(len(data))-at)
	}
	return f, nil
}

// readSection reads the section of one row of the table. Sections lie in the
// order of the table, each at the first multiple of the alignment behind at.
func (f *File) readSection(data, row []byte, at int64) (end int64, err error) {
	name := string(bytes.TrimRight(row[:8], "\x00"))
	offset := binary.LittleEndian.Uint64(row[8:])
	length := binary.LittleEndian.Uint64(row[16:])
	sum := binary.LittleEndian.Uint32(row[24:])
	size := uint64(len(data))
	switch {
	case offset != uint64(padded(at)):
		return 0, badFile("section %q begins at byte %d, not at %d", name, offset, padded(at))
	case offset > size || length > size-offset:
		return 0, badFile("the file is cut off in section %q", name)
	case !allZero(data[at:offset]):
		return 0, badFile("there is something before section %q", name)
	}
	body := data[offset : offset+length : offset+length]
	if crc32.Checksum(body, castagnoli) != sum {
		return 0, badFile("section %q is damaged: its checksum differs", name)
	}
	for _, s := range sections {
		if s.name == name {
			return int64(offset + length), s.read(f, body)
		}
	}
	return 0, badFile("the file has a section %q, which this program does not know", name)
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

func (f *File) makeMeta() [][]byte {
	if len(f.Meta) == 0 {
		return nil
	}
	b := binary.AppendUvarint(nil, uint64(len(f.Meta)))
	for _, p := range f.Meta {
		b = appendBytes(appendBytes(b, []byte(p.Key)), []byte(p.Value))
	}
	return [][]byte{b}
}

func (f *File) readMeta(b []byte) error {
	seen := map[string]bool{}
	r := &reader{data: b}
	return r.all(func() {
		f.Meta = list(r, func() Pair { return Pair{r.text(), r.text()} })
		for _, p := range f.Meta {
			if seen[p.Key] {
				r.fail("the key %q is there twice", p.Key)
			}
			seen[p.Key] = true
		}
	})
}

func (f *File) makeIR() [][]byte {
	if f.IR == "" {
		return nil
	}
	return [][]byte{[]byte(f.IR)}
}

func (f *File) readIR(b []byte) error {
	if !utf8.Valid(b) {
		return badFile("section \"ir\" is no text")
	}
	f.IR = string(b)
	return nil
}

func (f *File) makeCode() [][]byte {
	if f.Program == nil {
		return nil
	}
	return [][]byte{Encode(f.Program)}
}

func (f *File) readCode(b []byte) (err error) {
	f.Program, err = Decode(b)
	return err
}

// makeWeights writes a table of names and types, then the bytes of each.
func (f *File) makeWeights() [][]byte {
	if len(f.Weights) == 0 {
		return nil
	}
	table := binary.AppendUvarint(nil, uint64(len(f.Weights)))
	pieces := [][]byte{nil}
	for _, w := range f.Weights {
		table = appendType(appendBytes(table, []byte(w.Name)), w.Type)
		pieces = append(pieces, w.Data)
	}
	pieces[0] = append(binary.AppendUvarint(nil, uint64(len(table))), table...)
	return pieces
}

func (f *File) readWeights(b []byte) error {
	seen := map[string]bool{}
	r := &reader{data: b}
	return r.all(func() {
		length := r.count()
		table := &reader{data: r.bytes(int64(length))}
		err := table.all(func() {
			f.Weights = list(table, func() Weight { return Weight{Name: table.text(), Type: table.newType()} })
		})
		if err != nil {
			panic(decodeStop{err})
		}
		for i := range f.Weights {
			w := &f.Weights[i]
			n, ok := w.Type.SizeBytes()
			if !ok || seen[w.Name] {
				r.fail("weight %q has no type or is there twice", w.Name)
			}
			seen[w.Name] = true
			if pad := padded(int64(r.at)) - int64(r.at); !allZero(r.bytes(pad)) {
				r.fail("there is something before weight %q", w.Name)
			}
			w.Data = aligned(w.Type.DType, r.bytes(n))
		}
	})
}

// aligned returns data, or a copy where elements of d could not be read in
// place.
func aligned(d tensor.DType, data []byte) []byte {
	if d == tensor.Invalid || tensor.Aligned(d, data) {
		return data
	}
	b := tensor.AlignedBytes(len(data))
	copy(b, data)
	return b
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
