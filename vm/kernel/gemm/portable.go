package gemm

import "unsafe"

// portable are the kernels in Go: panels of four columns, tiles of up to four rows.
// A product is rounded before it is added, on every machine, so that the bits of
// this level are those of any other machine at this level; the levels with a fused
// product round once.
var portable = kernels{
	rows: 4, width: 4, turns: &turnsGo,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1: {1: func(t *tile) { tile1x4(t, 0) }},
		2: {1: func(t *tile) { tile2x4(t, 0) }},
		3: {1: func(t *tile) { tile2x4(t, 0); tile1x4(t, 2) }},
		4: {1: func(t *tile) { tile2x4(t, 0); tile2x4(t, 2) }},
	},
}

// float reads the float at a distance of a pointer.
func float(p unsafe.Pointer, off int) float32 { return *(*float32)(unsafe.Add(p, off)) }

// line4 is a row of a panel.
func line4(p unsafe.Pointer, off int) *[4]float32 { return (*[4]float32)(unsafe.Add(p, off)) }

// from is what lies at a place within a slice.
func from(s []float32, place uintptr) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), place-address(s))
}

// rowOfC is the first n floats of row i of the tile's C.
func (t *tile) rowOfC(i, n int) []float32 {
	return unsafe.Slice((*float32)(from(t.of.C, t.c+uintptr(i*t.ldc))), n)
}

// tile1x4 computes row i of a tile.
func tile1x4(t *tile, i int) {
	c := t.rowOfC(i, t.n)
	var s [4]float32
	if t.add != 0 {
		copy(s[:], c)
	}
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	if t.k > 0 {
		a, panel := from(t.of.A.Data, t.a), from(t.of.right(), t.b)
		at, line := i*t.row, 0
		for range t.k {
			b := line4(panel, line)
			x := float(a, at)
			s0 += float32(x * b[0])
			s1 += float32(x * b[1])
			s2 += float32(x * b[2])
			s3 += float32(x * b[3])
			at += t.step
			line += t.line
		}
	}
	t.store(c, [4]float32{s0, s1, s2, s3})
}

// store writes sums to what exists of a row of C, with the bias.
func (t *tile) store(c []float32, s [4]float32) {
	if t.bias != 0 {
		for i, b := range unsafe.Slice((*float32)(from(t.of.Bias, t.bias)), len(c)) {
			s[i] += b
		}
	}
	copy(c, s[:])
}

// tile2x4 computes rows i and i+1 of a tile: as many sums as the registers of amd64
// hold beside the row of the panel.
func tile2x4(t *tile, i int) {
	c, d := t.rowOfC(i, t.n), t.rowOfC(i+1, t.n)
	var s, r [4]float32
	if t.add != 0 {
		copy(s[:], c)
		copy(r[:], d)
	}
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
	if t.k > 0 {
		a, panel := from(t.of.A.Data, t.a), from(t.of.right(), t.b)
		at, line := i*t.row, 0
		for range t.k {
			b := line4(panel, line)
			x, y := float(a, at), float(a, at+t.row)
			b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
			s0 += float32(x * b0)
			s1 += float32(x * b1)
			s2 += float32(x * b2)
			s3 += float32(x * b3)
			r0 += float32(y * b0)
			r1 += float32(y * b1)
			r2 += float32(y * b2)
			r3 += float32(y * b3)
			at += t.step
			line += t.line
		}
	}
	t.store(c, [4]float32{s0, s1, s2, s3})
	t.store(d, [4]float32{r0, r1, r2, r3})
}

// turnsGo are the twins of turnsAVX2.
var turnsGo = turns{nil, turnGo(1), turnGo(2), turnGo(3), turnGo(4), turnGo(5), turnGo(6), turnGo(7), turnGo(8)}

func turnGo(rows int) func(dst, src *float32, line, row, blocks int) {
	return func(dst, src *float32, line, row, blocks int) {
		if blocks == 0 {
			return
		}
		for i := range rows {
			of, to := unsafe.Add(unsafe.Pointer(src), i*row), unsafe.Add(unsafe.Pointer(dst), 4*i)
			for j := range 8 * blocks {
				*(*float32)(unsafe.Add(to, j*line)) = float(of, 4*j)
			}
		}
	}
}
