package attn

import (
	"math"
	"unsafe"
)

var lowest = float32(math.Inf(-1))

// The primitives in Go: the same lanes and the same order of operations as in assembly.
var portable = loops{
	tops: func(x *float32, ld, rows, cols, seen, step int, top *float32) {
		raise(x, ld, rows, cols, seen, step, nil, top, 0, func(v, _ float32) float32 { return v })
	},
	topsAdd: func(x *float32, ld, rows, cols, seen, step int, mask, top *float32, maskStep int) {
		raise(x, ld, rows, cols, seen, step, mask, top, maskStep, func(v, m float32) float32 { return v + m })
	},
	topsPick: func(x *float32, ld, rows, cols, seen, step int, mask, top *float32, maskStep int) {
		raise(x, ld, rows, cols, seen, step, mask, top, maskStep, func(v, m float32) float32 {
			if m < 0 {
				return m
			}
			return v
		})
	},
	exps: func(x *float32, ld, rows, cols, seen, step int, base, sums *float32) {
		bases, to := unsafe.Slice(base, rows), unsafe.Slice(sums, rows)
		for r := range rows {
			row := floats(x, r*ld, cols)
			n := max(min(cols, seen+r*step), 0)
			to[r] = twos(row[:n], bases[r])
			clear(row[n:])
		}
	},
	scaleRows: func(dst *float32, ldDst int, src *float32, ld, rows, cols int, by *float32, step int) {
		for r := range rows {
			f := floats(by, r*step, 1)[0]
			to := floats(dst, r*ldDst, cols)
			for i, v := range floats(src, r*ld, cols) {
				to[i] = v * f
			}
		}
	},
	inverse: func(dst, src *float32, n int) {
		to := unsafe.Slice(dst, n)
		for i, v := range unsafe.Slice(src, n) {
			to[i] = 1 / v
		}
	},
	twofold: func(dst, src *float32, n int) {
		to := unsafe.Slice(dst, n)
		for i, v := range unsafe.Slice(src, n) {
			to[i] = twofold(v)
		}
	},
	spread: func(dst *float32, src *byte, n int) {
		to := unsafe.Slice(dst, n)
		for i, b := range unsafe.Slice(src, n) {
			to[i] = 0
			if b == 0 {
				to[i] = lowest
			}
		}
	},
}

// floats are n elements at a distance from p.
func floats(p *float32, at, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(p), 4*at)), n)
}

func raise(x *float32, ld, rows, cols, seen, step int, mask, top *float32, maskStep int, apply func(v, m float32) float32) {
	tops := unsafe.Slice(top, rows)
	for r := range rows {
		n := min(cols, seen+r*step)
		if n <= 0 {
			continue
		}
		row, m := floats(x, r*ld, n), []float32(nil)
		if mask != nil {
			m = floats(mask, r*maskStep, n)
		}
		best := tops[r]
		for i, v := range row {
			if m != nil {
				v = apply(v, m[i])
				row[i] = v
			}
			if v > best {
				best = v
			}
		}
		tops[r] = best
	}
}
