package gemm

import "github.com/npulang/npu/vm/kernel/isa"

// direct lists the formats whose kernels read panels as they are. AVX-512 without fast products
// of bf16 widens them, and without those of bytes it does as AVX2 without.
func direct(level isa.Level, bf16, vnni bool) (list [kinds]*Format) {
	bytes := &Format{name: "int8 groups", set: &int8Groups, deep: groupBytes, left: leftSplit, split: &splitAVX2}
	bytes.wide = &Format{level: level, kind: Int8, set: &int8Wide, deep: groupBytes, left: leftWide, split: &splitAVX2}
	switch level {
	case isa.AVX2:
		list = [kinds]*Format{
			BF16: {name: "bf16", set: &bf16AVX2, deep: 1, keeps: &bf16KeepsAVX2},
			F16:  {name: "f16", set: &f16AVX2, deep: 1, keeps: &f16KeepsAVX2},
			Int8: bytes,
		}
	case isa.AVX512:
		list = [kinds]*Format{
			BF16: {name: "bf16 pairs", set: &bf16AVX512, deep: 1, twos: true, keeps: &bf16KeepsAVX512},
			F16:  {name: "f16", set: &f16AVX512, deep: 1, keeps: &f16KeepsAVX512},
			Int8: bytes,
		}
	}
	if bf16 && level == isa.AVX512 {
		list[BF16] = &Format{name: "bf16 pairs", set: &bf16Pairs, deep: 2, left: leftPair}
	}
	if set := int8Quads[level]; vnni && set != nil {
		list[Int8] = &Format{name: "int8 raised quads", set: set, deep: quad, left: leftQuad}
	}
	return list
}

var bf16AVX2 = kernels{
	rows: 6, width: 16, turns: &turnsAVX2,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1: {1: tile1x1BF16AVX2, 4: tile1x4BF16AVX2},
		2: {1: tile2x1BF16AVX2, 2: tile2x2BF16AVX2},
		3: {1: tile3x1BF16AVX2, 2: tile3x2BF16AVX2},
		4: {1: tile4x1BF16AVX2},
		5: {1: tile5x1BF16AVX2},
		6: {1: tile6x1BF16AVX2},
	},
	line: 32, asks: 2,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {4: tiled4BF16AVX2, 5: tiled5BF16AVX2, 6: tiled6BF16AVX2},
		inRows:  {4: rows4BF16AVX2, 5: rows5BF16AVX2, 6: rows6BF16AVX2},
	},
}

var bf16KeepsAVX2 = [mostRows + 1]func(*tile){4: keep4BF16AVX2, 5: keep5BF16AVX2, 6: keep6BF16AVX2}

var bf16AVX512 = kernels{
	rows: 12, width: 32, columns: true, turns: &turnsAVX512,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1:  {1: tile1x1BF16AVX512, 4: tile1x4BF16AVX512},
		2:  {1: tile2x1BF16AVX512, 2: tile2x2BF16AVX512},
		3:  {1: tile3x1BF16AVX512, 2: tile3x2BF16AVX512},
		4:  {1: tile4x1BF16AVX512},
		5:  {1: tile5x1BF16AVX512},
		6:  {1: tile6x1BF16AVX512},
		7:  {1: tile7x1BF16AVX512},
		8:  {1: tile8x1BF16AVX512},
		9:  {1: tile9x1BF16AVX512},
		10: {1: tile10x1BF16AVX512},
		11: {1: tile11x1BF16AVX512},
		12: {1: tile12x1BF16AVX512},
	},
}

var bf16KeepsAVX512 = [mostRows + 1]func(*tile){
	7: keep7BF16AVX512, 8: keep8BF16AVX512, 9: keep9BF16AVX512,
	10: keep10BF16AVX512, 11: keep11BF16AVX512, 12: keep12BF16AVX512,
}

var f16AVX2 = kernels{
	rows: 6, width: 16, turns: &turnsAVX2,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1: {1: tile1x1F16AVX2, 4: tile1x4F16AVX2},
		2: {1: tile2x1F16AVX2, 2: tile2x2F16AVX2},
		3: {1: tile3x1F16AVX2, 2: tile3x2F16AVX2},
		4: {1: tile4x1F16AVX2},
		5: {1: tile5x1F16AVX2},
		6: {1: tile6x1F16AVX2},
	},
	line: 32, asks: 2,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {4: tiled4F16AVX2, 5: tiled5F16AVX2, 6: tiled6F16AVX2},
		inRows:  {4: rows4F16AVX2, 5: rows5F16AVX2, 6: rows6F16AVX2},
	},
}

var f16KeepsAVX2 = [mostRows + 1]func(*tile){4: keep4F16AVX2, 5: keep5F16AVX2, 6: keep6F16AVX2}

var f16AVX512 = kernels{
	rows: 12, width: 32, columns: true, turns: &turnsAVX512,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1:  {1: tile1x1F16AVX512, 4: tile1x4F16AVX512},
		2:  {1: tile2x1F16AVX512, 2: tile2x2F16AVX512},
		3:  {1: tile3x1F16AVX512, 2: tile3x2F16AVX512},
		4:  {1: tile4x1F16AVX512},
		5:  {1: tile5x1F16AVX512},
		6:  {1: tile6x1F16AVX512},
		7:  {1: tile7x1F16AVX512},
		8:  {1: tile8x1F16AVX512},
		9:  {1: tile9x1F16AVX512},
		10: {1: tile10x1F16AVX512},
		11: {1: tile11x1F16AVX512},
		12: {1: tile12x1F16AVX512},
	},
}

