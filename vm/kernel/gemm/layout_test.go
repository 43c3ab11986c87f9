package gemm

import (
	"hash/fnv"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

var everyLevel = []isa.Level{isa.Portable, isa.AVX2, isa.AVX512, isa.NEON}

// TestLayoutsOfOthers: what is said of levels that a processor lacks is what those
// that have them do.
func TestLayoutsOfOthers(t *testing.T) {
	for level, set := range levels {
		if set != nil && set.width != Width(isa.Level(level)) {
			t.Errorf("%v: panels of %d columns, packed as %d", isa.Level(level), set.width, Width(isa.Level(level)))
		}
		for kind := range kinds {
			if set == nil {
				continue
			}
			all := level == int(isa.AVX512)
			has, said := choose(isa.Level(level), kind, all, all), layouts[level][kind]
			if has.Width() != said.width || has.deep != said.deep || has.left != said.left || has.name != layoutName(said.name, said.width) {
				t.Errorf("%v: %s of width %d and depth %d, packed as %v", isa.Level(level), has.name, has.Width(), has.deep, said)
			}
		}
	}
}

// TestPackForOthers packs for every level, with what this processor has and without,
// and looks for each element where the layout has it.
func TestPackForOthers(t *testing.T) {
	for _, level := range everyLevel {
		for _, size := range [][2]int{{1, 1}, {9, 33}, {16, 31}, {40, 16}, {24, 64}} {
			k, n := size[0], size[1]
			for _, b := range []Matrix{{Row: n, Col: 1}, {Row: 1, Col: k}, {Row: 2 * n, Col: 2}} {
				b.Data = make([]float32, 2*k*n)
				for i := range b.Data {
					b.Data[i] = float32(i + 1)
				}
				got := Aligned(PackedLen(level, k, n))
				for i := range got {
					got[i] = -1
				}
				Pack(level, got, b, k, n)
				w := Width(level)
				for at, v := range got {
					i, j := at%(k*w)/w, at/(k*w)*w+at%w
					want := float32(0)
					if j < n {
						want = b.Data[i*b.Row+j*b.Col]
					}
					if v != want {
						t.Fatalf("%v, %d by %d, steps %d and %d: place %d has %v, want %v", level, k, n, b.Row, b.Col, at, v, want)
					}
				}
			}
		}
	}
}

// TestLayoutVersion: packed matrices lie in files, so that another layout needs
// another LayoutVersion.
func TestLayoutVersion(t *testing.T) {
	const k, n = 11, 70
	h := fnv.New64a()
	for _, level := range everyLevel {
		floats := make([]float32, k*n)
		halves, bytes := make([]uint16, k*n), make([]int8, k*n)
		for i := range floats {
			floats[i], halves[i], bytes[i] = float32(i), narrow.BF16Of(float32(i%256)), int8(i)
		}
		dst := Aligned(PackedLen(level, k, n))
		Pack(level, dst, Matrix{Data: floats, Row: n, Col: 1}, k, n)
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)))
		for kind := range kinds {
			f := foreign(level, kind)
			dst := Aligned(f.PackedLen(k, n))
			if kind == Int8 {
				f.PackBytes(dst, View[int8]{bytes, n, 1}, k, n)
			} else {
				f.PackHalves(dst, View[uint16]{halves, n, 1}, k, n)
			}
			h.Write([]byte(f.Layout()))
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)))
		}
	}
	const sum, version = 0x49a191016fe4f297, 1
	if got := h.Sum64(); got != sum || LayoutVersion != version {
		t.Errorf("layouts of version %d have the sum %#x, want version %d with %#x: raise LayoutVersion if they have changed, and write both here", LayoutVersion, got, version, uint64(sum))
	}
}
