// Command conv writes the assembly of package conv.
package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("conv",
		gen.File{Name: "panels", Build: panels},
		gen.File{Name: "taps", Build: taps},
		gen.File{Name: "ends", Build: ends},
		gen.File{Name: "places", Build: places},
		gen.File{Name: "winograd", Build: winograd},
		gen.File{Name: "windows", Build: windows},
		gen.File{Name: "flat", Build: flat},
	)
}

// A level is an instruction set: its registers, and how they are cleared.
type level struct {
	name  string
	bytes int // of a register
	vec   func(*Context) reg.VecVirtual
	clear func(*Context, reg.VecVirtual)
}

var levels = []level{
	{"AVX2", 32,
		func(c *Context) reg.VecVirtual { return c.YMM() },
		func(c *Context, r reg.VecVirtual) { c.VXORPS(r, r, r) }},
	{"AVX512", 64,
		func(c *Context) reg.VecVirtual { return c.ZMM() },
		func(c *Context, r reg.VecVirtual) { c.VPXORD(r, r, r) }},
}

// vecs makes n registers.
func (l level) vecs(c *Context, n int) []reg.VecVirtual {
	rs := make([]reg.VecVirtual, n)
	for i := range rs {
		rs[i] = l.vec(c)
	}
	return rs
}

// begin opens a function.
func begin(c *Context, name, signature, doc string) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr(signature)
	c.Doc(name + " " + doc)
}

// end leaves it.
func end(c *Context) {
	c.VZEROUPPER()
	c.RET()
}

// arg loads an argument that is a pointer or an int.
func arg(c *Context, name string) reg.GPVirtual {
	r := c.GP64()
	c.Load(c.Param(name), r)
	return r
}

// panels writes what lays out eight columns of a panel of places.
func panels(c *Context) {
	const doc = "writes n rows of eight places, step bytes apart: row k is what the places see behind offsets[k] bytes"
	each := func(name, params, doc string, load func() func(offset reg.GPVirtual, to reg.VecVirtual)) {
		begin(c, name, "func(dst *float32, step int, offsets *int, n int, "+params+")", doc)
		dst, step, offsets, n := arg(c, "dst"), arg(c, "step"), arg(c, "offsets"), arg(c, "n")
		row := load()
		offset, value := c.GP64(), c.YMM()
		c.TESTQ(n, n)
		c.JE(LabelRef("done"))
		c.Label("row")
		c.MOVQ(Mem{Base: offsets}, offset)
		row(offset, value)
		c.VMOVUPS(value, Mem{Base: dst})
		c.ADDQ(Imm(8), offsets)
		c.ADDQ(step, dst)
		c.DECQ(n)
		c.JNE(LabelRef("row"))
		c.Label("done")
		end(c)
	}
	each("panelRunAVX2", "src *float32", doc+" of src. The places are neighbours.",
		func() func(reg.GPVirtual, reg.VecVirtual) {
			src := arg(c, "src")
			return func(offset reg.GPVirtual, to reg.VecVirtual) {
				c.VMOVUPS(Mem{Base: src, Index: offset, Scale: 1}, to)
			}
		})
	each("panelPairAVX2", "src *float32, a, b int, masks *[16]int32", doc+
		" of src. The places are neighbours of two kinds: those that the first eight masks choose lie a bytes on, those that the last eight choose b bytes; the others are 0.",
		func() func(reg.GPVirtual, reg.VecVirtual) {
			src, a, b, masks := arg(c, "src"), arg(c, "a"), arg(c, "b"), arg(c, "masks")
			first, second := c.GP64(), c.GP64()
			c.LEAQ(Mem{Base: src, Index: a, Scale: 1}, first)
			c.LEAQ(Mem{Base: src, Index: b, Scale: 1}, second)
			maskA, maskB, other := c.YMM(), c.YMM(), c.YMM()
			c.VMOVUPS(Mem{Base: masks}, maskA)
			c.VMOVUPS(Mem{Base: masks, Disp: 32}, maskB)
			return func(offset reg.GPVirtual, to reg.VecVirtual) {
				c.VMASKMOVPS(Mem{Base: first, Index: offset, Scale: 1}, maskA, to)
				c.VMASKMOVPS(Mem{Base: second, Index: offset, Scale: 1}, maskB, other)
				c.VORPS(other, to, to)
			}
		})
	each("panelEachAVX2", "src *float32, places *[8]int32, masks *[16]int32", doc+
		" of src. Each place that the first eight masks choose lies by itself, its number of floats on; the others are 0.",
		func() func(reg.GPVirtual, reg.VecVirtual) {
			src, places, masks := arg(c, "src"), arg(c, "places"), arg(c, "masks")
			index, mask, chosen, at := c.YMM(), c.YMM(), c.YMM(), c.GP64()
			c.VMOVUPS(Mem{Base: places}, index)
			c.VMOVUPS(Mem{Base: masks}, chosen)
			return func(offset reg.GPVirtual, to reg.VecVirtual) {
				c.LEAQ(Mem{Base: src, Index: offset, Scale: 1}, at)
				c.VMOVUPS(chosen, mask)
				c.VXORPS(to, to, to)
				c.VGATHERDPS(mask, Mem{Base: at, Index: index, Scale: 4}, to)
			}
		})
	pairOfRuns(c)
	stagedRows(c)
}

