package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// The fields of attn.weightTile, at their offsets.
const (
	weightQ        = 8 * iota // queries
	weightRow                 // bytes from one of them to the next
	weightK                   // packed keys
	weightDeep                // floats of a query
	weightC                   // weights
	weightLdc                 // bytes from one row of weights to the next
	weightN                   // keys that are left
	weightSeen                // those of them that the first query may attend to
	weightStep                // how many more each query that follows may
	weightMask                // what is added; 0: nothing
	weightMaskRow             // bytes from one row of it to the next
	weightFirst               // 1: bases are found; 0: they are there
	weightMagic               // rows of 64 bytes: what turns a score into a power
	weightSums                // rows of 64 bytes: sums of weights
	weightAhead               // rows that will be wanted
	weightAheadRow            // bytes from one of them to the next
)

const (
	cacheLine, askedLines = 64, 4
	magicRow, sumRow      = 64, 4 * sumLanes
	// baseKeys is how many keys a base is found from, baseAbove how far it lies above the
	// largest of their scores.
	baseKeys, baseAbove = 16, 32
	// weightFar is up to where scores may lie from 0 for bases to leave all sums exact.
	weightFar = 1 << 18
	// hiddenScore stands for scores that are hidden: far below all others, and not so far
	// that the polynomial of it leaves the range of floats.
	hiddenScore = -1e18
)

// weights writes the kernels of scores and their powers.
func weights(c *build.Context) {
	tiles(c, func(l *lanes.Level, rows int) {
		t := &weightTile{product: product{Level: l, sums: make([][2]reg.VecVirtual, rows)}}
		t.write()
	})
}

// A weightTile is a function that is being written: it goes through the panels of keys.
type weightTile struct {
	product
	mask reg.GPVirtual
}

func bits(f float64) uint32 { return math.Float32bits(float32(f)) }

func (t *weightTile) write() {
	rows := len(t.sums)
	t.begin(fmt.Sprint("weights", rows), "weightTile", fmt.Sprintf("computes the weights of %d queries, and adds them up.", rows))
	t.prepare(weightRow)
	t.b, t.mask = t.load(weightK), t.load(weightMask)
	t.Label("panel")
	t.ask()
	for _, s := range t.sums {
		t.Zero(s[:]...)
	}
	t.multiply(weightQ, weightDeep)
	t.TESTQ(t.mask, t.mask)
	t.JNE(LabelRef("masked"))
	t.Label("added")
	t.CMPQ(t.field(weightSeen), U8(t.line()/4))
	t.JLT(LabelRef("edge"))
	t.CMPQ(t.field(weightN), U8(t.line()/4))
	t.JLT(LabelRef("edge"))
	t.Label("whole")
	t.CMPQ(t.field(weightFirst), U8(0))
	t.JNE(LabelRef("first"))
	t.Label("based")
	t.weigh()
	t.SUBQ(U8(t.line()/4), t.field(weightSeen))
	t.ADDQ(U32(t.line()), t.field(weightC))
	t.SUBQ(U8(t.line()/4), t.field(weightN))
	t.JG(LabelRef("panel"))
	t.Label("end")
	t.End()
	t.Label("masked")
	t.add()
	t.JMP(LabelRef("added"))
	t.Label("edge")
	t.hide()
	t.JMP(LabelRef("whole"))
	t.Label("first")
	t.base()
	t.MOVQ(U32(0), t.field(weightFirst))
	t.JMP(LabelRef("based"))
}

// ask asks for some rows that lie far apart, a few lines of each, into the second cache.
func (t *weightTile) ask() {
	at, row := t.load(weightAhead), t.load(weightAheadRow)
	for range t.askedRows() {
		for i := range askedLines {
			t.PREFETCHT1(Mem{Base: at, Disp: cacheLine * i})
		}
		t.ADDQ(row, at)
	}
	t.MOVQ(at, t.field(weightAhead))
}

// askedRows is how many rows are asked for with each panel of keys: in an attention of 512
// queries and keys as many, over all panels, as a head has of all its operands.
func (t *weightTile) askedRows() int {
	if t.Wide {
		return 3
	}
	return 1
}

// add adds the mask. What is infinite in it becomes hidden.
func (t *weightTile) add() {
	at, row, low := t.GP64(), t.load(weightMaskRow), t.F32("hidden", bits(hiddenScore))
	t.MOVQ(t.mask, at)
	for i, s := range t.sums {
		for v, r := range s {
			t.VADDPS(Mem{Base: at, Disp: v * t.vector()}, r, r)
			t.VMAXPS(r, low, r)
		}
		if i+1 < len(t.sums) {
			t.ADDQ(row, at)
		}
	}
	t.ADDQ(U32(t.line()), t.mask)
}

