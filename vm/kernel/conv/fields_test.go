package conv

import (
	"slices"
	"testing"
	"unsafe"
)

// TestFields: the generator of the kernels counts the fields of their arguments.
func TestFields(t *testing.T) {
	var b bunches
	places := []uintptr{
		unsafe.Offsetof(b.src), unsafe.Offsetof(b.lies), unsafe.Offsetof(b.offsets), unsafe.Offsetof(b.filters), unsafe.Offsetof(b.sums),
		unsafe.Offsetof(b.ld), unsafe.Offsetof(b.k), unsafe.Offsetof(b.add), unsafe.Offsetof(b.next), unsafe.Offsetof(b.hop), unsafe.Offsetof(b.count),
	}
	if want := []uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80}; unsafe.Sizeof(b.k) == 8 && !slices.Equal(places, want) {
		t.Errorf("bunches has its fields at %v, not %v", places, want)
	}
	var e ender
	places = []uintptr{
		unsafe.Offsetof(e.src), unsafe.Offsetof(e.dst), unsafe.Offsetof(e.rest), unsafe.Offsetof(e.from), unsafe.Offsetof(e.to),
		unsafe.Offsetof(e.count), unsafe.Offsetof(e.rows), unsafe.Offsetof(e.steps), unsafe.Offsetof(e.ld), unsafe.Offsetof(e.lo), unsafe.Offsetof(e.hi),
	}
	if want := []uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 104}; unsafe.Sizeof(e.ld) == 8 && !slices.Equal(places, want) {
		t.Errorf("ender has its fields at %v, not %v", places, want)
	}
}
