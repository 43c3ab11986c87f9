package norm

import (
	"math"

	"github.com/npulang/npu/vm/kernel/isa"
)

var lowest = float32(math.Inf(-1))

// Softmax writes exp(x) divided by its sum, of units lo to before hi. A result is
// within 4 ulp of the exact one, also where it is subnormal. A row without a finite
// element or with one that is NaN or Inf is NaN.
func (x *Scratch) Softmax(level isa.Level, s Space, lo, hi int, dst, src []float32) {
	x.run(level, s, lo, hi, dst, src, &x.softmax)
}

type softmax struct{}

func (*softmax) row(l *loops, _ *Scratch, dst, src []float32) {
	sum := l.exp(dst, src, l.top(src), raised.magic, raised.cut)
	l.scale(dst, dst, float32(1/sum))
}

func (*softmax) columns(l *loops, x *Scratch, dst, src []float32, n int, s strip) {
	top, sums := x.tops(l, src, n, s), x.zeros(0, s.width)
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.expColumns(dst[at:at+s.width], sums, src[at:at+s.width], top, raised.magic, raised.cut)
		}
	}
	r := top
	for c, v := range sums {
		r[c] = float32(1 / v)
	}
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.scaleColumns(dst[at:at+s.width], dst[at:at+s.width], r)
		}
	}
}

// tops are the largest elements of columns.
func (x *Scratch) tops(l *loops, src []float32, n int, s strip) []float32 {
	top := x.float(0, s.width)
	for c := range top {
		top[c] = lowest
	}
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.topColumns(top, src[at:at+s.width])
		}
	}
	return top
}

// zeros are n sums that begin with zero.
func (x *Scratch) zeros(i, n int) []float64 {
	z := x.double(i, n)
	clear(z)
	return z
}

// LogSoftmax writes x less the logarithm of the sum of the row's exponentials. The
// error is one rounding and some 1e-7 of the logarithm.
func (x *Scratch) LogSoftmax(level isa.Level, s Space, lo, hi int, dst, src []float32) {
	x.run(level, s, lo, hi, dst, src, &x.logSoftmax)
}

type logSoftmax struct{}

func (*logSoftmax) row(l *loops, _ *Scratch, dst, src []float32) {
	top := l.top(src)
	sum := l.expSum(src, top, unscaled.magic, unscaled.cut)
	l.lower(dst, src, float64(top)+math.Log(sum))
}

func (*logSoftmax) columns(l *loops, x *Scratch, dst, src []float32, n int, s strip) {
	top, sums, away := x.tops(l, src, n, s), x.zeros(0, s.width), x.float(1, s.width)
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.expColumns(away, sums, src[at:at+s.width], top, unscaled.magic, unscaled.cut)
		}
	}
	for c, v := range sums {
		sums[c] = float64(top[c]) + math.Log(v)
	}
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.lowerColumns(dst[at:at+s.width], src[at:at+s.width], sums)
		}
	}
}

// L2Normalize writes x divided by the row's Euclidean length, at least eps, rounded
// once.
func (x *Scratch) L2Normalize(level isa.Level, s Space, lo, hi int, dst, src []float32, eps float64) {
	x.length.eps = eps
	x.run(level, s, lo, hi, dst, src, &x.length)
}

type length struct{ eps float64 }

// inverse is one divided by the length. The length of a row with Inf is Inf, as that of
// one with NaN is NaN, whatever eps is.
func (f *length) inverse(squares float64) float64 { return 1 / max(math.Sqrt(squares), f.eps) }

func (f *length) row(l *loops, _ *Scratch, dst, src []float32) {
	l.stretch(dst, src, f.inverse(l.sumSquare(src)))
}

func (f *length) columns(l *loops, x *Scratch, dst, src []float32, n int, s strip) {
	sums := x.zeros(0, s.width)
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.sumSquareColumns(sums, src[at:at+s.width])
		}
	}
	for c, v := range sums {
		sums[c] = f.inverse(v)
	}
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.stretchColumns(dst[at:at+s.width], src[at:at+s.width], sums)
		}
	}
}
