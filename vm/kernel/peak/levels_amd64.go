package peak

import "github.com/npulang/npu/vm/kernel/isa"

var fma = map[isa.Level]loop{
	isa.Portable: {fmaPortable, 16},
	isa.AVX2:     {fmaAVX2, 2 * 12 * 8},
	isa.AVX512:   {fmaAVX512, 2 * 24 * 16},
}

// bf16 and int8 are loops of the best instructions for products of those kinds.
func bf16(level isa.Level) loop {
	if level == isa.AVX512 && isa.FastBF16() {
		return loop{bf16AVX512, 2 * 24 * 32}
	}
	return fma[level]
}

func int8(level isa.Level) loop {
	switch {
	case level == isa.AVX512 && isa.HasVNNI(level):
		return loop{int8AVX512, 2 * 24 * 64}
	case level == isa.AVX2 && isa.HasVNNI(level):
		return loop{quadsAVX2, 2 * 12 * 32}
	case level == isa.AVX512 || level == isa.AVX2:
		return loop{int8AVX2, 2 * 12 * 4 * 32}
	}
	return loop{int8Portable, 16}
}

// reads are the loops that load memory.
var reads = map[isa.Level]func(data *byte, blocks int){isa.AVX2: readAVX2, isa.AVX512: readAVX512}
