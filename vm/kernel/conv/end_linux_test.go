package conv_test

import (
	"syscall"
	"testing"
	"unsafe"
)

// atEnd is a copy of x in front of a page that can't be read, and behind one.
func atEnd(t *testing.T, x []float32) []float32 {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*len(x) + page) / page * page // at least one
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	last := all[page+size-4*len(x) : page+size]
	to := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(last))), len(x))
	copy(to, x)
	return to
}
