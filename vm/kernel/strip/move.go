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
	if n <= 0 {
		return
	}
	if to == size && from == size {
		copy(unsafe.Slice((*E)(dst), n), unsafe.Slice((*E)(src), n))
		return
	}
	for i := range n {
		*(*E)(unsafe.Add(dst, i*to)) = *(*E)(unsafe.Add(src, i*from))
	}
}
