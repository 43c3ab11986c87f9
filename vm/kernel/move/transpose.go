package move

import "unsafe"

// A transposition has rows that lie dense in the source along the other axis: it
// is done by square tiles that fit the registers, those by blocks whose lines are
// used up while they are in the first-level cache. Where a size is no multiple of
// the tile's, the last tile begins earlier and does some elements again.

// A tiling is a function that transposes tiles of one size of element. run does n
// tiles that lie behind each other along the rows of the destination; toRow and
// fromRow are the bytes from one row to the next in the destination and the source.
type tiling struct {
	rows, cols int // of a tile, in the destination
	run        func(d, s *byte, toRow, fromRow uintptr, n int)
	// prefetch asks for n lines that lie step bytes behind each other; nil: there is
	// no need to.
	prefetch func(p *byte, step uintptr, n int)
	// lines copies n rows of blockEdge bytes; nil: blocks are read where they lie.
	lines func(d, s *byte, toRow, fromRow uintptr, n int)
}

// blockEdge is the side of a block of tiles, in bytes: two lines of a cache.
const blockEdge = 128

// prefetchFrom is from how many bytes on a transposition asks for lines ahead: half
// of a second-level cache. In the cache it would take a fifth longer, behind it half
// as long.
const prefetchFrom = 512 << 10

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
	t := l.tiling
	if t.run == nil || rows < t.rows || n < t.cols {
		transposeFew[E](d, s, l, rows, n)
		return
	}
	if t.lines != nil && l.row.from%alias == 0 && l.large() {
		var buf [blockEdge * pitch]byte
		t.blocks(d, s, l, rows, n, buf[:])
		return
	}
	t.blocks(d, s, l, rows, n, nil)
}

// Rows of the source that lie a multiple of alias bytes apart share the places of
// the first-level cache: of a block of them each line would be fetched again for
// every tile. So it is copied first, to rows of pitch bytes.
const alias, pitch = 2048, blockEdge + 32

// large reports whether a leaf is more than the second-level cache holds.
func (l *leaf) large() bool { return l.rows.n*l.row.n*l.size >= prefetchFrom }

// blocks goes through a leaf by blocks; those that are full are copied to buf first,
// if there is one.
func (t *tiling) blocks(d, s unsafe.Pointer, l *leaf, rows, n int, buf []byte) {
	side := max(blockEdge/l.size, t.cols)
	ahead := t.prefetch != nil && l.large()
	near := leaf{size: l.size, rows: l.rows, row: axis{side, l.size, pitch}}
	for i := 0; i < rows; i += side {
		last := min(i+side, rows)
		for k := 0; k < n; k += side {
			if next := k + side; ahead && next < n {
				t.ask(d, l, i, last, next, min(next+side, n))
			}
			if buf == nil || last-i < side || k+side > n {
				t.block(d, s, l, i, last, k, min(k+side, n))
				continue
			}
			t.lines(&buf[0], at[byte](s, i*l.size+k*l.row.from), pitch, uintptr(l.row.from), side)
			t.block(unsafe.Add(d, i*l.rows.to+k*l.size), unsafe.Pointer(&buf[0]), &near, 0, side, 0, side)
		}
	}
}

// ask prefetches the lines of a block of the destination: a store to one that is
// far away would hold up all that follow.
func (t *tiling) ask(d unsafe.Pointer, l *leaf, i, i2, k, k2 int) {
	const line = 64
	for off := k * l.size; off < k2*l.size; off += line {
		t.prefetch(at[byte](d, i*l.rows.to+off), uintptr(l.rows.to), i2-i)
	}
}

// block transposes rows i to i2 and columns k to k2 of the destination. One that
// is smaller than a tile begins earlier.
func (t *tiling) block(d, s unsafe.Pointer, l *leaf, i, i2, k, k2 int) {
	k = max(0, min(k, k2-t.cols))
	whole := (k2 - k) / t.cols
	for ; i < i2; i += t.rows {
		row := max(0, min(i, i2-t.rows))
		t.tiles(d, s, l, row, k, whole)
		if whole*t.cols < k2-k {
			t.tiles(d, s, l, row, k2-t.cols, 1)
		}
	}
}

func (t *tiling) tiles(d, s unsafe.Pointer, l *leaf, row, col, n int) {
	t.run(at[byte](d, row*l.rows.to+col*l.size), at[byte](s, row*l.size+col*l.row.from), uintptr(l.rows.to), uintptr(l.row.from), n)
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
