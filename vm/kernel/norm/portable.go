package norm

import "math"

// The primitives in Go: the same lanes, the same folds, the same order of operations
// as in assembly. Only a step of the polynomial of exp, which is rounded once there,
// is rounded to float64 first here, which shows about once in 2**29 times.
var portable = loops{
	sum:              sumOf(plain),
	sumSquare:        sumOf(squared),
	sumAbs:           sumOf(math.Abs),
	moments:          momentsGo,
	sumColumns:       sumColumnsOf(plain),
	sumSquareColumns: sumColumnsOf(squared),
	sumAbsColumns:    sumColumnsOf(math.Abs),
	prodColumns: func(acc []float64, x []float32) {
		acc = acc[:len(x)]
		for i, v := range x {
			acc[i] *= float64(v)
		}
	},
	momentsColumns: momentsColumnsGo,

	top:          extremeOf(topOf, float32(math.Inf(-1))),
	most:         extremeOf(mostOf, float32(math.Inf(-1))),
	least:        extremeOf(leastOf, float32(math.Inf(1))),
	topColumns:   extremeColumnsOf(topOf),
	mostColumns:  extremeColumnsOf(mostOf),
	leastColumns: extremeColumnsOf(leastOf),
	mostPlaces:   placesOf(func(a, b float32) bool { return a > b }),
	leastPlaces:  placesOf(func(a, b float32) bool { return a < b }),
	find:         findGo,
	count:        countGo,

	exp:        expGo,
	expSum:     expSumGo,
	expColumns: expColumnsGo,

	scale: func(dst, x []float32, s float32) {
		dst = dst[:len(x)]
		for i, v := range x {
			dst[i] = v * s
		}
	},
	scaleColumns: func(dst, x, s []float32) {
		dst, s = dst[:len(x)], s[:len(x)]
		for i, v := range x {
			dst[i] = v * s[i]
		}
	},
	lower: func(dst, x []float32, c float64) {
		dst = dst[:len(x)]
		for i, v := range x {
			dst[i] = float32(float64(v) - c)
		}
	},
	stretch: func(dst, x []float32, c float64) {
		dst = dst[:len(x)]
		for i, v := range x {
			dst[i] = float32(float64(v) * c)
		}
	},
	lowerColumns: func(dst, x []float32, c []float64) {
		dst, c = dst[:len(x)], c[:len(x)]
		for i, v := range x {
			dst[i] = float32(float64(v) - c[i])
		}
	},
	stretchColumns: func(dst, x []float32, c []float64) {
		dst, c = dst[:len(x)], c[:len(x)]
		for i, v := range x {
			dst[i] = float32(float64(v) * c[i])
		}
	},
	normalWeight: func(dst, x, w []float32, hi, lo, r float32) {
		dst, w = dst[:len(x)], w[:len(x)]
		for i, v := range x {
			dst[i] = normal(v, hi, lo, r) * w[i]
		}
	},
	normalBias: func(dst, x, b []float32, hi, lo, r float32) {
		dst, b = dst[:len(x)], b[:len(x)]
		for i, v := range x {
			dst[i] = normal(v, hi, lo, r) + b[i]
		}
	},
	normalAffine: func(dst, x, w, b []float32, hi, lo, r float32) {
		dst, w, b = dst[:len(x)], w[:len(x)], b[:len(x)]
		for i, v := range x {
			dst[i] = float32(normal(v, hi, lo, r)*w[i]) + b[i]
		}
	},
	normalChannel: func(dst, x []float32, hi, lo, r, w, b float32) {
		dst = dst[:len(x)]
		for i, v := range x {
			dst[i] = float32(normal(v, hi, lo, r)*w) + b
		}
	},
	normalColumns: func(dst, x, hi, lo, r []float32, w, b float32) {
		dst, hi, lo, r = dst[:len(x)], hi[:len(x)], lo[:len(x)], r[:len(x)]
		for i, v := range x {
			dst[i] = float32(normal(v, hi[i], lo[i], r[i])*w) + b
		}
	},
	normalEach: func(dst, x, hi, r, w, b []float32) {
		dst, hi, r, w, b = dst[:len(x)], hi[:len(x)], r[:len(x)], w[:len(x)], b[:len(x)]
		for i, v := range x {
			dst[i] = float32(normal(v, hi[i], 0, r[i])*w[i]) + b[i]
		}
	},
	turn: func(dst []float32, dstStep int, src []float32, srcStep, rows, cols int) {
		for i := range rows {
			row := src[i*srcStep:][:cols]
			for j, v := range row {
				dst[j*dstStep+i] = v
			}
		}
	},
}

