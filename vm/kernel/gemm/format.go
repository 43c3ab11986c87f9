package gemm

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// A Kind says of what numbers a product of low precision is.
type Kind uint8

const (
	BF16 Kind = iota // both operands are bf16, sums are floats
	F16              // the right operand is f16, the left one floats, sums are floats
	Int8             // bytes without a sign by bytes with one, sums are integers of 32 bits
	kinds
)

// A Format is how a level multiplies operands of a kind. Panels of B hold Deep
// neighbours along k side by side:
//
//	bf16 (AVX-512)        [N/32][K/2][32][2]   pairs meet pairs of bf16 in A, where that is
//	                                           fast (isa.FastBF16); else as the next
//	bf16, f16             [N/w][K][w]          widened on the way to a register, by the first
//	                                           of some tiles for all, or panel by panel; A
//	                                           has floats
//	int8 (AVX-512 VNNI)   [N/32][K/4][32][4]   quads, 128 more than B, meet quads of bytes in A
//	int8 (AVX-VNNI)       [N/16][K/4][16][4]   the same
//	int8 (AVX2)           [N/16][K/4][16][4]   the same; see splitter.
//	                                           A step is a group of four quads
//	int8                  [N/w][K/2][w][2]     pairs meet pairs of 16 bits in A
//
// What is missing of the last pair or quad is zero in A. A and B are kept
// as floats whatever they hold, and Mul counts four bytes of A, or a group, as a step;
// that is how one driver runs all kinds.
//
// Numbers: sums of bf16 and f16 are those of floats (see Run), since products of
// two of them are exact in a float's product and sum; pairs of bf16 add the odd
// element's product, then the even one's, and count subnormal numbers and sums as
// zero, as VDPBF16PS does. The error is at most k·2^-23 of the sum of the absolute
// products either way, and for pairs k·2^-126 more. Sums of bytes are exact and wrap
// at 2^31, from K = 66000 on.
type Format struct {
	name  string // of the layout
	level isa.Level
	kind  Kind
	set   *kernels
	deep  int       // elements along k in a step
	twos  bool      // rows of panels stand side by side in twos, though a step is one element
	left  left      // how A is kept
	split *splitter // of leftSplit
	wide  *Format   // of leftSplit, for left operands that are large throughout; nil: there is none
	// widen makes floats of rows of a panel, for kernels of floats; nil: set reads panels as
	// they are.
	widen func(level isa.Level, dst []float32, src []uint16)
	// keeps are tiles of set, by height, that leave the floats of their panel in memory: the
	// first of several in a block, of which the others are those of floats. nil: there are none.
	keeps *[mostRows + 1]func(*tile)
}

// left is what four bytes of A are.
type left uint8

const (
	leftFloat left = iota // a float
	leftPair              // two bf16
	leftWords             // two integers of 16 bits
	leftQuad              // four bytes with a sign
	leftSplit             // the same, taken apart
	leftWide              // the same as integers of 16 bits, of which four bytes hold two
)

// FormatOf is the format of a level, which the processor must have. Of AVX512 it is
// the best that the processor's extensions allow.
func FormatOf(level isa.Level, kind Kind) *Format { return formats[kind][level] }

// Kind says of what numbers the format is.
func (f *Format) Kind() Kind { return f.kind }

// Layout names the layout of packed matrices: "bf16 pairs/32".
func (f *Format) Layout() string { return f.name }

// Width is how many columns a panel has.
func (f *Format) Width() int { return f.set.width }

// Rows is how many rows of A the largest tile has.
func (f *Format) Rows() int { return f.set.rows }

// size is the bytes of an element of B.
func (f *Format) size() int {
	if f.kind == Int8 {
		return 1
	}
	return 2
}

// steps is how many times four bytes of A a row of k elements has.
func (f *Format) steps(k int) int { return (k + f.deep - 1) / f.deep }

// fewWide is how many rows of A a block has at most whose tiles all widen panels in registers:
// one tile with AVX-512. Of two with AVX2 the first wrote as long as the second saved: 12 rows
// by 1536 columns of 384 took 1.0 to 1.1 times as long on an Emerald Rapids.
const fewWide = 12

// kernels are those for a block of so many rows of A, and whether its panels become floats.
func (f *Format) kernels(rows int) (set *kernels, widens bool) {
	if f.keeps != nil && rows > fewWide {
		return at(f.level), true
	}
	return f.set, f.widen != nil
}

