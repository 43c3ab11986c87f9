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
	mapping mmap.MMap // nil: the file was read
}

const (
	// most is how much a system may bring in where one byte is read. Linux 6.18 maps all
	// that its cache of the file holds as one piece: a large page at most, which is this
	// much on x86, and begins at a multiple of it in the file.
	most = 2 << 20
	// small is below which size Lift copies: biases and norms are smaller, and matrices
	// that would be worth packing hardly ever.
	small = 64 << 10
)

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

// Release says that a part of Data will not be read for long: what reading it may have
// brought in, which is more than the part, no longer counts as the process's memory, and
// comes back when it is read. A part that does not lie in a mapping, and a system that has
// no such call, make it do nothing. It reports whether part lies in the file.
func (f *File) Release(part []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := offset(f.mapping, part)
	if at < 0 {
		return false
	}
	// To the ends of large pages: if of two neighbours that are read at a time each left
	// the page that they share to the other, it would stay. What of it is still being read
	// comes back, and goes when its reader releases it.
	end := (at + len(part) + most - 1) / most * most
	forget(f.mapping[at/most*most : min(end, len(f.mapping))])
	return true
}

// Lift returns what to read in the place of a part of Data that is read now and then, as
// long as the file is open: a copy if it is small, since reading a few bytes in the file
// brings in much else each time, and the part itself if not.
func (f *File) Lift(part []byte) []byte {
	if len(part) >= small || !f.holds(part) {
		return part
	}
	b := tensor.AlignedBytes(len(part))
	copy(b, part)
	f.Release(part)
	return b
}

// holds reports whether a part lies in the mapping.
func (f *File) holds(part []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return offset(f.mapping, part) >= 0
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
