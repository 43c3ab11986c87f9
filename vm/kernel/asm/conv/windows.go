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
	windowsZeros             // a row of zeros
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
	blockMasks            // of what is loaded, one behind the other; 0: all of it is there
	blockBytes
)

// windows writes a function for each size of square windows, step, and number of rows of
// places that are under way at a time: four, so that there are enough sums for the latency
// of products, and two for what is left of rows in frequent cases.
func windows(c *Context) {
	for _, w := range []window{
		{size: 3, step: 1, rows: 4}, {size: 5, step: 1, rows: 4}, {size: 7, step: 1, rows: 4},
		{size: 3, step: 2, rows: 4}, {size: 5, step: 2, rows: 4},
		{size: 3, step: 1, rows: 2}, {size: 5, step: 1, rows: 2},
	} {
		w.Context = c
		w.write()
	}
}

// A window is a function that is being written: the sums of products of windows of
// planes, each by a filter of its own.
type window struct {
	*Context
	size, step int
	rows       int // of places in a group
	at         reg.GPVirtual
	w          reg.GPVirtual
	kept       [][]reg.VecVirtual // all of the filter, by row and column; nil: as it is needed
}

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
	return 4 * (i/2*2 + i%2*8)
}

func (w *window) write() {
	name := fmt.Sprintf("windows%dBy%dRows%dAVX2", w.size, w.step, w.rows)
	w.Function(name)
	w.Pragma("noescape")
	w.Signature(gen.Pointer("conv", "p", "windows"))
	w.Doc(fmt.Sprintf("%s sums up products of windows of %d x %[2]d, %d apart, and the filters of their planes, for groups of %d rows of places.", name, w.size, w.step, w.rows))
	w.at = w.Load(w.Param("p"), w.GP64()).(reg.GPVirtual)
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
	if w.kept == nil {
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
	w.ADDQ(Imm(blockBytes), block)
	w.DECQ(wide)
	w.JNE(LabelRef("block"))
	w.Label("row")
	w.ADDQ(Imm(uint64(w.rows*w.step)), first)
	pitch := w.field(windowsPitch)
	w.LEAQ(Mem{Base: y, Index: pitch, Scale: uint8(w.rows)}, y)
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

// keep loads the filter if there are registers for it.
func (w *window) keep() {
	if w.size > 3 {
		return
	}
	w.kept = make([][]reg.VecVirtual, w.size)
	for i := range w.kept {
		w.kept[i] = w.filterRow(i)
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
	v := w.YMM()
	w.VBROADCASTSS(Mem{Base: w.w, Disp: 4 * (row*w.size + col)}, v)
	return v
}

// see writes down where the rows that a group sees lie.
func (w *window) see(first reg.GPVirtual) {
	row, rows, line, from, zeros := w.GP64(), w.field(windowsRows), w.field(windowsLine), w.GP64(), w.field(windowsZeros)
	w.MOVQ(first, row)
	w.MOVQ(first, from)
	w.IMULQ(line, from)
	w.ADDQ(Mem{Base: w.at, Disp: windowsX}, from)
	for i := range w.seen() {
		is := w.GP64()
		w.MOVQ(from, is)
		w.CMPQ(row, rows)
		w.CMOVQCC(zeros, is) // rows below 0 are large without a sign
		w.MOVQ(is, Mem{Base: w.at, Disp: windowsSeen + 8*i})
		w.INCQ(row)
		w.ADDQ(line, from)
	}
}

// A loader loads register i of a row of a block.
type loader func(block int, from Mem, i int, to reg.VecVirtual)

func (w *window) whole(_ int, from Mem, _ int, to reg.VecVirtual) { w.VMOVUPS(from, to) }

// masked loads what masks choose, which are kept if the filter is not.
func (w *window) masked(masks reg.GPVirtual) loader {
	if w.kept != nil {
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

// sums adds up the products of a group of rows of some blocks, in order: row by row of the
// window, and column by column. Each row of x is loaded once.
func (w *window) sums(load loader, cols ...reg.GPVirtual) []reg.VecVirtual {
	sums := make([]reg.VecVirtual, w.rows*len(cols)) // the rows of a block, and those of the next
	for i := range sums {
		sums[i] = w.YMM()
		w.VXORPS(sums[i], sums[i], sums[i])
	}
	ahead := w.GP64()
	w.MOVQ(cols[0], ahead)
	w.ADDQ(Mem{Base: w.at, Disp: windowsAhead}, ahead)
	for i := range w.seen() {
		from := w.field(windowsSeen + 8*i)
		if i >= w.seen()-w.rows*w.step {
			w.PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1})
		}
		w.row(from, load, cols, func(j int, x []reg.VecVirtual) {
			for r := range w.rows {
				if k := i - w.step*r; k >= 0 && k < w.size {
					tap := w.tap(k, j)
					for b, v := range x {
						w.VFMADD231PS(v, tap, sums[b*w.rows+r])
					}
				}
			}
		})
	}
	return sums
}

// tap is an element of the filter.
func (w *window) tap(row, col int) reg.VecVirtual {
	if w.kept != nil {
		return w.kept[row][col]
	}
	return w.filter(row, col)
}

// row gives f what eight places of each block see by each column of the window. By steps of
// two they are in the order 0, 1, 4, 5, 2, 3, 6, 7.
func (w *window) row(from reg.GPVirtual, load loader, cols []reg.GPVirtual, f func(col int, x []reg.VecVirtual)) {
	for j := 0; j < w.size; j += w.step {
		x, odd := make([]reg.VecVirtual, len(cols)), make([]reg.VecVirtual, len(cols))
		for b, col := range cols {
			at := Mem{Base: from, Index: col, Scale: 1}
			x[b] = w.YMM()
			load(b, at.Offset(w.load(j)), j, x[b])
			if w.step == 1 {
				continue
			}
			behind, even := w.YMM(), w.YMM()
			load(b, at.Offset(w.load(j+1)), j+1, behind)
			w.VSHUFPS(Imm(0b10_00_10_00), behind, x[b], even)
			if j+1 < w.size {
				w.VSHUFPS(Imm(0b11_01_11_01), behind, x[b], x[b])
			}
			x[b], odd[b] = even, x[b]
		}
		f(j, x)
		if w.step == 2 && j+1 < w.size {
			f(j+1, odd)
		}
	}
}

// store takes the sums of a group through an ending and puts them into their rows, the upper
// first: what the last block of a row writes too much belongs to the row below.
func (w *window) store(label string, sums []reg.VecVirtual, to ...reg.GPVirtual) {
	e := ender{w.Context, w.at}
	pitch, has := w.field(windowsPitch), w.field(windowsHas)
	step := func(i int) {
		for _, sum := range sums {
			e.step(i, Mem{Base: w.at, Disp: windowsWith + 32*i}, sum)
		}
	}
	w.TESTQ(U32(hasBias), has)
	w.JEQ(LabelRef(label + "Norm"))
	step(0)
	w.Label(label + "Norm")
	w.TESTQ(U32(hasNorm), has)
	w.JEQ(LabelRef(label + "Hold"))
	for i := 1; i < stepCount; i++ {
		step(i)
	}
	w.Label(label + "Hold")
	lo, hi := w.YMM(), w.YMM()
	w.VMOVUPS(Mem{Base: w.at, Disp: windowsLo}, lo)
	w.VMOVUPS(Mem{Base: w.at, Disp: windowsHi}, hi)
	for i, sum := range sums {
		e.hold(lo, hi, sum)
		if w.step == 2 {
			w.VPERMPD(Imm(0b11_01_10_00), sum, sum)
		}
		at := to[i/w.rows]
		w.VMOVUPS(sum, Mem{Base: at})
		if i%w.rows < w.rows-1 {
			w.ADDQ(pitch, at)
		}
	}
}
