package move

import (
	"testing"
	"unsafe"
)

// TestNoBytes: the end of an allocation has no pointer, which would be another's.
func TestNoBytes(t *testing.T) {
	data := make([]byte, 8192)
	p := unsafe.Pointer(&data[0])
	if none := bytesAt(p, len(data), 0); unsafe.SliceData(none) != nil {
		t.Errorf("no bytes begin at %p, behind the last of those at %p", unsafe.SliceData(none), p)
	}
	if last := bytesAt(p, len(data)-1, 1); &last[0] != &data[len(data)-1] {
		t.Errorf("the last byte is at %p instead of %p", &last[0], &data[len(data)-1])
	}
}
