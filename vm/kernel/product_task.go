package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
)

// A productTask is the Runner of products.
type productTask struct {
	level    isa.Level
	products []*product
	own      int // of productWays

	bands []banding // by product, once Share has laid out parts so
	total int       // of those parts
}

// twin is a copy whose constants are those of b.
func (t *productTask) twin(b *Body, o *Options) Runner {
	to := *t
	to.products = make([]*product, len(t.products))
	for i, p := range t.products {
		to.products[i] = p.with(b.Value(p.b.input), o)
	}
	return &to
}

// with is the same product of another constant B.
func (p *product) with(b *tensor.T, o *Options) *product {
	if p.packs == nil {
		return p
	}
	to, packs := *p, *p.packs
	packs.take(o, b)
	to.packs = &packs
	return &to
}

// Parts finds the number that shares the products out best: that for which the
// largest part is smallest.
func (t *productTask) Parts(want int) int {
	best, least := 1, 1.0
	for parts := 2; parts <= want; parts++ {
		largest := 0.0
		for _, p := range t.products {
			largest = max(largest, p.grid(t.level, parts).largest)
		}
		if largest < least {
			best, least = parts, largest
		}
	}
	return best
}

// A grid shares a product out in rows and columns.
type grid struct {
	rows, cols int
	largest    float64 // the share of the largest part
	moved      int     // floats that all parts together read and copy
}

// copied is how many floats of B go by while one of A is copied.
const copied = 4

// grid finds the best one of so many parts: of those whose largest part is about the
// smallest, the one that moves least, since parts of rows read all of B and parts of
// columns copy all of A.
func (p *product) grid(level isa.Level, parts int) grid {
	tiles := p.batches() * ceil(p.m, gemm.Rows(level))
	panels := ceil(p.n, p.width(level))
	best := grid{1, 1, 1, 0}
	for rows := parts; rows >= 1; rows-- {
		cols := parts / rows
		if parts%rows != 0 || !p.allows(rows, cols) {
			continue
		}
		g := grid{
			rows: rows, cols: cols,
			largest: float64(ceil(tiles, rows)*ceil(panels, cols)) / float64(max(tiles*panels, 1)),
			moved:   rows*p.k*p.n + cols*p.m*p.k*copied,
		}
		if g.largest < best.largest*0.99 || g.largest < best.largest*1.01 && g.moved < best.moved {
			best = g
		}
	}
	if best.rows*best.cols != parts {
		best.rows, best.cols = parts, 1
	}
	return best
}

