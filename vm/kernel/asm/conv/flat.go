package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of conv.flats, at their offsets.
const (
	flatX       = 8 * iota // what the first place sees
	flatOffsets            // by k: bytes from a place to what it sees
	flatW                  // filters: by k, one number of each
	flatY                  // places of the first filter
	flatYNext              // bytes from one filter's places to the next
	flatRest               // a residual that lies as y does; 0: there is none
	flatSteps              // of the first filter's channel
	flatLd                 // bytes from one step to the next
	flatHas                // which steps there are: hasBias, hasNorm
	flatDepth              // k
	flatTiles              // of places; it goes down to 0
	flatOver               // places behind the last whole tile
	flatMasks              // AVX2: of the last eight of them
	flatLo                 // eight floats
	flatHi      = flatLo + 32
)

const (
	hasBias = 1 << iota // the first step
	hasNorm             // the others
)

// flatRows is how many filters are under way at a time, at most.
const flatRows = 6

// flatWide is how many registers of places are: AVX2 has sixteen registers, of which
// twelve are sums.
var flatWide = map[string]int{"AVX2": 2, "AVX512": 4}

// flat writes a function for each number of filters.
func flat(c *Context) {
	for _, l := range levels {
		for n := 1; n <= flatRows; n++ {
			(&flatter{Context: c, level: l, rows: n}).write()
		}
	}
	scaleRows(c)
}

// A flatter is a function that is being written: filters by rows of places, which are
// neighbours where they lie.
type flatter struct {
	*Context
	level
	rows int
	at   reg.GPVirtual
	x, y reg.GPVirtual
	rest reg.GPVirtual
	sums [][]reg.VecVirtual // by filter
}

func (f *flatter) write() {
	name := fmt.Sprintf("flat%d%s", f.rows, f.name)
	f.Function(name)
	f.Pragma("noescape")
	f.Signature(gen.Pointer("conv", "p", "flats"))
	f.Doc(fmt.Sprintf("%s sums up what neighbouring places see times %d filters, and stores it by way of an ending.", name, f.rows))
	f.at = f.Load(f.Param("p"), f.GP64()).(reg.GPVirtual)
	f.x, f.y, f.rest = f.field(flatX), f.field(flatY), f.field(flatRest)
	wide := flatWide[f.name]
	f.sums = make([][]reg.VecVirtual, f.rows)
	for r := range f.sums {
		f.sums[r] = f.vecs(f.Context, wide)
	}
	f.CMPQ(Mem{Base: f.at, Disp: flatTiles}, Imm(0))
	f.JE(LabelRef("over"))
	f.Label("tile")
	f.tile("tile", wide, f.whole(wide))
	f.DECQ(Mem{Base: f.at, Disp: flatTiles})
	f.JNE(LabelRef("tile"))
	f.Label("over")
	if f.bytes == 64 {
		f.overAVX512()
	} else {
		f.overAVX2()
	}
	f.Label("done")
	end(f.Context)
}

func (f *flatter) field(offset int) reg.GPVirtual {
	r := f.GP64()
	f.MOVQ(Mem{Base: f.at, Disp: offset}, r)
	return r
}

// An access is how a register of places is loaded and stored.
type access struct {
	load  func(from Mem, to reg.VecVirtual)
	store func(from reg.VecVirtual, to Mem)
}

func (f *flatter) whole(n int) []access {
	list := make([]access, n)
	for i := range list {
		list[i] = access{
			func(from Mem, to reg.VecVirtual) { f.VMOVUPS(from, to) },
			func(from reg.VecVirtual, to Mem) { f.VMOVUPS(from, to) },
		}
	}
	return list
}

