package gemm

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/pages"
)

// PackedLen is how many floats a packed matrix of k rows and n columns takes: its
// columns are rounded up to whole panels.
func PackedLen(level isa.Level, k, n int) int {
	w := Width(level)
	return (n + w - 1) / w * w * k
}

// PackedPanels views a packed matrix of k rows as panels.
func PackedPanels(level isa.Level, data []float32, k int) Panels {
	w := Width(level)
	return Panels{Data: data, Panel: k * w, Line: w}
}

// Pack writes a matrix of k rows and n columns as panels side by side, each with its
// rows one behind the other; the columns that the last panel has too many are zero.
// dst has PackedLen floats. Panels can be packed by themselves, and at the same
// time, by calls with the columns and the part of dst that belong to them.
//
// The level may be one that this processor lacks: what is packed for other machines is
// the same, byte by byte.
func Pack(level isa.Level, dst []float32, b Matrix, k, n int) {
	set := packing(level)
	w := set.width
	for ; n > 0; n -= w {
		panel := dst[:k*w]
		if n < w {
			clear(panel)
		}
		packPanel(set, panel, b, k, min(n, w))
		dst = dst[k*w:]
		b = b.From(0, w)
	}
}

// packPanel writes up to a panel's width of columns.
func packPanel(set *kernels, dst []float32, b Matrix, k, n int) {
	switch {
	case b.Col == 1:
		packLines(dst, set.width, b, k, n)
	case b.Row == 1:
		packTurned(set, dst, b, k, n)
	default:
		packEach(dst, set.width, b, k, n)
	}
}

// packLines copies rows that lie in one piece.
func packLines(dst []float32, width int, b Matrix, k, n int) {
	if n == 16 && width == 16 {
		for i := range k {
			*(*[16]float32)(dst[i*16:]) = [16]float32(b.Data[i*b.Row:])
		}
		return
	}
	for i := range k {
		copy(dst[i*width:i*width+n], b.Data[i*b.Row:])
	}
}

// packTurned writes columns that lie in one piece: eight by eight, then what is
// left.
func packTurned(set *kernels, dst []float32, b Matrix, k, n int) {
	w := set.width
	blocks, cols := k/8, n/8*8
	if blocks == 0 || cols == 0 {
		packEach(dst, w, b, k, n)
		return
	}
	for j := 0; j < cols; j += 8 {
		set.turns[8](unsafe.SliceData(dst[j:]), unsafe.SliceData(b.Data[j*b.Col:]), w*4, b.Col*4, blocks)
	}
	if rest := k - blocks*8; rest > 0 {
		packEach(dst[blocks*8*w:], w, b.From(blocks*8, 0), rest, cols)
	}
	if cols < n {
		packEach(dst[cols:], w, b.From(0, cols), k, n-cols)
	}
}

// packEach copies element by element.
func packEach(dst []float32, width int, b Matrix, k, n int) {
	for i := range k {
		for j := range n {
			dst[i*width+j] = b.Data[i*b.Row+j*b.Col]
		}
	}
}

// Aligned makes a slice of n zeros that begins at a multiple of 64 bytes, as lines
// of the cache do, and lies in large pages if it fills them.
func Aligned(n int) []float32 { return pages.Floats(n) }
