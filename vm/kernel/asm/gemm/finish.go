package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of gemm.finish, at their offsets.
const (
	finishC         = 8 * iota
	finishLdc       // bytes from one row of C to the next
	finishRows      // at least one
	finishSums      // of A, by row
	finishSumStep   // bytes from one to the next
	finishStarts    // by row: the first rest, and behind them all
	finishStartStep // bytes from one to the next
	finishValues    // of rests, four bytes each
	finishQuads     // the lines of B that they belong to
	finishB         // panels
	finishPanel     // bytes from one panel to the next
	finishScales    // by row
	finishScaleStep // bytes from one to the next
	finishCols      // scales by column
	finishBias      // by column
)

// finishes writes what finishes sums that are integers.
func finishes(c *Context) {
	ones(c)
	for _, v := range []vectors{avx2, avx512} {
		for _, panels := range []int{1, 4} {
			newFinish(c, v, panels).write("shift", false)
			newFinish(c, v, panels).write("scale", true)
		}
	}
}

// ones are two integers of 16 bits.
func ones(c *Context) {
	c.StaticGlobal("ones")
	c.DataAttributes(24) // RODATA|NOPTR
	c.AddDatum(0, U32(0x00010001))
}

// A finish is a function that is being written: it goes through rows of panels of sixteen
// sums.
type finish struct {
	*Context
	vectors
	arg              reg.GPVirtual
	sums             []reg.VecVirtual
	b, panel, panel3 reg.GPVirtual
	to               reg.GPVirtual
}

// panelBytes is how many bytes the sums of a panel take, and a line of it.
const panelBytes = 64

func newFinish(c *Context, v vectors, panels int) *finish {
	return &finish{Context: c, vectors: v, sums: make([]reg.VecVirtual, panels*panelBytes/v.bytes)}
}

func (f *finish) field(offset int) reg.GPVirtual { return field(f.Context, f.arg, offset) }

// at is a field where it lies.
func (f *finish) at(offset int) Mem { return Mem{Base: f.arg, Disp: offset} }

func (f *finish) write(what string, scaled bool) {
	cols := f.lanes() * len(f.sums)
	name := fmt.Sprint(what, cols, f.name)
	f.Function(name)
	f.Pragma("noescape")
	f.Signature(gen.Pointer("gemm", "f", "finish"))
	doc := fmt.Sprintf("%s adds to rows of %d integers what the tiles have left, and takes off what B is larger by", name, cols)
	if scaled {
		doc += "; then it makes floats of them: times the row's and the column's scale, plus the column's bias"
	}
	f.Doc(doc + ".")
	f.arg = f.Load(f.Param("f"), f.GP64()).(reg.GPVirtual)
	f.to, f.b, f.panel, f.panel3 = f.field(finishC), f.field(finishB), f.field(finishPanel), f.GP64()
	f.LEAQ(Mem{Base: f.panel, Index: f.panel, Scale: 2}, f.panel3)
	for v := range f.sums {
		f.sums[v] = f.alloc(f.Context)
	}
	sums, starts, values, quads := f.field(finishSums), f.field(finishStarts), f.field(finishValues), f.field(finishQuads)
	ones := f.alloc(f.Context)
	f.VPBROADCASTD(NewDataAddr(NewStaticSymbol("ones"), 0), ones)
	f.Label("row")
	f.load(sums)
	i, end := f.GP64(), f.GP64()
	f.MOVQ(Mem{Base: starts}, i)
	f.MOVQ(Mem{Base: starts, Disp: 8}, end)
	f.CMPQ(i, end)
	f.JGE(LabelRef("added"))
	f.Label("rest")
	f.rest(Mem{Base: values, Index: i, Scale: 4}, Mem{Base: quads, Index: i, Scale: 4}, ones)
	f.INCQ(i)
	f.CMPQ(i, end)
	f.JLT(LabelRef("rest"))
	f.Label("added")
	if scaled {
		f.scale()
	}
	for v, r := range f.sums {
		f.VMOVUPS(r, Mem{Base: f.to, Disp: f.bytes * v})
	}
	f.ADDQ(f.at(finishSumStep), sums)
	f.ADDQ(f.at(finishStartStep), starts)
	f.ADDQ(f.at(finishLdc), f.to)
	f.DECQ(f.at(finishRows))
	f.JNE(LabelRef("row"))
	f.VZEROUPPER()
	f.RET()
}

// load loads a row. What all of B is larger by, 128, times the sum of A is taken off.
func (f *finish) load(sums reg.GPVirtual) {
	shift := f.alloc(f.Context)
	f.VPBROADCASTD(Mem{Base: sums}, shift)
	f.VPSLLD(Imm(7), shift, shift)
	for v, r := range f.sums {
		f.VMOVUPS(Mem{Base: f.to, Disp: f.bytes * v}, r)
		f.VPSUBD(shift, r, r)
	}
}

// rest adds the products of four bytes of A by a line of each panel, of 64 bytes.
func (f *finish) rest(value, line Mem, ones reg.VecVirtual) {
	a, quad := f.alloc(f.Context), f.GP64()
	f.VPBROADCASTD(value, a)
	f.MOVL(line, quad.As32())
	f.SHLQ(Imm(6), quad)
	f.ADDQ(f.b, quad)
	lines := []Mem{{Base: quad}, {Base: quad, Index: f.panel, Scale: 1}, {Base: quad, Index: f.panel, Scale: 2}, {Base: quad, Index: f.panel3, Scale: 1}}
	for v, r := range f.sums {
		t, at := f.alloc(f.Context), v*f.bytes
		f.VMOVUPS(lines[at/panelBytes].Offset(at%panelBytes), t)
		multiplyAdd(f.Context, a, t, ones, t, r)
	}
}

// scale makes floats of a row of sums.
func (f *finish) scale() {
	by, cols, bias := f.field(finishScales), f.field(finishCols), f.field(finishBias)
	scale := f.alloc(f.Context)
	f.VBROADCASTSS(Mem{Base: by}, scale)
	f.ADDQ(f.at(finishScaleStep), by)
	f.MOVQ(by, f.at(finishScales))
	for v, r := range f.sums {
		f.VCVTDQ2PS(r, r)
		f.VMULPS(scale, r, r)
		f.VMULPS(Mem{Base: cols, Disp: f.bytes * v}, r, r)
		f.VADDPS(Mem{Base: bias, Disp: f.bytes * v}, r, r)
	}
}
