package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The left operands of int8Groups: sixteen bytes make a group, which has two sums of 16
// bits, one of the pairs of bytes with an even number and one of the others. Eight groups
// are a block, four registers.

// split writes what int8Groups needs beside its tiles.
func split(c *Context) {
	splitTables(c)
	newSplitter(c).write()
}

// Constants behind each other, 32 bytes each, and a table: for each set of eight lanes,
// in its bits, the numbers of its lanes.
const (
	onesBytes = 32 * iota
	onesWords
	limitWords // what a pair may sum up to
	highBytes  // what is left of one byte of a pair that sums up to more
	lowBytes   //
	eightInts
	zeroInts
)

func splitTables(c *Context) {
	c.StaticGlobal("consts")
	c.DataAttributes(24) // RODATA|NOPTR
	for at, bits := range []uint32{0x01010101, 0x00010001, 0x00800080, 0x40404040, 0xc0c0c0c0, 8, 0} {
		for i := range 8 {
			c.AddDatum(32*at+4*i, U32(bits))
		}
	}
	c.StaticGlobal("lanesOf")
	c.DataAttributes(24)
	for set := range 256 {
		lanes := uint64(0)
		for s, at := uint(set), 0; s != 0; at++ {
			lanes |= uint64(bits.TrailingZeros(s)) << (8 * at)
			s &= s - 1
		}
		c.AddDatum(8*set, U64(lanes))
	}
}

// consts is the place of constants.
func consts(c *Context, at int) Mem { return NewDataAddr(NewStaticSymbol("consts"), at) }

// What gemm.capsOf writes for a block, in bytes.
const (
	leastSquares = 0  // minus a quarter of what the squares of a sum's bytes may add up to
	highCaps     = 32 // what bytes are cut to where they add up to more
	lowCaps      = 64 // and where that is not enough
	blockCaps    = 96
)

// A splitter is the function that takes rows apart, which is being written.
type splitter struct {
	*Context
	src, dst, caps, values, quads, table, count reg.GPVirtual
	flip, at, sum                               reg.VecVirtual
}

func newSplitter(c *Context) *splitter { return &splitter{Context: c} }

// write emits the function.
func (s *splitter) write() {
	s.Function("splitRowAVX2")
	s.Pragma("noescape")
	s.SignatureExpr("func(dst, src *uint8, caps *int16, values, quads *int32, quad, blocks, flip int) (count, sum int)")
	s.Doc("splitRowAVX2 writes blocks of 128 bytes of src, with bits of each four flipped, as groups",
		"of which no sum of pairs leaves 16 bits. What it takes away it writes in fours, those that",
		"have some: to values, and to quads their numbers, of which the first is quad. Both have room",
		"for eight more. It returns how many there are, and the sum of what was taken away.")
	s.begin()
	blocks := s.arg("blocks")
	s.Label("block")
	s.DECQ(blocks)
	s.JLT(LabelRef("done"))
	a := s.load()
	for _, r := range a {
		s.cutPairs(r)
	}
	over := s.over(a)
	s.VPTEST(over, over)
	s.JEQ(LabelRef("write"))
	s.cut(a, over, highCaps)
	s.VMOVDQA(s.over(a), over)
	s.VPTEST(over, over)
	s.JEQ(LabelRef("twice"))
	s.cut(a, over, lowCaps)
	s.Label("twice")
	s.farRests(a)
	s.Label("write")
	s.groups(a)
	for j, r := range a {
		rest := s.rest(r, j)
		s.VPMINSB(consts(s.Context, highBytes), rest, rest)
		s.VPMAXSB(consts(s.Context, lowBytes), rest, rest)
		s.list(rest, j)
	}
	s.advance()
	s.JMP(LabelRef("block"))
	s.Label("done")
	s.Store(s.count, s.ReturnIndex(0))
	s.Store(addLanes(s.Context, s.sum), s.ReturnIndex(1))
	s.VZEROUPPER()
	s.RET()
}

func (s *splitter) arg(name string) reg.GPVirtual {
	return s.Load(s.Param(name), s.GP64()).(reg.GPVirtual)
}

func (s *splitter) begin() {
	s.dst, s.src, s.caps = s.arg("dst"), s.arg("src"), s.arg("caps")
	s.values, s.quads = s.arg("values"), s.arg("quads")
	s.at, s.flip, s.sum = s.spread("quad"), s.spread("flip"), s.YMM()
	s.VPXOR(s.sum, s.sum, s.sum)
	s.count, s.table = s.GP64(), s.GP64()
	s.XORQ(s.count, s.count)
	s.LEAQ(NewDataAddr(NewStaticSymbol("lanesOf"), 0), s.table)
}

