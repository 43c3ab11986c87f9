package move

import "github.com/npulang/npu/vm/kernel/isa"

var machines = map[isa.Level]*machine{
	isa.AVX2:   avx2,
	isa.AVX512: avx512,
}

// avx512 has the functions of avx2, which wait for memory in most of what is moved, but
// for whole lines.
var avx512 = func() *machine {
	m := *avx2
	m.stream = streamAVX512
	return &m
}()

var avx2 = &machine{
	tiles: [5]tiling{
		{16, 16, tiles8AVX2},
		{8, 16, tiles16AVX2},
		{8, 8, tiles32AVX2},
		{4, 4, tiles64AVX2},
	},
	shuffles: map[registers]shuffler{
		{1, 1}: shuffle1x1AVX2, {2, 2}: shuffle2x2AVX2, {3, 3}: shuffle3x3AVX2, {4, 4}: shuffle4x4AVX2,
		{1, 2}: shuffle1x2AVX2, {1, 3}: shuffle1x3AVX2, {1, 4}: shuffle1x4AVX2,
		{2, 1}: shuffle2x1AVX2, {3, 1}: shuffle3x1AVX2, {4, 1}: shuffle4x1AVX2,
	},
	prefetch: prefetchRows,
	stream:   streamAVX2,
	fence:    fence,

	placeLongs: placeLongsAVX2, placeInts: placeIntsAVX2,
}
