package move

import "github.com/npulang/npu/vm/kernel/isa"

// tilings are the tiles of a level, by the logarithm of the element's size.
var tilings = map[isa.Level][5]tiling{
	isa.AVX2:   tilesAVX2,
	isa.AVX512: tilesAVX2,
}

var tilesAVX2 = [5]tiling{
	{16, 16, tiles8AVX2, prefetchRows, lines2AVX2},
	{8, 16, tiles16AVX2, prefetchRows, lines2AVX2},
	{8, 8, tiles32AVX2, prefetchRows, lines2AVX2},
	{4, 4, tiles64AVX2, prefetchRows, lines2AVX2},
}