// hide hides the keys that a query may not attend to, and those that are not there.
func (t *weightTile) hide() {
	n, seen, step, count := t.load(weightN), t.load(weightSeen), t.load(weightStep), t.GP64()
	low := t.Wide32("hidden", bits(hiddenScore))
	for _, s := range t.sums {
		t.MOVQ(n, count)
		t.CMPQ(seen, count)
		t.CMOVQLT(seen, count)
		for v, r := range s {
			t.below(count, v, r, low)
		}
		t.ADDQ(step, seen)
	}
}

// below replaces the lanes of a vector that are not below count by what is in memory.
func (t *weightTile) below(count reg.GPVirtual, v int, r reg.VecVirtual, fill Mem) {
	order := t.Order().Offset(v * t.vector())
	x, c := t.XMM(), t.Vec()
	t.VMOVD(count.As32(), x)
	t.VPBROADCASTD(x, c)
	if t.Wide {
		k := t.K()
		t.VPCMPD(U8(2), order, c, k) // count <= order
		t.VBROADCASTSS(fill, k, r)
		return
	}
	t.VPCMPGTD(order, c, c) // count > order
	other := t.Vec()
	t.VMOVUPS(fill, other)
	t.VBLENDVPS(c, r, other, r)
}

// base finds the rows' bases from the first keys' scores. Those of rows whose scores are
// too far off, or are no numbers, are NaN; if all are, the function ends.
func (t *weightTile) base() {
	to := t.load(weightMagic)
	far, signless := t.Wide32("weightFar", bits(weightFar)), t.Wide32("signless", 0x7fffffff)
	round, magic := t.Constant("nearest", U32(bits(3<<22))), t.Constant("weightMagic", U32(bits(3<<19-baseAbove)))
	least := t.XMM()
	t.VMOVUPS(signless, least)
	for i, s := range t.sums {
		x := t.largest(s)
		size, own := t.XMM(), t.XMM()
		t.VANDPS(signless, x, size)
		t.VPMINSD(size, least, least)
		t.VMOVSS(magic, own)
		t.VADDSS(round, x, x)
		t.VSUBSS(round, x, x)
		t.VSUBSS(x, own, own)
		t.spoil(far, size, own)
		spread := t.Vec()
		t.VBROADCASTSS(own, spread)
		t.VMOVUPS(spread, Mem{Base: to, Disp: magicRow * i})
	}
	all := t.GP32()
	t.VMOVD(least, all)
	t.CMPL(all, U32(bits(weightFar)))
	t.JG(LabelRef("end"))
}

// largest is the largest of the first sixteen scores of a row.
func (t *weightTile) largest(s [2]reg.VecVirtual) reg.VecVirtual {
	v, high := t.YMM(), t.XMM()
	x := v.AsX().(reg.VecVirtual)
	if t.Wide {
		t.VEXTRACTF64X4(U8(1), s[0], v)
		t.VMAXPS(s[0].AsY(), v, v)
		t.VEXTRACTF32X4(U8(1), v, high)
	} else {
		t.VMAXPS(s[0], s[1], v)
		t.VEXTRACTF128(U8(1), v, high)
	}
	t.VMAXPS(high, x, x)
	t.VPERMILPD(U8(1), x, high)
	t.VMAXPS(high, x, x)
	t.VMOVSHDUP(x, high)
	t.VMAXPS(high, x, x)
	return x
}

// spoil makes what is of a size above a limit NaN.
func (t *weightTile) spoil(limit Mem, size, x reg.VecVirtual) {
	if t.Wide {
		k := t.K()
		t.VPCMPD(U8(6), limit, size, k) // size > limit
		t.VMOVUPS(t.Wide32("signless", 0x7fffffff), k, x)
		return
	}
	t.VPCMPGTD(limit, size, size)
	t.VORPS(size, x, x)
}

// weigh turns scores into powers of two, writes them, and adds them up.
func (t *weightTile) weigh() {
	c, ldc, magic, sums := t.load(weightC), t.load(weightLdc), t.load(weightMagic), t.load(weightSums)
	two := lanes.NewPowers(t.Level)
	free := 16 - 2*len(t.sums)
	if t.Wide {
		free += 16
	}
	for i, s := range t.sums {
		two.Keep(free - 4)
		two.Of(Mem{Base: magic, Disp: magicRow * i}, s[:]...)
		for v, r := range s {
			t.VMOVUPS(r, Mem{Base: c, Disp: v * t.vector()})
		}
		t.total(s, Mem{Base: sums, Disp: sumRow * i})
		if i+1 < len(t.sums) {
			t.ADDQ(ldc, c)
		}
		free += 2
	}
}

// total adds the weights of a row to its sums, which takes the registers of the weights.
func (t *weightTile) total(s [2]reg.VecVirtual, sums Mem) {
	t.VADDPS(sums, s[0], s[0])
	if t.Wide {
		t.VADDPS(s[1], s[0], s[0])
	} else {
		t.VADDPS(sums.Offset(t.vector()), s[1], s[1])
		t.VMOVUPS(s[1], sums.Offset(t.vector()))
	}
	t.VMOVUPS(s[0], sums)
}
