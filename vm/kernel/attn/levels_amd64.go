package attn

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*loops{
	isa.Portable: &portable,
	isa.AVX2: {
		tops: topsAVX2, topsAdd: topsAddAVX2, topsPick: topsPickAVX2,
		exps: expsAVX2, scaleRows: scaleRowsAVX2, inverse: inverseAVX2, twofold: twofoldAVX2, spread: spreadAVX2, panels: panelsAVX2, lone: loneAVX2,
		scores: [mostTile + 1]func(*scoreTile){
			nil,
			scores1AVX2, scores2AVX2, scores3AVX2, scores4AVX2, scores5AVX2, scores6AVX2,
		},
	},
	isa.AVX512: {
		tops: topsAVX512, topsAdd: topsAddAVX512, topsPick: topsPickAVX512,
		exps: expsAVX512, scaleRows: scaleRowsAVX512, inverse: inverseAVX512, twofold: twofoldAVX512, spread: spreadAVX512, panels: panelsAVX512, lone: loneAVX2,
		scores: [mostTile + 1]func(*scoreTile){
			nil,
			scores1AVX512, scores2AVX512, scores3AVX512, scores4AVX512, scores5AVX512, scores6AVX512,
			scores7AVX512, scores8AVX512, scores9AVX512, scores10AVX512, scores11AVX512, scores12AVX512,
		},
	},
}
