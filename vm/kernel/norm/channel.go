package norm

import (
	"math"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Channels are images of channels, whose elements lie in one piece: [Images, Channels,
// Inner].
type Channels struct{ Images, Channels, Inner int }

// Groups writes the norm of each group of neighbouring channels, per of them, over their
// elements: (x - mean) / sqrt(variance + eps), times the channel's weight, plus its
// bias. A unit is a group of an image.
func (x *Scratch) Groups(level isa.Level, s Channels, per, lo, hi int, dst, src []float32, a Affine, eps float64) {
	l := at(level)
	n := per * s.Inner
	for u := lo; u < hi && n > 0; u++ {
		row := src[u*n : (u+1)*n]
		d, dd := l.moments(row, row[0])
		m := centerOf(row[0], d, dd, n, eps)
		first := u * per % s.Channels
		for c := range per {
			w, b := a.of(first + c)
			m.channel(l, dst[u*n+c*s.Inner:][:s.Inner], row[c*s.Inner:][:s.Inner], w, b)
		}
	}
}

// Moments are a mean and a variance of each channel.
type Moments struct{ Mean, Variance []float32 }

// wideChannel is the number of elements from which on channels are computed one by one.
const wideChannel = 32

// BatchUnits is how many units Batch has: images, of channels with few elements, or
// their channels.
func (s Channels) BatchUnits() int {
	if s.Inner < wideChannel {
		return s.Images
	}
	return s.Images * s.Channels
}

// Batch writes (x - mean) / sqrt(variance + eps) by the moments that each channel is
// given, times its weight, plus its bias.
func (x *Scratch) Batch(level isa.Level, s Channels, lo, hi int, dst, src []float32, a Affine, m Moments, eps float64) {
	l := at(level)
	if s.Inner >= wideChannel {
		for u := lo; u < hi; u++ {
			c := u % s.Channels
			w, b := a.of(c)
			m.of(c, eps).channel(l, dst[u*s.Inner:(u+1)*s.Inner], src[u*s.Inner:(u+1)*s.Inner], w, b)
		}
		return
	}
	if lo < hi && s.Inner > 0 {
		x.batch(l, s, lo, hi, dst, src, a, m, eps)
	}
}

func (m *Moments) of(c int, eps float64) center {
	return center{float64(m.Mean[c]), math.Sqrt(float64(m.Variance[c]) + eps)}
}

// batch computes whole images, with everything that channels have spread over their
// elements.
func (x *Scratch) batch(l *loops, s Channels, lo, hi int, dst, src []float32, a Affine, m Moments, eps float64) {
	n := s.Channels * s.Inner
	means, rs, ws, bs := x.float(0, n), x.float(1, n), x.float(2, n), x.float(3, n)
	plain := true
	for c := range s.Channels {
		of := m.of(c, eps)
		plain = plain && of.plain()
		mean, _, r := of.parts()
		w, b := a.of(c)
		for i := c * s.Inner; i < (c+1)*s.Inner; i++ {
			means[i], rs[i], ws[i], bs[i] = mean, r, w, b
		}
	}
	for u := lo; u < hi; u++ {
		to, from := dst[u*n:(u+1)*n], src[u*n:(u+1)*n]
		if plain {
			l.normalEach(to, from, means, rs, ws, bs)
			continue
		}
		for c := range s.Channels {
			m.of(c, eps).channel(l, to[c*s.Inner:(c+1)*s.Inner], from[c*s.Inner:(c+1)*s.Inner], ws[c*s.Inner], bs[c*s.Inner])
		}
	}
}