// beside is how many elements of a column stand side by side in a panel.
func (f *Format) beside() int {
	if f.twos {
		return 2
	}
	return f.deep
}

// panelRows is how many elements a column of a panel has.
func (f *Format) panelRows(k int) int { return (k + f.beside() - 1) / f.beside() * f.beside() }

// panel is how many floats a panel of k rows takes.
func (f *Format) panel(k int) int { return f.panelRows(k) / f.deep * f.line() }

// Depth is how deep a product of k elements is as Blocks count: by four bytes of A, or by
// floats where A has those.
func (f *Format) Depth(k int) int { return f.steps(k) * max(f.set.words()-1, 1) }

// line is how many floats a step of a panel takes, deep elements of each column.
func (f *Format) line() int { return f.set.width * f.deep * f.size() / floatBytes }

// PackedLen is how many floats a packed matrix of k rows and n columns takes.
func (f *Format) PackedLen(k, n int) int {
	w := f.set.width
	return f.head(k) + (n+w-1)/w*f.panel(k)
}

// head is how many floats stand in front of packed panels of k rows.
func (f *Format) head(k int) int {
	if !f.LeftByRight() {
		return 0
	}
	return capsLen(f.steps(k))
}

// A View is a matrix of other elements than floats: element (i, j) is
// Data[i*Row+j*Col].
type View[E any] struct {
	Data     []E
	Row, Col int
}

// PackHalves packs a matrix of k rows and n columns of bf16 or f16, by the format's
// kind, into dst, which has PackedLen floats.
func (f *Format) PackHalves(dst []float32, b View[uint16], k, n int) {
	packNarrow(as[uint16](dst), f.set.width, f.beside(), f.panelRows(k), b, k, n, 0)
}

// PackBytes packs bytes with a sign.
func (f *Format) PackBytes(dst []float32, b View[int8], k, n int) {
	if f.left != leftSplit {
		flip := uint32(0)
		if f.left == leftQuad {
			flip = signBits
		}
		packNarrow(as[int8](dst), f.set.width, f.deep, f.steps(k)*f.deep, b, k, n, flip)
		return
	}
	// Rows of the last group that do not exist meet zeros.
	whole := dst[f.head(k):]
	packNarrow(as[int8](whole), f.set.width, quad, f.steps(k)*f.deep, b, k, n, signBits)
	f.packCaps(dst[:f.head(k)], as[uint8](whole), k, n)
}

// quad is how many neighbours along k are multiplied by one instruction.
const quad = 4

// signBits turn four bytes with a sign into ones without that are 128 more, and back.
const signBits = 0x80808080

// LeftLen is how many floats the left operand takes: m rows of k elements.
func (f *Format) LeftLen(m, k int) int {
	n := m * f.leftRow(k)
	switch f.left {
	case leftSplit:
		n += splitsLen(m, mostRests(m, f.steps(k)))
	case leftQuad:
		n += m
	}
	return n
}

// leftRow is the distance of the left operand's rows.
func (f *Format) leftRow(k int) int {
	if f.left == leftSplit {
		return splitRow(f.steps(k))
	}
	return unlike(f.steps(k))
}

// LeftByRight reports whether what a left operand of bytes is laid out as depends on the
// right one.
func (f *Format) LeftByRight() bool { return f.left == leftSplit }

// widener makes floats of the format's halves.
func (f *Format) widener() func(level isa.Level, dst []float32, src []uint16) {
	if f.kind == F16 {
		return narrow.FromF16
	}
	return narrow.FromBF16
}

// LeftHalves lays out m rows of k bf16 or f16, by the format's kind, in dst, which
// has LeftLen floats. The rows of a are in one piece each: a.Col is 1.
func (f *Format) LeftHalves(dst []float32, a View[uint16], m, k int) Matrix {
	widen := f.widener()
	return leftRows(f, dst, a, m, k, func(row []float32, src []uint16) {
		if f.left == leftFloat {
			widen(f.level, row, src)
			return
		}
		halves := as[uint16](row)
		clear(halves[copy(halves, src):])
	})
}

