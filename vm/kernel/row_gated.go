package kernel

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// gatedRow runs two products of float32 of the same size whose results meet in what
// follows element by element:
//
//	linear, silu, linear, mul
//
// A piece of the first product is put aside in scratch memory, and the second one's tail
// reads it there.
var gatedRow = &Row{Name: "gated/f32", reach: reach{heart: aProduct, rest: anElement | aMove}, ways: gatedSizes.names("rows"), Make: makeGated}

// A gatedTask is the Runner of such a body.
type gatedTask struct {
	level       isa.Level
	first, last *product
	own         int // of gatedSizes
	rows        int // of a piece
}

func makeGated(b *Body, o *Options) (*Prepared, string) {
	if len(hearts(b)) != 2 {
		return nil, ""
	}
	b = plain(b)
	list := hearts(b)
	of := behind(b, list)
	for _, v := range b.Out {
		if !slices.Equal(of[v], list) {
			return nil, "a result that is not made of both products"
		}
	}
	if b.InPlace != Absent {
		return nil, "it replaces an argument"
	}
	t := &gatedTask{level: o.Level}
	t.own, t.rows = gatedSizes.wanted(o)
	if why := t.products(b, list[0]); why != "" {
		return nil, why
	}
	for _, p := range []*product{t.first, t.last} {
		if c := b.Value(p.b.input); c != nil {
			p.pack(o, c)
		}
	}
	work := t.first.work(o.Level) + t.last.work(o.Level)
	within := magnified*t.first.within() + t.last.within()
	return &Prepared{Work: max(1, min(work, MaxWork)), Within: within, Runner: t}, ""
}

// products makes both, the last with a tail that takes the first one's result for an
// input behind the others.
func (t *gatedTask) products(b *Body, heart int) (why string) {
	if t.first, why = productOf(b, heart, floatOperands, t.level); why != "" {
		return why
	}
	back, ok := behindOne(b, heart)
	if !ok || len(hearts(back)) != 1 {
		return "one product is an operand of the other"
	}
	if t.last, why = productOf(back, hearts(back)[0], floatOperands, t.level); why != "" {
		return why
	}
	made, p, q := len(b.In), t.first, t.last
	switch {
	case q.a.input == made || q.b.input == made:
		return "one product is an operand of the other"
	case p.turned || q.turned || p.m != q.m || p.n != q.n || p.batches() != q.batches():
		return "the products have different rows"
	case p.batches()*p.m*p.n == 0:
		return "it has no elements"
	}
	q.outs = len(back.Out)
	if why := q.follow(back, t.level); why != "" {
		return why
	}
	if !q.tail.meets(made) {
		return "the products meet in another order"
	}
	return ""
}

// meets makes a second heart of an input. It reports whether its elements are read in
// the heart's order.
func (t *tail) meets(input int) bool {
	s := t.sheet
	heart := slices.IndexFunc(s.views, func(o operand) bool { return o.kind == ofHeart })
	for v := range s.views {
		if s.views[v] != (operand{kind: ofInput, index: input}) {
			continue
		}
		if !s.alike(heart, v) {
			return false
		}
		s.views[v] = operand{kind: ofHeart, index: 1}
	}
	return true
}

// alike reports whether two views go through their elements in the same order.
func (s *sheet) alike(v, w int) bool {
	for _, group := range s.axes {
		for _, a := range group {
			if a.steps[v] != a.steps[w] {
				return false
			}
		}
	}
	return true
}

func (t *gatedTask) Parts(want int) int {
	both := productTask{level: t.level, products: []*product{t.first, t.last}}
	return both.Parts(want)
}

// A piece has so many rows of each product at most, and gatedCols columns; fewer rows
// have more columns, in groups of as many.
const (
	gatedRows = 240
	gatedCols = 256
)

func (t *gatedTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	p := t.last
	g := grid{rows: 1, cols: 1}
	if parts > 1 {
		g = p.grid(t.level, parts)
	}
	col, cols := share(p.n, part%g.cols, g.cols, gemm.Width(t.level))
	row, rows := share(p.batches()*p.m, part/g.cols, g.rows, 1)
	most := t.rows * gatedCols // floats of a piece
	room := x.Floats(min(rows*cols, most))
	x.product.begin(x, p, out, in)
	defer x.product.end()
	for end := row + rows; row < end; {
		n := min(end-row, p.m-row%p.m, t.rows)
		wide := most / n / gatedCols * gatedCols
		for c := col; c < col+cols; c += wide {
			if err := t.piece(x, row, n, gemm.Range{Lo: c, Hi: min(c+wide, col+cols)}, room, in); err != nil {
				return err
			}
		}
		row += n
	}
	return nil
}

// piece computes some rows, counted through the batch, and columns.
func (t *gatedTask) piece(x *Exec, row, rows int, cols gemm.Range, room []float32, in []*tensor.T) error {
	r, n := &x.product, cols.Hi-cols.Lo
	r.job = t.first.piece(t.level, row, rows, cols, in)
	r.job.C, r.job.Ldc, r.job.Stop = room, n, x
	if err := x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: rows}, gemm.Range{Hi: n}); err != nil {
		return err
	}
	p := t.last
	r.job = p.piece(t.level, row, rows, cols, in)
	if p.bias != Absent {
		r.job.Bias = floats(in[p.bias])[cols.Lo:]
	}
	r.index, r.row, r.col, r.other, r.ld = row/p.m, row%p.m, cols.Lo, room, n
	r.job.Stop, r.job.Tail = x, r
	return x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: rows}, gemm.Range{Hi: n})
}

// piece is the product of some rows, counted through the batch, and columns.
func (p *product) piece(level isa.Level, row, rows int, cols gemm.Range, in []*tensor.T) gemm.Product {
	a, b := p.at(row / p.m)
	left := matrixIn(floats(in[p.a.input]), a+row%p.m*p.a.row, p.a)
	job := gemm.Product{M: rows, N: cols.Hi - cols.Lo, K: p.k, A: left}
	if p.packs != nil {
		job.Panels = p.packs.at(p, row/p.m).From(cols.Lo/gemm.Width(level), 0)
	} else {
		job.Matrix = matrixIn(floats(in[p.b.input]), b+cols.Lo*p.b.col, p.b)
	}
	return job
}
