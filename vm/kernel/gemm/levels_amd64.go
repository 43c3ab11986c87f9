package gemm

import "github.com/npulang/npu/vm/kernel/isa"

var turnsAVX2 = turns{
	nil, turn1AVX2, turn2AVX2, turn3AVX2, turn4AVX2, turn5AVX2, turn6AVX2, turn7AVX2, turn8AVX2,
}

var turnsAVX512 = turns{
	nil, turn1AVX2, turn2AVX2, turn3AVX2, turn4AVX2, turn5AVX2, turn6AVX2, turn7AVX2, turn8AVX2,
	turn9AVX512, turn10AVX512, turn11AVX512, turn12AVX512,
}

var levels = [isa.NEON + 1]*kernels{
	isa.Portable: &portable,
	isa.AVX2: {
		rows: 6, width: 16, turns: &turnsAVX2,
		tiles: [mostRows + 1][mostPanels + 1]func(*tile){
			1: {1: tile1x1AVX2, 4: tile1x4AVX2},
			2: {1: tile2x1AVX2, 2: tile2x2AVX2},
			3: {1: tile3x1AVX2, 2: tile3x2AVX2},
			4: {1: tile4x1AVX2},
			5: {1: tile5x1AVX2},
			6: {1: tile6x1AVX2},
		},
		sparse: [mostPanels + 1]func(*tile){1: sparse1AVX2, 4: sparse4AVX2},
		line:   64, asks: 2,
		dense: [2][mostRows + 1]func(*tile){
			inTiles: {4: tiled4AVX2, 5: tiled5AVX2, 6: tiled6AVX2},
			inRows:  {4: rows4AVX2, 5: rows5AVX2, 6: rows6AVX2},
		},
		thirds: thirds4AVX2,
	},
	isa.AVX512: {
		rows: 12, width: 32, columns: true, turns: &turnsAVX512,
		tiles: [mostRows + 1][mostPanels + 1]func(*tile){
			1:  {1: tile1x1AVX512, 4: tile1x4AVX512},
			2:  {1: tile2x1AVX512, 2: tile2x2AVX512},
			3:  {1: tile3x1AVX512, 2: tile3x2AVX512},
			4:  {1: tile4x1AVX512},
			5:  {1: tile5x1AVX512},
			6:  {1: tile6x1AVX512},
			7:  {1: tile7x1AVX512},
			8:  {1: tile8x1AVX512},
			9:  {1: tile9x1AVX512},
			10: {1: tile10x1AVX512},
			11: {1: tile11x1AVX512},
			12: {1: tile12x1AVX512},
		},
		sparse: [mostPanels + 1]func(*tile){1: sparse1AVX512, 4: sparse4AVX512},
		line:   128, asks: 4,
		dense: [2][mostRows + 1]func(*tile){
			inTiles: {
				7: tiled7AVX512, 8: tiled8AVX512, 9: tiled9AVX512, 10: tiled10AVX512, 11: tiled11AVX512, 12: tiled12AVX512,
			},
			inRows: {
				7: rows7AVX512, 8: rows8AVX512, 9: rows9AVX512, 10: rows10AVX512, 11: rows11AVX512, 12: rows12AVX512,
			},
		},
	},
}
