package vec

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/narrow"
)

// The portable forms of the codes that load and save elements of other sizes.

func load(acc *Block, a, _ unsafe.Pointer) { *acc = *(*Block)(a) }
func save(acc *Block, a, _ unsafe.Pointer) { *(*Block)(a) = *acc }

func loadBool(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]uint8)(a) {
		xs[i] = truth(v != 0)
	}
}

func saveBool(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint8)(a)
	for i, x := range acc.bits() {
		to[i] = uint8(x & 1)
	}
}

func loadF16(acc *Block, a, _ unsafe.Pointer) {
	for i, h := range (*[Lanes]uint16)(a) {
		acc[i] = narrow.F16(h)
	}
}

func saveF16(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint16)(a)
	for i, x := range acc {
		to[i] = narrow.F16Of(x)
	}
}

func loadBF16(acc *Block, a, _ unsafe.Pointer) {
	for i, h := range (*[Lanes]uint16)(a) {
		acc[i] = narrow.BF16(h)
	}
}

func saveBF16(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint16)(a)
	for i, x := range acc {
		to[i] = narrow.BF16Of(x)
	}
}

func loadI8(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]int8)(a) {
		xs[i] = uint32(int32(v))
	}
}

func loadU8(acc *Block, a, _ unsafe.Pointer) {
	xs := acc.bits()
	for i, v := range (*[Lanes]uint8)(a) {
		xs[i] = uint32(v)
	}
}

func saveByte(acc *Block, a, _ unsafe.Pointer) {
	to := (*[Lanes]uint8)(a)
	for i, x := range acc.bits() {
		to[i] = uint8(x)
	}
}

// toInt truncates, saturates, and gives 0 for NaN.
func toInt(x float32) int32 {
	switch {
	case x != x:
		return 0
	case x >= 0x1p31:
		return math.MaxInt32
	case x <= -0x1p31:
		return math.MinInt32
	}
	return int32(x)
}
