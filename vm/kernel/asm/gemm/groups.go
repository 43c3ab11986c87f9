package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tiles of int8Groups go along k by groups: four lines of the panel, and five times four
// bytes of each row of A, the last of which are two integers of 16 bits that centre the
// sums of the group. Those are sums of 16 bits, one register for each of the tile's, which
// leaves no register for sums of 32: of a high tile they lie in the frame, and are added to
// once a group.

const (
	groupSteps = 4              // lines of a panel in a group
	groupWords = groupSteps + 1 // times four bytes of A
)

// highGroups is how many rows a tile has at least that keeps its sums in the frame.
const highGroups = 4

// groupProducts is products for a tile of groups.
func (t *tile) groupProducts() {
	sums := t.frameSums()
	t.b.p = t.field(fieldB)
	t.findLeft()
	k := t.field(fieldK)
	t.next = t.field(fieldNext)
	hop := t.field(fieldHop)
	t.TESTQ(k, k)
	t.JEQ(LabelRef("multiplied"))
	t.Label("group")
	t.PREFETCHT1(Mem{Base: t.next})
	t.PREFETCHT1(Mem{Base: t.next, Disp: 64})
	t.ADDQ(hop, t.next)
	if t.widened {
		t.wideGroup()
	} else {
		t.group(sums)
	}
	t.ADDQ(U32(groupSteps*64), t.b.p)
	t.leftAdvance(t.groupStride())
	t.DECQ(k)
	t.JNE(LabelRef("group"))
	t.Label("multiplied")
	t.backFromFrame(sums)
}

// groupStride is the bytes from one group of A to the next.
func (t *tile) groupStride() int {
	if t.widened {
		return wideWords * t.dense.stride(t)
	}
	return groupWords * t.dense.stride(t)
}

// frameSums puts the sums of a high tile into the frame; the place has no base for others.
func (t *tile) frameSums() Mem {
	if t.height < highGroups || t.widened {
		return Mem{}
	}
	const line = 32
	frame := t.AllocLocal(line*2*t.height + line)
	p := t.GP64()
	t.LEAQ(frame, p)
	t.ADDQ(Imm(line-1), p)
	t.ANDQ(I8(-line), p)
	sums := Mem{Base: p}
	t.each(func(i, v int) { t.VMOVDQU(t.sums[i][v], groupSum(sums, i, v)) })
	return sums
}

// groupSum is a register of sums in the frame.
func groupSum(sums Mem, i, v int) Mem { return sums.Offset(32 * (2*i + v)) }

func (t *tile) backFromFrame(sums Mem) {
	if sums.Base == nil {
		return
	}
	t.each(func(i, v int) {
		t.sums[i][v] = t.YMM()
		t.VMOVDQU(groupSum(sums, i, v), t.sums[i][v])
	})
}

// group is one group.
func (t *tile) group(sums Mem) {
	words := make([][2]reg.VecVirtual, t.height)
	for i := range words {
		words[i] = [2]reg.VecVirtual{t.YMM(), t.YMM()}
	}
	for s := range groupSteps {
		b := [2]reg.VecVirtual{t.YMM(), t.YMM()}
		for v, r := range b {
			t.VMOVDQU(Mem{Base: t.b.p, Disp: 64*s + 32*v}, r)
		}
		for i, w := range words {
			a := t.YMM()
			t.VPBROADCASTD(t.denseA(i, s), a)
			for v, r := range b {
				if s == 0 {
					t.VPMADDUBSW(a, r, w[v])
					continue
				}
				products := t.YMM()
				t.VPMADDUBSW(a, r, products)
				t.VPADDW(products, w[v], w[v])
			}
		}
	}
	for i, w := range words {
		a := t.YMM()
		t.VPBROADCASTD(t.denseA(i, groupSteps), a)
		for _, r := range w {
			t.VPADDW(a, r, r)
		}
	}
	ones := t.YMM()
	t.VMOVDQU(consts(t.Context, onesWords), ones)
	for i, w := range words {
		for v, r := range w {
			t.VPMADDWD(ones, r, r)
			if sums.Base == nil {
				t.VPADDD(r, t.sums[i][v], t.sums[i][v])
				continue
			}
			t.VPADDD(groupSum(sums, i, v), r, r)
			t.VMOVDQU(r, groupSum(sums, i, v))
		}
	}
}

// wideWords is how many times four bytes of A a group takes whose bytes are integers of 16
// bits: of each four bytes the first and third, then the second and fourth.
const wideWords = 2 * groupSteps

// wideGroup is a group of integers of 16 bits in A, which the bytes of the panel become on
// the way to a register, so that no sum leaves 32 bits.
func (t *tile) wideGroup() {
	for s := range groupSteps {
		for half := range 2 {
			b := [2]reg.VecVirtual{t.YMM(), t.YMM()}
			for v, r := range b {
				t.VMOVDQU(Mem{Base: t.b.p, Disp: 64*s + 32*v}, r)
				if half == 0 {
					t.VPAND(NewDataAddr(NewStaticSymbol("low"), 0), r, r)
				} else {
					t.VPSRLW(Imm(8), r, r)
				}
			}
			for i := range t.height {
				a, products := t.YMM(), t.YMM()
				t.VPBROADCASTD(t.denseA(i, 2*s+half), a)
				t.VPMADDWD(a, b[0], products)
				t.VPMADDWD(a, b[1], a)
				t.VPADDD(products, t.sums[i][0], t.sums[i][0])
				t.VPADDD(a, t.sums[i][1], t.sums[i][1])
			}
		}
	}
}

// lowTable holds the low bytes of integers of 16 bits.
func lowTable(c *Context) {
	c.StaticGlobal("low")
	c.DataAttributes(24) // RODATA|NOPTR
	for i := range 4 {
		c.AddDatum(8*i, U64(0x00ff00ff00ff00ff))
	}
}

// groupTiles writes the tiles of groups: of all heights by rows in one piece, of those
// that stand among others also by rows side by side.
func groupTiles(c *Context, v vectors, o operands) {
	for rows := 1; rows <= v.rows; rows++ {
		for _, d := range []*dense{inRows, inTiles} {
			if d.tiled && rows < v.rows/2 {
				continue
			}
			t := newTile(c, v, o, rows, 1)
			t.dense = d
			t.write()
		}
	}
	laneTable(c, 2*v.lanes())
}
