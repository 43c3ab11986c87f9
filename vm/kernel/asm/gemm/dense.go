package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dense tile knows the distances of its operands: its panel is packed, and A either
// lies in the order in which tiles read it or has its rows in one piece each. So a step
// along k takes next to no instructions but those that load and multiply. That counts
// where something else runs on the other half of a processor's core: it takes its share
// of the instructions that the core can begin, rather than of its products. Seen so, on
// a Zen 4: 20.5 instructions for 12 products reach 83 % of the peak, 24 reach 74 %. The
// panel is in one piece, so that the processor brings it from the second cache by
// itself.
type dense struct {
	name  string
	tiled bool // the rows' elements of a column are side by side
}

var (
	inTiles = &dense{"tiled", true}
	inRows  = &dense{"rows", false}
)

// leastDense is how many rows the lowest tile has that stands among others of a block
// and spans one panel only.
func leastDense(v vectors) int { return v.rows/2 + 1 }

// denseTiles lists the functions of a level. With AVX-512 they pay by products that spread A.
func denseTiles(v vectors, o operands, write func(rows int, d *dense)) {
	if v.masks && o.meet == nil {
		return
	}
	for _, d := range []*dense{inTiles, inRows} {
		for rows := leastDense(v); rows <= v.rows; rows++ {
			write(rows, d)
		}
	}
}

// stride is the bytes from one step along k to the next, in A.
func (d *dense) stride(t *tile) int {
	if d.tiled {
		return 4 * t.height
	}
	return 4
}

// eight is how many steps along k the loop of a dense tile has in a row.
const eight = 8

// denseProducts is products for a dense tile.
func (t *tile) denseProducts() {
	if t.grouped {
		t.groupProducts()
		return
	}
	t.b.p = t.field(fieldB)
	t.findLeft()
	k, next := t.field(fieldK), t.field(fieldNext)
	t.SUBQ(t.b.p, next)
	t.SUBQ(Imm(eight), k)
	t.JLT(LabelRef("rest"))
	t.Label("eight")
	for i := range eight {
		t.askFor(i, next)
		t.denseStep(i)
	}
	t.denseAdvance(eight)
	t.SUBQ(Imm(eight), k)
	t.JGE(LabelRef("eight"))
	t.Label("rest")
	t.ADDQ(Imm(eight), k)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.denseStep(0)
	t.denseAdvance(1)
	t.DECQ(k)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
	t.next = t.field(fieldNext)
	t.ADDQ(Mem{Base: t.arg, Disp: fieldHop}, t.next)
}

// asks is how many lines of the next panel a dense tile asks for on eight steps: of the eight
// that they take with AVX2, two, and of sixteen with AVX-512, four. Four tiles so ask for all
// of it. Package gemm knows the number too.
func (t *tile) asks() int { return t.bytes / 16 }

// askFor asks for one of these lines, in front of some of the steps. Two at once took half a
// part in a hundred more: they wait in the same queue as what the products need. The next
// panel is as far behind the line that is read as in the beginning, so that asking takes no
// more than one instruction: with another for the place of the next line, a core of which a
// neighbour had half took one part in a hundred more.
func (t *tile) askFor(step int, next reg.GPVirtual) {
	if every := eight / t.asks(); step%every == 0 {
		t.PREFETCHT1(Mem{Base: next, Index: t.b.p, Scale: 1, Disp: 64 * (step / every)})
	}
}

// line is the bytes of a row of the panel.
func (t *tile) line() int { return 2 * t.lineBytes() }

// denseAdvance goes on by some steps along k.
func (t *tile) denseAdvance(steps int) {
	t.ADDQ(U32(uint32(steps*t.line())), t.b.p)
	t.leftAdvance(steps * t.dense.stride(t))
}

// denseStep is the step along k that lies so many behind.
func (t *tile) denseStep(step int) {
	if t.paired {
		t.pairedStep(step)
		return
	}
	b := []reg.VecVirtual{t.alloc(t.Context), t.alloc(t.Context)}
	for v, r := range b {
		t.operands.load(t, Mem{Base: t.b.p, Disp: step*t.line() + v*t.lineBytes()}, r)
	}
	for i := range t.height {
		if t.spreadsItself(i) {
			for v, r := range b {
				t.meet(t, t.denseA(i, step), r, t.sums[i][v])
			}
			continue
		}
		a := t.alloc(t.Context)
		t.spread(t, t.denseA(i, step), a)
		for v, r := range b {
			t.add(t, a, r, t.sums[i][v])
		}
	}
}

// denseA is the element of A of a row and step.
func (t *tile) denseA(row, step int) Mem {
	return t.left.rows[row].Offset(step * t.dense.stride(t))
}
