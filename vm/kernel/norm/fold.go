package norm

import (
	"math"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Layout is a space whose rows go on: element i of stretch t of row (o, c) is at
// t*Apart + (o*N + i)*Inner + c. Times is 1 where they don't.
//
//	axes 0 and 2 of [8,3,5]   =>   Space{Outer: 3, N: 5, Inner: 1}, Times: 8, Apart: 15
type Layout struct {
	Space
	Times, Apart int
}

// length is the number of elements of a row.
func (y Layout) length() int { return y.N * y.Times }

// A Reduction makes one number of a row.
type Reduction uint8

// The reductions. Sums are exact to the last bits of float64 and rounded once; LogSumExp
// is off by another 1e-7 of the logarithm. Variance divides by the number of elements
// less Correction. The places are those of the first largest or smallest element, or of
// the first NaN, and not of a Layout with stretches.
const (
	Sum Reduction = iota
	Mean
	SumSquare
	Norm1
	Norm2
	Prod
	Max
	Min
	Variance
	Std
	LogSumExp
	Any
	All
	CountNonzero
	ArgMax
	ArgMin
	reductions
)

// A folding is how a reduction is computed: of a row, of columns into the first
// doubles, and what is made of that at the end.
type folding struct {
	row     func(l *loops, y *Layout, x []float32) float64
	columns func(l *loops, x *Scratch, y *Layout, src []float32, s strip)
	end     func(v float64, n, correction int) float64
}

var foldings = [reductions]folding{
	Sum:       {rowSum(func(l *loops) rowLoop { return l.sum }), columnSum(func(l *loops) columnLoop { return l.sumColumns }), asIs},
	Mean:      {rowSum(func(l *loops) rowLoop { return l.sum }), columnSum(func(l *loops) columnLoop { return l.sumColumns }), func(v float64, n, _ int) float64 { return v / float64(n) }},
	SumSquare: {rowSum(func(l *loops) rowLoop { return l.sumSquare }), columnSum(func(l *loops) columnLoop { return l.sumSquareColumns }), asIs},
	Norm1:     {rowSum(func(l *loops) rowLoop { return l.sumAbs }), columnSum(func(l *loops) columnLoop { return l.sumAbsColumns }), asIs},
	Norm2:     {rowSum(func(l *loops) rowLoop { return l.sumSquare }), columnSum(func(l *loops) columnLoop { return l.sumSquareColumns }), func(v float64, _, _ int) float64 { return math.Sqrt(v) }},
	Prod:      {rowProd, columnProd, asIs},
	Max:       {rowExtreme(math.Inf(-1), func(l *loops, x []float32) float32 { return l.most(x) }, func(a, b float64) float64 { return max(a, b) }), columnExtreme(math.Inf(-1), func(l *loops) extremeLoop { return l.mostColumns }), asIs},
	Min:       {rowExtreme(math.Inf(1), func(l *loops, x []float32) float32 { return l.least(x) }, func(a, b float64) float64 { return min(a, b) }), columnExtreme(math.Inf(1), func(l *loops) extremeLoop { return l.leastColumns }), asIs},
	Variance:  {rowSpread, columnSpread, variance},
	Std:       {rowSpread, columnSpread, func(v float64, n, c int) float64 { return math.Sqrt(variance(v, n, c)) }},
	LogSumExp: {rowLogSumExp, columnLogSumExp, asIs},
	Any:       {rowCount, columnCount, func(v float64, _, _ int) float64 { return truth(v > 0) }},
	All:       {rowCount, columnCount, func(v float64, n, _ int) float64 { return truth(v == float64(n)) }},

	CountNonzero: {rowCount, columnCount, asIs},
	ArgMax:       {rowPlace(func(l *loops, x []float32) float32 { return l.most(x) }), columnPlaces(lowest, func(l *loops) placeLoop { return l.mostPlaces }), asIs},
	ArgMin:       {rowPlace(func(l *loops, x []float32) float32 { return l.least(x) }), columnPlaces(-lowest, func(l *loops) placeLoop { return l.leastPlaces }), asIs},
}

type (
	rowLoop     = func([]float32) float64
	columnLoop  = func([]float64, []float32)
	extremeLoop = func(acc, x []float32)
	placeLoop   = func([]float32, []int32, []float32, int32)
)

func asIs(v float64, _, _ int) float64 { return v }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// variance of the sum of square distances.
func variance(v float64, n, correction int) float64 {
	left := max(n-correction, 0)
	if left == 0 {
		return math.NaN()
	}
	return v / float64(left)
}

// Results are where numbers go: the one that is not nil.
type Results struct {
	F32  []float32
	I64  []int64
	Bool []byte
}

// From are the results from one on.
func (r Results) From(i int) Results {
	switch {
	case r.F32 != nil:
		r.F32 = r.F32[i:]
	case r.I64 != nil:
		r.I64 = r.I64[i:]
	default:
		r.Bool = r.Bool[i:]
	}
	return r
}

func (r *Results) put(i int, v float64) {
	switch {
	case r.F32 != nil:
		r.F32[i] = float32(v)
	case r.I64 != nil:
		r.I64[i] = int64(v)
	default:
		r.Bool[i] = byte(v)
	}
}

// Fold computes units lo to before hi of a reduction, whose results lie in the order
// of the rows. The rows have elements.
func (x *Scratch) Fold(level isa.Level, f Reduction, y *Layout, lo, hi int, dst Results, src []float32, correction int) {
	l, how := at(level), &foldings[f]
	x.begin()
	whole := x.rows(l, y.N)
	for u := lo; u < hi; u++ {
		switch {
		case !y.columns():
			dst.put(u, how.end(how.row(whole, y, src[u*y.N:]), y.length(), correction))
			continue
		case y.Inner == 1:
			x.foldShort(l, how, y, u, dst, src, correction)
			continue
		}
		s := y.strip(u)
		how.columns(l, x, y, src, s)
		x.putAll(how, y, s, dst, correction)
	}
}

func (x *Scratch) putAll(how *folding, y *Layout, s strip, dst Results, correction int) {
	n := y.length()
	for c, v := range x.double(0, s.width) {
		dst.put(s.row+c, how.end(v, n, correction))
	}
}

// foldShort turns short rows of a unit, all their stretches, into columns.
func (x *Scratch) foldShort(l *loops, how *folding, y *Layout, unit int, dst Results, src []float32, correction int) {
	rows := min(turned, y.Outer-unit*turned)
	t := room(&x.turned, turned*y.length())
	for i := range y.Times {
		l.turn(t[i*turned*y.N:], turned, src[unit*turned*y.N+i*y.Apart:], y.N, rows, y.N)
	}
	s := strip{step: turned, width: rows, row: unit * turned}
	x.layout = Layout{Space{1, y.length(), turned}, 1, 0}
	how.columns(l, x, &x.layout, t, s)
	x.putAll(how, &x.layout, s, dst, correction)
}

// stretch is part t of a row that begins at x.
func (y *Layout) stretch(x []float32, t int) []float32 { return x[t*y.Apart:][:y.N] }

func rowSum(of func(*loops) rowLoop) func(*loops, *Layout, []float32) float64 {
	return func(l *loops, y *Layout, x []float32) float64 {
		sum, add := 0.0, of(l)
		for t := range y.Times {
			sum += add(y.stretch(x, t))
		}
		return sum
	}
}

// rowProd multiplies in ascending order, since what leaves the range of float64 on the
// way depends on it.
func rowProd(l *loops, y *Layout, x []float32) float64 {
	p := 1.0
	for t := range y.Times {
		row := y.stretch(x, t)
		if l.pieces == nil {
			p = prodFrom(p, row)
			continue
		}
		l.pieces(len(row), func(lo, hi int) { p = prodFrom(p, row[lo:hi]) })
	}
	return p
}

func prodFrom(p float64, row []float32) float64 {
	for _, v := range row {
		p *= float64(v)
	}
	return p
}

func rowExtreme(start float64, of func(*loops, []float32) float32, join func(a, b float64) float64) func(*loops, *Layout, []float32) float64 {
	return func(l *loops, y *Layout, x []float32) float64 {
		best := start
		for t := range y.Times {
			best = join(best, float64(of(l, y.stretch(x, t))))
		}
		return best
	}
}

// rowSpread is the sum of square distances from the mean. What rounding leaves of
// nothing may be negative.
func rowSpread(l *loops, y *Layout, x []float32) float64 {
	d, dd := 0.0, 0.0
	for t := range y.Times {
		a, b := l.moments(y.stretch(x, t), x[0])
		d, dd = d+a, dd+b
	}
	return spread(d, dd, y.length())
}

func spread(d, dd float64, n int) float64 {
	v := dd - float64(d*(d/float64(n)))
	if v < 0 {
		return 0
	}
	return v
}

// rowLogSumExp is the top itself if it is infinite or NaN.
func rowLogSumExp(l *loops, y *Layout, x []float32) float64 {
	best := math.Inf(-1)
	for t := range y.Times {
		best = max(best, float64(l.most(y.stretch(x, t))))
	}
	if best-best != 0 {
		return best
	}
	sum := 0.0
	for t := range y.Times {
		sum += l.expSum(y.stretch(x, t), float32(best), unscaled.magic, unscaled.cut)
	}
	return best + math.Log(sum)
}

func rowCount(l *loops, y *Layout, x []float32) float64 {
	n := 0
	for t := range y.Times {
		n += l.count(y.stretch(x, t))
	}
	return float64(n)
}

// rowPlace looks for the best element when it is known. In a row of infinities that
// nothing beats that is the first one.
func rowPlace(best func(*loops, []float32) float32) func(*loops, *Layout, []float32) float64 {
	return func(l *loops, y *Layout, x []float32) float64 {
		row := x[:y.N]
		return float64(l.find(row, best(l, row)))
	}
}

// A run is some of the rows of columns: elements first to before end of stretch t.
type run struct {
	y             *Layout
	s             strip
	t, first, end int
}

// next goes on to the next piece of the rows; it reports whether there is one, and is
// not to halt.
func (x *Scratch) next(r *run) bool {
	x.passed((r.end - r.first) * r.s.width)
	if r.first = r.end; r.first == r.y.N {
		r.t, r.first = r.t+1, 0
	}
	r.end = min(r.first+rowsOf(r.s.width), r.y.N)
	return r.t < r.y.Times && !x.long.halted
}

// each calls f with the rows of a run: element i of each column.
func (r *run) each(src []float32, f func(i int, v []float32)) {
	at, step, width := r.t*r.y.Apart+r.s.at, r.s.step, r.s.width
	for i, end := r.first, r.end; i < end; i++ {
		f(i, src[at+i*step:][:width])
	}
}

func columnSum(of func(*loops) columnLoop) func(*loops, *Scratch, *Layout, []float32, strip) {
	return func(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
		acc, add := x.zeros(0, s.width), of(l)
		for r := (run{y: y, s: s}); x.next(&r); {
			r.each(src, func(_ int, v []float32) { add(acc, v) })
		}
	}
}

func columnProd(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
	acc := x.double(0, s.width)
	for c := range acc {
		acc[c] = 1
	}
	for r := (run{y: y, s: s}); x.next(&r); {
		r.each(src, func(_ int, v []float32) { l.prodColumns(acc, v) })
	}
}

func columnExtreme(start float64, of func(*loops) extremeLoop) func(*loops, *Scratch, *Layout, []float32, strip) {
	return func(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
		widen(x.double(0, s.width), x.extremes(of(l), float32(start), y, src, s))
	}
}

// extremes are those of columns.
func (x *Scratch) extremes(f extremeLoop, start float32, y *Layout, src []float32, s strip) []float32 {
	best := x.float(0, s.width)
	for c := range best {
		best[c] = start
	}
	for r := (run{y: y, s: s}); x.next(&r); {
		r.each(src, func(_ int, v []float32) { f(best, v) })
	}
	return best
}

func widen(to []float64, from []float32) {
	for i, v := range from {
		to[i] = float64(v)
	}
}

func columnSpread(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
	d, dd := x.zeros(0, s.width), x.zeros(1, s.width)
	pivots := src[s.at : s.at+s.width]
	for r := (run{y: y, s: s}); x.next(&r); {
		r.each(src, func(_ int, v []float32) { l.momentsColumns(d, dd, v, pivots) })
	}
	n := y.length()
	for c := range d {
		d[c] = spread(d[c], dd[c], n)
	}
}

func columnLogSumExp(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
	top := x.extremes(l.mostColumns, lowest, y, src, s)
	sums, away := x.zeros(0, s.width), x.float(1, s.width)
	for r := (run{y: y, s: s}); x.next(&r); {
		r.each(src, func(_ int, v []float32) { l.expColumns(away, sums, v, top, unscaled.magic, unscaled.cut) })
	}
	for c, v := range top {
		if v-v != 0 {
			sums[c] = float64(v)
		} else {
			sums[c] = float64(v) + math.Log(sums[c])
		}
	}
}

func columnCount(_ *loops, x *Scratch, y *Layout, src []float32, s strip) {
	acc := x.zeros(0, s.width)
	for r := (run{y: y, s: s}); x.next(&r); {
		r.each(src, func(_ int, v []float32) {
			for c, e := range v {
				if e != 0 {
					acc[c]++
				}
			}
		})
	}
}

func columnPlaces(start float32, of func(*loops) placeLoop) func(*loops, *Scratch, *Layout, []float32, strip) {
	return func(l *loops, x *Scratch, y *Layout, src []float32, s strip) {
		best, places, f := x.float(0, s.width), room(&x.places, s.width), of(l)
		for c := range best {
			best[c], places[c] = start, 0
		}
		for r := (run{y: y, s: s}); x.next(&r); {
			r.each(src, func(i int, v []float32) { f(best, places, v, int32(i)) })
		}
		acc := x.double(0, s.width)
		for c, v := range places {
			acc[c] = float64(v)
		}
	}
}
