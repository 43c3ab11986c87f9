package gemm

import "math"

// A Scale makes floats of sums that are integers:
//
//	float(sum) · Rows[row] · Cols[col] + Bias[col]
//
// The conversion, both products and the sum round to nearest, half to even. What is nil is
// left out.
type Scale struct {
	Rows []float32 // M
	Cols []float32 // N
	Bias []float32 // N
}

// An ending is what finishes the integer sums of a block, some panels at a time, while
// these and the sums are in the first caches.
type ending struct {
	by    *finisher // nil: Go does it
	args  finish    // of the block
	now   finish    // of the columns at hand
	scale Scale     // of the block's rows and columns
	whole bool      // sums stay integers
	width int       // of a panel
	next  int       // the first column that is not finished

	edge               []float32 // columns that are too few for a finisher
	edgeCols, edgeBias [finishCols]float32
}

// A finisher is what a level has in assembly: functions for sixteen columns, and for four
// times as many.
type finisher struct {
	shift, shift4 func(*finish) // add rests and take off what B is too large by
	scale, scale4 func(*finish) // do that, and make floats
}

const (
	finishCols = 16
	finishMany = 4 * finishCols
)

// A finish is the argument of a finisher. The generator knows the offsets of the fields.
// Places are numbers, as in tile. Where a step is zero, all rows have the same.
type finish struct {
	c             uintptr
	ldc           int // from one row of C to the next, in bytes
	rows          int
	sums          uintptr // of A, by row
	sumStep       int
	starts        uintptr // of rests, by row, and behind them
	startStep     int
	values, quads uintptr // of rests
	b             uintptr // panels
	panel         int     // from one panel to the next, in bytes
	scales        uintptr // by row
	scaleStep     int
	cols, bias    uintptr // by column
}

// What stands for what there is not: no sum and no rests, products with 1 and sums with
// -0, which change no number.
var (
	noSum    = [1]int32{}
	noRests  = [2]int{}
	ones     = fillMany(1)
	negZeros = fillMany(float32(math.Copysign(0, -1)))
)

func fillMany(x float32) (all [finishMany]float32) {
	for i := range all {
		all[i] = x
	}
	return all
}

// ends reports whether sums have to be finished.
func (p *Product) ends() bool { return p.format != nil && (p.format.split != nil || p.Scale != nil) }

// ending is that of a block with all of its products.
func (m *mul) ending(rows, cols Range) *ending {
	e, f := &m.x.end, m.p.format
	e.by, e.scale, e.whole, e.width, e.next = f.finisher(), Scale{}, m.p.Scale == nil, f.set.width, 0
	e.args = finish{
		rows: rows.len(), sums: place(noSum[:], 0), starts: place(noRests[:], 0), scales: place(ones[:], 0),
	}
	if f.split != nil {
		s := f.splits(m.p.A.Data, m.p.M, m.p.K)
		a := &e.args
		a.sums, a.sumStep = place(s.sums, rows.Lo), floatBytes
		a.starts, a.startStep = place(s.starts, rows.Lo), intBytes
		a.values, a.quads = place(s.values, 0), place(s.quads, 0)
		a.b, a.panel = address(m.p.Panels.From(cols.Lo/m.set.width, 0).Data), m.p.Panels.Panel*floatBytes
	}
	if e.whole {
		return e
	}
	e.scale.Cols, e.scale.Bias = cols.of(m.p.Scale.Cols), cols.of(m.p.Scale.Bias)
	if e.scale.Rows = rows.of(m.p.Scale.Rows); e.scale.Rows != nil {
		e.args.scales, e.args.scaleStep = address(e.scale.Rows), floatBytes
	}
	return e
}

const intBytes = 8

// finisher is the one for the format's panels; nil: Go finishes them.
func (f *Format) finisher() *finisher {
	if f.set.width < finishCols {
		return nil
	}
	return finishers[f.level]
}

// of is a range of numbers, where there are some.
func (r Range) of(s []float32) []float32 {
	if s == nil {
		return nil
	}
	return s[r.Lo:r.Hi]
}

// finish says that the columns before the end of n from at on have been multiplied. Some
// of them are finished: many, or the last ones.
func (b *Block) finish(at, n int) {
	e := b.end
	if e == nil {
		return
	}
	end := at + n
	if e.by == nil {
		e.scaleInGo(b, at, n)
		return
	}
	for ; end-e.next >= finishMany; e.next += finishMany {
		e.columns(b, e.by.shift4, e.by.scale4)
	}
	if end < b.N {
		return
	}
	for ; end-e.next >= finishCols; e.next += finishCols {
		e.columns(b, e.by.shift, e.by.scale)
	}
	if e.next < end {
		e.atEdge(b, end-e.next)
	}
}

// columns finishes the next columns by one of two functions.
func (e *ending) columns(b *Block, shift, scale func(*finish)) {
	e.run(shift, scale, place(b.C, e.next), b.Ldc, placeOr(e.scale.Cols, &ones, e.next), placeOr(e.scale.Bias, &negZeros, e.next))
}

func (e *ending) run(shift, scale func(*finish), c uintptr, ldc int, cols, bias uintptr) {
	a := &e.now
	*a = e.args // which the functions change
	a.c, a.ldc, a.cols, a.bias = c, ldc*floatBytes, cols, bias
	a.b += uintptr(e.next / e.width * a.panel)
	if e.whole {
		shift(a)
	} else {
		scale(a)
	}
}

// atEdge finishes the last n columns in a copy of sixteen.
func (e *ending) atEdge(b *Block, n int) {
	c := floats(&e.edge, b.M*finishCols)
	copyRows(c, b.C[e.next:], b.M, n, finishCols, b.Ldc)
	cols, bias := placeOr(nil, &ones, 0), placeOr(nil, &negZeros, 0)
	if e.scale.Cols != nil {
		copy(e.edgeCols[:], e.scale.Cols[e.next:][:n])
		cols = place(e.edgeCols[:], 0)
	}
	if e.scale.Bias != nil {
		copy(e.edgeBias[:], e.scale.Bias[e.next:][:n])
		bias = place(e.edgeBias[:], 0)
	}
	e.run(e.by.shift, e.by.scale, address(c), finishCols, cols, bias)
	copyRows(b.C[e.next:], c, b.M, n, b.Ldc, finishCols)
}

// copyRows copies n columns of m rows.
func copyRows(dst, src []float32, m, n, to, from int) {
	for i := range m {
		copy(dst[i*to:][:n], src[i*from:][:n])
	}
}

// placeOr is where an element is, or what stands for all.
func placeOr(s []float32, none *[finishMany]float32, at int) uintptr {
	if s == nil {
		return place(none[:], 0)
	}
	return place(s, at)
}

// scaleInGo is what scale does, where there is nothing to take off.
func (e *ending) scaleInGo(b *Block, at, n int) {
	if e.whole {
		return
	}
	for i := range b.M {
		c, by := b.C[i*b.Ldc+at:][:n], float32(1)
		if e.scale.Rows != nil {
			by = e.scale.Rows[i]
		}
		for j, sum := range Ints(c) {
			c[j] = e.scale.of(float32(float32(sum)*by), at+j)
		}
	}
}

// of is a number with the scale and bias of its column.
func (s *Scale) of(x float32, col int) float32 {
	if s.Cols != nil {
		x = float32(x * s.Cols[col])
	}
	if s.Bias != nil {
		x += s.Bias[col]
	}
	return x
}
