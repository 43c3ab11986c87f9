package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of conv.windows, at their offsets.
const (
	windowsX      = 8 * iota // the first plane
	windowsBlank             // a row of padding
	windowsW                 // filters, one plane's after another
	windowsY                 // sums of the first plane
	windowsXNext             // bytes from one plane to the next
	windowsYNext             // and of sums
	windowsLine              // bytes of a row of x
	windowsPitch             // bytes of a row of sums
	windowsFirst             // the row of x that the first place sees first; it may be below 0
	windowsRows              // of x
	windowsGroups            // of rows of places
	windowsBlocks            // of a row, the last first
	windowsWide              // how many they are
	windowsPlanes            // it goes down to 0
	windowsBack              // rows of x that the last of several groups goes back
	windowsBackY             // and bytes of sums
	windowsAhead             // bytes from a row to that which the next group sees in its stead
	windowsSteps             // of the first plane's channel
	windowsLd                // bytes from one step to the next
	windowsHas               // which steps there are
	windowsLo                // eight floats
	windowsHi     = windowsLo + 32
	windowsWith   = windowsHi + 32             // the steps of a plane, eight floats each
	windowsSeen   = windowsWith + 32*stepCount // rows that a group of rows of places sees
)

// The fields of conv.windowBlock.
const (
	blockCol   = 8 * iota // bytes from the beginning of a row of x to what its first place sees first
	blockTo               // bytes from the beginning of a row of sums
	blockMasks            // AVX2: of what is loaded, one behind the other; 0: all of it is there
	blockBits             // AVX-512: bits for each register that is loaded, and for the sums
	blockBytes = blockBits + 2*8
)

// windows writes a function for each size of square windows, step, and number of rows of
// places that are under way at a time: four, so that there are enough sums for the latency
// of products, and two for what is left of rows in frequent cases. AVX-512 has registers for
// the sums of seven, which the sides of images are often multiples of, and half of its width
// for rows of eight places, of which it would be wasted.
func windows(c *Context) {
	order := c.ConstData("pairs", U64(0x07_05_03_01_06_04_02_00))
	half := level{"AVX512VL", 32, levels[0].vec, levels[0].clear}
	for _, by := range []struct {
		level
		most  bool
		rows  int
		kinds [][2]int // size and step
	}{
		{levels[0], false, 4, [][2]int{{3, 1}, {5, 1}, {7, 1}, {3, 2}, {5, 2}}},
		{levels[0], false, 2, [][2]int{{3, 1}, {5, 1}}},
		{levels[1], false, 7, [][2]int{{3, 1}, {5, 1}, {3, 2}, {5, 2}}},
		{levels[1], false, 4, [][2]int{{3, 1}, {5, 1}, {3, 2}, {5, 2}}},
		{half, false, 7, [][2]int{{3, 1}, {5, 1}, {3, 2}, {5, 2}}},
		{half, false, 4, [][2]int{{3, 1}, {5, 1}, {3, 2}, {5, 2}}},
		{levels[0], true, 4, [][2]int{{2, 2}, {3, 2}}},
		{levels[1], true, 4, [][2]int{{2, 2}, {3, 2}}},
	} {
		for _, k := range by.kinds {
			(&window{Context: c, level: by.level, most: by.most, size: k[0], step: k[1], rows: by.rows, order: order}).write()
		}
	}
}

// A window is a function that is being written: the sums of products of windows of
// planes, each by a filter of its own, or the largest elements of windows.
type window struct {
	*Context
	level
	most       bool
	size, step int
	rows       int // of places in a group
	at         reg.GPVirtual
	w          reg.GPVirtual
	order      Mem                // which pairs of places follow each other, where both halves have them in turns
	lowest     reg.VecVirtual     // than which nothing is less, where the largest is asked for
	kept       [][]reg.VecVirtual // rows of the filter, by column; the others are loaded as they are needed
}

// paired is whether blocks go by twos: elements of the filter are loaded for both.
func (w *window) paired() bool { return w.kept == nil && !w.most }

// chosen is whether there are masks of bits, and 32 registers.
func (w *window) chosen() bool { return w.name != levels[0].name }

func (w *window) field(offset int) reg.GPVirtual {
	r := w.GP64()
	w.MOVQ(Mem{Base: w.at, Disp: offset}, r)
	return r
}

// seen is how many rows of x a group sees.
func (w *window) seen() int { return w.size + w.step*(w.rows-1) }

// loads is how many registers a row of x is loaded into.
func (w *window) loads() int {
	if w.step == 1 {
		return w.size
	}
	return (w.size + 1) / 2 * 2
}

