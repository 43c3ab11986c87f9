package gemm

import (
	"encoding/binary"
	"unsafe"
)

// Bytes without VNNI. VPMADDUBSW multiplies bytes without a sign by bytes with one and
// adds up pairs of products, in 16 bits. So B has no sign, by adding 128. Widening each
// pair of products takes as long as multiplying does; so sums of eight products are
// widened, which may leave 16 bits for two reasons:
//
//   - Of a pair the two bytes of A may be large. A is taken apart, so that no two bytes
//     of a pair are more than 128 off zero together: at 255 that is 32640.
//   - Sums of 16 bits wrap, and so they may leave the range on the way, if the sum of
//     eight products doesn't. With the 128 taken off, that are in B too much, it is at
//     most the square root of the sum of the squares of eight bytes of A times that of B,
//     by Cauchy and Schwarz. B's are known: for each sum of a group what A's squares may
//     add up to. A is taken apart where they add up to more.
//
// A group is sixteen bytes of a row of A, and what takes off the 128, for two sums of
// eight products each:
//
//	A       100  60   -3  127  |   5 -120  -10  -90       pairs of 160, 124; -115, -100
//	tiles    64  60   -3  127  |   5 -120  -10  -90       at most 128 off zero
//	rests    36   0    0    0  |                          of the fours that have some
//
// The tiles multiply what has been left, and the products of the rests, of which there
// are few, are added to what they leave, some panels at a time. The sums are those of A
// and B, to the bit. Where every four has a rest, that takes as long as the tiles; where more
// than three in five have one, other tiles take less. Their A has integers of 16 bits, and
// they make such of the bytes of the same panels on the way, so that only sums of 32 bits
// arise: 1.6 times the time of tiles without rests, where rests would take three times.

const (
	groupBytes = 16               // of a row
	groupWords = groupBytes/4 + 1 // times four bytes that the group takes in A
	wideWords  = groupBytes / 2   // and where it has integers of 16 bits
	blockBytes = 128              // of a row that are taken apart at a time
	blockSteps = blockBytes / groupBytes
)

// A splitter is the code for it.
type splitter struct {
	// row writes blocks of src, with bits of each four bytes flipped, as groups to dst, and
	// returns the number of rests and their sum. Rests are written with room for eight more.
	row func(dst, src *uint8, caps *int16, values, quads *int32, quad, blocks, flip int) (count, sum int)
}

// splits are the rests of a left operand, and the sums of its rows', behind the rows.
type splits struct {
	starts        []int   // by row, and behind the last one
	last          []uint8 // the end of a row, if it is no whole block
	sums          []int32
	values, quads []int32 // four bytes each, and where they belong along k
}

// splitRoom is how many more rests than there can be have room.
const splitRoom = 8

// mostRests is how many rests m rows have at most: two for each four bytes.
func mostRests(m, steps int) int { return m*blocksOf(steps)*(2*blockBytes/4) + splitRoom }

// blocksOf is how many blocks a row of so many groups has.
func blocksOf(steps int) int { return (steps + blockSteps - 1) / blockSteps }

// splitsLen is how many floats the splits of m rows take, with so many rests.
func splitsLen(m, rests int) int { return 2*(m+1) + blockBytes/floatBytes + m + 2*rests }

// splitRow is the distance of rows of so many groups.
func splitRow(steps int) int { return unlike(blocksOf(steps) * blockSteps * groupWords) }

// splits finds those of m rows of so many groups. Wide rows have no rests.
func (f *Format) splits(data []float32, m, steps int) (s splits) {
	row, most := splitRow(steps), mostRests(m, steps)
	if f.left == leftWide {
		row, most = unlike(steps*wideWords), 0
	}
	data = data[m*row:][:splitsLen(m, most)]
	s.starts, data = as[int](data)[:m+1], data[2*(m+1):]
	s.last, data = as[uint8](data)[:blockBytes], data[blockBytes/floatBytes:]
	s.sums, data = Ints(data)[:m], data[m:]
	s.values, s.quads = Ints(data)[:most], Ints(data)[most:]
	return s
}

