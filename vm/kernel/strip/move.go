package strip

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/vec"
)

// By the size of an element: fill sets all lanes of a block to the element at p; move
// copies n elements between memory where they are to and from bytes apart.
var (
	fill = [...]func(block, p unsafe.Pointer){1: fillOf[uint8], 2: fillOf[uint16], 4: fill4}
	move = [...]func(dst, src unsafe.Pointer, to, from, n int){1: moveOf[uint8], 2: moveOf[uint16], 4: moveOf[uint32]}
)

func fill4(block, p unsafe.Pointer) { (*vec.Block)(block).Fill(*(*float32)(p)) }

func fillOf[E uint8 | uint16](block, p unsafe.Pointer) {
	v := *(*E)(p)
	lanes := (*[vec.Lanes]E)(block)
	for i := range lanes {
		lanes[i] = v
	}
}

func moveOf[E uint8 | uint16 | uint32](dst, src unsafe.Pointer, to, from, n int) {
	var e E
	size := int(unsafe.Sizeof(e))
	switch {
	case n <= 0:
	case to == size && from == size:
		copy(unsafe.Slice((*E)(dst), n), unsafe.Slice((*E)(src), n))
	case to == size && from == 0 && n*size >= wordSize:
		repeat(dst, *(*E)(src), n*size)
	default:
		for i := range n {
			*(*E)(unsafe.Add(dst, i*to)) = *(*E)(unsafe.Add(src, i*from))
		}
	}
}

// wordSize is the bytes of what is written at once.
const wordSize = 8

// repeat fills n bytes, wordSize or more, with an element, by words of which the last one
// ends where they do.
func repeat[E uint8 | uint16 | uint32](dst unsafe.Pointer, v E, n int) {
	word := uint64(v) * (^uint64(0) / uint64(^E(0))) // v in each place
	for k := 0; k < n-wordSize; k += wordSize {
		*(*uint64)(unsafe.Add(dst, k)) = word
	}
	*(*uint64)(unsafe.Add(dst, n-wordSize)) = word
}