// pairOfRuns writes the layout of sixteen columns, two rows at a time.
func pairOfRuns(c *Context) {
	begin(c, "panelRunsAVX2", "func(dst *float32, step int, offsets *int, n int, a, b *float32)",
		"writes n rows of sixteen places, step bytes apart: row k is the eight floats offsets[k] bytes behind a, and the eight behind b.")
	dst, step, offsets, n := arg(c, "dst"), arg(c, "step"), arg(c, "offsets"), arg(c, "n")
	from := []reg.GPVirtual{arg(c, "a"), arg(c, "b")}
	at := []reg.GPVirtual{c.GP64(), c.GP64()}
	values := []reg.VecVirtual{c.YMM(), c.YMM(), c.YMM(), c.YMM()}
	rows := func(count int) {
		for r := range count {
			c.MOVQ(Mem{Base: offsets, Disp: 8 * r}, at[r])
		}
		for r := range count {
			for i, src := range from {
				c.VMOVUPS(Mem{Base: src, Index: at[r], Scale: 1}, values[2*r+i])
			}
		}
		for r := range count {
			to := Mem{Base: dst}
			if r > 0 {
				to.Index, to.Scale = step, 1
			}
			for i := range from {
				c.VMOVUPS(values[2*r+i], to.Offset(32*i))
			}
		}
	}
	c.SUBQ(Imm(2), n)
	c.JLT(LabelRef("last"))
	c.Label("two")
	rows(2)
	c.ADDQ(Imm(16), offsets)
	c.LEAQ(Mem{Base: dst, Index: step, Scale: 2}, dst)
	c.SUBQ(Imm(2), n)
	c.JGE(LabelRef("two"))
	c.Label("last")
	c.ADDQ(Imm(2), n)
	c.JE(LabelRef("done"))
	rows(1)
	c.Label("done")
	end(c)
}

// stagedRows writes the copies of rows into a stage, with what is around them.
func stagedRows(c *Context) {
	stagedRow(c, "rowsAVX2", "low *int32", "every float", 4,
		func(src, at reg.GPVirtual, to reg.VecVirtual) { c.VMOVUPS(Mem{Base: src, Index: at, Scale: 4}, to) },
		func(src, at reg.GPVirtual, masks []reg.VecVirtual, to reg.VecVirtual) {
			c.VMASKMOVPS(Mem{Base: src, Index: at, Scale: 4}, masks[0], to)
		})
	evens := func(a, b reg.VecVirtual) {
		c.VSHUFPS(Imm(0b10_00_10_00), b, a, a)
		c.VPERMPD(Imm(0b11_01_10_00), a, a)
	}
	stagedRow(c, "evensAVX2", "low, high *int32", "every other float", 8,
		func(src, at reg.GPVirtual, to reg.VecVirtual) {
			b := c.YMM()
			c.VMOVUPS(Mem{Base: src, Index: at, Scale: 8}, to)
			c.VMOVUPS(Mem{Base: src, Index: at, Scale: 8, Disp: 32}, b)
			evens(to, b)
		},
		func(src, at reg.GPVirtual, masks []reg.VecVirtual, to reg.VecVirtual) {
			b := c.YMM()
			c.VMASKMOVPS(Mem{Base: src, Index: at, Scale: 8}, masks[0], to)
			c.VMASKMOVPS(Mem{Base: src, Index: at, Scale: 8, Disp: 32}, masks[1], b)
			evens(to, b)
		})
}

// stagedRow writes one of them. whole loads eight floats of a row from the float
// number at on, last what there is of the last eight.
func stagedRow(c *Context, name, masks, what string, scale int,
	whole func(src, at reg.GPVirtual, to reg.VecVirtual),
	last func(src, at reg.GPVirtual, masks []reg.VecVirtual, to reg.VecVirtual),
) {
	begin(c, name, "func(dst, src *float32, rows, n, to, from, left int, fill *float32, mask, "+masks+")",
		"writes rows, to bytes apart: left floats of fill, at most eight, "+what+
			" of a row of src, whose rows are from bytes apart, n+8 of them, and fill again."+
			" The first masks choose what there is of the last eight in dst, the others in src. Up to sixteen floats are written behind the row's.")
	dst, src, rows, n, to, from, left := arg(c, "dst"), arg(c, "src"), arg(c, "rows"), arg(c, "n"), arg(c, "to"), arg(c, "from"), arg(c, "left")
	fill, mask, v, at := c.YMM(), c.YMM(), c.YMM(), c.GP64()
	load := func(name string, to reg.VecVirtual) { c.VMOVUPS(Mem{Base: arg(c, name)}, to) }
	c.VBROADCASTSS(Mem{Base: arg(c, "fill")}, fill)
	load("mask", mask)
	var others []reg.VecVirtual
	for _, m := range strings.Split(strings.TrimSuffix(masks, " *int32"), ", ") {
		others = append(others, c.YMM())
		load(m, others[len(others)-1])
	}
	data := c.GP64()
	c.TESTQ(rows, rows)
	c.JE(LabelRef("done"))
	c.Label("row")
	c.VMOVUPS(fill, Mem{Base: dst})
	c.LEAQ(Mem{Base: dst, Index: left, Scale: 4}, data)
	c.XORQ(at, at)
	c.CMPQ(at, n)
	c.JGE(LabelRef("last"))
	c.Label("next")
	whole(src, at, v)
	c.VMOVUPS(v, Mem{Base: data, Index: at, Scale: 4})
	c.ADDQ(Imm(8), at)
	c.CMPQ(at, n)
	c.JLT(LabelRef("next"))
	c.Label("last")
	last(src, at, others, v)
	c.VBLENDVPS(mask, v, fill, v)
	c.VMOVUPS(v, Mem{Base: data, Index: at, Scale: 4})
	c.VMOVUPS(fill, Mem{Base: data, Index: at, Scale: 4, Disp: 32})
	c.ADDQ(to, dst)
	c.ADDQ(from, src)
	c.DECQ(rows)
	c.JNE(LabelRef("row"))
	c.Label("done")
	end(c)
}
