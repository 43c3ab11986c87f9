package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chosenBlock is one block of AVX-512, whose masks are bits: for each register of a row that
// is loaded, and, behind them, for the sums that are stored.
func (w *window) chosenBlock(block, y reg.GPVirtual) {
	col, to := w.GP64(), w.GP64()
	w.MOVQ(Mem{Base: block, Disp: blockCol}, col)
	w.MOVQ(Mem{Base: block, Disp: blockTo}, to)
	w.ADDQ(y, to)
	masks := make([]reg.OpmaskVirtual, w.loads()+1)
	for i := range masks {
		masks[i] = w.K()
		w.KMOVW(Mem{Base: block, Disp: blockBits + 2*i}, masks[i])
	}
	load := func(_ int, from Mem, i int, to reg.VecVirtual) { w.VMOVUPS_Z(from, masks[i], to) }
	if w.most {
		load = func(_ int, from Mem, i int, to reg.VecVirtual) {
			w.VMOVAPS(w.lowest, to)
			w.VMOVUPS(from, masks[i], to)
		}
	}
	w.storeChosen(w.sums(load, col), to, masks[len(masks)-1])
}

// storeChosen is store for one block of AVX-512.
func (w *window) storeChosen(sums []reg.VecVirtual, to reg.GPVirtual, mask reg.OpmaskVirtual) {
	e := ender{w.Context, w.at}
	w.ending("sums", func(i int) {
		by := w.spread(windowsWith + 32*i)
		for _, sum := range sums {
			e.step(i, by, sum)
		}
	})
	w.hold(e, w.spread, sums)
	pitch := w.field(windowsPitch)
	var order reg.VecVirtual
	if w.step == 2 && w.bytes == 64 {
		order = w.ZMM()
		w.VPMOVZXBQ(w.order, order)
	}
	for i, sum := range sums {
		switch {
		case order != nil:
			w.VPERMPD(sum, order, sum)
		case w.step == 2:
			w.VPERMPD(Imm(0b11_01_10_00), sum, sum)
		}
		w.VMOVUPS(sum, mask, Mem{Base: to})
		if i < len(sums)-1 {
			w.ADDQ(pitch, to)
		}
	}
}

// spread is a float of the argument in all lanes.
func (w *window) spread(offset int) reg.VecVirtual {
	v := w.vec(w.Context)
	w.VBROADCASTSS(Mem{Base: w.at, Disp: offset}, v)
	return v
}

// sums adds up the products of a group of rows of some blocks, in order: row by row of the
// window, and column by column. Each row of x is loaded once.
func (w *window) sums(load loader, cols ...reg.GPVirtual) []reg.VecVirtual {
	sums := make([]reg.VecVirtual, w.rows*len(cols)) // the rows of a block, and those of the next
	for i := range sums {
		sums[i] = w.vec(w.Context)
		if w.most {
			w.VMOVAPS(w.lowest, sums[i])
		} else {
			w.clear(w.Context, sums[i])
		}
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
					w.take(k, j, x, sums[r:])
				}
			}
		})
	}
	return sums
}

// take adds an element of the filter times what places of each block see to their sums,
// which are as many rows apart, or makes these what is larger.
func (w *window) take(row, col int, x, sums []reg.VecVirtual) {
	if w.most {
		w.larger(w.Context, x[0], sums[0], w.vec(w.Context), w.vec(w.Context))
		return
	}
	kept := row < len(w.kept)
	if !kept && w.chosen() {
		w.VFMADD231PS_BCST(w.element(row, col), x[0], sums[0])
		return
	}
	var tap reg.VecVirtual
	if kept {
		tap = w.kept[row][col]
	} else {
		tap = w.filter(row, col)
	}
	for b, v := range x {
		w.VFMADD231PS(v, tap, sums[b*w.rows])
	}
}

// row gives f what the places of each block see by each column of the window. By steps of
// two they are in the order 0, 1, 4, 5, 2, 3, 6, 7, or that of pairs of both halves in turns:
// 0, 1, 8, 9, 2, 3, 10, 11 and so on.
func (w *window) row(from reg.GPVirtual, load loader, cols []reg.GPVirtual, f func(col int, x []reg.VecVirtual)) {
	for j := 0; j < w.size; j += w.step {
		x, odd := make([]reg.VecVirtual, len(cols)), make([]reg.VecVirtual, len(cols))
		for b, col := range cols {
			at := Mem{Base: from, Index: col, Scale: 1}
			x[b] = w.vec(w.Context)
			load(b, at.Offset(w.load(j)), j, x[b])
			if w.step == 1 {
				continue
			}
			behind, even := w.vec(w.Context), w.vec(w.Context)
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
	w.ending(label, func(i int) {
		for _, sum := range sums {
			e.step(i, Mem{Base: w.at, Disp: windowsWith + 32*i}, sum)
		}
	})
	w.hold(e, w.eight, sums)
	pitch := w.field(windowsPitch)
	for i, sum := range sums {
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

// eight is eight floats of the argument.
func (w *window) eight(offset int) reg.VecVirtual {
	v := w.YMM()
	w.VMOVUPS(Mem{Base: w.at, Disp: offset}, v)
	return v
}

// hold keeps sums within bounds; what is largest has none.
func (w *window) hold(e ender, field func(offset int) reg.VecVirtual, sums []reg.VecVirtual) {
	if w.most {
		return
	}
	lo, hi := field(windowsLo), field(windowsHi)
	for _, sum := range sums {
		e.hold(lo, hi, sum)
	}
}

// ending does the steps that there are, of sums.
func (w *window) ending(label string, step func(i int)) {
	if w.most {
		return
	}
	has := w.field(windowsHas)
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
}