// load is number i of them: bytes behind what the first place sees first.
func (w *window) load(i int) int {
	if w.step == 1 {
		return 4 * i
	}
	return 4*(i/2*2) + i%2*w.bytes
}

func (w *window) write() {
	kind, doc := "windows", "%s sums up products of windows of %d x %[2]d, %d apart, and the filters of their planes, for groups of %d rows of places."
	if w.most {
		kind, doc = "most", "%s finds the largest elements of windows of %d x %[2]d, %d apart, for groups of %d rows of places."
	}
	name := fmt.Sprintf("%s%dBy%dRows%d%s", kind, w.size, w.step, w.rows, w.name)
	w.Function(name)
	w.Pragma("noescape")
	w.Signature(gen.Pointer("conv", "p", "windows"))
	w.Doc(fmt.Sprintf(doc, name, w.size, w.step, w.rows))
	w.at = w.Load(w.Param("p"), w.GP64()).(reg.GPVirtual)
	if w.most {
		w.lowest = w.spread(windowsLo)
	}
	y := w.GP64()
	w.Label("plane")
	w.w = w.field(windowsW)
	w.keep()
	w.steps()
	w.MOVQ(Mem{Base: w.at, Disp: windowsY}, y)
	first, groups := w.field(windowsFirst), w.field(windowsGroups)
	w.Label("group")
	w.see(first)
	block, wide := w.field(windowsBlocks), w.field(windowsWide)
	w.Label("block")
	if w.chosen() {
		w.chosenBlock(block, y)
	} else {
		w.block(block, wide, y)
	}
	w.ADDQ(Imm(blockBytes), block)
	w.DECQ(wide)
	w.JNE(LabelRef("block"))
	w.Label("row")
	w.ADDQ(Imm(uint64(w.rows*w.step)), first)
	down := w.GP64()
	w.IMUL3Q(Imm(uint64(w.rows)), Mem{Base: w.at, Disp: windowsPitch}, down)
	w.ADDQ(down, y)
	w.DECQ(groups)
	w.JEQ(LabelRef("planeDone"))
	w.CMPQ(groups, Imm(1))
	w.JNE(LabelRef("group"))
	w.SUBQ(Mem{Base: w.at, Disp: windowsBack}, first)
	w.SUBQ(Mem{Base: w.at, Disp: windowsBackY}, y)
	w.JMP(LabelRef("group"))
	w.Label("planeDone")
	w.next()
	w.JNE(LabelRef("plane"))
	end(w.Context)
}

// block is one block of AVX2, or two of those that go by pairs, which then goes on itself.
func (w *window) block(block, wide, y reg.GPVirtual) {
	if w.paired() {
		w.CMPQ(wide, Imm(2))
		w.JL(LabelRef("single"))
		w.pair(block, y)
		w.ADDQ(Imm(2*blockBytes), block)
		w.SUBQ(Imm(2), wide)
		w.JNE(LabelRef("block"))
		w.JMP(LabelRef("row"))
		w.Label("single")
	}
	masks, col, to := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(Mem{Base: block, Disp: blockCol}, col)
	w.MOVQ(Mem{Base: block, Disp: blockTo}, to)
	w.MOVQ(Mem{Base: block, Disp: blockMasks}, masks)
	w.ADDQ(y, to)
	w.TESTQ(masks, masks)
	w.JNE(LabelRef("edge"))
	w.store("whole", w.sums(w.whole, col), to)
	w.JMP(LabelRef("next"))
	w.Label("edge")
	w.store("edge", w.sums(w.masked(masks), col), to)
	w.Label("next")
}

// next goes to the next plane.
func (w *window) next() {
	for _, f := range [][2]int{{windowsX, windowsXNext}, {windowsY, windowsYNext}} {
		w.ADDQ(w.field(f[1]), Mem{Base: w.at, Disp: f[0]})
	}
	w.ADDQ(U32(4*w.size*w.size), Mem{Base: w.at, Disp: windowsW})
	w.ADDQ(Imm(4), Mem{Base: w.at, Disp: windowsSteps})
	w.DECQ(Mem{Base: w.at, Disp: windowsPlanes})
}

// steps lays out those of a plane.
func (w *window) steps() {
	w.CMPQ(Mem{Base: w.at, Disp: windowsHas}, Imm(0))
	w.JEQ(LabelRef("kept"))
	steps, ld, v := w.field(windowsSteps), w.field(windowsLd), w.YMM()
	for i := range stepCount {
		w.VBROADCASTSS(Mem{Base: steps}, v)
		w.VMOVUPS(v, Mem{Base: w.at, Disp: windowsWith + 32*i})
		w.ADDQ(ld, steps)
	}
	w.Label("kept")
}

