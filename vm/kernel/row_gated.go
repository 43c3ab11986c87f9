package kernel

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// Two products of the same size whose results meet in what follows element by element:
//
//	linear, silu, linear, mul
//
// A piece of the first product is put aside in scratch memory, and the second one's tail
// reads it there.
var (
	gatedRow     = gatedOf("gated/f32", floatOperands)
	gatedBF16Row = gatedOf("gated/bf16", bf16Operands)
	gatedF16Row  = gatedOf("gated/f16", f16Operands)
	gatedInt8Row = gatedOf("gated/int8", byteOperands)
)

func gatedOf(name string, of *operands) *Row {
	return &Row{
		Name: name, reach: reach{heart: aProduct, rest: anElement | aMove}, ways: gatedSizes.names("rows"),
		Make: func(b *Body, o *Options) (*Prepared, string) { return makeGated(b, of, o) },
	}
}

// A gatedTask is the Runner of such a body.
type gatedTask struct {
	level       isa.Level
	first, last *product
	round       tensor.DType // what the first one's results are rounded to; F32: they are not
	shared      bool         // both have the same left operand, laid out alike
	own         int          // of gatedSizes
	rows        int          // of a piece
}

func makeGated(b *Body, of *operands, o *Options) (*Prepared, string) {
	if len(hearts(b)) != 2 {
		return nil, ""
	}
	b = plain(b)
	list := hearts(b)
	from := behind(b, list)
	for _, v := range b.Out {
		if !slices.Equal(from[v], list) {
			return nil, "a result that is not made of both products"
		}
	}
	if b.InPlace != Absent {
		return nil, "it replaces an argument"
	}
	t := &gatedTask{level: o.Level}
	t.own, t.rows = gatedSizes.wanted(o)
	if why := t.products(b, list[0], of); why != "" {
		return nil, why
	}
	for _, p := range []*product{t.first, t.last} {
		if c := b.Value(p.b.input); c != nil {
			p.pack(o, c)
		} else if of.narrow {
			return nil, "a right operand that is no constant"
		}
	}
	if of.narrow {
		t.rows = min(t.rows, leftRows(t.last.k))
	}
	work := t.first.work(o.Level) + t.last.work(o.Level)
	within := magnified*t.first.within() + t.last.within()
	return &Prepared{Work: max(1, min(work, MaxWork)), Within: within, Runner: t}, ""
}