// spread fills a register with the lower 32 bits of an argument.
func (s *splitter) spread(name string) reg.VecVirtual {
	x, y := s.XMM(), s.YMM()
	s.VMOVD(s.arg(name).As32(), x)
	s.VPBROADCASTD(x, y)
	return y
}

// load loads a block.
func (s *splitter) load() (a [4]reg.VecVirtual) {
	for j := range a {
		a[j] = s.YMM()
		s.VPXOR(Mem{Base: s.src, Disp: 32 * j}, s.flip, a[j])
	}
	return a
}

// pairs are the sums of pairs of bytes.
func (s *splitter) pairs(a reg.VecVirtual) reg.VecVirtual {
	ones, p := s.YMM(), s.YMM()
	s.VMOVDQU(consts(s.Context, onesBytes), ones)
	s.VPMADDUBSW(a, ones, p)
	return p
}

// cutPairs cuts the bytes of pairs that sum up to too much.
func (s *splitter) cutPairs(a reg.VecVirtual) {
	pairs, t := s.pairs(a), s.YMM()
	s.VPABSW(pairs, pairs)
	s.VPCMPGTW(consts(s.Context, limitWords), pairs, pairs)
	s.VPMINSB(consts(s.Context, highBytes), a, t)
	s.VPMAXSB(consts(s.Context, lowBytes), t, t)
	s.VPBLENDVB(pairs, t, a, a)
}

// over says, for the two sums of each group, whether the squares of their bytes add up to
// too much.
func (s *splitter) over(a [4]reg.VecVirtual) reg.VecVirtual {
	var quarters [4]reg.VecVirtual
	for j, r := range a {
		n, minus, q := s.YMM(), s.YMM(), s.YMM()
		s.VPABSB(r, n)
		s.VPXOR(minus, minus, minus)
		s.VPSUBB(n, minus, minus)
		s.VPMADDUBSW(minus, n, q) // no square of -128 as a byte with a sign
		s.VPSRAW(Imm(2), q, q)
		quarters[j] = q
	}
	least := s.YMM()
	s.VMOVDQU(Mem{Base: s.caps, Disp: leastSquares}, least)
	s.VPCMPGTW(s.bySum(quarters), least, least)
	return least
}

// bySum adds up what belongs to one sum: four neighbours of 32 bits in each half. The
// results of register j are number j in both halves.
func (s *splitter) bySum(q [4]reg.VecVirtual) reg.VecVirtual {
	two := func(unpackLow, unpackHigh func(ops ...Op), x, y reg.VecVirtual) reg.VecVirtual {
		low, high := s.YMM(), s.YMM()
		unpackLow(y, x, low)
		unpackHigh(y, x, high)
		s.VPADDW(high, low, low)
		return low
	}
	return two(s.VPUNPCKLQDQ, s.VPUNPCKHQDQ,
		two(s.VPUNPCKLDQ, s.VPUNPCKHDQ, q[0], q[1]),
		two(s.VPUNPCKLDQ, s.VPUNPCKHDQ, q[2], q[3]))
}

// cut cuts the bytes of some sums, to what caps say.
func (s *splitter) cut(a [4]reg.VecVirtual, of reg.VecVirtual, caps int) {
	for j, r := range a {
		high, low, mask := s.YMM(), s.YMM(), s.YMM()
		s.VPSHUFD(Imm(uint64(j*0x55)), Mem{Base: s.caps, Disp: caps}, high)
		s.VPXOR(low, low, low)
		s.VPSUBB(high, low, low)
		s.VPMAXSB(low, r, low)
		s.VPMINSB(high, low, low)
		s.VPSHUFD(Imm(uint64(j*0x55)), of, mask)
		s.VPBLENDVB(mask, low, r, r)
	}
}

// rest is what has been taken away.
func (s *splitter) rest(a reg.VecVirtual, j int) reg.VecVirtual {
	r := s.YMM()
	s.VPXOR(Mem{Base: s.src, Disp: 32 * j}, s.flip, r)
	s.VPSUBB(a, r, r)
	return r
}

