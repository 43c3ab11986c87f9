package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// The fields of attn.valueTile, at their offsets.
const (
	valueA       = 8 * iota // weights
	valueRow                // bytes from one row of them to the next
	valueB                  // packed values
	valuePanel              // bytes from one panel to the next
	valueKeys               // keys
	valueC                  // results
	valueLdc                // bytes from one row of results to the next
	valueCols               // columns of results that are left
	valueAdd                // 0: begin with zero; 1: with the results
	valueSums               // of weights, which the rows are divided by; 0: they are not
	valueFactors            // where 1 divided by those is written
)

// values writes the kernels that add values up.
func values(c *build.Context) {
	tiles(c, func(l *lanes.Level, rows int) {
		t := &valueTile{product{Level: l, sums: make([][2]reg.VecVirtual, rows)}}
		t.write()
	})
}

// A valueTile is a function that is being written: it goes through the panels of values.
type valueTile struct{ product }

func (t *valueTile) write() {
	rows := len(t.sums)
	t.begin(fmt.Sprint("values", rows), "valueTile", fmt.Sprintf("adds up values by %d rows of weights.", rows))
	t.prepare(valueRow)
	t.b = t.load(valueB)
	t.invert()
	t.Label("panel")
	t.start()
	t.multiply(valueA, valueKeys)
	t.scale()
	t.CMPQ(t.field(valueCols), U8(t.line()/4))
	t.JLT(LabelRef("edge"))
	t.results(func(v int, r reg.VecVirtual, m Mem) { t.VMOVUPS(r, m) })
	t.SUBQ(U8(t.line()/4), t.field(valueCols))
	t.JEQ(LabelRef("end"))
	t.ADDQ(U32(t.line()), t.field(valueC))
	t.MOVQ(t.field(valueB), t.b)
	t.ADDQ(t.field(valuePanel), t.b)
	t.MOVQ(t.b, t.field(valueB))
	t.JMP(LabelRef("panel"))
	t.Label("edge")
	masks := t.masks()
	t.results(func(v int, r reg.VecVirtual, m Mem) { t.StoreMasked(masks[v], r, m) })
	t.Label("end")
	t.End()
}

func (t *valueTile) masks() []lanes.Mask {
	return t.Masks(t.load(valueCols), 2, false)
}

// results calls f with each vector of the tile and its place.
func (t *valueTile) results(f func(v int, r reg.VecVirtual, m Mem)) {
	c, ldc := t.load(valueC), t.load(valueLdc)
	for i, s := range t.sums {
		for v, r := range s {
			f(v, r, Mem{Base: c, Disp: v * t.vector()})
		}
		if i+1 < len(t.sums) {
			t.ADDQ(ldc, c)
		}
	}
}

// start sets the sums to zero or to the results so far.
func (t *valueTile) start() {
	t.CMPQ(t.field(valueAdd), U8(0))
	t.JNE(LabelRef("add"))
	for _, s := range t.sums {
		t.Zero(s[:]...)
	}
	t.JMP(LabelRef("begun"))
	t.Label("add")
	t.CMPQ(t.field(valueCols), U8(t.line()/4))
	t.JLT(LabelRef("addEdge"))
	t.results(func(v int, r reg.VecVirtual, m Mem) { t.VMOVUPS(m, r) })
	t.JMP(LabelRef("begun"))
	t.Label("addEdge")
	masks := t.masks()
	t.results(func(v int, r reg.VecVirtual, m Mem) { t.LoadMasked(masks[v], m, nil, r) })
	t.Label("begun")
}

// invert adds the sums of each row up and divides 1 by them.
func (t *valueTile) invert() {
	sums, to := t.load(valueSums), t.load(valueFactors)
	t.TESTQ(sums, sums)
	t.JEQ(LabelRef("panel"))
	one := t.XMM()
	t.VMOVSS(t.Constant("one", U32(bits(1))), one)
	for i := range t.sums {
		vs := t.Vecs(sumRow / t.vector())
		for v, r := range vs {
			t.VMOVUPS(Mem{Base: sums, Disp: sumRow*i + v*t.vector()}, r)
		}
		x := t.Fold(vs, false, func(a, b, to reg.VecVirtual) { t.VADDPS(b, a, to) })
		t.VDIVSS(x, one, x)
		t.VMOVSS(x, Mem{Base: to, Disp: 4 * i})
	}
}

// scale multiplies the rows by their factors, if there are some.
func (t *valueTile) scale() {
	t.CMPQ(t.field(valueSums), U8(0))
	t.JEQ(LabelRef("scaled"))
	by := t.load(valueFactors)
	for i, s := range t.sums {
		f := t.Vec()
		t.VBROADCASTSS(Mem{Base: by, Disp: 4 * i}, f)
		for _, r := range s {
			t.VMULPS(f, r, r)
		}
	}
	t.Label("scaled")
}
