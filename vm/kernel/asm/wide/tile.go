package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of wide.tile, at their offsets.
const (
	fieldA    = 8 * iota // columns of A, each in one piece, one behind the other
	fieldB               // two registers of a row of B
	fieldC               //
	fieldLine            // bytes from one row of B to the next
	fieldLdc             // bytes from one row of C to the next
	fieldK               // products an element, at least one
	fieldAdd             // 0: begin with zero; else with C
)

const (
	width  = 2 // registers of a row of the tile
	unroll = 4 // steps along k that the loop has in a row
)

// A tile is a function that is being written: so many rows by two registers of columns.
type tile struct {
	*Context
	vectors
	numbers
	height int
	arg    reg.GPVirtual
	sums   [][width][]reg.VecVirtual // by row and register
	a, b   reg.GPVirtual
	line   reg.GPVirtual
	line3  reg.GPVirtual
	turned reg.VecVirtual // what numbers.turn has made
}

func newTile(c *Context, v vectors, n numbers, height int) *tile {
	return &tile{Context: c, vectors: v, numbers: n, height: height, sums: make([][width][]reg.VecVirtual, height)}
}

// write emits the function.
func (t *tile) write() {
	name := fmt.Sprint("tile", t.height, t.numbers.name, t.vectors.name)
	t.Function(name)
	t.Pragma("noescape")
	t.Signature(gen.Pointer("wide", "t", "tile"))
	t.Doc(fmt.Sprintf("%s computes %d by %d elements of C.", name, t.height, width*t.vectors.bytes/t.size))
	t.arg = t.Load(t.Param("t"), t.GP64()).(reg.GPVirtual)
	t.begin()
	t.products()
	t.end()
	t.VZEROUPPER()
	t.RET()
}

func (t *tile) field(offset int) reg.GPVirtual {
	r := t.GP64()
	t.MOVQ(Mem{Base: t.arg, Disp: offset}, r)
	return r
}

// eachOfC does f for each register of C, row by row.
func (t *tile) eachOfC(f func(sums []reg.VecVirtual, m Mem)) {
	c, ldc := t.field(fieldC), t.field(fieldLdc)
	for i, row := range t.sums {
		for v, sums := range row {
			f(sums, Mem{Base: c, Disp: v * t.bytes})
		}
		if i < t.height-1 {
			t.ADDQ(ldc, c)
		}
	}
}

// begin sets the sums to zero or to C.
func (t *tile) begin() {
	for i := range t.sums {
		for v := range width {
			for range t.numbers.sums {
				r := t.alloc(t.Context)
				t.clear(t.Context, r)
				t.sums[i][v] = append(t.sums[i][v], r)
			}
		}
	}
	t.CMPQ(Mem{Base: t.arg, Disp: fieldAdd}, Imm(0))
	t.JEQ(LabelRef("multiply"))
	t.eachOfC(func(sums []reg.VecVirtual, m Mem) { t.VMOVUPS(m, sums[0]) })
	t.Label("multiply")
}

// products adds k times a column of A times a row of B.
func (t *tile) products() {
	t.a, t.b, t.line = t.field(fieldA), t.field(fieldB), t.field(fieldLine)
	t.line3 = t.GP64()
	t.LEAQ(Mem{Base: t.line, Index: t.line, Scale: 2}, t.line3)
	k := t.field(fieldK)
	t.SUBQ(Imm(unroll), k)
	t.JLT(LabelRef("rest"))
	t.Label("four")
	for i := range unroll {
		t.step(i)
	}
	t.ADDQ(U32(uint32(unroll*t.height*t.size)), t.a)
	t.LEAQ(Mem{Base: t.b, Index: t.line, Scale: unroll}, t.b)
	t.SUBQ(Imm(unroll), k)
	t.JGE(LabelRef("four"))
	t.Label("rest")
	t.ADDQ(Imm(unroll), k)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.step(0)
	t.ADDQ(U32(uint32(t.height*t.size)), t.a)
	t.ADDQ(t.line, t.b)
	t.DECQ(k)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
}

// rowOfB is a register of the row of B so many steps on.
func (t *tile) rowOfB(step, v int) Mem {
	m := Mem{Base: t.b, Disp: v * t.bytes}
	switch step {
	case 1, 2:
		m.Index, m.Scale = t.line, uint8(step)
	case 3:
		m.Index, m.Scale = t.line3, 1
	}
	return m
}

// step is the one along k that lies so many behind.
func (t *tile) step(step int) {
	if t.turn != nil {
		t.byRegister(step)
		return
	}
	b := [width]reg.VecVirtual{}
	for v := range b {
		b[v] = t.alloc(t.Context)
		t.VMOVUPS(t.rowOfB(step, v), b[v])
	}
	for i, row := range t.sums {
		if t.spreadsItself(i) {
			for v, sums := range row {
				t.meet(t, t.elementOfA(step, i), b[v], sums)
			}
			continue
		}
		a := t.alloc(t.Context)
		t.spread(t, t.elementOfA(step, i), a)
		for v, sums := range row {
			t.add(t, a, b[v], sums)
		}
	}
}

// byRegister goes through the vectors of B one by one, for numbers that need another
// register beside each.
func (t *tile) byRegister(step int) {
	for v := range width {
		b := t.alloc(t.Context)
		t.turned = t.alloc(t.Context)
		t.VMOVUPS(t.rowOfB(step, v), b)
		t.turn(t, b, t.turned)
		for i, row := range t.sums {
			a := t.alloc(t.Context)
			t.spread(t, t.elementOfA(step, i), a)
			t.add(t, a, b, row[v])
		}
	}
}

// spreadsItself reports whether the products of a row take A from memory: two rows of three,
// as in package gemm, whose generator says why.
func (t *tile) spreadsItself(row int) bool {
	return t.meet != nil && t.bytes == avx512.bytes && row%3 != 2
}

// elementOfA is that of a row, so many steps on.
func (t *tile) elementOfA(step, row int) Mem {
	return Mem{Base: t.a, Disp: (step*t.height + row) * t.size}
}

// end writes the sums to C.
func (t *tile) end() {
	if t.join != nil {
		for _, row := range t.sums {
			for _, sums := range row {
				t.join(t, sums)
			}
		}
	}
	t.eachOfC(func(sums []reg.VecVirtual, m Mem) { t.VMOVUPS(sums[0], m) })
}
