package gemm

// Two tiles of a panel and a half share three panels:
//
//	panels    0 0 1 | 1 2 2        halves of 8 columns, AVX2
//	tiles     left  | right
//
// Their sums are those of other tiles, in the same order.
const (
	thirdRows   = 4
	thirdPanels = 3
)

// inThirds reports whether products of so many rows go through such tiles: where the
// rows lie in one piece each, and other tiles would have a quarter of them by fives.
func (k *kernels) inThirds(rows int, a Matrix) bool {
	if k.thirds == nil || a.Col != 1 || a.Row > farThirds || rows%thirdRows != 0 || rows < leastThirds {
		return false
	}
	s := k.stack(rows)
	return s.low == k.rows-1 && (s.tiles-s.high)*s.low*4 >= rows
}

const (
	// Fewer tiles ask too late for three panels: where no cache holds the weights, sixteen
	// rows took an eighth more time than in other tiles.
	leastThirds = 7 * thirdRows
	// Rows that are further apart, in floats, share sets of the first cache: at 1024 they
	// took 5 % more time beside a neighbour on the other half of the core, at 4096 16 %.
	farThirds = 1000
)

// threes computes threes of panels, and returns the number of columns that it did.
func (t *tile) threes(k *kernels) (cols int) {
	b, wide := &t.of, thirdPanels*k.width
	half := k.width / 2 * floatBytes
	t.count, t.down, t.bias = b.M/thirdRows, thirdRows*t.row, 0
	// Both columns of tiles ask for the next three panels, as in narrow.
	t.hop = min((2*thirdPanels*t.line+t.count-1)/t.count, lineBytes)
	for ; cols+wide <= b.N; cols += wide {
		panel := address(b.B.Data) + uintptr(cols/k.width*t.panel)
		middle, last := panel+uintptr(t.panel), panel+uintptr(2*t.panel)
		t.next = panel + uintptr(thirdPanels*t.panel)
		if cols+wide == b.N && b.Next != nil {
			t.next = address(b.Next)
		}
		t.third(k, cols, panel, middle, 2*half)
		t.third(k, cols+2*k.width, last, middle+uintptr(half), -half)
	}
	return cols
}

// third computes the tiles whose panel has its columns from col on.
func (t *tile) third(k *kernels, col int, panel, half uintptr, side int) {
	t.a, t.b, t.half, t.side, t.count = address(t.of.A.Data), panel, half, side, t.of.M/thirdRows
	t.c = address(t.of.C) + uintptr(col*floatBytes)
	if t.of.Bias != nil {
		t.bias = address(t.of.Bias) + uintptr(col*floatBytes)
	}
	k.thirds(t)
}
