package move

import (
	"math/bits"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// What is large is made by pieces in a room that stays in the first-level cache, and goes
// from there to where it belongs in runs of whole lines: around the caches where nothing
// of it would be left there, so that memory is not read before it is written.
type around struct {
	near      leaf // the leaf with the room as its destination; runs need none
	rows, row int  // of a piece
	room      int  // bytes
	turned    bool // pieces are transposed by tiles
	streams   bool // around the caches
}

const (
	line = 64 // bytes of a cache's line
	// pieceBytes is how much of a piece the first-level cache holds beside what is read.
	pieceBytes = 16 << 10
	// longRun is from how many bytes on a row is written around the caches by itself: its
	// ends share lines with what lies beside them.
	longRun = 4 * line
)

// From so many bytes on a transposition goes around the caches, and is made by pieces, since
// its lines lie far apart: half of a second-level cache. What is written in order goes around
// them from runsFrom on: written and then read, 4 MB took 0.66 to 0.85 ms through the caches
// of an Emerald Rapids with 2 MB of second cache, and 0.76 to 0.93 around them, 8 MB the same
// by both. Tests take less.
var streamFrom, piecesFrom, runsFrom = isa.StreamFrom(), 512 << 10, max(isa.StreamFrom(), 4*isa.SecondCache())

// aroundOf decides whether a leaf of a copy of so many bytes is made by pieces; nil: it
// is not.
func aroundOf(l *leaf, bytes int) *around {
	tiled := l.kind == transposes && l.shuffle == nil && l.rows.n > mostGroup
	a := &around{near: *l, turned: tiled, streams: bytes >= runsFrom || tiled && bytes >= streamFrom}
	far := tiled && l.rows.n*l.row.n*l.size >= piecesFrom
	if l.machine.stream == nil || !a.streams && !far || !a.cut(l) {
		return nil
	}
	if l.kind == runs {
		return a
	}
	pitch := a.row * l.size
	if !a.oneRun(l, a.row) {
		pitch = (pitch+line-1)/line*line + carry
	}
	a.room = carry + a.rows*pitch
	a.near.rows.to, a.near.bySource = pitch, true
	a.near.choose()
	return a
}

// cut chooses the size of pieces; it reports whether there is one that serves.
func (a *around) cut(l *leaf) bool {
	rowBytes := l.row.n * l.size
	switch {
	case a.turned:
		// As many rows as columns, or half as many.
		side := 1 << ((bits.Len(uint(pieceBytes/l.size)) - 1) / 2)
		a.rows = min(l.rows.n, side)
		a.row = min(l.row.n, pieceBytes/l.size/a.rows)
	case l.shuffle != nil && l.shuffle.walk == along || l.shuffle == nil && l.kind == transposes:
		a.rows = l.rows.n
		a.row = min(l.row.n, pieceBytes/l.size/a.rows)
	case rowBytes <= pieceBytes && (l.rows.to == rowBytes || l.kind == runs):
		a.rows, a.row = pieceBytes/rowBytes, l.row.n
	default:
		a.rows, a.row = 1, min(l.row.n, pieceBytes/l.size)
	}
	return l.row.to == l.size && (a.turned || a.row*l.size >= longRun || a.oneRun(l, a.row))
}

// oneRun reports whether n elements of each row of a piece lie behind each other in the
// destination.
func (a *around) oneRun(l *leaf, n int) bool { return a.rows == 1 || l.rows.to == n*l.size }

// copy copies some rows of a leaf.
func (a *around) copy(room []byte, d, s unsafe.Pointer, l *leaf, rows, n int) {
	for i := 0; i < rows; i += a.rows {
		r := min(a.rows, rows-i)
		for k := 0; k < n; k += a.row {
			c := min(a.row, n-k)
			a.ask(d, s, l, i, r, k, c, n)
			to, from := unsafe.Add(d, i*l.rows.to+k*l.size), unsafe.Add(s, i*l.rows.from+k*l.row.from)
			if len(room) == 0 {
				a.runs(to, from, l, r, c*l.size, rows-i-r)
				continue
			}
			made := unsafe.Pointer(&room[carry])
			a.near.loop(made, from, &a.near, r, c)
			if a.oneRun(l, c) {
				a.write(to, made, r*c*l.size)
				continue
			}
			a.flush(to, made, l, r, c*l.size, k == 0, k+c == n)
		}
	}
}

// ask prefetches what the next piece of a transposition reads, and where this one is
// written if that is not around the caches: lines of rows far apart, which no processor
// foresees.
func (a *around) ask(d, s unsafe.Pointer, l *leaf, i, r, k, c, n int) {
	if !a.turned {
		return
	}
	if !a.streams {
		for off := k * l.size; off < (k+c)*l.size; off += line {
			l.machine.prefetch(at[byte](d, i*l.rows.to+off), uintptr(l.rows.to), r)
		}
	}
	next := k + c
	if c = min(n-next, a.row); c > 0 {
		for off := 0; off < r*l.size; off += line {
			l.machine.prefetch(at[byte](s, i*l.size+off+next*l.row.from), uintptr(l.row.from), c)
		}
	}
}

// runs copies rows of n bytes, behind which there are some more, whose lines it asks for:
// where they are short and lie apart, no processor foresees them.
func (a *around) runs(d, s unsafe.Pointer, l *leaf, rows, n, more int) {
	m, to, from := a.near.machine, l.rows.to, l.rows.from
	if rows > 1 && more > 0 && from != n {
		for off := 0; off < n; off += line {
			m.prefetch(at[byte](s, rows*from+off), uintptr(from), min(rows, more))
		}
	}
	if uintptr(d)%line == 0 && to%line == 0 && n%line == 0 {
		m.stream((*byte)(d), (*byte)(s), uintptr(to), uintptr(from), n/line, rows)
		return
	}
	for i := range rows {
		a.write(unsafe.Add(d, i*to), unsafe.Add(s, i*from), n)
	}
}

// carry is what stands before each row of the room: the end of the piece before it, so
// that a line that is part of both is written at once.
const carry = line

// flush writes rows of n bytes of a piece; first and last say whether the destination's
// rows begin and end with them.
func (a *around) flush(d, s unsafe.Pointer, l *leaf, rows, n int, first, last bool) {
	m, to, from := a.near.machine, l.rows.to, a.near.rows.to
	if a.streams && uintptr(d)%line == 0 && to%line == 0 && n%line == 0 {
		m.stream((*byte)(d), (*byte)(s), uintptr(to), uintptr(from), n/line, rows)
		return
	}
	for i := range rows {
		d, s := unsafe.Add(d, i*to), unsafe.Add(s, i*from)
		if first || last || !a.streams {
			a.ends(d, s, n, first, last)
			continue
		}
		before := int(uintptr(d) % line)
		if lines := (before + n) / line; lines > 0 {
			m.stream((*byte)(unsafe.Add(d, -before)), (*byte)(unsafe.Add(s, -before)), 0, 0, lines, 1)
		}
		*(*[carry]byte)(unsafe.Add(s, -carry)) = *(*[carry]byte)(unsafe.Add(s, n-carry))
	}
}

// ends writes n bytes of a row's first or last piece.
func (a *around) ends(d, s unsafe.Pointer, n int, first, last bool) {
	before, behind := 0, 0
	if a.streams && !first {
		before = int(uintptr(d) % line)
	}
	if a.streams && !last {
		behind = int((uintptr(d) + uintptr(n)) % line)
	}
	a.write(unsafe.Add(d, -before), unsafe.Add(s, -before), before+n-behind)
	if !last {
		*(*[carry]byte)(unsafe.Add(s, -carry)) = *(*[carry]byte)(unsafe.Add(s, n-carry))
	}
}

// write copies a run: its whole lines around the caches.
func (a *around) write(d, s unsafe.Pointer, n int) {
	head := int(-uintptr(d) % line)
	lines := (n - head) / line
	if !a.streams || lines <= 0 {
		copy(bytesAt(d, 0, n), bytesAt(s, 0, n))
		return
	}
	copy(bytesAt(d, 0, head), bytesAt(s, 0, head))
	a.near.machine.stream((*byte)(unsafe.Add(d, head)), (*byte)(unsafe.Add(s, head)), 0, 0, lines, 1)
	done := head + lines*line
	copy(bytesAt(d, done, n-done), bytesAt(s, done, n-done))
}
