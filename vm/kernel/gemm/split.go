package gemm

import "unsafe"

// Bytes without VNNI. VPMADDUBSW multiplies bytes without a sign by bytes with one and
// adds up pairs of products, in 16 bits, which two large ones leave. So B has no sign, by
// adding 128, and A is taken apart:
//
//	A       100  60   -3  127  |   5 -120  -10  -90       pairs of 160, 124; -115, -100
//	tiles    64  60   -3  127  |   5 -120  -10  -90       no pair is more than 128 off zero:
//	                                                      at 255 that is 32640
//	rests    36   0    0    0  |                          of the fours that have some
//
// The tiles multiply what has been left, and the products of the rests, of which there
// are few, are added to what they leave, panel by panel. What B is larger by is taken off:
// 128 times the sum of each row of A. The sums are those of A and B, to the bit. Where
// every four has a rest, that takes as long as the tiles.

// A splitter is the code for it.
type splitter struct {
	// row takes n bytes apart, a multiple of 32, and returns their sum and the number of
	// rests, which it writes with room for eight more.
	row func(row *int8, values, quads *int32, n int) (count, sum int)
}

// splits are the rests of a left operand, and the sums of its rows, behind the rows.
type splits struct {
	starts        []int // by row, and behind the last one
	sums          []int32
	values, quads []int32 // four bytes each, and where they belong along k
}

// splitRoom is how many more rests than there can be have room.
const splitRoom = 8

// splitsLen is how many floats the splits of m rows take.
func splitsLen(m, steps int) int { return 2*(m+1) + m + 2*(m*steps+splitRoom) }

// splits finds those of m rows of so many steps.
func (f *Format) splits(data []float32, m, steps int) (s splits) {
	data = data[m*unlike(steps):][:splitsLen(m, steps)]
	s.starts, data = as[int](data)[:m+1], data[2*(m+1):]
	s.sums, data = Ints(data)[:m], data[m:]
	half := m*steps + splitRoom
	s.values, s.quads = Ints(data)[:half], Ints(data)[half:]
	return s
}

// splitRows takes rows of bytes with a sign apart.
func (f *Format) splitRows(data []float32, m, steps int) {
	s := f.splits(data, m, steps)
	ld, whole, next := unlike(steps), (steps+7)/8*8, 0
	for i := range m {
		s.starts[i] = next
		row := data[i*ld:][:whole]
		clear(row[steps:])
		if whole == 0 {
			s.sums[i] = 0
			continue
		}
		count, sum := f.split.row(unsafe.SliceData(as[int8](row)), &s.values[next], &s.quads[next], whole*floatBytes)
		s.sums[i] = int32(sum)
		next += count
	}
	s.starts[m] = next
}

// place is where an element of a slice is, or would be.
func place[E any](s []E, i int) uintptr {
	var e E
	return uintptr(unsafe.Pointer(unsafe.SliceData(s))) + uintptr(i)*unsafe.Sizeof(e)
}
