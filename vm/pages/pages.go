package pages

import (
	"strings"
	"sync"
	"unsafe"
)

const (
	huge = 2 << 20 // of x86 and of arm64 with small pages of 4 KB
	line = 64      // of the caches

	mostChunk = 32 << 20 // of a Room
)

// Floats makes n zeros that begin at a multiple of 64 bytes, or, if they fill a large
// page, at the start of one.
func Floats(n int) []float32 {
	if n == 0 {
		return []float32{}
	}
	b := bytes(4 * n)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// bytes makes n zeros like Floats.
func bytes(n int) []byte {
	align := line
	if n >= huge {
		align = huge
	}
	b := make([]byte, n+align)
	off := until(b, align)
	b = b[off : off+n : off+n]
	Large(b)
	return b
}

// Dirty makes n bytes that begin at a multiple of 64 and hold anything: for who writes all
// of them before somebody reads one. Go clears what it makes otherwise, a second pass over
// memory that had been used before; this comes as the collector has left it. It asks for no
// large pages: with memory that is given back often the system spends more on finding them
// than they save (64 MB of results: 200 ms at first instead of 50, later the same).
func Dirty(n int) []byte {
	var b strings.Builder
	b.Grow(n + line) // which clears nothing, since a text is written before it is read
	b.WriteByte(0)   // an empty text need not say where it is
	all := unsafe.Slice(unsafe.StringData(b.String()), n+line)
	off := until(all, line)
	return all[off : off+n : off+n]
}

// until is how far b is from the next multiple of align.
func until(b []byte, align int) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
}

// Large asks the system for large pages wherever a whole one lies in b. It does so
// only where b has not been touched yet; memory that has stays as it is at first.
func Large(b []byte) {
	if len(b) < huge {
		return
	}
	b = b[min(until(b, huge), len(b)):]
	if whole := len(b) / huge * huge; whole > 0 {
		advise(b[:whole])
	}
}

// A Room gives out pieces of chunks, so that several small ones share a large page. A
// chunk is about as large as all that has been asked for before, so that little is
// wasted on few, and lives as long as one of its pieces. The zero value is ready for
// use by several goroutines.
type Room struct {
	mu    sync.Mutex
	chunk []byte // what is left of it
	total int    // bytes that have been asked for
}

// Floats makes n zeros that begin at a multiple of 64 bytes.
func (r *Room) Floats(n int) []float32 {
	if n == 0 {
		return []float32{}
	}
	b := r.bytes(4 * n)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func (r *Room) bytes(n int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	room := (n + line - 1) / line * line
	before := r.total
	r.total += room
	if room > len(r.chunk) {
		size := min(before, mostChunk) / huge * huge
		if size < room {
			return bytes(n) // what is left of the chunk is for others
		}
		r.chunk = bytes(size)
	}
	b := r.chunk[:n:n]
	r.chunk = r.chunk[room:]
	return b
}
