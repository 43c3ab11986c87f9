package vec

import (
	"math"
	"unsafe"
)

// Lanes is how many elements a block has.
const Lanes = 64

// Align is the alignment in bytes at which blocks in memory are fastest.
const Align = 64

// A Block is 64 lanes of four bytes. Lanes that hold integers or bools have their
// bits.
type Block [Lanes]float32

// Ones is the lane that stands for true; false is 0.
const Ones = ^uint32(0)

func (b *Block) bits() *[Lanes]uint32 { return (*[Lanes]uint32)(unsafe.Pointer(b)) }

// Fill sets every lane.
func (b *Block) Fill(v float32) {
	two := uint64(math.Float32bits(v))
	two |= two << 32
	pairs := (*[Lanes / 2]uint64)(unsafe.Pointer(b))
	for i := 0; i < len(pairs); i += 4 {
		pairs[i], pairs[i+1], pairs[i+2], pairs[i+3] = two, two, two, two
	}
}

// Aligned makes n blocks that begin at a multiple of Align.
func Aligned(n int) []Block {
	const size = int(unsafe.Sizeof(Block{}))
	if n == 0 {
		return nil
	}
	raw := make([]byte, n*size+Align)
	skip := -int(uintptr(unsafe.Pointer(&raw[0]))) & (Align - 1)
	return unsafe.Slice((*Block)(unsafe.Pointer(&raw[skip])), n)
}

// Pointer is where the block is.
func (b *Block) Pointer() unsafe.Pointer { return unsafe.Pointer(b) }
