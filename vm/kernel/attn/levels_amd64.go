package attn

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*loops{
	isa.Portable: &portable,
	isa.AVX2: {
		tops: topsAVX2, topsAdd: topsAddAVX2, topsPick: topsPickAVX2,
		exps: expsAVX2, scaleRows: scaleRowsAVX2, spread: spreadAVX2, panels: panelsAVX2,
	},
	isa.AVX512: {
		tops: topsAVX512, topsAdd: topsAddAVX512, topsPick: topsPickAVX512,
		exps: expsAVX512, scaleRows: scaleRowsAVX512, spread: spreadAVX512, panels: panelsAVX512,
	},
}