func plain(v float64) float64 { return v }

func squared(v float64) float64 { return v * v }

// normal converts the product, so that Go never fuses it with what follows.
func normal(v, hi, lo, r float32) float32 { return float32((v - hi - lo) * r) }

// sumLanes is how many sums a row is split into; element i goes to sum i%sumLanes.
const sumLanes = 16

func sumOf(of func(float64) float64) func([]float32) float64 {
	return func(x []float32) float64 {
		var acc [sumLanes]float64
		for ; len(x) >= sumLanes; x = x[sumLanes:] {
			for i, v := range x[:sumLanes] {
				acc[i] += float64(of(float64(v)))
			}
		}
		for i, v := range x {
			acc[i] += float64(of(float64(v)))
		}
		return folded(&acc)
	}
}

// folded adds the upper half of the lanes to the lower until one is left.
func folded(acc *[sumLanes]float64) float64 {
	for n := sumLanes / 2; n > 0; n /= 2 {
		for i := range n {
			acc[i] += acc[i+n]
		}
	}
	return acc[0]
}

func sumColumnsOf(of func(float64) float64) func([]float64, []float32) {
	return func(acc []float64, x []float32) {
		acc = acc[:len(x)]
		for i, v := range x {
			acc[i] += float64(of(float64(v)))
		}
	}
}

func momentsGo(x []float32, pivot float32) (d, dd float64) {
	var ds, dds [sumLanes]float64
	p := float64(pivot)
	for ; len(x) > 0; x = x[min(sumLanes, len(x)):] {
		for i, v := range x[:min(sumLanes, len(x))] {
			v := float64(v) - p
			ds[i] += v
			dds[i] += float64(v * v)
		}
	}
	return folded(&ds), folded(&dds)
}

func momentsColumnsGo(acc, acc2 []float64, x, pivot []float32) {
	acc, acc2, pivot = acc[:len(x)], acc2[:len(x)], pivot[:len(x)]
	for i, v := range x {
		v := float64(v) - float64(pivot[i])
		acc[i] += v
		acc2[i] += float64(v * v)
	}
}

// rowLanes is how many extremes a row is split into.
const rowLanes = 32

func topOf(v, best float32) float32 {
	if v > best {
		return v
	}
	return best
}

func mostOf(v, best float32) float32 { return max(v, best) }

func leastOf(v, best float32) float32 { return min(v, best) }

func extremeOf(f func(v, best float32) float32, start float32) func([]float32) float32 {
	return func(x []float32) float32 {
		best := start
		for _, v := range x {
			best = f(v, best)
		}
		return best
	}
}

func extremeColumnsOf(f func(v, best float32) float32) func(acc, x []float32) {
	return func(acc, x []float32) {
		acc = acc[:len(x)]
		for i, v := range x {
			acc[i] = f(v, acc[i])
		}
	}
}

func placesOf(beats func(a, b float32) bool) func([]float32, []int32, []float32, int32) {
	return func(best []float32, place []int32, x []float32, row int32) {
		best, place = best[:len(x)], place[:len(x)]
		for i, v := range x {
			if b := best[i]; beats(v, b) || v != v && b == b {
				best[i], place[i] = v, row
			}
		}
	}
}

func findGo(x []float32, v float32) int {
	for i, w := range x {
		if w == v || w != w {
			return i
		}
	}
	return len(x)
}

func countGo(x []float32) int {
	n := 0
	for _, v := range x {
		if v != 0 {
			n++
		}
	}
	return n
}
