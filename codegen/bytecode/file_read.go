package bytecode

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/npulang/npu/ir/mapped"
	"github.com/npulang/npu/ir/tensor"
)

// Open maps a file into memory and reads it. Tensors share that memory, and all
// processes that open the file share it too, until Close. Small weights and constants
// are copied (see mapped.File.Lift); the bytes of others are not looked at, so that
// opening takes no longer for a large model; Check does that. The error of a file that
// is not in order is a *diag.Diagnostic of code bad-bytecode.
func Open(path string) (*File, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := read(m.Data)
	if err != nil {
		_ = m.Close() // the other error tells more
		return nil, err
	}
	f.mapped = m
	for _, w := range f.Valued() {
		w.Data = m.Lift(w.Data)
	}
	return f, nil
}

// Close gives a mapped file back. Its weights must not be used any more.
func (f *File) Close() error {
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Release says that a weight of an opened file will not be read for long, so that
// it need not take memory; see mapped.File. It reports whether the weight lies in the
// mapped file.
func (f *File) Release(t *tensor.T) bool { return f.mapped != nil && f.mapped.Release(t.Data) }

// Read reads a file from bytes, which it goes on to share, and checks it.
func Read(data []byte) (*File, error) {
	f, err := read(data)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Check reads the bytes of all weights and constants of a file that was opened,
// and compares their checksums. All else was checked when it was opened.
func (f *File) Check() error {
	for _, s := range f.large {
		if crc32.Checksum(s.data, castagnoli) != s.sum {
			return damaged(s.name)
		}
	}
	return nil
}

func damaged(section string) error {
	return badFile("section %q is damaged: its checksum differs", section)
}

// read reads all but the data.
func read(data []byte) (*File, error) {
	rows, at, err := readHead(data)
	if err != nil {
		return nil, err
	}
	f := &File{}
	next := 0 // in the table of sections
	for ; len(rows) > 0; rows = rows[sectionSize:] {
		s, body, end, err := f.find(data, rows[:sectionSize], at, next)
		if err != nil {
			return nil, err
		}
		if err := sections[s].read(f, body); err != nil {
			return nil, err
		}
		at, next = end, s+1
	}
	if err := f.readAbsent(); err != nil {
		return nil, err
	}
	if size := int64(len(data)); size > padded(at, fileAlign) || !allZero(data[min(at, size):]) {
		return nil, badFile("the file has %d bytes after its last section", size-at)
	}
	return f, nil
}

// readAbsent reads large sections that are not there: they must have nothing to hold.
func (f *File) readAbsent() error {
	for _, s := range sections {
		there := slices.ContainsFunc(f.large, func(c checked) bool { return c.name == s.name })
		if isLarge(s.name) && !there {
			if err := s.read(f, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// readHead returns the table of sections, and where it ends.
func readHead(data []byte) (rows []byte, end int64, err error) {
	head := len(magic) + 8
	switch {
	case len(data) < head:
		return nil, 0, badFile("the file is cut off, or no compiled program: it has only %d bytes", len(data))
	case string(data[:len(magic)]) != magic:
		return nil, 0, badFile("the file is no compiled program: it does not begin with the mark of a .npuc")
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v != Version {
		return nil, 0, badFile("the file has version %d, and this program reads version %d: build it again", v, Version)
	}
	n := binary.LittleEndian.Uint32(data[len(magic)+4:])
	if n > uint32(len(sections)) {
		return nil, 0, badFile("the file names %d sections where there are %d kinds", n, len(sections))
	}
	size := head + int(n)*sectionSize
	if len(data) < size+4 {
		return nil, 0, badFile("the file is cut off in its table of sections")
	}
	if crc32.Checksum(data[:size], castagnoli) != binary.LittleEndian.Uint32(data[size:]) {
		return nil, 0, badFile("the head of the file is damaged: its checksum differs")
	}
	return data[head:size], int64(size) + 4, nil
}

// find returns the section of one row of the file's table: which it is, its
// bytes, and where it ends. Sections lie in the order of our table, from row next
// on, each at the first multiple of its alignment behind at.
func (f *File) find(data, row []byte, at int64, next int) (s int, body []byte, end int64, err error) {
	name := string(bytes.TrimRight(row[:8], "\x00"))
	offset := binary.LittleEndian.Uint64(row[8:])
	length := binary.LittleEndian.Uint64(row[16:])
	sum := binary.LittleEndian.Uint32(row[24:])
	size := uint64(len(data))
	s = slices.IndexFunc(sections, func(s section) bool { return s.name == name })
	switch start := padded(at, alignOf(name)); {
	case s < 0:
		return 0, nil, 0, badFile("the file has a section %q, which this program does not know", name)
	case s < next:
		return 0, nil, 0, badFile("section %q is there twice, or not in its place", name)
	case offset != uint64(start):
		return 0, nil, 0, badFile("section %q begins at byte %d, not at %d", name, offset, start)
	case offset > size || length > size-offset:
		return 0, nil, 0, badFile("the file is cut off in section %q", name)
	case !allZero(data[at:offset]):
		return 0, nil, 0, badFile("there is something before section %q", name)
	}
	body = data[offset : offset+length : offset+length]
	if isLarge(name) {
		f.large = append(f.large, checked{name, body, sum})
	} else if crc32.Checksum(body, castagnoli) != sum {
		return 0, nil, 0, damaged(name)
	}
	return s, body, int64(offset + length), nil
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