// keep loads the filter if there are registers for it, of AVX-512 as many rows as there are
// registers for: what places see takes up to three.
func (w *window) keep() {
	rows := 0
	switch {
	case w.most:
	case w.chosen():
		rows = min(w.size, (32-3-w.rows)/w.size)
	case w.size <= 3:
		rows = w.size
	}
	for i := range rows {
		w.kept = append(w.kept, w.filterRow(i))
	}
}

func (w *window) filterRow(row int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, w.size)
	for j := range r {
		r[j] = w.filter(row, j)
	}
	return r
}

// filter loads one element into all lanes.
func (w *window) filter(row, col int) reg.VecVirtual {
	v := w.vec(w.Context)
	w.VBROADCASTSS(w.element(row, col), v)
	return v
}

func (w *window) element(row, col int) Mem { return Mem{Base: w.w, Disp: 4 * (row*w.size + col)} }

// see writes down where the rows that a group sees lie.
func (w *window) see(first reg.GPVirtual) {
	row, rows, line, from, blank := w.GP64(), w.field(windowsRows), w.field(windowsLine), w.GP64(), w.field(windowsBlank)
	w.MOVQ(first, row)
	w.MOVQ(first, from)
	w.IMULQ(line, from)
	w.ADDQ(Mem{Base: w.at, Disp: windowsX}, from)
	for i := range w.seen() {
		is := w.GP64()
		w.MOVQ(from, is)
		w.CMPQ(row, rows)
		w.CMOVQCC(blank, is) // rows below 0 are large without a sign
		w.MOVQ(is, Mem{Base: w.at, Disp: windowsSeen + 8*i})
		w.INCQ(row)
		w.ADDQ(line, from)
	}
}

// A loader loads register i of a row of a block.
type loader func(block int, from Mem, i int, to reg.VecVirtual)

func (w *window) whole(_ int, from Mem, _ int, to reg.VecVirtual) { w.VMOVUPS(from, to) }

// masked loads what masks choose, which are kept if there are registers for them.
func (w *window) masked(masks reg.GPVirtual) loader {
	switch {
	case w.most:
		return func(_ int, from Mem, i int, to reg.VecVirtual) {
			mask := w.YMM()
			w.VMOVUPS(Mem{Base: masks, Disp: 32 * i}, mask)
			w.VMASKMOVPS(from, mask, to)
			w.VBLENDVPS(mask, to, w.lowest, to)
		}
	case w.kept != nil:
		return func(_ int, from Mem, i int, to reg.VecVirtual) {
			w.VMOVUPS(Mem{Base: masks, Disp: 32 * i}, to)
			w.VMASKMOVPS(from, to, to)
		}
	}
	all := make([]reg.VecVirtual, w.loads())
	for i := range all {
		all[i] = w.YMM()
		w.VMOVUPS(Mem{Base: masks, Disp: 32 * i}, all[i])
	}
	return func(_ int, from Mem, i int, to reg.VecVirtual) { w.VMASKMOVPS(from, all[i], to) }
}

// pair is two blocks at a time, if the filter is not kept: its elements are loaded for both,
// and there are enough sums for the latency of products. Either both have masks or none.
func (w *window) pair(block, y reg.GPVirtual) {
	cols, to := []reg.GPVirtual{w.GP64(), w.GP64()}, []reg.GPVirtual{w.GP64(), w.GP64()}
	for i, col := range cols {
		w.MOVQ(Mem{Base: block, Disp: i*blockBytes + blockCol}, col)
	}
	stored := func(label string, load loader) {
		sums := w.sums(load, cols...)
		for i, t := range to {
			w.MOVQ(Mem{Base: block, Disp: i*blockBytes + blockTo}, t)
			w.ADDQ(y, t)
		}
		w.store(label, sums, to...)
	}
	w.CMPQ(Mem{Base: block, Disp: blockMasks}, Imm(0))
	w.JNE(LabelRef("edges"))
	stored("two", w.whole)
	w.JMP(LabelRef("stored"))
	w.Label("edges")
	masks := []reg.GPVirtual{w.GP64(), w.GP64()}
	for i, m := range masks {
		w.MOVQ(Mem{Base: block, Disp: i*blockBytes + blockMasks}, m)
	}
	stored("both", func(b int, from Mem, i int, to reg.VecVirtual) {
		w.VMOVUPS(Mem{Base: masks[b], Disp: 32 * i}, to)
		w.VMASKMOVPS(from, to, to)
	})
	w.Label("stored")
}
