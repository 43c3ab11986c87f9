package attn

import (
	"testing"
	"unsafe"
)

// TestScoreTile: the generator of the kernels counts on these offsets.
func TestScoreTile(t *testing.T) {
	var s scoreTile
	for i, at := range []uintptr{
		unsafe.Offsetof(s.q), unsafe.Offsetof(s.row), unsafe.Offsetof(s.k), unsafe.Offsetof(s.c), unsafe.Offsetof(s.ldc),
		unsafe.Offsetof(s.n), unsafe.Offsetof(s.deep), unsafe.Offsetof(s.mask), unsafe.Offsetof(s.top), unsafe.Offsetof(s.best),
	} {
		if at != uintptr(8*i) {
			t.Errorf("field %d lies at %d, the kernels look for it at %d", i, at, 8*i)
		}
	}
}
