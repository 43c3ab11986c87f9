package peak

import "github.com/npulang/npu/vm/kernel/isa"

var fma = map[isa.Level]loop{
	isa.Portable: {fmaPortable, 16},
	isa.AVX2:     {fmaAVX2, 2 * 12 * 8},
	isa.AVX512:   {fmaAVX512, 2 * 12 * 16},
}
