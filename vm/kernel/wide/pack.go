package wide

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// PackedLen is how many elements a packed matrix of k rows and n columns takes: its columns
// are rounded up to whole panels.
func PackedLen[E Element](level isa.Level, k, n int) int {
	w := Width[E](level)
	return (n + w - 1) / w * w * k
}

// Pack writes a matrix of k rows and n columns as panels side by side, each with its rows one
// behind the other; the columns that the last panel has too many are zero. The level may be
// one that this processor lacks. Whoever changes what it writes raises gemm.LayoutVersion.
func Pack[E Element](level isa.Level, dst []E, b gemm.View[E], k, n int) {
	w := Width[E](level)
	for from := 0; from < n; from += w {
		panel := dst[from*k : (from+w)*k]
		if n-from < w {
			clear(panel)
		}
		packPanel(panel, w, viewFrom(b, 0, from), k, min(w, n-from))
	}
}

// packPanel writes up to a panel's width of columns.
func packPanel[E Element](dst []E, width int, b gemm.View[E], k, n int) {
	switch {
	case b.Col == 1:
		for i := range k {
			copy(dst[i*width:][:n], b.Data[i*b.Row:])
		}
	case n > 0:
		turn(dst, width, b.Data, b.Col, b.Row, n, k)
	}
}

// turnSteps is how many columns are written before others of the same rows: what they are
// written to stays in the first cache until all rows have been.
const turnSteps = 32

// turn writes rows as columns: element j of row i, which is src[i*row+j*col], to
// dst[j*line+i].
func turn[E Element](dst []E, line int, src []E, row, col, rows, n int) {
	for j := 0; j < n; j += turnSteps {
		turnSome(dst[j*line:], line, src[j*col:], row, col, rows, min(turnSteps, n-j))
	}
}

func turnSome[E Element](dst []E, line int, src []E, row, col, rows, n int) {
	i := 0
	for ; i+4 <= rows && col == 1; i += 4 {
		r0, r1, r2, r3 := src[i*row:][:n], src[(i+1)*row:][:n], src[(i+2)*row:][:n], src[(i+3)*row:][:n]
		for j, x := range r0 {
			to := (*[4]E)(dst[j*line+i:])
			to[0], to[1], to[2], to[3] = x, r1[j], r2[j], r3[j]
		}
	}
	for ; i < rows; i++ {
		at := i * row
		for j := range n {
			dst[j*line+i] = src[at]
			at += col
		}
	}
}

// viewFrom is the view that begins at element (i, j).
func viewFrom[E any](v gemm.View[E], i, j int) gemm.View[E] {
	v.Data = v.Data[min(i*v.Row+j*v.Col, len(v.Data)):]
	return v
}

// Elements views floats of four bytes, in which memory comes, as what they hold.
func Elements[E Element](s []float32) []E {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*4/sizeOf[E]())
}

// sizeOf is the bytes of an element.
func sizeOf[E Element]() int {
	var e E
	return int(unsafe.Sizeof(e))
}