// leftSplits lays out m rows of k bytes, whose bits are flipped, by the caps of packed.
func (f *Format) leftSplits(dst []float32, a View[uint8], m, k int, flip uint8, packed []float32) Matrix {
	steps := f.steps(k)
	s, ld, next := f.splits(dst, m, steps), splitRow(steps), 0
	for i := range m {
		s.starts[i], s.sums[i] = next, 0
		if k > 0 {
			next = f.splitBytes(&s, i, as[uint8](dst[i*ld:]), a.Data[i*a.Row:][:k], flip, as[int16](packed))
		}
		if f.wide != nil && i+1 >= min(m, sampleRows) && 5*next > 3*(i+1)*steps*groupBytes/4 {
			return f.wide.leftWide(dst, a, m, k, flip)
		}
	}
	s.starts[m] = next
	return Matrix{Data: dst, Row: ld, Col: groupWords}
}

// sampleRows is of how many rows on rests tell what there will be.
const sampleRows = 4

// leftWide lays out m rows of k bytes, whose bits are flipped, as integers of 16 bits: of
// each four bytes the first and third, then the second and fourth.
func (f *Format) leftWide(dst []float32, a View[uint8], m, k int, flip uint8) Matrix {
	steps := f.steps(k)
	s, ld := f.splits(dst, m, steps), unlike(steps*wideWords)
	clear(s.starts)
	for i := range m {
		s.sums[i] = widenRow(as[uint32](dst[i*ld:][:steps*wideWords]), a.Data[i*a.Row:][:k], flip)
	}
	return Matrix{Data: dst, Row: ld, Col: wideWords}
}

// widenRow writes one row, and zeros behind it, and returns the sum of the row.
func widenRow(dst []uint32, src []uint8, flip uint8) (sum int32) {
	flips := uint32(flip) * 0x01010101
	n := len(src) / quad
	for i := range n {
		four := binary.LittleEndian.Uint32(src[quad*i:]) ^ flips
		first, second := int32(int8(four)), int32(int8(four>>8))
		third, fourth := int32(int8(four>>16)), int32(int8(four>>24))
		dst[2*i] = uint32(first)&0xffff | uint32(third)<<16
		dst[2*i+1] = uint32(second)&0xffff | uint32(fourth)<<16
		sum += first + second + third + fourth
	}
	clear(dst[2*n:])
	for i, b := range src[quad*n:] {
		x := int32(int8(b ^ flip))
		dst[2*n+i%2] |= uint32(x) & 0xffff << (16 * (i / 2))
		sum += x
	}
	return sum
}

// splitBytes takes a row apart: its whole blocks, and what follows them in a block that
// is filled up with zeros. It returns where the next row's rests begin.
func (f *Format) splitBytes(s *splits, row int, dst, src []uint8, flip uint8, caps []int16) int {
	next, whole := s.starts[row], len(src)/blockBytes
	take := func(src []uint8, from, blocks int) {
		if blocks == 0 {
			return
		}
		count, sum := f.split.row(&dst[from*blockSteps*groupWords*floatBytes], &src[0], &caps[from*blockCaps],
			&s.values[next], &s.quads[next], from*blockBytes/4, blocks, int(flip)*0x01010101)
		next += count
		s.sums[row] += int32(sum)
	}
	take(src, 0, whole)
	if rest := src[whole*blockBytes:]; len(rest) > 0 {
		for i := copy(s.last, rest); i < len(s.last); i++ {
			s.last[i] = flip
		}
		take(s.last, whole, 1)
	}
	return next
}

// place is where an element of a slice is, or would be.
func place[E any](s []E, i int) uintptr {
	var e E
	return uintptr(unsafe.Pointer(unsafe.SliceData(s))) + uintptr(i)*unsafe.Sizeof(e)
}
