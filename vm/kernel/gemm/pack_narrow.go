package gemm

import (
	"encoding/binary"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Packing of numbers of one and two bytes goes by four bytes where as many stand side by
// side in a panel: where they do so in the matrix, too, panels of them are those of floats.

// packNarrow packs a matrix of k rows and n columns into panels of so many rows, deep of
// which stand side by side. flip is exclusive-ored to every four bytes of it; where single
// elements stand in a panel (deep is 1), it must be 0.
func packNarrow[E int8 | uint16](dst []E, width, deep, rows int, b View[E], k, n int, flip uint32) {
	if k == 0 || n == 0 {
		return
	}
	for j := 0; j < n; j += width {
		to, cols := dst[j*rows:][:rows*width], min(width, n-j)
		from := View[E]{b.Data[j*b.Col:], b.Row, b.Col}
		whole, fours := 0, bytesOf(from)
		if deep*fours.size == floatBytes {
			whole = k / deep
			packFours(as4(to), width, fours, whole, cols, flip)
		}
		packRest(to, width, deep, from, whole*deep, k, cols, E(flip))
	}
}

// bytesOf is a matrix of which rows and columns are counted in bytes.
func bytesOf[E int8 | uint16](b View[E]) (v fours) {
	var e E
	v.size = int(unsafe.Sizeof(e))
	v.row, v.col = b.Row*v.size, b.Col*v.size
	v.data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.Data))), len(b.Data)*v.size)
	return v
}

// as4 views numbers as four bytes at a time.
func as4[E int8 | uint16](s []E) []uint32 {
	var e E
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(e))/floatBytes)
}

// fours is a matrix whose elements are packed four bytes at a time, those of neighbouring
// rows.
type fours struct {
	data     []byte
	row, col int // bytes from one to the next
	size     int // of an element
}

// packFours writes columns of a panel, so many fours of each.
func packFours(dst []uint32, width int, b fours, whole, cols int, flip uint32) {
	if b.row == b.size {
		b.turned(dst, width, whole, cols)
		flipFours(dst, width, whole, cols, flip)
		return
	}
	for i := range whole {
		b.line(dst[i*width:][:cols], i)
	}
	flipFours(dst, width, whole, cols, flip)
}

// line writes the i-th fours of neighbouring columns.
func (b *fours) line(dst []uint32, i int) {
	if b.size != 1 || b.col != 1 {
		for j := range dst {
			dst[j] = b.four(i, j)
		}
		return
	}
	from := b.data[floatBytes*i*b.row:]
	r0, r1, r2, r3 := from[:len(dst)], from[b.row:][:len(dst)], from[2*b.row:][:len(dst)], from[3*b.row:][:len(dst)]
	for j := range dst {
		dst[j] = uint32(r0[j]) | uint32(r1[j])<<8 | uint32(r2[j])<<16 | uint32(r3[j])<<24
	}
}

// four is the i-th four of a column.
func (b *fours) four(i, j int) uint32 {
	at := i*floatBytes/b.size*b.row + j*b.col
	if b.row == b.size {
		return binary.NativeEndian.Uint32(b.data[at:])
	}
	if b.size == 2 {
		return uint32(binary.NativeEndian.Uint16(b.data[at:])) | uint32(binary.NativeEndian.Uint16(b.data[at+b.row:]))<<16
	}
	d, r := b.data[at:], b.row
	return uint32(d[0]) | uint32(d[r])<<8 | uint32(d[2*r])<<16 | uint32(d[3*r])<<24
}

// turned writes columns that lie in one piece: eight by eight, then what is left.
func (b *fours) turned(dst []uint32, width, whole, cols int) {
	eights, turn := whole/8, at(isa.Best()).turns[8]
	j := 0
	for ; eights > 0 && j+8 <= cols; j += 8 {
		to := (*float32)(unsafe.Pointer(&dst[j]))
		turn(to, (*float32)(unsafe.Pointer(&b.data[j*b.col])), width*floatBytes, b.col, eights)
		for i := eights * 8; i < whole; i++ {
			for c := j; c < j+8; c++ {
				dst[i*width+c] = b.four(i, c)
			}
		}
	}
	for ; j < cols; j++ {
		for i := range whole {
			dst[i*width+j] = b.four(i, j)
		}
	}
}

func flipFours(dst []uint32, width, whole, cols int, flip uint32) {
	if flip == 0 {
		return
	}
	for i := range whole {
		line := dst[i*width:][:cols]
		for j := range line {
			line[j] ^= flip
		}
	}
}

// packBlock is how many rows of columns are written before the next column's, so that
// they stay in the first cache.
const packBlock = 64

// packRest writes rows of a panel from one on, and zeros where it has no elements.
func packRest[E int8 | uint16](dst []E, width, deep int, b View[E], from, k, cols int, flip E) {
	steps := len(dst) / (width * deep)
	if cols < width {
		for i := range steps {
			clear(dst[i*width*deep+cols*deep:][:(width-cols)*deep])
		}
	}
	clear(dst[k/deep*width*deep:])
	if deep == 1 && b.Col == 1 {
		for i := from; i < k; i++ {
			copy(dst[i*width:][:cols], b.Data[i*b.Row:])
		}
		return
	}
	for lo := from; lo < k; lo += packBlock {
		j := 0
		if deep == 1 && b.Row == 1 {
			j = packBeside(dst[lo*width:], width, b.Data[lo:], b.Col, min(packBlock, k-lo), cols)
		}
		for ; j < cols; j++ {
			at := j*b.Col + lo*b.Row
			to, step := (lo/deep*width+j)*deep, lo%deep // the four, and the place in it
			for range min(packBlock, k-lo) {
				dst[to+step] = b.Data[at] ^ flip
				at += b.Row
				if step++; step == deep {
					to, step = to+width*deep, 0
				}
			}
		}
	}
}

// packBeside writes n rows of columns that lie in one piece, four beside each other, and
// says how many columns these were.
func packBeside[E int8 | uint16](dst []E, width int, src []E, apart, n, cols int) (j int) {
	for ; j+4 <= cols; j += 4 {
		at := j * apart
		c0, c1, c2, c3 := src[at:][:n], src[at+apart:][:n], src[at+2*apart:][:n], src[at+3*apart:][:n]
		for i := range n {
			*(*[4]E)(dst[i*width+j:]) = [4]E{c0[i], c1[i], c2[i], c3[i]}
		}
	}
	return j
}