// farRests lists what rests have beyond 64, which few have: a pair of them would be too
// much, as it is for tiles.
func (s *splitter) farRests(a [4]reg.VecVirtual) {
	any := s.YMM()
	s.VPXOR(any, any, any)
	far := func(j int) reg.VecVirtual {
		r, t := s.rest(a[j], j), s.YMM()
		s.VPMINSB(consts(s.Context, highBytes), r, t)
		s.VPMAXSB(consts(s.Context, lowBytes), t, t)
		s.VPSUBB(t, r, r)
		return r
	}
	for j := range a {
		s.VPOR(far(j), any, any)
	}
	s.VPTEST(any, any)
	s.JEQ(LabelRef("write"))
	for j := range a {
		s.list(far(j), j)
	}
}

// list writes the fours of register j that are not zero.
func (s *splitter) list(rest reg.VecVirtual, j int) {
	sum := s.pairs(rest)
	s.VPMADDWD(consts(s.Context, onesWords), sum, sum)
	s.VPADDD(sum, s.sum, s.sum)
	none, set, lanes, t := s.YMM(), s.GP64(), s.YMM(), s.YMM()
	s.VPCMPEQD(consts(s.Context, zeroInts), rest, none)
	s.VMOVMSKPS(none, set.As32())
	s.XORL(U32(255), set.As32())
	s.VPMOVZXBD(Mem{Base: s.table, Index: set, Scale: 8}, lanes)
	s.VPERMD(rest, lanes, t)
	s.VMOVDQU(t, Mem{Base: s.values, Index: s.count, Scale: 4})
	s.VPADDD(s.at, lanes, lanes)
	for range j {
		s.VPADDD(consts(s.Context, eightInts), lanes, lanes)
	}
	s.VMOVDQU(lanes, Mem{Base: s.quads, Index: s.count, Scale: 4})
	s.POPCNTL(set.As32(), set.As32())
	s.ADDQ(set, s.count)
}

// groups writes the groups of a block: sixteen bytes, and what brings their sums with
// bytes that are 128 too large to what they are: minus 128 times the sum of the bytes.
func (s *splitter) groups(a [4]reg.VecVirtual) {
	var pairs [4]reg.VecVirtual
	for j, r := range a {
		pairs[j] = s.pairs(r)
	}
	sums, centres := s.bySum(pairs), s.YMM()
	s.VPSLLW(Imm(7), sums, sums)
	s.VPXOR(centres, centres, centres)
	s.VPSUBW(sums, centres, centres)
	upper := s.XMM()
	s.VEXTRACTI128(Imm(1), centres, upper)
	for j, r := range a {
		even := Mem{Base: s.dst, Disp: 8 * groupWords * j}
		odd := even.Offset(4 * groupWords)
		s.VMOVDQU(r.AsX(), even)
		s.VEXTRACTI128(Imm(1), r, odd)
		s.VPEXTRD(Imm(uint64(j)), centres.AsX(), even.Offset(4*groupSteps))
		s.VPEXTRD(Imm(uint64(j)), upper, odd.Offset(4*groupSteps))
	}
}

// advance goes on to the next block.
func (s *splitter) advance() {
	for range 4 {
		s.VPADDD(consts(s.Context, eightInts), s.at, s.at)
	}
	s.SUBQ(I8(-128), s.src)
	s.ADDQ(U32(8*4*groupWords), s.dst)
	s.ADDQ(Imm(blockCaps), s.caps)
}

// addLanes is the sum of eight integers, with its sign.
func addLanes(c *Context, r reg.VecVirtual) reg.Register {
	x, y := r.AsX(), c.XMM()
	c.VEXTRACTI128(Imm(1), r, y)
	c.VPADDD(y, x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		c.VPSHUFD(Imm(order), x, y)
		c.VPADDD(y, x, x)
	}
	sum := c.GP64()
	c.VMOVD(x, sum.As32())
	c.MOVLQSX(sum.As32(), sum)
	return sum
}

// field loads a field of eight bytes of an argument.
func field(c *Context, arg reg.GPVirtual, offset int) reg.GPVirtual {
	r := c.GP64()
	c.MOVQ(Mem{Base: arg, Disp: offset}, r)
	return r
}

// multiplyAdd adds to eight sums the products of four bytes with a sign by four without
// one. The products use a register, which may be that of the latter; ones are sixteen
// integers.
func multiplyAdd(c *Context, signed, unsigned reg.VecVirtual, ones Op, products, sum reg.VecVirtual) {
	c.VPMADDUBSW(signed, unsigned, products)
	c.VPMADDWD(ones, products, products)
	c.VPADDD(products, sum, sum)
}
