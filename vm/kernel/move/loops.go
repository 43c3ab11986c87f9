package move

import "unsafe"

// A word is an element of some size.
type word interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// The kinds of leaves, from the fastest on.
var (
	// Rows of neighbours in both tensors.
	runs = &kind{"runs", [5]loop{runLoop, runLoop, runLoop, runLoop, runLoop}}
	// One element all along a row.
	fills = &kind{"fill", [5]loop{fillLoop[uint8], fillLoop[uint16], fillLoop[uint32], fillLoop[uint64], fillLoop[[2]uint64]}}
	// Rows that are columns in the source.
	transposes = &kind{"transpose", [5]loop{transposeLoop[uint8], transposeLoop[uint16], transposeLoop[uint32], transposeLoop[uint64], transposeLoop[[2]uint64]}}
	// Rows backwards.
	reverses = &kind{"reverse", [5]loop{reverseLoop[uint8], reverseLoop[uint16], reverseLoop[uint32], reverseLoop[uint64], reverseLoop[[2]uint64]}}
	// Each element of the source a few times.
	spreads = &kind{"spread", [5]loop{spreadLoop[uint8], spreadLoop[uint16], spreadLoop[uint32], spreadLoop[uint64], spreadLoop[[2]uint64]}}
	// Anything else, in steps.
	steps = &kind{"steps", [5]loop{stepLoop[uint8], stepLoop[uint16], stepLoop[uint32], stepLoop[uint64], stepLoop[[2]uint64]}}
)

// sizeOf is a constant of each loop.
func sizeOf[E word]() int { return int(unsafe.Sizeof(*new(E))) }

func at[E word](p unsafe.Pointer, off int) *E { return (*E)(unsafe.Add(p, off)) }

// bytesAt is n bytes from p+off on. Of none there is no pointer, which behind the last byte
// of an allocation would point to what belongs to nobody, and end the program if the garbage
// collector finds it.
func bytesAt(p unsafe.Pointer, off, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, off)), n)
}

// fillLoop writes some words of elements, the last of which ends where the row does if
// that is short, and the rest by copies of them, each twice as long as the one before, up
// to what stays in the first-level cache.
func fillLoop[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	const words, most = 256, 4 << 10 // bytes
	if n*sizeOf[E]() < half {        // the end of a long row
		stepLoop[E](d, s, l, rows, n)
		return
	}
	n *= sizeOf[E]()
	last := min(n, words) - half
	for i := range rows {
		low, high := repeated(*at[E](s, i*l.rows.from))
		first := i * l.rows.to
		for k := 0; k < last; k += half {
			*at[uint64](d, first+k), *at[uint64](d, first+k+half/2) = low, high
		}
		*at[uint64](d, first+last), *at[uint64](d, first+last+half/2) = low, high
		if n <= words {
			continue
		}
		all := bytesAt(d, first, n)
		for done := words; done < n; {
			done += copy(all[done:], all[:min(done, most)])
		}
	}
}

// repeated is the lower and the upper half of 16 bytes of one element.
func repeated[E word](v E) (low, high uint64) {
	p := unsafe.Pointer(&v)
	switch sizeOf[E]() {
	case 1:
		low = uint64(*(*uint8)(p)) * 0x0101010101010101
	case 2:
		low = uint64(*(*uint16)(p)) * 0x0001000100010001
	case 4:
		low = uint64(*(*uint32)(p)) * 0x0000000100000001
	case 8:
		low = *(*uint64)(p)
	default:
		both := *(*[2]uint64)(p)
		return both[0], both[1]
	}
	return low, low
}

// reverseLoop writes forward what it reads backward, four at a time.
func reverseLoop[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	size := sizeOf[E]()
	for i := range rows {
		to, from := i*l.rows.to, i*l.rows.from
		k := 0
		for ; k+4 <= n; k += 4 {
			a, b, c, e := *at[E](s, from), *at[E](s, from-size), *at[E](s, from-2*size), *at[E](s, from-3*size)
			*at[E](d, to), *at[E](d, to+size), *at[E](d, to+2*size), *at[E](d, to+3*size) = a, b, c, e
			to, from = to+4*size, from-4*size
		}
		for ; k < n; k++ {
			*at[E](d, to) = *at[E](s, from)
			to, from = to+size, from-size
		}
	}
}

// spreadLoop reads each element once and writes it n times.
func spreadLoop[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	size, step := sizeOf[E](), l.rows.to
	if n == 2 {
		for i := range rows {
			v, to := *at[E](s, i*size), i*step
			*at[E](d, to), *at[E](d, to+size) = v, v
		}
		return
	}
	for i := range rows {
		v, to := *at[E](s, i*size), i*step
		for range n {
			*at[E](d, to) = v
			to += size
		}
	}
}

// stepLoop goes in any steps.
func stepLoop[E word](d, s unsafe.Pointer, l *leaf, rows, n int) {
	toStep, fromStep := l.row.to, l.row.from
	for i := range rows {
		to, from := i*l.rows.to, i*l.rows.from
		k := 0
		for ; k+4 <= n; k += 4 {
			a, b, c, e := *at[E](s, from), *at[E](s, from+fromStep), *at[E](s, from+2*fromStep), *at[E](s, from+3*fromStep)
			*at[E](d, to), *at[E](d, to+toStep), *at[E](d, to+2*toStep), *at[E](d, to+3*toStep) = a, b, c, e
			to, from = to+4*toStep, from+4*fromStep
		}
		for ; k < n; k++ {
			*at[E](d, to) = *at[E](s, from)
			to, from = to+toStep, from+fromStep
		}
	}
}
