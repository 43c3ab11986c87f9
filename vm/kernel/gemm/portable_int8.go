package gemm

import "unsafe"

// portableInt8 are the kernels of bytes in Go: panels of eight columns, one row at a
// time.
var portableInt8 = kernels{
	rows: 4, width: 8, turns: &turnsGo,
	tiles: [mostRows + 1][mostPanels + 1]func(*tile){
		1: {1: func(t *tile) { int8Rows(t, 1) }},
		2: {1: func(t *tile) { int8Rows(t, 2) }},
		3: {1: func(t *tile) { int8Rows(t, 3) }},
		4: {1: func(t *tile) { int8Rows(t, 4) }},
	},
}

func int8Rows(t *tile, rows int) {
	for i := range rows {
		int8Row(t, i)
	}
}

// int8Row computes row i of a tile: pairs of integers of 16 bits by pairs of bytes.
func int8Row(t *tile, i int) {
	c := Ints(t.rowOfC(i, t.n))
	var s [8]int32
	if t.add != 0 {
		copy(s[:], c)
	}
	if t.k > 0 {
		a, b := from(t.of.A.Data, t.a), from(t.of.B.Data, t.b)
		at, line := i*t.row, 0
		for range t.k {
			x := (*[2]int16)(unsafe.Add(a, at))
			even, odd := int32(x[0]), int32(x[1])
			for j, y := range (*[8][2]int8)(unsafe.Add(b, line)) {
				s[j] += even*int32(y[0]) + odd*int32(y[1])
			}
			at += t.step
			line += t.line
		}
	}
	if t.bias != 0 {
		for j, b := range unsafe.Slice((*int32)(from(t.of.Bias, t.bias)), len(c)) {
			s[j] += b
		}
	}
	copy(c, s[:])
}