// LeftSigned lays out m rows of k bytes with a sign like LeftHalves, for a product with
// what PackBytes has made of a matrix; the format adds Shift to each. Behind quads stands
// what the sums of each row begin with.
func (f *Format) LeftSigned(dst []float32, a View[int8], m, k int, packed []float32) Matrix {
	if f.left == leftWords {
		return leftRows(f, dst, a, m, k, func(row []float32, src []int8) {
			words := as[int16](row)
			narrow.WidenSigned(f.level, words[:k], src)
			clear(words[k:])
		})
	}
	bytes := View[uint8]{as8[uint8](a.Data), a.Row, a.Col}
	if f.left == leftSplit {
		return f.leftSplits(dst, bytes, m, k, 0, packed)
	}
	return f.leftQuads(dst, bytes, m, k, 0)
}

// LeftBytes is LeftSigned for bytes without a sign.
func (f *Format) LeftBytes(dst []float32, a View[uint8], m, k int, packed []float32) Matrix {
	if f.left == leftWords {
		return leftRows(f, dst, a, m, k, func(row []float32, src []uint8) {
			words := as[int16](row)
			narrow.Widen(f.level, words[:k], src)
			clear(words[k:])
		})
	}
	if f.left == leftSplit {
		return f.leftSplits(dst, a, m, k, signBits&0xff, packed)
	}
	return f.leftQuads(dst, a, m, k, signBits&0xff)
}

// HalvesInPlace views rows of halves as a left operand where they lie: where the format
// takes them as they are and they come in whole pairs. a.Col is 1.
func (f *Format) HalvesInPlace(a View[uint16], k int) (Matrix, bool) {
	if f.left != leftPair {
		return Matrix{}, false
	}
	const deep = 2
	at := uintptr(unsafe.Pointer(unsafe.SliceData(a.Data)))
	if k%deep != 0 || a.Row%deep != 0 || at%floatBytes != 0 || len(a.Data) < deep {
		return Matrix{}, false
	}
	data := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(a.Data))), len(a.Data)/deep)
	return Matrix{Data: data, Row: a.Row / deep, Col: 1}, true
}

// Widens reports whether products widen left operands on the way; see HalvesOnTheWay.
func (f *Format) Widens() bool { return f.kind != Int8 && f.left == leftFloat }

// HalvesOnTheWay views rows of halves as a left operand for Mul, which widens them where it
// copies it for its blocks, so that they need no memory of their own. The format Widens, and
// a.Col is 1.
func (f *Format) HalvesOnTheWay(a View[uint16]) Matrix {
	return Matrix{halves: a.Data, Row: a.Row, Col: 1}
}

// leftRows lays out rows one by one.
func leftRows[E any](f *Format, dst []float32, a View[E], m, k int, row func([]float32, []E)) Matrix {
	ld, steps := f.leftRow(k), f.steps(k)
	for i := range m {
		row(dst[i*ld:][:steps], a.Data[i*a.Row:][:k])
	}
	return Matrix{Data: dst, Row: ld, Col: 1}
}

// Product is the product of a left operand in the format and a packed one. It has
// neither C nor Tail yet. Its K is in steps, and so are its Blocks.
func (f *Format) Product(m, n, k int, a Matrix, packed []float32) Product {
	of := f
	if f.wide != nil && a.Col == wideWords {
		of = f.wide
	}
	return Product{
		M: m, N: n, K: f.steps(k), A: a, format: of,
		Panels: Panels{Data: packed[f.head(k):], Panel: f.panel(k), Line: f.line()},
	}
}

// widened makes floats of count panels of k rows, at distances of panels of floats.
func (f *Format) widened(dst []float32, b Panels, first, count, k int) Panels {
	rows, w := f.panelRows(k), f.set.width
	for p := range count {
		src := as[uint16](b.From(first+p, 0).Data)
		f.widen(f.level, dst[p*rows*w:][:rows*w], src[:rows*w])
	}
	return Panels{Data: dst, Panel: rows * w, Line: w}
}

// Ints views what a product of Int8 leaves in C, and gives to its tail, as the
// integers that it is.
func Ints(c []float32) []int32 { return as[int32](c) }

// as8 views bytes as bytes with a sign or without.
func as8[E, F int8 | uint8](s []F) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// as views floats as smaller numbers, or others of four bytes.
func as[E any](s []float32) []E {
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*floatBytes/int(unsafe.Sizeof(e)))
}
