package ir

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

// The folds of the reductions: each makes one number out of a row.

// sums are the folds of sum, which einsum has too.
var sums = foldNumbers(sum[float64], sum[int64], sum[uint64])

func sum[W wide](_ *Call, l *line[W]) W {
	var s W
	for part := range l.chunks {
		for _, v := range part {
			s += v
		}
	}
	return s
}

func prod[W wide](_ *Call, l *line[W]) W {
	p := W(1)
	for part := range l.chunks {
		for _, v := range part {
			p *= v
		}
	}
	return p
}

// sumSquare converts each product, since Go may otherwise fuse it with the sum
// on some machines and not on others.
func sumSquare[W wide](_ *Call, l *line[W]) W {
	var s W
	for part := range l.chunks {
		for _, v := range part {
			s += W(v * v)
		}
	}
	return s
}

func norm1[W wide](abs func(W) W) fold[W, W] {
	return func(_ *Call, l *line[W]) W {
		var s W
		for part := range l.chunks {
			for _, v := range part {
				s += abs(v)
			}
		}
		return s
	}
}

func mean(c *Call, l *line[float64]) float64 { return sum(c, l) / float64(l.n) }

func norm2(_ *Call, l *line[float64]) float64 { return euclid(l) }

// euclid is the length of a vector. Where the squares leave the range in which
// float64 is exact to its last bit, they are scaled by the largest element.
func euclid(l *line[float64]) float64 {
	s, top := 0.0, 0.0
	for part := range l.chunks {
		for _, v := range part {
			s += float64(v * v)
			top = max(top, math.Abs(v))
		}
	}
	switch {
	case s > 1e-280 && s < math.Inf(1):
		return math.Sqrt(s)
	case top == 0 || top-top != 0: // infinite or NaN
		return top
	}
	s = 0
	for part := range l.chunks {
		for _, v := range part {
			s += float64((v / top) * (v / top))
		}
	}
	return top * math.Sqrt(s)
}

// variance takes two passes: the mean first, so that nothing cancels.
func variance(c *Call, l *line[float64]) float64 {
	m, s := mean(c, l), 0.0
	for part := range l.chunks {
		for _, v := range part {
			s += float64((v - m) * (v - m))
		}
	}
	left := max(float64(l.n)-float64(c.Int("correction")), 0)
	if left == 0 {
		return math.NaN()
	}
	return s / left
}

func logSumExp(c *Call, l *line[float64]) float64 {
	top := largest(lowFloat)(c, l)
	if top-top != 0 { // infinite or NaN
		return top
	}
	s := 0.0
	for part := range l.chunks {
		for _, v := range part {
			s += exp(v - top)
		}
	}
	return top + log(s)
}

// largest starts from the dtype's lowest value; Go's max propagates NaN.
func largest[W wide](low func(tensor.DType) W) fold[W, W] {
	return func(c *Call, l *line[W]) W {
		best := low(l.t.DType)
		for part := range l.chunks {
			for _, v := range part {
				best = max(best, v)
			}
		}
		return best
	}
}

func smallest[W wide](high func(tensor.DType) W) fold[W, W] {
	return func(c *Call, l *line[W]) W {
		best := high(l.t.DType)
		for part := range l.chunks {
			for _, v := range part {
				best = min(best, v)
			}
		}
		return best
	}
}

func lowFloat(tensor.DType) float64 { return math.Inf(-1) }

func highFloat(tensor.DType) float64 { return math.Inf(1) }

func lowInt(d tensor.DType) int64 { return tensor.MinInt(d) }

func highInt(d tensor.DType) int64 { return int64(tensor.MaxInt(d)) }

func lowUint(tensor.DType) uint64 { return 0 }

func highUint(d tensor.DType) uint64 { return tensor.MaxInt(d) }

// placeOf finds the first element that no other beats. The row is not empty.
func placeOf[W wide](start W, beats func(v, best W) bool) fold[W, int64] {
	return func(_ *Call, l *line[W]) int64 {
		best, at, place := start, int64(0), int64(0)
		for part := range l.chunks {
			for _, v := range part {
				if beats(v, best) {
					best, place = v, at
				}
				at++
			}
		}
		return place
	}
}

func allTrue(_ *Call, l *line[bool]) bool {
	for part := range l.chunks {
		for _, v := range part {
			if !v {
				return false
			}
		}
	}
	return true
}

func anyTrue(_ *Call, l *line[bool]) bool {
	for part := range l.chunks {
		for _, v := range part {
			if v {
				return true
			}
		}
	}
	return false
}

func countTrue(_ *Call, l *line[bool]) int64 {
	n := int64(0)
	for part := range l.chunks {
		for _, v := range part {
			if v {
				n++
			}
		}
	}
	return n
}

// accumulated writes what has accumulated up to each element.
func accumulated[W wide](f func(a, b W) W) rowLoop[W] {
	return func(c *Call, dst, src []W) {
		acc := src[0]
		dst[0] = acc
		for at := 1; at < len(src); at += stopEvery {
			if at > 1 && c.Budget.stop() != nil {
				return // Evaluate asks again
			}
			to := dst[at:min(at+stopEvery, len(src))]
			for i, v := range src[at:][:len(to)] {
				acc = f(acc, v)
				to[i] = acc
			}
		}
	}
}
