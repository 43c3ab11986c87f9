package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// The fields of attn.scoreTile, at their offsets.
const (
	fieldQ    = 8 * iota
	fieldRow  // bytes from one query to the next
	fieldK    // packed keys
	fieldC    // scores
	fieldLdc  // bytes from one row of scores to the next
	fieldN    // keys that are left
	fieldDeep // floats of a query
	fieldMask // what is added to every row; 0: nothing
	fieldTop  // the largest score of each row
	fieldBest // the same, a line of the cache each
)

// scoreRows is how many rows the largest tile of a level has.
func scoreRows(l *lanes.Level) int {
	if l.Wide {
		return 12
	}
	return 6
}

// scores writes a function for each height of a tile.
func scores(c *build.Context) {
	for _, l := range lanes.Both(c) {
		for rows := 1; rows <= scoreRows(l); rows++ {
			newScoreTile(l, rows).write()
		}
	}
}

// A scoreTile is a function that is being written: it goes through the panels of keys,
// each of two vectors.
type scoreTile struct {
	*lanes.Level
	arg            reg.GPVirtual
	sums           [][2]reg.VecVirtual // by row
	q, far         reg.GPVirtual       // the queries, those from the seventh on
	by, by3, by5   reg.GPVirtual       // one, three, five distances of them
	k, steps, mask reg.GPVirtual
	tops           reg.GPVirtual
}

func newScoreTile(l *lanes.Level, rows int) *scoreTile {
	return &scoreTile{Level: l, sums: make([][2]reg.VecVirtual, rows)}
}

// line is how many bytes a row of a panel has, vector how many one of its vectors.
func (t *scoreTile) line() int   { return 2 * t.vector() }
func (t *scoreTile) vector() int { return 4 * t.Lanes() }

func (t *scoreTile) field(offset int) Mem { return Mem{Base: t.arg, Disp: offset} }

// write emits the function.
func (t *scoreTile) write() {
	rows := len(t.sums)
	name := fmt.Sprintf("scores%d%s", rows, t.Name)
	t.Function(name)
	t.Pragma("noescape")
	t.Signature(gen.Pointer("attn", "t", "scoreTile"))
	t.Doc(fmt.Sprintf("%s computes the scores of %d queries and raises their tops.", name, rows))
	t.begin()
	t.Label("panel")
	t.products()
	t.add()
	t.CMPQ(t.field(fieldN), U8(t.line()/4))
	t.JLT(LabelRef("edge"))
	t.Label("store")
	t.store()
	t.ADDQ(U32(t.line()), t.field(fieldC))
	t.SUBQ(U8(t.line()/4), t.field(fieldN))
	t.JG(LabelRef("panel"))
	t.fold()
	t.End()
	t.Label("edge")
	t.lower()
	t.JMP(LabelRef("store"))
}

// best is where the largest of a row are.
func (t *scoreTile) best(row int) Mem { return Mem{Base: t.tops, Disp: 64 * row} }

// begin loads what stays, and spreads the tops.
func (t *scoreTile) begin() {
	rows := len(t.sums)
	t.arg = t.Load(t.Param("t"), t.GP64()).(reg.GPVirtual)
	top := t.GP64()
	t.tops = t.GP64()
	t.MOVQ(t.field(fieldTop), top)
	t.MOVQ(t.field(fieldBest), t.tops)
	for i := range rows {
		v := t.Vec()
		t.VBROADCASTSS(Mem{Base: top, Disp: 4 * i}, v)
		t.VMOVUPS(v, t.best(i))
	}
	t.q, t.k, t.steps, t.mask = t.GP64(), t.GP64(), t.GP64(), t.GP64()
	t.MOVQ(t.field(fieldK), t.k)
	t.MOVQ(t.field(fieldMask), t.mask)
	t.by, t.by3, t.by5 = t.GP64(), t.GP64(), t.GP64()
	t.MOVQ(t.field(fieldRow), t.by)
	t.LEAQ(Mem{Base: t.by, Index: t.by, Scale: 2}, t.by3)
	t.LEAQ(Mem{Base: t.by, Index: t.by, Scale: 4}, t.by5)
	if rows > 7 {
		t.far = t.GP64()
	}
	for i := range t.sums {
		t.sums[i] = [2]reg.VecVirtual{t.Vec(), t.Vec()}
	}
}

