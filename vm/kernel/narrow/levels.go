package narrow

import "github.com/npulang/npu/vm/kernel/isa"

// loops is what a level has in assembly: functions for multiples of eight elements.
type loops struct {
	fromBF16, fromF16 func(dst *float32, src *uint16, n int)
	toBF16, toF16     func(dst *uint16, src *float32, n int)
	roundBF16         func(dst, src *float32, n int)
	widen             func(dst *int16, src *uint8, n int)
	widenSigned       func(dst *int16, src *int8, n int)
	// copySigned is for a multiple of 32 bytes; the sum is of bytes that are 128 more.
	copySigned     func(dst, src *uint8, n int, flip uint32) (sum int64)
	largest        func(src *float32, n int) (bits int32)
	quantizeSigned func(dst *int8, src *float32, n int, scale float32)
	quantizeSmall  func(dst *int8, src *float32, n int, scale, inverse float32)
}

// at is nil where Go does all.
func at(level isa.Level) *loops {
	switch level {
	case isa.AVX2:
		return avx2
	case isa.AVX512:
		return avx512
	}
	return nil
}

// whole is how many of n elements the loops of a level do.
func whole(level isa.Level, n int) int {
	if at(level) == nil {
		return 0
	}
	return n &^ 7
}
