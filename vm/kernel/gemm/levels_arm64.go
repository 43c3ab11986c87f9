package gemm

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

var levels = [isa.NEON + 1]*kernels{
	isa.Portable: &portable,
	isa.NEON: {
		rows: 6, width: 16, turns: &turnsGo,
		tiles: [mostRows + 1][mostPanels + 1]func(*tile){
			1: {1: edged(1, 1, tile1x1NEON), 4: edged(1, 4, tile1x4NEON)},
			2: {1: edged(2, 1, tile2x1NEON), 2: edged(2, 2, tile2x2NEON)},
			3: {1: edged(3, 1, tile3x1NEON), 2: edged(3, 2, tile3x2NEON)},
			4: {1: edged(4, 1, tile4x1NEON)},
			5: {1: edged(5, 1, tile5x1NEON)},
			6: {1: edged(6, 1, tile6x1NEON)},
		},
	},
}

// edged lets a kernel that computes whole panels compute tiles at the edge of C, by
// way of a place of its own.
func edged(rows, panels int, f func(*tile)) func(*tile) {
	width := 16 * panels
	return func(t *tile) {
		if t.n == width {
			f(t)
			return
		}
		c, ldc, bias := t.c, t.ldc, t.bias
		for i := range rows {
			if row := t.edge[i*width:][:width]; t.add != 0 {
				copy(row, t.rowOfC(i, t.n))
			}
		}
		t.c, t.ldc = address(t.edge[:]), width*floatBytes
		if bias != 0 {
			copy(t.edgeBias[:t.n], unsafe.Slice((*float32)(from(t.of.Bias, bias)), t.n))
			t.bias = address(t.edgeBias[:])
		}
		f(t)
		t.c, t.ldc, t.bias = c, ldc, bias
		for i := range rows {
			copy(t.rowOfC(i, t.n), t.edge[i*width:])
		}
	}
}
