package tensor

import (
	"fmt"
	"unsafe"
)

// A T is a tensor in the host's memory: dense, row-major, little-endian.
// Rank 0 is a scalar; any dimension may be 0. A T whose Data came from New is
// aligned to 64 bytes.
type T struct {
	DType DType
	Shape []int
	Data  []byte // len is Len() * DType.Size()
}

// Native are the Go types that hold elements. f16 and bf16 elements are held
// as their bits in Float16 and BFloat16; bool as one byte, 0 or 1.
type Native interface {
	float64 | float32 | Float16 | BFloat16 | int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8 | bool
}

// Float16 is the bits of an IEEE binary16.
type Float16 uint16

// BFloat16 is the bits of a bfloat16.
type BFloat16 uint16

// New makes a tensor of zeros. It panics on a negative dimension; sizes from
// users are checked before (see Elements).
func New(d DType, shape ...int) *T {
	n := 1
	for _, s := range shape {
		if s < 0 {
			panic(fmt.Sprintf("tensor.New: negative dimension in %v", shape))
		}
		n *= s
	}
	return &T{DType: d, Shape: append([]int{}, shape...), Data: AlignedBytes(n * d.Size())}
}

// AlignedBytes makes n zero bytes that begin at a multiple of 64.
func AlignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	b := make([]byte, n+64)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[off : off+n : off+n]
}

// Len is the number of elements.
func (t *T) Len() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}

// Of views a tensor's elements as a Go slice that shares its memory. E must be
// the Go type of t's dtype.
func Of[E Native](t *T) []E {
	n := t.Len()
	if n == 0 {
		return nil
	}
	var e E
	if int(unsafe.Sizeof(e)) != t.DType.Size() {
		panic(fmt.Sprintf("tensor.Of: %T does not hold %v", e, t.DType))
	}
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(t.Data))), n)
}
