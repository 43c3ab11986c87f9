package norm

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [...]*loops{
	isa.Portable: &portable,
	isa.AVX2: {
		sum: sumAVX2, sumSquare: sumSquareAVX2, sumAbs: sumAbsAVX2, moments: momentsAVX2,
		sumColumns: sumColumnsAVX2, sumSquareColumns: sumSquareColumnsAVX2, sumAbsColumns: sumAbsColumnsAVX2,
		prodColumns: prodColumnsAVX2, momentsColumns: momentsColumnsAVX2,
		top: topAVX2, most: mostAVX2, least: leastAVX2,
		topColumns: topColumnsAVX2, mostColumns: mostColumnsAVX2, leastColumns: leastColumnsAVX2,
		mostPlaces: mostPlacesAVX2, leastPlaces: leastPlacesAVX2, find: findAVX2, count: countAVX2,
		exp: expAVX2, expSum: expSumAVX2, expColumns: expColumnsAVX2,
		scale: scaleAVX2, scaleColumns: scaleColumnsAVX2,
		lower: lowerAVX2, stretch: stretchAVX2, lowerColumns: lowerColumnsAVX2, stretchColumns: stretchColumnsAVX2,
		normalWeight: normalWeightAVX2, normalBias: normalBiasAVX2, normalAffine: normalAffineAVX2,
		normalChannel: normalChannelAVX2, normalColumns: normalColumnsAVX2, normalEach: normalEachAVX2,
		turn: turnAVX2,
	},
	isa.AVX512: {
		sum: sumWide, sumSquare: sumSquareAVX512, sumAbs: sumAbsAVX512, moments: momentsAVX512,
		sumColumns: sumColumnsAVX512, sumSquareColumns: sumSquareColumnsAVX512, sumAbsColumns: sumAbsColumnsAVX512,
		prodColumns: prodColumnsAVX512, momentsColumns: momentsColumnsAVX512,
		top: topAVX512, most: mostAVX512, least: leastAVX512,
		topColumns: topColumnsAVX512, mostColumns: mostColumnsAVX512, leastColumns: leastColumnsAVX512,
		mostPlaces: mostPlacesAVX512, leastPlaces: leastPlacesAVX512, find: findAVX512, count: countAVX512,
		exp: expAVX512, expSum: expSumAVX512, expColumns: expColumnsAVX512,
		scale: scaleAVX512, scaleColumns: scaleColumnsAVX512,
		lower: lowerAVX512, stretch: stretchAVX512, lowerColumns: lowerColumnsAVX512, stretchColumns: stretchColumnsAVX512,
		normalWeight: normalWeightAVX512, normalBias: normalBiasAVX512, normalAffine: normalAffineAVX512,
		normalChannel: normalChannelAVX512, normalColumns: normalColumnsAVX512, normalEach: normalEachAVX512,
		turn: turnAVX2,
	},
	isa.NEON: nil,
}

// longSum is how many elements a row has at least that AVX-512 leaves to AVX2: adding up
// waits for one addition after the other in each of sixteen lanes, and those of 32 bytes are
// done sooner. Seen on an Emerald Rapids, picoseconds an element in the first cache: rows of
// 64 122 and 114 with AVX-512, of 384 76 and 79, of 1024 68 and 80. What does more of an
// element than to add it up gains by AVX-512 at all lengths.
const longSum = 256

func sumWide(x []float32) float64 {
	if len(x) < longSum {
		return sumAVX512(x)
	}
	return sumAVX2(x)
}
