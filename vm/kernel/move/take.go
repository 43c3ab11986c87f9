package move

import (
	"math/bits"
	"unsafe"
)

// Take copies blocks of size bytes: block i of dst is block index[i] of src. All
// indices must be those of blocks of src.
func Take(dst, src []byte, size int, index []int64) {
	if len(index) == 0 || size == 0 {
		return
	}
	dst = dst[:len(index)*size]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	if size <= maxSize && size&(size-1) == 0 {
		takers[bits.TrailingZeros(uint(size))](d, s, index)
		return
	}
	if size <= shortTo {
		takeShort(d, s, size, index)
		return
	}
	for i, from := range index {
		copy(dst[i*size:(i+1)*size], src[int(from)*size:])
	}
}

// takeShort is Take of blocks of 3 to shortTo bytes, by words of which the last one ends
// where the block does.
func takeShort(d, s unsafe.Pointer, size int, index []int64) {
	switch {
	case size > 32:
		takeFour(d, s, size, index)
	case size > 16:
		takeTwo[[2]uint64](d, s, size, index)
	case size > 8:
		takeTwo[uint64](d, s, size, index)
	case size > 4:
		takeTwo[uint32](d, s, size, index)
	default:
		takeTwo[uint16](d, s, size, index)
	}
}

func takeTwo[E word](d, s unsafe.Pointer, size int, index []int64) {
	last := size - sizeOf[E]()
	for i, from := range index {
		to, from := i*size, int(from)*size
		a, b := *at[E](s, from), *at[E](s, from+last)
		*at[E](d, to), *at[E](d, to+last) = a, b
	}
}

func takeFour(d, s unsafe.Pointer, size int, index []int64) {
	for i, from := range index {
		fourRuns(unsafe.Add(d, i*size), unsafe.Add(s, int(from)*size), 0, 0, 1, size)
	}
}

// Set writes a pattern of 1, 2, 4, 8 or 16 bytes to block index[i] of dst, whose blocks
// have as many. All indices must be those of blocks of dst.
func Set(dst, pattern []byte, index []int64) {
	if len(index) > 0 {
		setters[bits.TrailingZeros(uint(len(pattern)))](unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(pattern)), index)
	}
}

// Pick is Take of elements of 1, 2, 4 or 8 bytes that lie step elements apart in
// both.
func Pick(dst, src []byte, size, step int, index []int64) {
	if step == 1 {
		Take(dst, src, size, index)
		return
	}
	for i, from := range index {
		copy(dst[i*step*size:][:size], src[int(from)*step*size:])
	}
}

// Put is the reverse: block index[i] of dst becomes block i of src, in that order.
func Put(dst, src []byte, size int, index []int64) {
	if len(index) == 0 || size == 0 {
		return
	}
	src = src[:len(index)*size]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	if size <= maxSize && size&(size-1) == 0 {
		putters[bits.TrailingZeros(uint(size))](d, s, index)
		return
	}
	for i, to := range index {
		copy(dst[int(to)*size:][:size], src[i*size:])
	}
}

// takers, putters and setters are the loops by the logarithm of the block's size.
var (
	takers  = [5]func(d, s unsafe.Pointer, index []int64){takeLoop[uint8], takeLoop[uint16], takeLoop[uint32], takeLoop[uint64], takeLoop[[2]uint64]}
	setters = [5]func(d, s unsafe.Pointer, index []int64){setLoop[uint8], setLoop[uint16], setLoop[uint32], setLoop[uint64], setLoop[[2]uint64]}
	putters = [5]func(d, s unsafe.Pointer, index []int64){putLoop[uint8], putLoop[uint16], putLoop[uint32], putLoop[uint64], putLoop[[2]uint64]}
)

func takeLoop[E word](d, s unsafe.Pointer, index []int64) {
	size := sizeOf[E]()
	for i, from := range index {
		*at[E](d, i*size) = *at[E](s, int(from)*size)
	}
}

func putLoop[E word](d, s unsafe.Pointer, index []int64) {
	size := sizeOf[E]()
	for i, to := range index {
		*at[E](d, int(to)*size) = *at[E](s, i*size)
	}
}

func setLoop[E word](d, s unsafe.Pointer, index []int64) {
	size, v := sizeOf[E](), *at[E](s, 0)
	for _, to := range index {
		*at[E](d, int(to)*size) = v
	}
}

// Fill repeats a pattern of 1, 2, 4, 8 or 16 bytes all over dst, whose length is a
// multiple of it.
func Fill(dst, pattern []byte) {
	if len(dst) == 0 {
		return
	}
	zero := byte(0)
	for _, b := range pattern {
		zero |= b
	}
	if zero == 0 {
		clear(dst)
		return
	}
	// What is written twice as often each time stays in the first-level cache.
	const most = 4 << 10
	for done := copy(dst, pattern); done < len(dst); {
		done += copy(dst[done:], dst[:min(done, most)])
	}
}
