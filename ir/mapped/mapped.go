package mapped

import (
	"errors"
	"io"
	"os"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"github.com/npulang/npu/ir/tensor"
)

// A File is an open file's content.
type File struct {
	Data []byte // begins at a multiple of 64 bytes

	mu      sync.Mutex
	mapping mmap.MMap                // nil: the file was read
	small   struct{ first, end int } // what lies between parts that were released
}

// Open maps or reads a file. Folders are refused.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("it is a folder")}
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		data, err := io.ReadAll(f)
		return &File{Data: data}, err
	}
	if m, err := mmap.Map(f, mmap.RDONLY, 0); err == nil {
		return &File{Data: m, mapping: m}, nil
	}
	data := tensor.AlignedBytes(int(info.Size()))
	if _, err = io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &File{Data: data}, nil
}

// Release says that a part of Data will not be read for long: its whole pages no
// longer count as the process's memory, and come back when they are read. A part
// that does not lie in a mapping, and a system that has no such call, make it do
// nothing. It reports whether part lies in the file.
func (f *File) Release(part []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := offset(f.mapping, part)
	if at < 0 {
		return false
	}
	page := os.Getpagesize()
	first, end := (at+page-1)/page*page, (at+len(part))/page*page
	if first < end {
		f.divide(first, end)
		forget(f.mapping[first:end])
	}
	return true
}

// divide has the mapping, from the first part that is released to the last, come
// back in small pages: what is read in between, such as a bias between two matrices,
// would else bring a large one with most of a neighbour in it.
func (f *File) divide(first, end int) {
	s := &f.small
	if s.end > s.first {
		first, end = min(first, s.first), max(end, s.end)
	}
	if first != s.first || end != s.end {
		s.first, s.end = first, end
		inSmallPages(f.mapping[first:end])
	}
}

// offset is where a part begins in the whole; -1: it is no part of it.
func offset(whole, part []byte) int {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	if len(part) == 0 || at >= uintptr(len(whole)) || uintptr(len(part)) > uintptr(len(whole))-at {
		return -1
	}
	return int(at)
}

// Close gives the mapping back. A second Close does nothing.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mapping
	f.mapping, f.Data = nil, nil
	if m == nil {
		return nil
	}
	return m.Unmap()
}
