package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A banding is the parts of a product whose right operand is packed, for executors that
// take one after the other: bands of rows, as products go through the caches anyway, by
// some panels of columns. Neighbours have the same rows, whose copy, or whatever the
// operand's format makes of them, serves all of them. What right operands are too large
// for the caches is gone through in runs of columns, band by band in each.
//
//	[512,1024] by [1024,4096], runs of 2048 columns
//	part    rows      columns
//	0       0..66     0..128
//	1       0..66     128..256
//	16      66..132   0..128
//	128     0..66     2048..2176
type banding struct {
	first int // of the task's parts
	bands int // of all matrices of the batch
	each  int // of one
	high  int // rows of a band
	runs  int
	cols  int // pieces of a run
	wide  int // columns of one
}

func (c *banding) parts() int { return c.runs * c.bands * c.cols }

// A productPart is what a part of a product computes.
type productPart struct {
	index      int // of the batch
	rows, cols gemm.Range
}

// part is what is computed at a time of parts from one to before another of a product:
// those of a band; n is how many they are.
func (c *banding) part(p *product, from, to int) (at productPart, n int) {
	col, i := from%c.cols, from/c.cols
	n = min(to-from, c.cols-col)
	band, run := i%c.bands, i/c.bands
	row, first := band%c.each*c.high, (run*c.cols+col)*c.wide
	return productPart{
		index: band / c.each,
		rows:  gemm.Range{Lo: row, Hi: min(row+c.high, p.m)},
		cols:  gemm.Range{Lo: min(first, p.n), Hi: min(first+n*c.wide, p.n)},
	}, n
}

// Share lays parts out in pieces, if there are enough of them; else in equal parts.
func (t *productTask) Share(executors, most int) int {
	t.bands, t.total = nil, 0
	if !t.inBands() || most < executors*leastPieces {
		return t.Parts(coarse(executors, most))
	}
	all := 0.0
	for _, p := range t.products {
		all += p.size()
	}
	list, next := make([]banding, len(t.products)), 0
	for i, p := range t.products {
		list[i] = p.inBands(t, executors, int(float64(most)*p.size()/all))
		list[i].first = next
		next += list[i].parts()
	}
	if next >= 2*most { // of many bands each part has several
		return t.Parts(most)
	}
	t.bands, t.total = list, next
	return next
}

// leastPieces is how many parts an executor takes at least where they are pieces of bands,
// which may differ in size.
const leastPieces = 8

// inBands reports whether parts may be pieces of bands: where nothing has to be made of
// the right operands, which each piece would do anew.
func (t *productTask) inBands() bool {
	for _, p := range t.products {
		if p.packs == nil || p.wide != nil || p.way != nil && p.way.share != byBest || p.size() == 0 {
			return false
		}
	}
	return true
}

// size is the number of products that are added up.
func (p *product) size() float64 {
	return float64(p.batches()) * float64(p.m) * float64(p.n) * float64(p.k)
}

// inBands lays out about so many pieces.
func (p *product) inBands(t *productTask, executors, most int) banding {
	blocks, rows, width := gemm.Default, gemm.Rows(t.level), p.width(t.level)
	if p.way != nil {
		blocks = p.way.blocks
	}
	if p.format != nil {
		rows = p.format.Rows()
		if !p.onTheWay() {
			blocks.Rows = min(blocks.Rows, leftRows(p.k))
		}
	}
	blocks.Rows = min(blocks.Rows, max(ceil(p.m, executors), leastBand))
	c := banding{high: blocks.Band(p.m, rows), runs: 1}
	c.each = ceil(p.m, c.high)
	c.bands = c.each * p.batches()
	// What follows goes by whole lines of lanes.
	if unit := max(width, vec.Lanes); p.n > unit {
		width = unit
	}
	panels := ceil(p.n, width)
	if c.bands > 1 && p.rightBytes() > runBytes {
		c.runs = min(executors, panels)
	}
	run := ceil(panels, c.runs)
	c.cols = min(run, max(1, most/(c.bands*c.runs)))
	c.wide = min(run, max(ceil(run, c.cols), ceil(rowProducts, p.k*width)))
	c.cols = ceil(run, c.wide)
	c.runs = ceil(panels, c.wide*c.cols)
	c.wide *= width
	return c
}

// leastBand is how many rows bands keep that are made smaller so that each executor has one:
// all of the right operand is read for each band. Executors that share a band by columns all
// copy all of its rows, most of which lie in other cores' caches, where one with a band of its
// own has often made the rows itself, in the task before. 128 rows by 384 columns of 1536 took
// 0.87 of the time so, on two cores of an Emerald Rapids.
const leastBand = 48

// rightBytes is how many bytes a matrix of the right operand has.
func (p *product) rightBytes() int {
	size := 4
	switch {
	case p.format == nil:
	case p.format.Kind() == gemm.Int8:
		size = 1
	default:
		size = 2
	}
	return size * p.k * p.n
}

// rowProducts is how many products of each row a part has at least, since what is done
// besides for each row takes as long as some thousands.
const rowProducts = 24 << 10

// runBytes is how many bytes of a right operand are gone through as often as there are
// bands; of larger ones each executor has columns of its own.
const runBytes = 4 << 20

// RunSome computes what parts of a band have of its columns together.
func (t *productTask) RunSome(x *Exec, from, to, parts int, out, in []*tensor.T) (n int, err error) {
	if !x.Again {
		x.forgetLeft()
	}
	if parts != t.total || parts == 1 {
		return 1, t.runShare(x, from, parts, out, in)
	}
	i := len(t.bands) - 1
	for t.bands[i].first > from {
		i--
	}
	p, c := t.products[i], &t.bands[i]
	at, n := c.part(p, from-c.first, to-c.first)
	if at.cols.Lo >= at.cols.Hi {
		return n, nil
	}
	out = out[p.out : p.out+p.outs]
	x.product.begin(x, p, out, in)
	defer x.product.end()
	x.product.beside = true
	if p.format != nil {
		x.product.narrow = p.narrowRun(x, at.rows.Hi-at.rows.Lo, at.cols.Hi-at.cols.Lo)
	}
	return n, t.multiply(x, p, at.index, at.rows, at.cols, out, in)
}
