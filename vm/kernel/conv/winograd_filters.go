package conv

import "github.com/npulang/npu/vm/kernel/gemm"

// Packed is the number of floats of all filters as Pack lays them out.
func (c *Winograd) Packed() int { return c.Groups * c.packedGroup() }

func (c *Winograd) packedGroup() int { return points * gemm.PackedLen(c.level, c.Channels, c.Filters) }

// Pack writes the transforms of w: panel by panel of filters, and in each point by point,
// rows of a channel each. Columns that the last panel has too many are zero.
func (c *Winograd) Pack(dst, w []float32) {
	width, size := gemm.Width(c.level), c.Filters*c.Channels*9
	panel := points * c.Channels * width
	for g := range c.Groups {
		for at := 0; at < c.Filters; at += width {
			c.packPanel(dst[:panel], w[g*size+at*c.Channels*9:], min(width, c.Filters-at), width)
			dst = dst[panel:]
		}
	}
}

// packPanel writes a panel of n filters. The rows of a channel lie far from each other, so
// that they are put together before they are written.
func (c *Winograd) packPanel(dst, w []float32, n, width int) {
	var rows [points][mostFilters]float32
	for ch := range c.Channels {
		for f := range n {
			transform(&rows, f, (*[9]float32)(w[(f*c.Channels+ch)*9:]))
		}
		for p := range rows {
			copy(dst[(p*c.Channels+ch)*width:][:width], rows[p][:])
		}
	}
}

// mostFilters is the width of the widest panel.
const mostFilters = 32

// transform writes column f: G·g·Gᵗ of a filter, in float64 and rounded once. All of its
// factors are powers of two, so that no compiler's fusing of products and sums changes a
// bit.
func transform(to *[points][mostFilters]float32, f int, g *[9]float32) {
	f &= mostFilters - 1
	var rows [4][3]float64
	for j := range 3 {
		rows[0][j], rows[1][j], rows[2][j], rows[3][j] = spreadFilter(float64(g[j]), float64(g[3+j]), float64(g[6+j]))
	}
	for i := range rows {
		r := &rows[i]
		a, b, c, d := spreadFilter(r[0], r[1], r[2])
		to[4*i][f], to[4*i+1][f], to[4*i+2][f], to[4*i+3][f] = float32(a), float32(b), float32(c), float32(d)
	}
}

// spreadFilter is G times three elements.
func spreadFilter(a, b, c float64) (float64, float64, float64, float64) {
	outer := a + c
	return a, (outer + b) / 2, (outer - b) / 2, c
}
