package norm

import (
	"math"

	"github.com/npulang/npu/vm/kernel/isa"
)

// An Affine is what a norm multiplies its results by and adds to them. Each may be
// nil.
type Affine struct{ Weight, Bias []float32 }

// of are the weight and the bias of one element; adding -0 changes nothing.
func (a *Affine) of(i int) (w, b float32) {
	w, b = 1, float32(math.Copysign(0, -1))
	if a.Weight != nil {
		w = a.Weight[i]
	}
	if a.Bias != nil {
		b = a.Bias[i]
	}
	return w, b
}

// A center is what a row is brought to: less its mean, divided by its root.
type center struct{ mean, root float64 }

// centerOf is the center by the sums of n distances from pivot and their squares. What
// rounding leaves of a variance of nothing may be negative.
func centerOf(pivot float32, d, dd float64, n int, eps float64) center {
	mean := d / float64(n)
	v := (dd - float64(d*mean)) / float64(n)
	if v < 0 {
		v = 0
	}
	return center{float64(pivot) + mean, math.Sqrt(v + eps)}
}

// rms is the center of a norm by the root of the mean of squares.
func rms(squares float64, n int, eps float64) center {
	return center{0, math.Sqrt(squares/float64(n) + eps)}
}

// plain reports whether float32 does: nothing on the way leaves its range. It does not
// for a root that is 0 or no number either.
func (c center) plain() bool {
	return c.root >= 0x1p-60 && c.root <= 0x1p60 && math.Abs(c.mean) <= 0x1p90
}

// parts are the mean as a sum of two floats, and one divided by the root.
func (c center) parts() (hi, lo, r float32) {
	hi = float32(c.mean)
	return hi, float32(c.mean - float64(hi)), float32(1 / c.root)
}

// one computes an element in float64.
func (c center) one(v, w, b float32) float32 {
	return float32(float64((float64(v)-c.mean)/c.root*float64(w)) + float64(b))
}

// row writes a row in one piece.
func (c center) row(l *loops, dst, src []float32, a *Affine) {
	if !c.plain() {
		for i, v := range src {
			w, b := a.of(i)
			dst[i] = c.one(v, w, b)
		}
		return
	}
	hi, lo, r := c.parts()
	switch {
	case a.Weight != nil && a.Bias != nil:
		l.normalAffine(dst, src, a.Weight, a.Bias, hi, lo, r)
	case a.Weight != nil:
		l.normalWeight(dst, src, a.Weight, hi, lo, r)
	case a.Bias != nil:
		l.normalBias(dst, src, a.Bias, hi, lo, r)
	default:
		l.normalChannel(dst, src, hi, lo, r, 1, float32(math.Copysign(0, -1)))
	}
}

// channel writes elements of one weight and one bias.
func (c center) channel(l *loops, dst, src []float32, w, b float32) {
	if !c.plain() {
		for i, v := range src {
			dst[i] = c.one(v, w, b)
		}
		return
	}
	hi, lo, r := c.parts()
	l.normalChannel(dst, src, hi, lo, r, w, b)
}

// LayerNorm writes (x - mean) / sqrt(variance + eps) of each row, times weight, plus
// bias, which have N elements. Each of the steps is rounded: the error is at most 3
// ulp of the product and half an ulp of the result.
func (x *Scratch) LayerNorm(level isa.Level, s Space, lo, hi int, dst, src []float32, a Affine, eps float64) {
	x.layer = layerNorm{a, eps}
	x.run(level, s, lo, hi, dst, src, &x.layer)
}

type layerNorm struct {
	Affine
	eps float64
}

func (f *layerNorm) row(l *loops, _ *Scratch, dst, src []float32) {
	d, dd := l.moments(src, src[0])
	centerOf(src[0], d, dd, len(src), f.eps).row(l, dst, src, &f.Affine)
}

func (f *layerNorm) columns(l *loops, x *Scratch, dst, src []float32, n int, s strip) {
	d, dd := x.zeros(0, s.width), x.zeros(1, s.width)
	pivots := src[s.at : s.at+s.width]
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.momentsColumns(d, dd, src[at:at+s.width], pivots)
		}
	}
	for c, pivot := range pivots {
		m := centerOf(pivot, d[c], dd[c], n, f.eps)
		d[c], dd[c] = m.mean, m.root
	}
	x.normalColumns(l, dst, src, n, s, &f.Affine)
}

// RMSNorm writes x / sqrt(mean of squares + eps) of each row, times weight.
func (x *Scratch) RMSNorm(level isa.Level, s Space, lo, hi int, dst, src []float32, a Affine, eps float64) {
	x.root = rootNorm{a, eps}
	x.run(level, s, lo, hi, dst, src, &x.root)
}

type rootNorm layerNorm

func (f *rootNorm) row(l *loops, _ *Scratch, dst, src []float32) {
	rms(l.sumSquare(src), len(src), f.eps).row(l, dst, src, &f.Affine)
}

func (f *rootNorm) columns(l *loops, x *Scratch, dst, src []float32, n int, s strip) {
	means, dd := x.zeros(0, s.width), x.zeros(1, s.width)
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			l.sumSquareColumns(dd, src[at:at+s.width])
		}
	}
	for c, v := range dd {
		m := rms(v, n, f.eps)
		means[c], dd[c] = m.mean, m.root
	}
	x.normalColumns(l, dst, src, n, s, &f.Affine)
}

// normalColumns writes columns, each by the mean and root that the doubles have of it.
func (x *Scratch) normalColumns(l *loops, dst, src []float32, n int, s strip, a *Affine) {
	hi, lo, r := x.float(0, s.width), x.float(1, s.width), x.float(2, s.width)
	plain := true
	for c := range hi {
		m := x.center(c)
		hi[c], lo[c], r[c] = m.parts()
		plain = plain && m.plain()
	}
	for first, end := range x.spans(n, s.width) {
		for i := first; i < end; i++ {
			at := s.at + i*s.step
			to, from := dst[at:at+s.width], src[at:at+s.width]
			w, b := a.of(i)
			if plain {
				l.normalColumns(to, from, hi, lo, r, w, b)
				continue
			}
			copy(x.float(3, s.width), from) // dst may be src
			l.normalColumns(to, from, hi, lo, r, w, b)
			x.mend(to, w, b)
		}
	}
}

func (x *Scratch) center(c int) center { return center{x.doubles[0][c], x.doubles[1][c]} }

// mend computes the elements of a row again whose columns need float64.
func (x *Scratch) mend(to []float32, w, b float32) {
	for c, v := range x.float(3, len(to)) {
		if m := x.center(c); !m.plain() {
			to[c] = m.one(v, w, b)
		}
	}
}
