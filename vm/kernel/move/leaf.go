package move

import (
	"math/bits"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// maxSize is the bytes of the largest element.
const maxSize = 16

// A leaf is the two innermost axes of a copy: rows, and what is along a row. It
// is done in chunks of rows, or of pieces of a row if there are few rows.
type leaf struct {
	kind      *kind
	size      int // bytes of an element
	rows, row axis
	loop      loop
	chunkRows int // rows of a chunk; 0: chunks are pieces of all rows
	chunkRow  int // elements of a row's piece
	machine   *machine
	shuffle   *shuffle // nil: elements are no groups of few
	bySource  bool     // a transposition goes along the rows of the source
	around    *around  // nil: results are written where they belong
}

// A loop copies a leaf, or a piece of one, to d from s on.
type loop func(d, s unsafe.Pointer, l *leaf, rows, n int)

// A kind is a way of walking a leaf, with a loop for each size of element: 1, 2,
// 4, 8, 16.
type kind struct {
	name  string
	loops [5]loop
}

// chunkBytes is about how much a chunk has: a part of the second-level cache, and
// some microseconds of work.
const chunkBytes = 32 << 10

// leafOf takes the two axes of a leaf off a copy's axes and chooses the loop.
func leafOf(level isa.Level, size int, axes []axis) (outer []axis, l leaf) {
	l = leaf{size: size, rows: axis{1, 0, 0}, row: axis{1, size, size}, machine: machineOf(level)}
	if n := len(axes); n > 0 {
		l.row, outer = axes[n-1], axes[:n-1]
	}
	if n := rowsAmong(outer, l.row, size); n >= 0 {
		l.rows = outer[n]
		outer = append(append([]axis{}, outer[:n]...), outer[n+1:]...)
	}
	l.kind = kindOf(&l)
	if l.kind != transposes && l.row.n*size > chunkBytes && l.rows.n > 1 {
		// Long rows are rounds of their own, so that parts can share them.
		outer, l.rows = append(outer, l.rows), axis{1, 0, 0}
	}
	l.choose()
	l.cut()
	return outer, l
}

// choose sets the loop.
func (l *leaf) choose() {
	l.loop = l.kind.loops[l.log()]
	if l.shuffle = l.machine.shuffleOf(l); l.shuffle != nil {
		l.loop = shuffleLoop
	}
}

// log is the logarithm of an element's size.
func (l *leaf) log() int { return bits.TrailingZeros(uint(l.size)) }

// rowsAmong chooses the axis of the rows: the one along which the source lies
// dense, if a row does not; else the last one. -1: there is none.
func rowsAmong(axes []axis, row axis, size int) int {
	if row.from != size {
		for i := len(axes) - 1; i >= 0; i-- {
			if axes[i].from == size {
				return i
			}
		}
	}
	return len(axes) - 1
}

// kindOf says how a leaf is walked.
func kindOf(l *leaf) *kind {
	dense := l.row.to == l.size
	switch {
	case dense && l.row.from == l.size:
		return runs
	case dense && l.row.from == 0 && l.row.n > mostGroup && l.row.n*l.size >= half:
		return fills
	case dense && l.row.from == -l.size:
		return reverses
	case dense && l.rows.from == l.size && l.rows.n > 1 && l.row.from != 0:
		return transposes
	case dense && l.rows.from == l.size && l.row.from == 0:
		return spreads
	}
	return steps
}

// cut chooses the chunks: whole rows where there are many, else pieces of all
// rows.
func (l *leaf) cut() {
	rowBytes := l.row.n * l.size
	switch {
	case l.kind == transposes:
		l.cutTiles()
	case l.rows.n > 1:
		l.chunkRows = max(1, chunkBytes/rowBytes)
	default:
		l.chunkRow = chunkBytes / l.size
	}
}

// chunks is how many there are.
func (l *leaf) chunks() int {
	if l.chunkRows > 0 {
		return (l.rows.n + l.chunkRows - 1) / l.chunkRows
	}
	return (l.row.n + l.chunkRow - 1) / l.chunkRow
}

// run copies some chunks of the leaf.
func (l *leaf) run(room []byte, d, s unsafe.Pointer, chunk, n int) {
	if l.chunkRows > 0 {
		first := chunk * l.chunkRows
		rows := min(l.rows.n, (chunk+n)*l.chunkRows) - first
		l.copy(room, unsafe.Add(d, first*l.rows.to), unsafe.Add(s, first*l.rows.from), rows, l.row.n)
		return
	}
	first := chunk * l.chunkRow
	count := min(l.row.n, (chunk+n)*l.chunkRow) - first
	l.copy(room, unsafe.Add(d, first*l.row.to), unsafe.Add(s, first*l.row.from), l.rows.n, count)
}

// piece is the bytes that lie together in the destination or in the source, whichever are
// fewer.
func (l *leaf) piece() int {
	if l.row.to == l.size && l.row.from == l.size {
		return l.row.n * l.size
	}
	return l.size
}

func (l *leaf) copy(room []byte, d, s unsafe.Pointer, rows, n int) {
	if l.around != nil {
		l.around.copy(room, d, s, l, rows, n)
		return
	}
	l.loop(d, s, l, rows, n)
}
