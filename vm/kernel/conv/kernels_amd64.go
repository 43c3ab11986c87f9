package conv

import "github.com/npulang/npu/vm/kernel/isa"

var byLevel = map[isa.Level]*kernels{isa.AVX2: &avx2, isa.AVX512: &avx512}

var avx2 = kernels{
	lanes: 8, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, evens: evensAVX2,
	products: tapProductsAVX2, sums: tapSumsAVX2, most: tapMostAVX2,
}

var avx512 = kernels{
	lanes: 16, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, evens: evensAVX2,
	products: tapProductsAVX512, sums: tapSumsAVX512, most: tapMostAVX512,
}