// overAVX2 is what is left of a tile of sixteen places: eight and some, or some.
func (f *flatter) overAVX2() {
	over, masks := f.field(flatOver), f.field(flatMasks)
	f.TESTQ(over, over)
	f.JE(LabelRef("done"))
	masked := access{
		func(from Mem, to reg.VecVirtual) {
			f.VMOVUPS(Mem{Base: masks}, to) // a register of its own would be one too many
			f.VMASKMOVPS(from, to, to)
		},
		func(from reg.VecVirtual, to Mem) {
			mask := f.YMM()
			f.VMOVUPS(Mem{Base: masks}, mask)
			f.VMASKMOVPS(from, mask, to)
		},
	}
	f.CMPQ(over, Imm(8))
	f.JLE(LabelRef("few"))
	f.tile("two", 2, append(f.whole(1), masked))
	f.JMP(LabelRef("done"))
	f.Label("few")
	f.tile("one", 1, []access{masked})
}

// overAVX512 is what is left of a tile of 64 places, by 32 at a time.
func (f *flatter) overAVX512() {
	over := f.field(flatOver)
	f.TESTQ(over, over)
	f.JE(LabelRef("done"))
	f.Label("next")
	ones, bits := f.GP64(), f.GP64()
	f.MOVQ(I32(-1), ones)
	f.BZHIQ(over, ones, bits)
	masks := []reg.OpmaskVirtual{f.K(), f.K()}
	for i, k := range masks {
		if i > 0 {
			f.SHRQ(Imm(16), bits)
		}
		f.KMOVW(bits.As32(), k)
	}
	list := make([]access, len(masks))
	for i, k := range masks {
		list[i] = access{
			func(from Mem, to reg.VecVirtual) { f.VMOVUPS_Z(from, k, to) },
			func(from reg.VecVirtual, to Mem) { f.VMOVUPS(from, k, to) },
		}
	}
	f.tile("some", len(list), list)
	f.SUBQ(Imm(32), over)
	f.JG(LabelRef("next"))
}

// tile is a number of registers of places by all filters.
func (f *flatter) tile(label string, wide int, by []access) {
	sums := make([][]reg.VecVirtual, f.rows)
	for r := range sums {
		sums[r] = f.sums[r][:wide]
		for _, v := range sums[r] {
			f.clear(f.Context, v)
		}
	}
	f.products(label, sums, by)
	f.end(label, sums)
	f.store(label, sums, by)
	f.ADDQ(U32(wide*f.bytes), f.x)
	f.ADDQ(U32(wide*f.bytes), f.y)
}

// products adds k times what the places see and a number of each filter.
func (f *flatter) products(label string, sums [][]reg.VecVirtual, by []access) {
	offsets, w, k := f.field(flatOffsets), f.field(flatW), f.field(flatDepth)
	goOn := func(n int) {
		f.ADDQ(Imm(uint64(8*n)), offsets)
		f.ADDQ(Imm(uint64(4*n*f.rows)), w)
	}
	f.SUBQ(Imm(unroll), k)
	f.JLT(LabelRef(label + "_rest"))
	f.Label(label + "_four")
	for s := range unroll {
		f.product(sums, by, offsets, w, s)
	}
	goOn(unroll)
	f.SUBQ(Imm(unroll), k)
	f.JGE(LabelRef(label + "_four"))
	f.Label(label + "_rest")
	f.ADDQ(Imm(unroll), k)
	f.JEQ(LabelRef(label + "_multiplied"))
	f.Label(label + "_one")
	f.product(sums, by, offsets, w, 0)
	goOn(1)
	f.DECQ(k)
	f.JNE(LabelRef(label + "_one"))
	f.Label(label + "_multiplied")
}

// product is step s along k.
func (f *flatter) product(sums [][]reg.VecVirtual, by []access, offsets, w reg.GPVirtual, s int) {
	offset, row := f.GP64(), f.vecs(f.Context, len(by))
	f.MOVQ(Mem{Base: offsets, Disp: 8 * s}, offset)
	for v, x := range row {
		by[v].load(Mem{Base: f.x, Index: offset, Scale: 1, Disp: v * f.bytes}, x)
	}
	for r, sum := range sums {
		value := f.vec(f.Context)
		f.VBROADCASTSS(Mem{Base: w, Disp: 4 * (s*f.rows + r)}, value)
		for v, x := range row {
			f.VFMADD231PS(x, value, sum[v])
		}
	}
}

