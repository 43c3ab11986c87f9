package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// tileRows is how many rows the largest tile of a level has.
func tileRows(l *lanes.Level) int {
	if l.Wide {
		return 12
	}
	return 6
}

// tiles writes a function for each height of a tile of every level.
func tiles(c *build.Context, write func(l *lanes.Level, rows int)) {
	for _, l := range lanes.Both(c) {
		for rows := 1; rows <= tileRows(l); rows++ {
			write(l, rows)
		}
	}
}

// A product is a tile of sums that is being written: a few rows of the left operand
// times a panel of the right one, two vectors wide.
type product struct {
	*lanes.Level
	arg          reg.GPVirtual
	sums         [][2]reg.VecVirtual // by row
	a, far       reg.GPVirtual       // the left operand, its rows from the eighth on
	by, by3, by5 reg.GPVirtual       // one, three, five distances of its rows
	b, steps     reg.GPVirtual
}

// begin writes the head of a function of a pointer to a type of package attn.
func (t *product) begin(name, typ, doc string) {
	name += t.Name
	t.Function(name)
	t.Pragma("noescape")
	t.Signature(gen.Pointer("attn", "t", typ))
	t.Doc(name + " " + doc)
	t.arg = t.Load(t.Param("t"), t.GP64()).(reg.GPVirtual)
}

// line is how many bytes a row of a panel has, vector how many one of its vectors.
func (t *product) line() int   { return 2 * t.vector() }
func (t *product) vector() int { return 4 * t.Lanes() }

func (t *product) field(offset int) Mem { return Mem{Base: t.arg, Disp: offset} }

// load gives a field in a register.
func (t *product) load(offset int) reg.GPVirtual {
	r := t.GP64()
	t.MOVQ(t.field(offset), r)
	return r
}

// prepare loads what reaches the rows of the left operand.
func (t *product) prepare(distance int) {
	t.a, t.steps, t.by3, t.by5 = t.GP64(), t.GP64(), t.GP64(), t.GP64()
	t.by = t.load(distance)
	t.LEAQ(Mem{Base: t.by, Index: t.by, Scale: 2}, t.by3)
	t.LEAQ(Mem{Base: t.by, Index: t.by, Scale: 4}, t.by5)
	if len(t.sums) > 7 {
		t.far = t.GP64()
	}
	for i := range t.sums {
		t.sums[i] = [2]reg.VecVirtual{t.Vec(), t.Vec()}
	}
}

// row is the start of a row of the left operand.
func (t *product) row(row int) Mem {
	base := t.a
	if row >= 7 {
		base, row = t.far, row-7
	}
	at := func(index reg.GPVirtual, scale uint8) Mem { return Mem{Base: base, Index: index, Scale: scale} }
	return [...]Mem{{Base: base}, at(t.by, 1), at(t.by, 2), at(t.by3, 1), at(t.by, 4), at(t.by5, 1), at(t.by3, 2)}[row]
}

// unroll is how many steps of the sums the loop takes in a row.
const unroll = 4

// multiply adds up the products of a panel, from a field that says where the left
// operand begins, over as many steps as another field says.
func (t *product) multiply(left, steps int) {
	t.MOVQ(t.field(left), t.a)
	if t.far != nil {
		t.LEAQ(Mem{Base: t.a, Index: t.by5, Scale: 1}, t.far)
		t.LEAQ(Mem{Base: t.far, Index: t.by, Scale: 2}, t.far)
	}
	t.MOVQ(t.field(steps), t.steps)
	t.SUBQ(U8(unroll), t.steps)
	t.JLT(LabelRef("rest"))
	t.Label("some")
	for i := range unroll {
		t.step(i)
	}
	t.advance(unroll)
	t.SUBQ(U8(unroll), t.steps)
	t.JGE(LabelRef("some"))
	t.Label("rest")
	t.ADDQ(U8(unroll), t.steps)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.step(0)
	t.advance(1)
	t.DECQ(t.steps)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
}

func (t *product) advance(steps int) {
	t.ADDQ(U8(4*steps), t.a)
	if t.far != nil {
		t.ADDQ(U8(4*steps), t.far)
	}
	t.ADDQ(U32(steps*t.line()), t.b)
}

// step adds the products of one element of each row. Nothing is asked for ahead: a panel
// is in one piece, so that the processor brings it from the second cache by itself, and
// where something else runs on the other half of its core, each instruction counts. To take
// the floats of two rows of three from memory in the product, as package gemm does with
// AVX-512, changed nothing: 0.1 % for a head in the caches, beside a busy neighbour too.
func (t *product) step(step int) {
	var b [2]reg.VecVirtual
	for v := range b {
		b[v] = t.Vec()
		t.VMOVUPS(Mem{Base: t.b, Disp: step*t.line() + v*t.vector()}, b[v])
	}
	for i, s := range t.sums {
		a := t.Vec()
		t.VBROADCASTSS(t.row(i).Offset(4*step), a)
		for v, r := range b {
			t.VFMADD231PS(r, a, s[v])
		}
	}
}
