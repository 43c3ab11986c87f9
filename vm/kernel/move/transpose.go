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
	side := max(blockEdge/l.size, t.cols)
	large := t.prefetch != nil && l.rows.n*l.row.n*l.size >= prefetchFrom
	for i := 0; i < rows; i += side {
		last := min(i+side, rows)
		for k := 0; k < n; k += side {
			if next := k + side; large && next < n {
				t.ask(d, l, i, last, next, min(next+side, n))
			}
			t.block(d, s, l, i, last, k, min(k+side, n))
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

// transposeFew goes along the longer side, by pieces that stay in the cache, four
// rows or columns at a time.
func transposeFew[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	const piece = 64
	for k := 0; k < n; k += piece {
		last := min(k+piece, n)
		i := 0
		for ; i+4 <= rows; i += 4 {
			four[E](d, s, l, i, k, last)
		}
		for ; i < rows; i++ {
			to, from := i*l.rows.to+k*l.size, i*l.size+k*l.row.from
			for range last - k {
				*at[E](d, to) = *at[E](s, from)
				to, from = to+l.size, from+l.row.from
			}
		}
	}
}

// four transposes a piece of four rows of the destination.
func four[E word](d, s unsafe.Pointer, l *leaf, row, k, last int) {
	size, next := l.size, l.rows.to
	to, from := row*next+k*size, row*size+k*l.row.from
	for range last - k {
		a, b, c, e := *at[E](s, from), *at[E](s, from+size), *at[E](s, from+2*size), *at[E](s, from+3*size)
		*at[E](d, to), *at[E](d, to+next), *at[E](d, to+2*next), *at[E](d, to+3*next) = a, b, c, e
		to, from = to+size, from+l.row.from
	}
}