// products makes both, the last with a tail that takes the first one's result for an
// input behind the others.
func (t *gatedTask) products(b *Body, heart int, of *operands) (why string) {
	if t.first, why = productOf(b, heart, of, t.level); why != "" {
		return why
	}
	t.first.scaled(b)
	back, ok := behindOne(b, t.first.op)
	if !ok || len(hearts(back)) != 1 {
		return "one product is an operand of the other"
	}
	if t.last, why = productOf(back, hearts(back)[0], of, t.level); why != "" {
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
	t.rounded(back, made)
	t.shared = p.format != nil && !p.format.LeftByRight() && p.a == q.a && p.k == q.k &&
		slices.EqualFunc(p.batch, q.batch, func(x, y batchAxis) bool { return x.size == y.size && x.a == y.a })
	q.outs = len(back.Out)
	if why := q.follow(back, t.level); why != "" {
		return why
	}
	if !q.tail.meets(made) {
		return "the products meet in another order"
	}
	return ""
}

// rounded notes what the first product's results are rounded to: they stand as floats in
// scratch memory, of four bytes as all sums do.
func (t *gatedTask) rounded(back *Body, made int) {
	in := &back.In[made]
	t.round = in.DType
	if in.DType == tensor.BF16 || in.DType == tensor.F16 {
		in.DType = tensor.F32
	}
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

// A piece has gatedRows rows of each product at most, and gatedCols columns; fewer rows have
// more columns, in groups of as many.
const gatedCols = 256

// gatedRows are those of one band, where bands are tall: what a product copies of its left
// operand then serves all columns of both. A feed-forward block of 512 rows of 1024 floats by
// 2816 took 0.95 of its time so on an Emerald Rapids, bf16 0.96 on two threads and about as
// long on one, bytes as long. Low bands, as of second caches of 1 MB, would read the right
// operands too often.
var gatedRows = gatedRowsFor(gemm.Default.Rows)

func gatedRowsFor(band int) int {
	const tall, most = 144, 240
	if band < tall {
		return most
	}
	return min(band, most)
}

func (t *gatedTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	p := t.last
	g := grid{rows: 1, cols: 1}
	if parts > 1 {
		g = p.grid(t.level, parts)
	}
	col, cols := share(p.n, part%g.cols, g.cols, p.width(t.level))
	row, rows := share(p.batches()*p.m, part/g.cols, g.rows, 1)
	if rows*cols == 0 {
		return nil
	}
	most := t.rows * gatedCols // floats of a piece
	room := x.Floats(min(rows*cols, most))
	lefts := t.leftRoom(x, min(rows, p.m, t.rows))
	x.product.begin(x, p, out, in)
	defer x.product.end()
	for end := row + rows; row < end; {
		n := min(end-row, p.m-row%p.m, t.rows)
		wide := most / n / gatedCols * gatedCols
		w := gatedPiece{row: row, rows: n, room: room}
		t.layOut(&lefts, &w, in)
		for c := col; c < col+cols; c += wide {
			w.cols = gemm.Range{Lo: c, Hi: min(c+wide, col+cols)}
			if err := t.piece(x, &w, in); err != nil {
				return err
			}
			w.again = true
		}
		row += n
	}
	return nil
}

// A gatedPiece is some rows, counted through the batch, and columns of both products.
type gatedPiece struct {
	row, rows int
	cols      gemm.Range
	again     bool           // it has the rows of the piece before
	left      [2]gemm.Matrix // operands, as kernels take them
	room      []float32      // for what the first product makes
}

// leftRoom is memory for so many rows of the left operands.
func (t *gatedTask) leftRoom(x *Exec, rows int) (lefts [2]narrowRun) {
	for i, p := range []*product{t.first, t.last} {
		if p.format != nil && !(i > 0 && t.shared) {
			lefts[i].leftRoom(x, p, rows)
		}
	}
	return lefts
}

// layOut lays out the left operands.
func (t *gatedTask) layOut(lefts *[2]narrowRun, w *gatedPiece, in []*tensor.T) {
	w.left[0] = t.first.left(&lefts[0], w, in)
	if w.left[1] = w.left[0]; !t.shared {
		w.left[1] = t.last.left(&lefts[1], w, in)
	}
}

// left lays out the rows of the left operand that a piece takes, if its format asks for that.
func (p *product) left(h *narrowRun, w *gatedPiece, in []*tensor.T) gemm.Matrix {
	at, _ := p.at(w.row / p.m)
	at += w.row % p.m * p.a.row
	if p.format != nil {
		return h.layOut(p, in[p.a.input], at, w.rows, p.packs.matrix(p, w.row/p.m))
	}
	return matrixIn(floats(in[p.a.input]), at, p.a)
}

// piece computes one.
func (t *gatedTask) piece(x *Exec, w *gatedPiece, in []*tensor.T) error {
	r, n := &x.product, w.cols.Hi-w.cols.Lo
	t.first.piece(r, t.level, w, w.left[0], in)
	r.job.C, r.job.Ldc, r.job.Stop, r.job.Again = w.room, n, x, w.again
	if err := x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: w.rows}, gemm.Range{Hi: n}); err != nil {
		return err
	}
	roundTo16(t.level, t.round, w.room[:w.rows*n])
	p := t.last
	p.piece(r, t.level, w, w.left[1], in)
	if p.bias != Absent {
		r.job.Bias = floats(in[p.bias])[w.cols.Lo:]
	}
	r.index, r.row, r.col, r.other, r.ld = w.row/p.m, w.row%p.m, w.cols.Lo, w.room, n
	r.job.Stop, r.job.Tail, r.job.Again = x, r, true // the first product may have had its rows
	return x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: w.rows}, gemm.Range{Hi: n})
}

// roundTo16 rounds floats to those that a shorter dtype holds.
func roundTo16(level isa.Level, to tensor.DType, s []float32) {
	switch to {
	case tensor.BF16:
		narrow.RoundBF16(level, s, s)
	case tensor.F16:
		var halves [256]uint16
		for ; len(s) > 0; s = s[min(len(halves), len(s)):] {
			some := s[:min(len(halves), len(s))]
			narrow.ToF16(level, halves[:len(some)], some)
			narrow.FromF16(level, some, halves[:len(some)])
		}
	}
}

// piece makes the job of a run the product of a piece.
func (p *product) piece(r *productRun, level isa.Level, w *gatedPiece, left gemm.Matrix, in []*tensor.T) {
	index, n := w.row/p.m, w.cols.Hi-w.cols.Lo
	panel := w.cols.Lo / p.width(level)
	switch {
	case p.format != nil:
		packed := p.packs.matrix(p, index)
		r.job = p.format.Product(w.rows, n, p.k, left, packed)
		r.job.Panels = r.job.Panels.From(panel, 0)
		if p.shifts {
			r.job.Bias = packed[p.format.PackedLen(p.k, p.n):][w.cols.Lo:]
		}
		if p.scale != nil {
			r.narrow.scale = p.scaleFor(in, w.row, w.cols.Lo)
			r.job.Scale = &r.narrow.scale
		}
	case p.packs != nil:
		r.job = gemm.Product{M: w.rows, N: n, K: p.k, A: left, Panels: p.packs.at(p, index).From(panel, 0)}
	default:
		_, at := p.at(index)
		r.job = gemm.Product{M: w.rows, N: n, K: p.k, A: left, Matrix: matrixIn(floats(in[p.b.input]), at+w.cols.Lo*p.b.col, p.b)}
	}
}
