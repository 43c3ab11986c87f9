package move

import "unsafe"

// shortTo is up to how many bytes rows are copied by a few words, of which the last one
// ends where the row does: a call for each row takes longer than they do.
const shortTo = 64

// runLoop copies rows of neighbours.
func runLoop(d, s unsafe.Pointer, l *leaf, rows, n int) {
	to, from, n := l.rows.to, l.rows.from, n*l.size
	if n <= shortTo {
		shortRuns(d, s, to, from, rows, n)
		return
	}
	for i := range rows {
		copy(bytesAt(d, i*to, n), bytesAt(s, i*from, n))
	}
}

// shortRuns copies rows of n bytes, 1 to shortTo, that lie to and from bytes apart.
func shortRuns(d, s unsafe.Pointer, to, from, rows, n int) {
	switch {
	case n > 32:
		fourRuns(d, s, to, from, rows, n)
	case n > 16:
		twoRuns[[2]uint64](d, s, to, from, rows, n)
	case n > 8:
		twoRuns[uint64](d, s, to, from, rows, n)
	case n > 4:
		twoRuns[uint32](d, s, to, from, rows, n)
	case n > 2:
		twoRuns[uint16](d, s, to, from, rows, n)
	default:
		twoRuns[uint8](d, s, to, from, rows, n)
	}
}

// twoRuns copies rows of one to two words of E: the first and the last one.
func twoRuns[E word](d, s unsafe.Pointer, to, from, rows, n int) {
	last := n - sizeOf[E]()
	i, j := 0, 0
	for range rows {
		a, b := *at[E](s, j), *at[E](s, j+last)
		*at[E](d, i), *at[E](d, i+last) = a, b
		i, j = i+to, j+from
	}
}

// fourRuns copies rows of 33 to 64 bytes.
func fourRuns(d, s unsafe.Pointer, to, from, rows, n int) {
	last := n - half
	i, j := 0, 0
	for range rows {
		a, b, c, e := *at[[2]uint64](s, j), *at[[2]uint64](s, j+half), *at[[2]uint64](s, j+last-half), *at[[2]uint64](s, j+last)
		*at[[2]uint64](d, i), *at[[2]uint64](d, i+half), *at[[2]uint64](d, i+last-half), *at[[2]uint64](d, i+last) = a, b, c, e
		i, j = i+to, j+from
	}
}