var f16KeepsAVX512 = [mostRows + 1]func(*tile){
	7: keep7F16AVX512, 8: keep8F16AVX512, 9: keep9F16AVX512,
	10: keep10F16AVX512, 11: keep11F16AVX512, 12: keep12F16AVX512,
}

var bf16Pairs = kernels{
	rows: 12, width: 32, columns: true, turns: &turnsAVX512,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1:  {1: tile1x1PairsAVX512, 4: tile1x4PairsAVX512},
		2:  {1: tile2x1PairsAVX512, 2: tile2x2PairsAVX512},
		3:  {1: tile3x1PairsAVX512, 2: tile3x2PairsAVX512},
		4:  {1: tile4x1PairsAVX512},
		5:  {1: tile5x1PairsAVX512},
		6:  {1: tile6x1PairsAVX512},
		7:  {1: tile7x1PairsAVX512},
		8:  {1: tile8x1PairsAVX512},
		9:  {1: tile9x1PairsAVX512},
		10: {1: tile10x1PairsAVX512},
		11: {1: tile11x1PairsAVX512},
		12: {1: tile12x1PairsAVX512},
	},
}

var splitAVX2 = splitter{row: splitRowAVX2}

// finishers by level; nil: in Go.
var finishers = [isa.NEON + 1]*finisher{isa.AVX2: &finisherAVX2, isa.AVX512: &finisherAVX512}

var (
	finisherAVX2   = finisher{shift: shift16AVX2, scale: scale16AVX2, shift4: shift64AVX2, scale4: scale64AVX2}
	finisherAVX512 = finisher{shift: shift16AVX512, scale: scale16AVX512, shift4: shift64AVX512, scale4: scale64AVX512}
)

var int8Groups = kernels{
	rows: 6, width: 16, turns: &turnsAVX2,
	line: 256, group: groupWords,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {3: tiled3GroupsAVX2, 4: tiled4GroupsAVX2, 5: tiled5GroupsAVX2, 6: tiled6GroupsAVX2},
		inRows:  {1: rows1GroupsAVX2, 2: rows2GroupsAVX2, 3: rows3GroupsAVX2, 4: rows4GroupsAVX2, 5: rows5GroupsAVX2, 6: rows6GroupsAVX2},
	},
}

var int8Wide = kernels{
	rows: 6, width: 16, turns: &turnsAVX2,
	line: 256, group: wideWords,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {3: tiled3WideAVX2, 4: tiled4WideAVX2, 5: tiled5WideAVX2, 6: tiled6WideAVX2},
		inRows:  {1: rows1WideAVX2, 2: rows2WideAVX2, 3: rows3WideAVX2, 4: rows4WideAVX2, 5: rows5WideAVX2, 6: rows6WideAVX2},
	},
}

// int8Quads by level.
var int8Quads = [isa.NEON + 1]*kernels{isa.AVX2: &int8QuadsAVX2, isa.AVX512: &int8QuadsAVX512}

var int8QuadsAVX2 = kernels{
	rows: 6, width: 16, turns: &turnsAVX2,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1: {1: tile1x1QuadsAVX2, 4: tile1x4QuadsAVX2},
		2: {1: tile2x1QuadsAVX2, 2: tile2x2QuadsAVX2},
		3: {1: tile3x1QuadsAVX2, 2: tile3x2QuadsAVX2},
		4: {1: tile4x1QuadsAVX2},
		5: {1: tile5x1QuadsAVX2},
		6: {1: tile6x1QuadsAVX2},
	},
	line: 64, asks: 2,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {4: tiled4QuadsAVX2, 5: tiled5QuadsAVX2, 6: tiled6QuadsAVX2},
		inRows:  {4: rows4QuadsAVX2, 5: rows5QuadsAVX2, 6: rows6QuadsAVX2},
	},
}

var int8QuadsAVX512 = kernels{
	rows: 12, width: 32, columns: true, turns: &turnsAVX512,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1:  {1: tile1x1QuadsAVX512, 4: tile1x4QuadsAVX512},
		2:  {1: tile2x1QuadsAVX512, 2: tile2x2QuadsAVX512},
		3:  {1: tile3x1QuadsAVX512, 2: tile3x2QuadsAVX512},
		4:  {1: tile4x1QuadsAVX512, 2: tile4x2QuadsAVX512},
		5:  {1: tile5x1QuadsAVX512},
		6:  {1: tile6x1QuadsAVX512},
		7:  {1: tile7x1QuadsAVX512},
		8:  {1: tile8x1QuadsAVX512},
		9:  {1: tile9x1QuadsAVX512},
		10: {1: tile10x1QuadsAVX512},
		11: {1: tile11x1QuadsAVX512},
		12: {1: tile12x1QuadsAVX512},
	},
	line: 128, asks: 4,
	dense: [2][mostRows + 1]func(*tile){
		inTiles: {
			7: tiled7QuadsAVX512, 8: tiled8QuadsAVX512, 9: tiled9QuadsAVX512,
			10: tiled10QuadsAVX512, 11: tiled11QuadsAVX512, 12: tiled12QuadsAVX512,
		},
		inRows: {
			7: rows7QuadsAVX512, 8: rows8QuadsAVX512, 9: rows9QuadsAVX512,
			10: rows10QuadsAVX512, 11: rows11QuadsAVX512, 12: rows12QuadsAVX512,
		},
	},
}
