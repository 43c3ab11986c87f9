package vec

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// machines are those of the levels; one without assembly is the portable one.
var machines = [isa.NEON + 1]machine{
	isa.AVX2:   {table(avx2Table()), avx2Run, avx2Fence},
	isa.AVX512: {table(avx512Table()), avx512Run, avx512Fence},
}

func table(first *uintptr) *[Codes][copies]uintptr {
	return (*[Codes][copies]uintptr)(unsafe.Pointer(first))
}
