package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// Turned products have places as rows of tiles. They are laid out in bands, so that
// the tiles of a band read what lies close together: four tiles of AVX2, two of
// AVX-512, and whole octets.
const band = 24

// bands is how many bands a block of some places has. The last one has what is left
// too, since a tile of one row takes as long as one of four.
func bands(places int) int { return max(1, places/band) }

// bandAt is band number i: its first place, how many it has, and floats between k.
func bandAt(i, places int) (first, n, line int) {
	first, n = i*band, band
	if i == bands(places)-1 {
		n = places - first
	}
	return first, n, roundUp(n, 8)
}

// single reports whether the product is one row by all filters: planes have one place,
// which sees all of them in order.
func (d *Dense) single() bool {
	return d.turned && d.direct && d.geo.places() == 1 && d.geo.inputs() == d.geo.taps() && d.depth > 0
}

// single computes it in one call. Its sums lie side by side, as channels of one place do.
func (p *pass) single(sums []float32) {
	packed := p.packed[p.b.group*p.packedGroup():][:p.packedGroup()]
	x := unsafe.Slice(p.src, p.depth)
	block := gemm.Block{
		M: 1, N: p.b.last - p.b.first, K: p.depth, C: sums, Ldc: p.turnedLd(),
		A: gemm.Matrix{Data: x, Row: p.depth, Col: 1},
		B: gemm.PackedPanels(p.level, packed, p.depth).From(p.b.first/gemm.Width(p.level), 0),
	}
	p.w.Gemm.Run(p.level, &block)
}

// turned goes through k in the same steps as upright, lays out all places of each,
// and goes through the panels of filters.
func (p *pass) turned(sums []float32) {
	width, filters := gemm.Width(p.level), p.b.last-p.b.first
	packed := p.packed[p.b.group*p.packedGroup():][:p.packedGroup()]
	panels := gemm.PackedPanels(p.level, packed, p.depth)
	block := gemm.Block{Ldc: p.turnedLd()}
	for k := 0; k < p.depth; k += p.deep {
		block.K, block.Add = min(p.deep, p.depth-k), k > 0
		p.layBands(k, block.K)
		for at := 0; at < filters; at += width {
			block.N = min(width, filters-at)
			block.B = panels.From((p.b.first+at)/width, k)
			p.column(&block, sums[at:])
		}
	}
}

func (d *Dense) turnedLd() int {
	return spaced(roundUp(d.grid.filters.each, max(16, gemm.Width(d.level))))
}

// layBands lays out n steps of k for all places.
func (p *pass) layBands(k, n int) {
	places := p.b.places()
	for i := range bands(places) {
		first, count, line := bandAt(i, places)
		p.layOut(p.panel[first*n:], first, count, line, k, n)
	}
}

// column multiplies all bands with one panel of filters. Tiles ask meanwhile for the
// next one, which may have to come from memory.
func (p *pass) column(block *gemm.Block, sums []float32) {
	places := p.b.places()
	for i := range bands(places) {
		first, count, line := bandAt(i, places)
		block.M, block.C = count, sums[first*block.Ldc:]
		block.A = gemm.Matrix{Data: p.panel[first*block.K:], Row: 1, Col: line}
		p.w.Gemm.Run(p.level, block)
	}
}
