package pages

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func address(s []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// sizes are around those at which something changes, in floats.
var sizes = []int{0, 1, 15, 16, 17, 1000, huge/4 - 1, huge / 4, huge/4 + 1, huge, 3*huge/4 + 5}

// TestFloats: what is made is zero, begins where it should, and can be written to its
// ends.
func TestFloats(t *testing.T) {
	for _, n := range sizes {
		s := Floats(n)
		if len(s) != n || cap(s) != n {
			t.Fatalf("%d floats have length %d and capacity %d", n, len(s), cap(s))
		}
		align := uintptr(line)
		if 4*n >= huge {
			align = huge
		}
		if n > 0 && address(s)%align != 0 {
			t.Errorf("%d floats begin at %#x, no multiple of %d", n, address(s), align)
		}
		for i, v := range s {
			if v != 0 {
				t.Fatalf("float %d of %d is %v", i, n, v)
			}
			s[i] = 1
		}
	}
}

// TestRoom: pieces are zero, aligned, and do not overlap, whatever their sizes.
func TestRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var room Room
	var pieces [][]float32
	for i := range 400 {
		n := r.IntN(60000)
		if i%40 == 0 {
			n = sizes[i/40]
		}
		p := room.Floats(n)
		if len(p) != n || cap(p) != n {
			t.Fatalf("%d floats have length %d and capacity %d", n, len(p), cap(p))
		}
		if n > 0 && address(p)%line != 0 {
			t.Fatalf("%d floats begin at %#x", n, address(p))
		}
		for j, v := range p {
			if v != 0 {
				t.Fatalf("float %d of piece %d is %v", j, i, v)
			}
			p[j] = float32(i + 1)
		}
		pieces = append(pieces, p)
	}
	for i, p := range pieces {
		for j, v := range p {
			if v != float32(i+1) {
				t.Fatalf("float %d of piece %d is that of piece %v", j, i, v-1)
			}
		}
	}
}

// TestRoomIsSmall: few pieces take no chunk, and chunks are no larger than what was
// asked for before.
func TestRoomIsSmall(t *testing.T) {
	var room Room
	for range 100 {
		room.Floats(1000)
	}
	if room.chunk != nil {
		t.Errorf("400 KB took a chunk, of which %d bytes are left", len(room.chunk))
	}
	for range 100 {
		room.Floats(100_000)
		if len(room.chunk) > room.total {
			t.Fatalf("%d bytes are left of a chunk where %d have been asked for", len(room.chunk), room.total)
		}
	}
	if len(room.chunk) == 0 {
		t.Error("40 MB took no chunk")
	}
}

// TestLarge: asking leaves memory as it is, wherever it begins and ends.
func TestLarge(t *testing.T) {
	b := make([]byte, 3*huge)
	for _, part := range [][]byte{nil, b[:0], b[:huge-1], b[1:huge], b[17 : 2*huge], b, b[huge+5:]} {
		for i := range part {
			part[i] = byte(i%251) + 1
		}
		Large(part)
		for i, v := range part {
			if v != byte(i%251)+1 {
				t.Fatalf("byte %d of %d is %d", i, len(part), v)
			}
		}
	}
}

// TestDirty: what is made has the length and place that it should, is nobody else's, and
// can be written to its ends.
func TestDirty(t *testing.T) {
	var pieces [][]byte
	for i, n := range append([]int{1, 63, 64, 65}, sizes...) {
		b := Dirty(n)
		if len(b) != n || cap(b) != n {
			t.Fatalf("%d bytes have length %d and capacity %d", n, len(b), cap(b))
		}
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); at%line != 0 {
			t.Errorf("%d bytes begin at %#x, no multiple of %d", n, at, line)
		}
		for j := range b {
			b[j] = byte(i + 1)
		}
		pieces = append(pieces, b)
	}
	for i, b := range pieces {
		for j, v := range b {
			if v != byte(i+1) {
				t.Fatalf("byte %d of piece %d is that of piece %d", j, i, v-1)
			}
		}
	}
}
