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
	var p spreader
	places = []uintptr{
		unsafe.Offsetof(p.src), unsafe.Offsetof(p.from), unsafe.Offsetof(p.step), unsafe.Offsetof(p.masks), unsafe.Offsetof(p.dst),
		unsafe.Offsetof(p.to), unsafe.Offsetof(p.apart), unsafe.Offsetof(p.count), unsafe.Offsetof(p.groups),
	}
	if want := []uintptr{0, 32, 64, 96, 104, 112, 120, 128, 136}; unsafe.Sizeof(p.to) == 8 && !slices.Equal(places, want) {
		t.Errorf("spreader has its fields at %v, not %v", places, want)
	}
	var j joiner
	places = []uintptr{
		unsafe.Offsetof(j.src), unsafe.Offsetof(j.dst), unsafe.Offsetof(j.line), unsafe.Offsetof(j.ld), unsafe.Offsetof(j.count), unsafe.Offsetof(j.bad),
	}
	if want := []uintptr{0, 8, 16, 24, 32, 40}; unsafe.Sizeof(j.ld) == 8 && !slices.Equal(places, want) {
		t.Errorf("joiner has its fields at %v, not %v", places, want)
	}
	var w windows
	places = []uintptr{
		unsafe.Offsetof(w.x), unsafe.Offsetof(w.blank), unsafe.Offsetof(w.w), unsafe.Offsetof(w.y), unsafe.Offsetof(w.xNext), unsafe.Offsetof(w.yNext),
		unsafe.Offsetof(w.line), unsafe.Offsetof(w.pitch), unsafe.Offsetof(w.first), unsafe.Offsetof(w.rows), unsafe.Offsetof(w.groups),
		unsafe.Offsetof(w.blocks), unsafe.Offsetof(w.wide), unsafe.Offsetof(w.planes),
		unsafe.Offsetof(w.back), unsafe.Offsetof(w.backY), unsafe.Offsetof(w.ahead), unsafe.Offsetof(w.steps), unsafe.Offsetof(w.ld),
		unsafe.Offsetof(w.has), unsafe.Offsetof(w.lo), unsafe.Offsetof(w.hi), unsafe.Offsetof(w.with), unsafe.Offsetof(w.seen),
	}
	if want := []uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 192, 224, 384}; unsafe.Sizeof(w.line) == 8 && !slices.Equal(places, want) {
		t.Errorf("windows has its fields at %v, not %v", places, want)
	}
	var f flats
	places = []uintptr{
		unsafe.Offsetof(f.x), unsafe.Offsetof(f.offsets), unsafe.Offsetof(f.w), unsafe.Offsetof(f.y), unsafe.Offsetof(f.yNext), unsafe.Offsetof(f.rest),
		unsafe.Offsetof(f.steps), unsafe.Offsetof(f.ld), unsafe.Offsetof(f.has), unsafe.Offsetof(f.k), unsafe.Offsetof(f.tiles),
		unsafe.Offsetof(f.over), unsafe.Offsetof(f.masks), unsafe.Offsetof(f.lo), unsafe.Offsetof(f.hi),
	}
	if want := []uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 136}; unsafe.Sizeof(f.ld) == 8 && !slices.Equal(places, want) {
		t.Errorf("flats has its fields at %v, not %v", places, want)
	}
	var o windowBlock
	places = []uintptr{unsafe.Offsetof(o.col), unsafe.Offsetof(o.to), unsafe.Offsetof(o.masks), unsafe.Offsetof(o.bits), unsafe.Sizeof(o)}
	if want := []uintptr{0, 8, 16, 24, 40}; unsafe.Sizeof(o.to) == 8 && !slices.Equal(places, want) {
		t.Errorf("windowBlock has its fields at %v, not %v", places, want)
	}
}
