package gemm

import "unsafe"

// packTiles lays a left operand of m rows and k columns out as the tiles of a block
// read it: tile by tile of the stack, in each the rows' elements of a column side by
// side.
//
//	A [7,4], tiles of 4 and 3 rows  =>  [4][4] and [4][3]: element (i, k) of a tile of
//	                                    h rows is the one at k*h+i
func (k *kernels) packTiles(dst []float32, a Matrix, m, deep int) {
	s := k.stack(m)
	row := 0
	for i := range s.tiles {
		h := s.height(i)
		k.packTile(dst[row*deep:(row+h)*deep], a.From(row, 0), h, deep)
		row += h
	}
}

// packTile writes n columns of h rows.
func (k *kernels) packTile(dst []float32, a Matrix, h, n int) {
	whole := n / 8
	if a.Col != 1 {
		whole = 0
	}
	if whole > 0 {
		for row, rows := 0, 0; row < h; row += rows {
			rows = k.turns.most(h - row)
			k.turns[rows](unsafe.SliceData(dst[row:]), unsafe.SliceData(a.From(row, 0).Data), h*floatBytes, a.Row*floatBytes, whole)
		}
	}
	for j := whole * 8; j < n; j++ {
		at := j * a.Col
		for i := range dst[j*h : j*h+h] {
			dst[j*h+i] = a.Data[at+i*a.Row]
		}
	}
}