// query is the start of a row.
func (t *scoreTile) query(row int) Mem {
	base := t.q
	if row >= 7 {
		base, row = t.far, row-7
	}
	at := func(index reg.GPVirtual, scale uint8) Mem { return Mem{Base: base, Index: index, Scale: scale} }
	return [...]Mem{{Base: base}, at(t.by, 1), at(t.by, 2), at(t.by3, 1), at(t.by, 4), at(t.by5, 1), at(t.by3, 2)}[row]
}

// unroll is how many floats of a query the loop takes in a row.
const unroll = 4

// products adds up the products of a panel.
func (t *scoreTile) products() {
	for _, s := range t.sums {
		t.Zero(s[:]...)
	}
	t.MOVQ(t.field(fieldQ), t.q)
	if t.far != nil {
		t.LEAQ(Mem{Base: t.q, Index: t.by5, Scale: 1}, t.far)
		t.LEAQ(Mem{Base: t.far, Index: t.by, Scale: 2}, t.far)
	}
	t.MOVQ(t.field(fieldDeep), t.steps)
	t.SUBQ(U8(unroll), t.steps)
	t.JLT(LabelRef("rest"))
	t.Label("four")
	for i := range unroll {
		t.product(i)
	}
	t.advance(unroll)
	t.SUBQ(U8(unroll), t.steps)
	t.JGE(LabelRef("four"))
	t.Label("rest")
	t.ADDQ(U8(unroll), t.steps)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.product(0)
	t.advance(1)
	t.DECQ(t.steps)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
}

func (t *scoreTile) advance(steps int) {
	t.ADDQ(U8(4*steps), t.q)
	if t.far != nil {
		t.ADDQ(U8(4*steps), t.far)
	}
	t.ADDQ(U32(steps*t.line()), t.k)
}

// ahead is how many rows of a panel are asked for before they are used.
const ahead = 12

// product adds the products of one float of each query, step of them behind the first.
func (t *scoreTile) product(step int) {
	var k [2]reg.VecVirtual
	for v := range k {
		k[v] = t.Vec()
		t.VMOVUPS(Mem{Base: t.k, Disp: step*t.line() + v*t.vector()}, k[v])
	}
	for at := 0; at < t.line(); at += 64 {
		t.PREFETCHT0(Mem{Base: t.k, Disp: (ahead+step)*t.line() + at})
	}
	for i, s := range t.sums {
		q := t.Vec()
		t.VBROADCASTSS(t.query(i).Offset(4*step), q)
		for v, r := range k {
			t.VFMADD231PS(r, q, s[v])
		}
	}
}

// add adds the mask, if there is one.
func (t *scoreTile) add() {
	t.TESTQ(t.mask, t.mask)
	t.JEQ(LabelRef("plain"))
	for v := range 2 {
		m := t.Vec()
		t.VMOVUPS(Mem{Base: t.mask, Disp: v * t.vector()}, m)
		for _, s := range t.sums {
			t.VADDPS(m, s[v], s[v])
		}
	}
	t.ADDQ(U32(t.line()), t.mask)
	t.Label("plain")
}

// lower makes the scores of keys that are not there the lowest.
func (t *scoreTile) lower() {
	n, low := t.GP64(), t.F32("lowest", 0xff800000)
	t.MOVQ(t.field(fieldN), n)
	for v, there := range t.Masks(n, 2, false) {
		for _, s := range t.sums {
			if t.Wide {
				t.VBLENDMPS(s[v], low, there.K(), s[v])
			} else {
				t.VBLENDVPS(there.V(), s[v], low, s[v])
			}
		}
	}
}

// store writes the scores and raises the tops.
func (t *scoreTile) store() {
	c, ldc := t.GP64(), t.GP64()
	t.MOVQ(t.field(fieldC), c)
	t.MOVQ(t.field(fieldLdc), ldc)
	for i, s := range t.sums {
		for v, r := range s {
			t.VMOVUPS(r, Mem{Base: c, Disp: v * t.vector()})
		}
		t.VMAXPS(t.best(i), s[0], s[0])
		t.VMAXPS(s[0], s[1], s[1])
		t.VMOVUPS(s[1], t.best(i))
		if i+1 < len(t.sums) {
			t.ADDQ(ldc, c)
		}
	}
}

// fold writes the tops.
func (t *scoreTile) fold() {
	top := t.GP64()
	t.MOVQ(t.field(fieldTop), top)
	for i := range t.sums {
		v := t.Vec()
		t.VMOVUPS(t.best(i), v)
		x := t.Fold([]reg.VecVirtual{v}, false, func(a, b, to reg.VecVirtual) { t.VMAXPS(b, a, to) })
		t.VMOVSS(x, Mem{Base: top, Disp: 4 * i})
	}
}
