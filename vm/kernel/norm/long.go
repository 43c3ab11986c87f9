package norm

import "iter"

// long is the length of the pieces in which a longer row, or columns of more elements
// together, are computed, one after the other, so that a run that is to end does so within a piece: a millisecond or two.
// The sums of pieces are added in ascending order.
const long = 1 << 20

// A chopper computes long rows by the primitives of a level.
type chopper struct {
	of     *loops // what loops were made of
	loops  loops
	halted bool // the row under way was left
	passed int  // elements of columns since it was last asked
}

// rows are primitives for rows of n elements.
func (x *Scratch) rows(l *loops, n int) *loops {
	if n <= long {
		return l
	}
	if x.long.of != l {
		x.long.chop(x, l)
	}
	return &x.long.loops
}

// Halted reports whether the last call left long rows or columns because Halt said so: results
// are not there then.
func (x *Scratch) Halted() bool { return x.long.halted }

// pieces calls f with the bounds of the pieces of n elements until it is to halt.
func (x *Scratch) pieces(n int, f func(lo, hi int)) {
	for lo := 0; lo < n && !x.long.halted; lo += long {
		f(lo, min(lo+long, n))
		x.long.halted = x.Halt != nil && x.Halt()
	}
}

// spans are the bounds of the pieces of n rows of columns so wide, until they are to
// halt.
func (x *Scratch) spans(n, width int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		rows := rowsOf(width)
		for lo, hi := 0, 0; lo < n && !x.long.halted; lo = hi {
			if hi = min(lo+rows, n); !yield(lo, hi) {
				return
			}
			x.passed((hi - lo) * width)
		}
	}
}

// rowsOf is how many rows of columns so wide are a piece.
func rowsOf(width int) int { return max(1, long/max(1, width)) }

// passed notes that so many elements of columns are done, and asks behind a piece of them
// whether to halt.
func (x *Scratch) passed(n int) {
	if x.long.passed += n; x.long.passed >= long {
		x.long.passed = 0
		x.long.halted = x.Halt != nil && x.Halt()
	}
}

// begin forgets what the last call has left.
func (x *Scratch) begin() { x.long.halted, x.long.passed = false, 0 }

// chop makes the primitives that rows are computed with.
func (c *chopper) chop(x *Scratch, l *loops) {
	c.of, c.loops = l, *l
	p := &c.loops
	p.pieces = x.pieces
	p.sum, p.sumSquare, p.sumAbs = x.summing(l.sum), x.summing(l.sumSquare), x.summing(l.sumAbs)
	p.moments = func(v []float32, pivot float32) (d, dd float64) {
		x.pieces(len(v), func(lo, hi int) {
			a, b := l.moments(v[lo:hi], pivot)
			d, dd = d+a, dd+b
		})
		return d, dd
	}
	p.top, p.most, p.least = x.choosing(l.top, topOf), x.choosing(l.most, mostOf), x.choosing(l.least, leastOf)
	p.find = func(v []float32, what float32) int {
		at := len(v)
		x.pieces(len(v), func(lo, hi int) {
			if at == len(v) {
				if i := l.find(v[lo:hi], what); i < hi-lo {
					at = lo + i
				}
			}
		})
		return at
	}
	p.count = func(v []float32) (n int) {
		x.pieces(len(v), func(lo, hi int) { n += l.count(v[lo:hi]) })
		return n
	}
	p.exp = func(dst, v []float32, top, magic, cut float32) (sum float64) {
		x.pieces(len(v), func(lo, hi int) { sum += l.exp(dst[lo:hi], v[lo:hi], top, magic, cut) })
		return sum
	}
	p.expSum = func(v []float32, top, magic, cut float32) (sum float64) {
		x.pieces(len(v), func(lo, hi int) { sum += l.expSum(v[lo:hi], top, magic, cut) })
		return sum
	}
	c.chopMaps(x, l)
}

// chopMaps makes those that write an element for an element.
func (c *chopper) chopMaps(x *Scratch, l *loops) {
	p := &c.loops
	p.scale = func(dst, v []float32, s float32) {
		x.pieces(len(v), func(lo, hi int) { l.scale(dst[lo:hi], v[lo:hi], s) })
	}
	p.lower = func(dst, v []float32, s float64) {
		x.pieces(len(v), func(lo, hi int) { l.lower(dst[lo:hi], v[lo:hi], s) })
	}
	p.stretch = func(dst, v []float32, s float64) {
		x.pieces(len(v), func(lo, hi int) { l.stretch(dst[lo:hi], v[lo:hi], s) })
	}
	p.normalWeight = func(dst, v, w []float32, hi, lo, r float32) {
		x.pieces(len(v), func(i, j int) { l.normalWeight(dst[i:j], v[i:j], w[i:j], hi, lo, r) })
	}
	p.normalBias = func(dst, v, b []float32, hi, lo, r float32) {
		x.pieces(len(v), func(i, j int) { l.normalBias(dst[i:j], v[i:j], b[i:j], hi, lo, r) })
	}
	p.normalAffine = func(dst, v, w, b []float32, hi, lo, r float32) {
		x.pieces(len(v), func(i, j int) { l.normalAffine(dst[i:j], v[i:j], w[i:j], b[i:j], hi, lo, r) })
	}
	p.normalChannel = func(dst, v []float32, hi, lo, r, w, b float32) {
		x.pieces(len(v), func(i, j int) { l.normalChannel(dst[i:j], v[i:j], hi, lo, r, w, b) })
	}
}

// summing adds the sums of pieces.
func (x *Scratch) summing(of rowLoop) rowLoop {
	return func(v []float32) (sum float64) {
		x.pieces(len(v), func(lo, hi int) { sum += of(v[lo:hi]) })
		return sum
	}
}

// choosing joins the extremes of pieces.
func (x *Scratch) choosing(of func([]float32) float32, join func(a, b float32) float32) func([]float32) float32 {
	return func(v []float32) (best float32) {
		x.pieces(len(v), func(lo, hi int) {
			if b := of(v[lo:hi]); lo == 0 {
				best = b
			} else {
				best = join(best, b)
			}
		})
		return best
	}
}
