package conv

import "unsafe"

var portable = kernels{
	lanes: 8, depth: 320,
	run: runGo, pair: pairGo, each: eachGo, runs: runsGo, rows: rowsGo,
	endTurned: endTurnedGo, endRows: endRowsGo,
	spread: spreadGo, join: joinGo,
	products: productsGo, sums: sumsGo, most: mostGo,
}

// at is element i of the floats from p on.
func at(p *float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), i*4))
}

// behind is the float that lies n bytes behind p.
func behind(p *float32, n int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), n))
}

func runGo(dst *float32, step int, offsets *int, n int, src *float32) {
	for k, offset := range unsafe.Slice(offsets, n) {
		*(*[8]float32)(unsafe.Pointer(behind(dst, k*step))) = *(*[8]float32)(unsafe.Pointer(behind(src, offset)))
	}
}

func runsGo(dst *float32, step int, offsets *int, n int, a, b *float32) {
	runGo(dst, step, offsets, n, a)
	runGo(behind(dst, 32), step, offsets, n, b)
}

func rowsGo(dst, src *float32, rows, n, to, from, step, left, right int, fill *float32) {
	for r := range rows {
		line, of := unsafe.Slice(behind(dst, r*to), left+n+right), unsafe.Slice(behind(src, r*from), (n-1)*step+1)
		fillWith(line[:left], *fill)
		fillWith(line[left+n:], *fill)
		line = line[left : left+n]
		if step == 1 {
			copy(line, of)
			continue
		}
		for i := range line {
			line[i] = of[i*step]
		}
	}
}

func fillWith(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

func pairGo(dst *float32, step int, offsets *int, n int, src *float32, a, b int, masks *[16]int32) {
	for k, offset := range unsafe.Slice(offsets, n) {
		to := (*[8]float32)(unsafe.Pointer(behind(dst, k*step)))
		for i := range to {
			switch {
			case masks[i] != 0:
				to[i] = *behind(src, offset+a+4*i)
			case masks[8+i] != 0:
				to[i] = *behind(src, offset+b+4*i)
			default:
				to[i] = 0
			}
		}
	}
}

func eachGo(dst *float32, step int, offsets *int, n int, src *float32, places *[8]int32, masks *[16]int32) {
	for k, offset := range unsafe.Slice(offsets, n) {
		to := (*[8]float32)(unsafe.Pointer(behind(dst, k*step)))
		for i := range to {
			to[i] = 0
			if masks[i] != 0 {
				to[i] = *at(behind(src, offset), int(places[i]))
			}
		}
	}
}

func productsGo(dst, src *float32, n int, offsets *int, taps int, w *float32) {
	to := unsafe.Slice(dst, 8*n)
	clear(to)
	for t, offset := range unsafe.Slice(offsets, taps) {
		v := *at(w, t)
		for i, x := range unsafe.Slice(behind(src, offset), len(to)) {
			to[i] += float32(v * x)
		}
	}
}

func sumsGo(dst, src *float32, n int, offsets *int, taps int) {
	to := unsafe.Slice(dst, 8*n)
	clear(to)
	for _, offset := range unsafe.Slice(offsets, taps) {
		for i, x := range unsafe.Slice(behind(src, offset), len(to)) {
			to[i] += x
		}
	}
}

func mostGo(dst, src *float32, n int, offsets *int, taps int, lowest *float32) {
	to := unsafe.Slice(dst, 8*n)
	for i := range to {
		to[i] = *lowest
	}
	for _, offset := range unsafe.Slice(offsets, taps) {
		for i, x := range unsafe.Slice(behind(src, offset), len(to)) {
			to[i] = max(to[i], x)
		}
	}
}

func endTurnedGo(e *ender) {
	for p := range 8 * e.count {
		src := (*float32)(past(e.src, p*e.from))
		for c := range 8 {
			e.put(c, p, *at(src, c))
		}
	}
}

func endRowsGo(e *ender) {
	for c := range e.rows {
		src := (*float32)(past(e.src, c*e.from))
		for p := range e.count {
			e.put(c, p, *at(src, p))
		}
	}
}

// put ends the sum v of a channel and a place.
func (e *ender) put(channel, place int, v float32) {
	if e.steps != nil {
		s := func(i int) float32 { return *(*float32)(past(e.steps, i*e.ld+4*channel)) }
		v = float32(float32((v+s(0)-s(1))*s(2))*s(3)) + s(4)
	}
	if e.rest != nil {
		v += *(*float32)(past(e.rest, channel*e.to+4*place))
	}
	if v < e.lo[0] {
		v = e.lo[0]
	}
	if v > e.hi[0] {
		v = e.hi[0]
	}
	*(*float32)(past(e.dst, channel*e.to+4*place)) = v
}