// allows reports whether the product's way has such a grid.
func (p *product) allows(rows, cols int) bool {
	return p.way == nil || p.way.share == byBest || p.way.share == byRows && cols == 1 || p.way.share == byCols && rows == 1
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

func (t *productTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	_, err := t.RunSome(x, part, part+1, parts, out, in)
	return err
}

// runShare computes a part of each product, in the same memory one after the other: if they
// have the same left operand, what has been made of it serves all.
func (t *productTask) runShare(x *Exec, part, parts int, out, in []*tensor.T) error {
	again, room := x.Again, x.at
	defer func() { x.Again = again }()
	for _, p := range t.products {
		x.at = room
		if err := t.run(x, p, part, parts, out[p.out:p.out+p.outs], in); err != nil {
			return err
		}
		x.Again = true
	}
	return nil
}

// run computes a part of one product.
func (t *productTask) run(x *Exec, p *product, part, parts int, out, in []*tensor.T) error {
	g := grid{rows: 1, cols: 1}
	if parts > 1 {
		g = p.grid(t.level, parts)
	}
	col, cols := share(p.n, part%g.cols, g.cols, p.width(t.level))
	unit := gemm.Rows(t.level)
	tiles := ceil(p.m, unit)
	tile, n := share(p.batches()*tiles, part/g.cols, g.rows, 1)
	if cols == 0 {
		return nil
	}
	x.product.begin(x, p, out, in)
	defer x.product.end()
	if p.format != nil {
		x.product.narrow = p.narrowRun(x, min(n*unit, p.m), cols)
	}
	if p.wide != nil && p.wide.small {
		x.product.small = p.smallRun(x, t.level, min(n*unit, p.m), cols)
	}
	for n > 0 {
		first := tile % tiles
		step := min(n, tiles-first)
		rows := gemm.Range{Lo: first * unit, Hi: min((first+step)*unit, p.m)}
		if err := t.multiply(x, p, tile/tiles, rows, gemm.Range{Lo: col, Hi: col + cols}, out, in); err != nil {
			return err
		}
		tile, n = tile+step, n-step
	}
	return nil
}

// multiply computes rows and columns of the product of one index of the batch.
func (t *productTask) multiply(x *Exec, p *product, index int, rows, cols gemm.Range, out, in []*tensor.T) error {
	switch {
	case p.format != nil:
		return t.multiplyNarrow(x, p, index, rows, cols, out, in)
	case p.wide != nil:
		return p.wide.multiply(t, x, p, index, rows, cols, out, in)
	}
	a, b := p.at(index)
	job, beside := &x.product.job, x.product.beside
	*job = gemm.Product{
		M: p.m, N: p.n, K: p.k, Stop: x, A: matrixIn(floats(in[p.a.input]), a, p.a),
		Beside: beside, Again: x.Again, Backwards: x.Backwards,
	}
	if p.way != nil {
		job.Blocks = p.way.blocks
	}
	if p.packs != nil {
		job.Panels, job.Finite = p.packs.at(p, index), p.packs.finite
	} else {
		job.Matrix = matrixIn(floats(in[p.b.input]), b, p.b)
	}
	if p.bias != Absent {
		job.Bias = floats(in[p.bias])
	}
	if p.tail == nil {
		job.C, job.Ldc = floats(out[0])[index*p.m*p.n:], p.n
	} else {
		x.product.index = index
		job.Tail = &x.product
	}
	return x.gemm.Mul(t.level, job, rows, cols)
}

// A productRun is a product under way, as the Tail of its blocks.
type productRun struct {
	x       *Exec
	p       *product
	out, in []*tensor.T
	index   int // of the batch
	job     gemm.Product
	beside  bool // others compute further columns of the same rows

	row, col int // where the job begins, if it is a piece
	narrow   narrowRun
	small    smallRun
	other    []float32 // the same piece of another product, densely
	ld       int       // from one of its rows to the next
}

func (r *productRun) begin(x *Exec, p *product, out, in []*tensor.T) {
	r.x, r.p, r.out, r.in = x, p, out, in
}

// end lets go of the operands.
func (r *productRun) end() { *r = productRun{} }

// width is how many columns a panel of B has.
func (p *product) width(level isa.Level) int {
	switch {
	case p.format != nil:
		return p.format.Width()
	case p.wide != nil:
		return p.wide.width(level)
	}
	return gemm.Width(level)
}

// Block hands a block of C to the tail, matrix by matrix of the operator's result.
func (r *productRun) Block(row, col, rows, cols int, c []float32, ldc int) {
	p := r.p
	other := r.other
	if other != nil {
		other = other[row*r.ld+col:]
	}
	row, col = row+r.row, col+r.col
	if p.turned {
		p.tail.box(r.x, []strip.View{strip.Matrix(c, ldc)}, 0, 0, 1, r.index*p.n+col, cols, r.out, r.in)
		return
	}
	for row += r.index * p.m; rows > 0; {
		at := row % p.heartRows
		n := min(rows, p.heartRows-at)
		p.tail.box(r.x, []strip.View{strip.Matrix(c, ldc), strip.Matrix(other, r.ld)}, row/p.heartRows, at, n, col, cols, r.out, r.in)
		c, other, row, rows = c[min(n*ldc, len(c)):], other[min(n*r.ld, len(other)):], row+n, rows-n
	}
}