// end takes the sums through the steps of their channels.
func (f *flatter) end(label string, sums [][]reg.VecVirtual) {
	steps, ld, has := f.field(flatSteps), f.field(flatLd), f.field(flatHas)
	e := ender{Context: f.Context}
	step := func(i int) {
		for r, sum := range sums {
			by := f.vec(f.Context)
			f.VBROADCASTSS(Mem{Base: steps, Disp: 4 * r}, by)
			for _, v := range sum {
				e.step(i, by, v)
			}
		}
		if i < stepCount-1 {
			f.ADDQ(ld, steps)
		}
	}
	f.TESTQ(U32(hasBias), has)
	f.JEQ(LabelRef(label + "_norm"))
	step(0)
	f.SUBQ(ld, steps)
	f.Label(label + "_norm")
	f.TESTQ(U32(hasNorm), has)
	f.JEQ(LabelRef(label + "_ended"))
	f.ADDQ(ld, steps)
	for i := 1; i < stepCount; i++ {
		step(i)
	}
	f.Label(label + "_ended")
}

// store adds the residual, keeps the sums within bounds and stores them.
func (f *flatter) store(label string, sums [][]reg.VecVirtual, by []access) {
	next := f.field(flatYNext)
	f.TESTQ(f.rest, f.rest)
	f.JEQ(LabelRef(label + "_hold"))
	from, other := f.GP64(), f.vec(f.Context)
	f.MOVQ(f.rest, from)
	for _, sum := range sums {
		for v, s := range sum {
			by[v].load(Mem{Base: from, Disp: v * f.bytes}, other)
			f.VADDPS(other, s, s)
		}
		f.ADDQ(next, from)
	}
	f.ADDQ(U32(len(by)*f.bytes), f.rest)
	f.Label(label + "_hold")
	lo, hi := f.vec(f.Context), f.vec(f.Context)
	f.VBROADCASTSS(Mem{Base: f.at, Disp: flatLo}, lo)
	f.VBROADCASTSS(Mem{Base: f.at, Disp: flatHi}, hi)
	to := f.GP64()
	f.MOVQ(f.y, to)
	e := ender{Context: f.Context}
	for _, sum := range sums {
		for v, s := range sum {
			e.hold(lo, hi, s)
			by[v].store(s, Mem{Base: to, Disp: v * f.bytes})
		}
		f.ADDQ(next, to)
	}
}

// scaleRows writes the rows that a Flat stages where they are multiplied.
func scaleRows(c *Context) {
	begin(c, "scaleRowsAVX2", "func(dst, src, factors *float32, rows, n, to, from int)",
		"writes rows of n floats, at least eight, to bytes apart: each is a row of src, which are from bytes apart, times its factor.")
	dst, src, factors := arg(c, "dst"), arg(c, "src"), arg(c, "factors")
	rows, n, to, from := arg(c, "rows"), arg(c, "n"), arg(c, "to"), arg(c, "from")
	factor, v, i := c.YMM(), c.YMM(), c.GP64()
	work := func(at Mem) {
		at.Base = src
		c.VMULPS(at, factor, v)
		at.Base = dst
		c.VMOVUPS(v, at)
	}
	c.Label("row")
	c.VBROADCASTSS(Mem{Base: factors}, factor)
	// The last register overlaps the one before.
	work(Mem{Index: n, Scale: 4, Disp: -32})
	c.MOVQ(U32(8), i)
	c.CMPQ(i, n)
	c.JGE(LabelRef("end"))
	c.Label("next")
	work(Mem{Index: i, Scale: 4, Disp: -32})
	c.ADDQ(Imm(8), i)
	c.CMPQ(i, n)
	c.JLT(LabelRef("next"))
	c.Label("end")
	c.ADDQ(Imm(4), factors)
	c.ADDQ(to, dst)
	c.ADDQ(from, src)
	c.DECQ(rows)
	c.JNE(LabelRef("row"))
	end(c)
}
