package attn

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*loops{
	isa.Portable: &portable,
	isa.AVX2: {
		tops: topsAVX2, topsAdd: topsAddAVX2, topsPick: topsPickAVX2,
		exps: expsAVX2, scaleRows: scaleRowsAVX2, inverse: inverseAVX2, twofold: twofoldAVX2, spread: spreadAVX2, panels: panelsAVX2, lone: loneAVX2,
		asked: 1,
		weights: [mostTile + 1]func(*weightTile){
			nil,
			weights1AVX2, weights2AVX2, weights3AVX2, weights4AVX2, weights5AVX2, weights6AVX2,
		},
		values: [mostTile + 1]func(*valueTile){
			nil,
			values1AVX2, values2AVX2, values3AVX2, values4AVX2, values5AVX2, values6AVX2,
		},
	},
	isa.AVX512: {
		tops: topsAVX512, topsAdd: topsAddAVX512, topsPick: topsPickAVX512,
		exps: expsAVX512, scaleRows: scaleRowsAVX512, inverse: inverseAVX512, twofold: twofoldAVX512, spread: spreadAVX512, panels: panelsAVX512, lone: loneAVX2,
		asked: 3,
		weights: [mostTile + 1]func(*weightTile){
			nil,
			weights1AVX512, weights2AVX512, weights3AVX512, weights4AVX512, weights5AVX512, weights6AVX512,
			weights7AVX512, weights8AVX512, weights9AVX512, weights10AVX512, weights11AVX512, weights12AVX512,
		},
		values: [mostTile + 1]func(*valueTile){
			nil,
			values1AVX512, values2AVX512, values3AVX512, values4AVX512, values5AVX512, values6AVX512,
			values7AVX512, values8AVX512, values9AVX512, values10AVX512, values11AVX512, values12AVX512,
		},
	},
}
