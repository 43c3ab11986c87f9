package move

import "unsafe"

// A transposition has rows that lie dense in the source along the other axis: it
// is done by square tiles that fit the registers, those by blocks whose lines are
// used up while they are in the first-level cache. Where a size is no multiple of
// the tile's, the last tile begins earlier and does some elements again.

// A tiling is a function that transposes tiles of one size of element. run does n
// tiles; toRow and fromRow are the bytes from one row to the next in the destination and
// the source, toNext and fromNext those from one tile to the next.
type tiling struct {
	rows, cols int // of a tile, in the destination
	run        func(d, s *byte, toRow, fromRow, toNext, fromNext uintptr, n int)
}

// blockEdge is the side of a block of tiles, in bytes: two lines of a cache.
const blockEdge = 128

// cutTiles makes chunks of whole lines of the source where there are many rows,
// else pieces of all rows.
func (l *leaf) cutTiles() {
	side := max(blockEdge/l.size, 8)
	if l.rows.n >= 2*side || l.rows.n >= l.row.n {
		l.chunkRows = side
		return
	}
	l.chunkRow = max(side, chunkBytes/l.size/l.rows.n/side*side)
}

func transposeLoop[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	t := &l.machine.tiles[l.log()]
	if t.run == nil || rows < t.rows || n < t.cols {
		transposeFew[E](d, s, l, rows, n)
		return
	}
	if l.bySource {
		t.blockBySource(d, s, l, rows, n)
		return
	}
	side := max(blockEdge/l.size, t.cols)
	for i := 0; i < rows; i += side {
		last := min(i+side, rows)
		for k := 0; k < n; k += side {
			t.block(d, s, l, i, last, k, min(k+side, n))
		}
	}
}

// block transposes rows i to i2 and columns k to k2 of the destination, by lines of tiles
// along its rows. What is smaller than a tile begins earlier.
func (t *tiling) block(d, s unsafe.Pointer, l *leaf, i, i2, k, k2 int) {
	k = max(0, min(k, k2-t.cols))
	whole := (k2 - k) / t.cols
	for ; i < i2; i += t.rows {
		row := max(0, min(i, i2-t.rows))
		t.tiles(d, s, l, row, k, whole, t.cols*l.size, t.cols*l.row.from)
		if whole*t.cols < k2-k {
			t.tiles(d, s, l, row, k2-t.cols, 1, 0, 0)
		}
	}
}

// blockBySource is block by lines of tiles along the rows of the source, so that each line
// of it is read at once: those of rows that lie a multiple of 4 KB apart share places of
// the first cache.
func (t *tiling) blockBySource(d, s unsafe.Pointer, l *leaf, rows, n int) {
	whole := rows / t.rows
	for k := 0; k < n; k += t.cols {
		col := min(k, n-t.cols)
		t.tiles(d, s, l, 0, col, whole, t.rows*l.rows.to, t.rows*l.size)
		if whole*t.rows < rows {
			t.tiles(d, s, l, rows-t.rows, col, 1, 0, 0)
		}
	}
}

// tiles transposes n tiles.
func (t *tiling) tiles(d, s unsafe.Pointer, l *leaf, row, col, n, toNext, fromNext int) {
	t.run(at[byte](d, row*l.rows.to+col*l.size), at[byte](s, row*l.size+col*l.row.from), uintptr(l.rows.to), uintptr(l.row.from), uintptr(toNext), uintptr(fromNext), n)
}

// transposeFew goes along the longer side by lanes, a few rows or columns at a time,
// and by pieces that stay in the cache.
func transposeFew[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	w := lanes{count: n, to: l.size, from: l.row.from, toLane: l.rows.to, fromLane: l.size}
	across := rows
	if n < rows {
		w = lanes{count: rows, to: l.rows.to, from: l.size, toLane: l.size, fromLane: l.row.from}
		across = n
	}
	const piece = 64
	for first := 0; first < w.count; first += piece {
		part := w
		part.count = min(piece, w.count-first)
		d, s := unsafe.Add(d, first*w.to), unsafe.Add(s, first*w.from)
		for k := 0; k < across; k += 4 {
			laneLoop[E](unsafe.Add(d, k*w.toLane), unsafe.Add(s, k*w.fromLane), &part, across-k)
		}
	}
}

// Lanes are walked side by side: count elements of each, to and from bytes apart;
// the lanes are toLane and fromLane bytes apart.
type lanes struct{ count, to, from, toLane, fromLane int }

// laneLoop copies up to four lanes. Steps are kept apart from w, of which the
// compiler must suppose that stores change it.
func laneLoop[E word](d, s unsafe.Pointer, w *lanes, n int) {
	count, to, from, d1, s1 := w.count, w.to, w.from, w.toLane, w.fromLane
	i, j := 0, 0
	switch n {
	case 1:
		for range count {
			*at[E](d, i) = *at[E](s, j)
			i, j = i+to, j+from
		}
	case 2:
		for range count {
			*at[E](d, i), *at[E](d, i+d1) = *at[E](s, j), *at[E](s, j+s1)
			i, j = i+to, j+from
		}
	case 3:
		d2, s2 := 2*d1, 2*s1
		for range count {
			a, b, c := *at[E](s, j), *at[E](s, j+s1), *at[E](s, j+s2)
			*at[E](d, i), *at[E](d, i+d1), *at[E](d, i+d2) = a, b, c
			i, j = i+to, j+from
		}
	default:
		d2, d3, s2, s3 := 2*d1, 3*d1, 2*s1, 3*s1
		for range count {
			a, b, c, e := *at[E](s, j), *at[E](s, j+s1), *at[E](s, j+s2), *at[E](s, j+s3)
			*at[E](d, i), *at[E](d, i+d1), *at[E](d, i+d2), *at[E](d, i+d3) = a, b, c, e
			i, j = i+to, j+from
		}
	}
}
