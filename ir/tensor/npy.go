package tensor

import (
	"encoding/binary"
	"io"
	"math/bits"
	"os"
	"unsafe"
)

// DecodeNpy reads a whole .npy file of version 1.0, 2.0 or 3.0, in C or
// Fortran order, of either byte order. bfloat16 is two opaque bytes (V2), as
// NumPy has no such dtype. The tensor uses data in place when its layout
// allows: little-endian, C order, aligned.
func DecodeNpy(data []byte) (*T, error) {
	h, err := parseNpyHeader(data)
	if err != nil {
		return nil, err
	}
	if err := h.check(int64(len(data))); err != nil {
		return nil, err
	}
	return h.tensor(data[h.size:]), nil
}

// ReadNpy reads a .npy file from a stream, to its end.
func ReadNpy(r io.Reader) (*T, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return DecodeNpy(data)
}

// ReadNpyFile reads a .npy file. The header is compared with the file's size
// before memory is taken for the elements.
func ReadNpyFile(path string) (*T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return ReadNpy(f)
	}
	head, err := io.ReadAll(io.LimitReader(f, 12+maxNpyHeader))
	if err != nil {
		return nil, err
	}
	h, err := parseNpyHeader(head)
	if err != nil {
		return nil, err
	}
	if err := h.check(info.Size()); err != nil {
		return nil, err
	}
	body := AlignedBytes(int(info.Size()) - h.size)
	rest := body[copy(body, head[h.size:]):]
	if _, err := io.ReadFull(f, rest); err != nil {
		return nil, err
	}
	return h.tensor(body), nil
}

// WriteNpy writes t as .npy version 1.0, byte for byte as NumPy does.
func WriteNpy(w io.Writer, t *T) error {
	if _, err := w.Write(appendNpyHeader(nil, t)); err != nil {
		return err
	}
	_, err := w.Write(t.Data)
	return err
}

// AppendNpy is WriteNpy into memory.
func AppendNpy(b []byte, t *T) []byte { return append(appendNpyHeader(b, t), t.Data...) }

// tensor turns the elements, of the right number, into the host's layout.
func (h *npyHeader) tensor(body []byte) *T {
	if h.swapped || !Aligned(h.dtype, body) {
		own := AlignedBytes(len(body))
		copy(own, body)
		body = own
	}
	if h.swapped {
		swapBytes(body, h.dtype.Size())
	}
	t := &T{DType: h.dtype, Shape: h.shape, Data: body}
	if h.fortran {
		t = fromFortran(t)
	}
	return CleanBool(t)
}

// CleanBool returns t, or if t is a bool tensor with bytes other than 0 and 1,
// which Go must not see as bool, a copy with 1 in their place.
func CleanBool(t *T) *T {
	if t.DType != Bool || onlyBits(t.Data) {
		return t
	}
	return Cast(t, Bool)
}

func onlyBits(b []byte) bool {
	var seen uint64
	for ; len(b) >= 8; b = b[8:] {
		seen |= binary.LittleEndian.Uint64(b)
	}
	for _, v := range b {
		seen |= uint64(v)
	}
	return seen&^0x0101010101010101 == 0
}

// swapBytes reverses each element of aligned data in place.
func swapBytes(data []byte, size int) {
	switch size {
	case 2:
		reverse(words[uint16](data), bits.ReverseBytes16)
	case 4:
		reverse(words[uint32](data), bits.ReverseBytes32)
	case 8:
		reverse(words[uint64](data), bits.ReverseBytes64)
	}
}

type word interface {
	uint8 | uint16 | uint32 | uint64
}

func reverse[W word](w []W, by func(W) W) {
	for i, v := range w {
		w[i] = by(v)
	}
}

// words views aligned data as integers.
func words[W word](data []byte) []W {
	var w W
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(w)))
}

// fromFortran reorders elements whose first axis is the fastest.
func fromFortran(t *T) *T {
	wide := 0
	for _, d := range t.Shape {
		if d != 1 {
			wide++
		}
	}
	if wide < 2 || len(t.Data) == 0 {
		return t // the order is the same
	}
	out := New(t.DType, t.Shape...)
	switch t.DType.Size() {
	case 1:
		transposeAll[uint8](out.Data, t.Data, t.Shape)
	case 2:
		transposeAll[uint16](out.Data, t.Data, t.Shape)
	case 4:
		transposeAll[uint32](out.Data, t.Data, t.Shape)
	case 8:
		transposeAll[uint64](out.Data, t.Data, t.Shape)
	}
	return out
}

// transposeAll copies Fortran order to C order. The source is contiguous along
// the first axis and the target along the last: each plane of these two is
// copied in square blocks, so that every cache line is used whole.
func transposeAll[W word](dst, src []byte, shape []int) {
	to, from := words[W](dst), words[W](src)
	last := len(shape) - 1
	rows, cols := shape[0], shape[last]
	rowStride, colStride := len(to)/rows, len(from)/cols
	middle := shape[1:last]
	idx := make([]int, len(middle))
	for {
		toAt, fromAt := planeOffsets(idx, middle, rows, cols)
		transposePlane(to[toAt:], from[fromAt:], rows, cols, rowStride, colStride)
		k := len(idx) - 1
		for ; k >= 0; k-- {
			if idx[k]++; idx[k] < middle[k] {
				break
			}
			idx[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// planeOffsets is where a plane begins: in C order behind cols, the later of
// the middle axes first; in Fortran order behind rows, the earlier first.
func planeOffsets(idx, middle []int, rows, cols int) (to, from int) {
	stride := cols
	for k := len(idx) - 1; k >= 0; k-- {
		to += idx[k] * stride
		stride *= middle[k]
	}
	stride = rows
	for k, i := range idx {
		from += i * stride
		stride *= middle[k]
	}
	return to, from
}

func transposePlane[W word](to, from []W, rows, cols, rowStride, colStride int) {
	const block = 32 // 32 lines of 64 bytes each way: 4 KiB of the first-level cache
	for r0 := 0; r0 < rows; r0 += block {
		for c0 := 0; c0 < cols; c0 += block {
			r1, c1 := min(r0+block, rows), min(c0+block, cols)
			for r := r0; r < r1; r++ {
				line := to[r*rowStride : r*rowStride+c1]
				for c := c0; c < c1; c++ {
					line[c] = from[c*colStride+r]
				}
			}
		}
	}
}
