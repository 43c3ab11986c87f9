// Command attn writes the loops of package attn.
package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

func main() {
	gen.Main("attn", gen.File{Name: "rows", Build: rows}, gen.File{Name: "weights", Build: weights}, gen.File{Name: "values", Build: values}, gen.File{Name: "lone", Build: lone})
}

// rowLanes is how many floats of a row are under way, and what rows of scores are
// filled up to.
const rowLanes = 32

func rows(c *build.Context) {
	for _, l := range lanes.Both(c) {
		tops(l, "tops", "", nil)
		tops(l, "topsAdd", ", to which a mask is added", func(mask, x reg.VecVirtual) { l.VADDPS(mask, x, x) })
		zero := reg.VecVirtual(nil)
		topsPick(l, &zero)
		exps(l)
		scale(l)
		inverse(l)
		twofold(l)
		spread(l)
		panels(l)
	}
}

// A walk goes through rows of a matrix.
type walk struct {
	*lanes.Level
	x, ld, left, n reg.GPVirtual
}

// each calls body for every row with the number of its elements that count, cols
// at most: seen of the first row, step more of each that follows. x is the row.
func each(l *lanes.Level, body func(w *walk)) {
	w := &walk{Level: l, x: l.Arg("x"), ld: l.Arg("ld"), left: l.Arg("rows"), n: l.GP64()}
	l.SHLQ(U8(2), w.ld)
	seen := l.Arg("seen")
	l.Label("next")
	l.DECQ(w.left)
	l.JLT(LabelRef("end"))
	l.MOVQ(l.Address("cols"), w.n)
	l.CMPQ(seen, w.n)
	l.CMOVQLT(seen, w.n)
	body(w)
	l.ADDQ(l.Address("step"), seen)
	l.ADDQ(w.ld, w.x)
	l.JMP(LabelRef("next"))
	l.Label("end")
	l.End()
}

func topsPick(l *lanes.Level, zero *reg.VecVirtual) {
	tops(l, "topsPick", ", which are -Inf where a mask is", func(mask, x reg.VecVirtual) {
		if *zero == nil {
			*zero = l.Vec()
		}
		l.Zero(*zero)
		l.Pick(lanes.LessThan, mask, *zero, mask, x)
	})
}

// tops finds the largest element of each row, after it has been changed by the mask
// and written back.
func tops(l *lanes.Level, name, doc string, apply func(mask, x reg.VecVirtual)) {
	masked := apply != nil
	params, slices := "", ""
	if masked {
		params, slices = ", maskStep int", "mask, "
	}
	l.Func(name, "func(x *float32, ld, rows, cols, seen, step int, "+slices+"top *float32"+params+")",
		"raises the tops of rows to the largest of their elements"+doc+".")
	top := l.Arg("top")
	mask, maskStep := reg.GPVirtual(nil), reg.GPVirtual(nil)
	if masked {
		mask, maskStep = l.Arg("mask"), l.Arg("maskStep")
		l.SHLQ(U8(2), maskStep)
	}
	low := l.F32("lowest", 0xff800000)
	each(l, func(w *walk) {
		best := l.Vecs(rowLanes / l.Lanes())
		for _, b := range best {
			l.Move(low, b)
		}
		at := l.GP64()
		one := func(i int, load func(base reg.GPVirtual, v reg.VecVirtual), v reg.VecVirtual) {
			if masked {
				m := l.Vec()
				load(mask, m)
				apply(m, v)
				l.VMOVUPS(v, lanes.At(w.x, at, i*l.Lanes()))
			}
		}
		l.TESTQ(w.n, w.n)
		l.JLE(LabelRef("seen"))
		l.Loop("row", w.n, rowLanes, at,
			func() {
				for i, b := range best {
					v := l.Vec()
					load := func(base reg.GPVirtual, v reg.VecVirtual) { l.VMOVUPS(lanes.At(base, at, i*l.Lanes()), v) }
					load(w.x, v)
					one(i, load, v)
					l.VMAXPS(b, v, b)
				}
			},
			func(left reg.GPVirtual) {
				for i, m := range l.Masks(left, len(best), false) {
					v := l.Vec()
					load := func(base reg.GPVirtual, v reg.VecVirtual) {
						l.LoadMasked(m, lanes.At(base, at, i*l.Lanes()), nil, v)
					}
					load(w.x, v)
					one(i, load, v)
					if l.Wide {
						l.VMAXPS(best[i], v, m.K(), best[i])
					} else {
						l.VBLENDVPS(m.V(), v, low, v)
						l.VMAXPS(best[i], v, best[i])
					}
				}
			})
		v := l.Fold(best, false, func(a, b, to reg.VecVirtual) { l.VMAXPS(b, a, to) })
		old := l.XMM()
		l.VMOVSS(Mem{Base: top}, old)
		l.VMAXSS(old, v, v)
		l.VMOVSS(v, Mem{Base: top})
		l.Label("seen")
		l.ADDQ(U8(4), top)
		if masked {
			l.ADDQ(maskStep, mask)
		}
	})
}

// sumLanes is how many sums of a row are under way.
const sumLanes = 16

// exps replaces elements by powers of two, those that don't count by 0.
func exps(l *lanes.Level) {
	l.Func("exps", "func(x *float32, ld, rows, cols, seen, step int, base, sums *float32)",
		"replaces the elements of rows by 2**(x - base), or 0 where they don't count, up to a multiple of 32 elements, and adds them up.")
	base, sums := l.Arg("base"), l.Arg("sums")
	two := lanes.NewTwo(l)
	lowest, magic := l.F32("twoLow", lanes.TwoLow), l.F32("twoMagic", lanes.TwoMagic)
	each(l, func(w *walk) {
		low, from := l.Vec(), l.Vec()
		l.VBROADCASTSS(Mem{Base: base}, from)
		l.VADDPS(lowest, from, low)
		l.VSUBPS(from, magic, from)
		acc := l.Vecs(sumLanes / l.Lanes())
		l.Zero(acc...)
		at := l.GP64()
		l.XORQ(at, at)
		// block computes 32 elements, two vectors at a time; ends clears some.
		block := func(ends func(i int, v reg.VecVirtual)) {
			for i := 0; i < rowLanes/l.Lanes(); i += 2 {
				pair := l.Vecs(2)
				for j, v := range pair {
					l.VMOVUPS(lanes.At(w.x, at, (i+j)*l.Lanes()), v)
				}
				two.Of(low, from, pair...)
				for j, v := range pair {
					ends(i+j, v)
					l.VMOVUPS(v, lanes.At(w.x, at, (i+j)*l.Lanes()))
				}
				for j, v := range pair {
					l.VADDPS(v, acc[j%len(acc)], acc[j%len(acc)])
				}
			}
		}
		l.TESTQ(w.n, w.n)
		l.JLE(LabelRef("hidden"))
		l.Loop("row", w.n, rowLanes, at,
			func() { block(func(int, reg.VecVirtual) {}) },
			func(left reg.GPVirtual) {
				block(l.Ends(left, rowLanes/l.Lanes()))
				l.ADDQ(U32(4*rowLanes), at)
			})
		l.Label("hidden")
		// at is behind the last block: what follows up to cols is 0.
		end := l.GP64()
		l.MOVQ(l.Address("cols"), end)
		l.SHLQ(U8(2), end)
		zero := l.Vec()
		l.Zero(zero)
		l.Label("clear")
		l.CMPQ(at, end)
		l.JGE(LabelRef("cleared"))
		for i := range rowLanes / l.Lanes() {
			l.VMOVUPS(zero, lanes.At(w.x, at, i*l.Lanes()))
		}
		l.ADDQ(U32(4*rowLanes), at)
		l.JMP(LabelRef("clear"))
		l.Label("cleared")
		v := l.Fold(acc, false, func(a, b, to reg.VecVirtual) { l.VADDPS(b, a, to) })
		l.VMOVSS(v, Mem{Base: sums})
		l.ADDQ(U8(4), base)
		l.ADDQ(U8(4), sums)
	})
}

// scale multiplies rows by a factor each.
func scale(l *lanes.Level) {
	l.Func("scaleRows", "func(dst *float32, ldDst int, src *float32, ld, rows, cols int, by *float32, step int)",
		"writes each row times its factor.")
	dst, ldDst, src, ld, rows, by, step := l.Arg("dst"), l.Arg("ldDst"), l.Arg("src"), l.Arg("ld"), l.Arg("rows"), l.Arg("by"), l.Arg("step")
	for _, distance := range []reg.GPVirtual{ldDst, ld, step} {
		l.SHLQ(U8(2), distance)
	}
	cols := l.Arg("cols")
	f, v, at, left := l.Vec(), l.Vec(), l.GP64(), l.GP64()
	some := func(n int) {
		for i := range n {
			l.VMULPS(lanes.At(src, at, i*l.Lanes()), f, v)
			l.VMOVUPS(v, lanes.At(dst, at, i*l.Lanes()))
		}
		l.ADDQ(U32(4*n*l.Lanes()), at)
	}
	l.Label("next")
	l.DECQ(rows)
	l.JLT(LabelRef("end"))
	l.VBROADCASTSS(Mem{Base: by}, f)
	l.XORQ(at, at)
	l.MOVQ(cols, left)
	for _, n := range []int{32 / l.Lanes(), 1} {
		loop, done := lanes.Label("vectors", n), lanes.Label("novectors", n)
		l.SUBQ(U8(n*l.Lanes()), left)
		l.JLT(LabelRef(done))
		l.Label(loop)
		some(n)
		l.SUBQ(U8(n*l.Lanes()), left)
		l.JGE(LabelRef(loop))
		l.Label(done)
		l.ADDQ(U8(n*l.Lanes()), left)
	}
	l.JEQ(LabelRef("whole"))
	m := l.Masks(left, 1, false)[0]
	l.LoadMasked(m, lanes.At(src, at, 0), nil, v)
	l.VMULPS(v, f, v)
	l.StoreMasked(m, v, lanes.At(dst, at, 0))
	l.Label("whole")
	l.ADDQ(ldDst, dst)
	l.ADDQ(ld, src)
	l.ADDQ(step, by)
	l.JMP(LabelRef("next"))
	l.Label("end")
	l.End()
}

// inverse divides 1 by floats.
func inverse(l *lanes.Level) {
	l.Func("inverse", "func(dst, src *float32, n int)", "writes 1 divided by floats.")
	dst, src, n, at := l.Arg("dst"), l.Arg("src"), l.Arg("n"), l.GP64()
	one, v := l.F32("one", math.Float32bits(1)), l.Vec()
	l.Loop("block", n, l.Lanes(), at,
		func() {
			l.VDIVPS(lanes.At(src, at, 0), one, v)
			l.VMOVUPS(v, lanes.At(dst, at, 0))
		},
		func(left reg.GPVirtual) {
			m := l.Masks(left, 1, false)[0]
			l.LoadMasked(m, lanes.At(src, at, 0), one, v)
			l.VDIVPS(v, one, v)
			l.StoreMasked(m, v, lanes.At(dst, at, 0))
		})
	l.End()
}

// twofold multiplies by log2(e) what is finite, and keeps it so.
func twofold(l *lanes.Level) {
	l.Func("twofold", "func(dst, src *float32, n int)", "writes floats times log2(e), finite if they are.")
	dst, src, n, at := l.Arg("dst"), l.Arg("src"), l.Arg("n"), l.GP64()
	most := float32(math.MaxFloat32 / math.Log2E * (1 - 0x1p-23))
	log2e, high, low := l.F32("log2e", math.Float32bits(math.Log2E)), l.F32("mostTwofold", math.Float32bits(most)), l.F32("leastTwofold", math.Float32bits(-most))
	v, w, none := l.Vec(), l.Vec(), l.Vec()
	one := func() {
		l.VMINPS(high, v, w)
		l.VMAXPS(low, w, w)
		l.VMULPS(log2e, w, w)
		l.VSUBPS(v, v, none)
		l.Pick(lanes.Unordered, none, none, v, w)
	}
	l.Loop("block", n, l.Lanes(), at,
		func() {
			l.VMOVUPS(lanes.At(src, at, 0), v)
			one()
			l.VMOVUPS(w, lanes.At(dst, at, 0))
		},
		func(left reg.GPVirtual) {
			m := l.Masks(left, 1, false)[0]
			l.LoadMasked(m, lanes.At(src, at, 0), nil, v)
			one()
			l.StoreMasked(m, w, lanes.At(dst, at, 0))
		})
	l.End()
}

// spread turns bytes to floats: 0 where a byte is not 0, else -Inf. Eight at a time on
// both levels; what is left is read byte by byte.
func spread(l *lanes.Level) {
	l.Func("spread", "func(dst *float32, src *byte, n int)", "writes 0 for bytes that are not 0, else -Inf; dst is filled up to a multiple of 8.")
	dst, src, n := l.Arg("dst"), l.Arg("src"), l.Arg("n")
	low, zero := l.YMM(), l.YMM()
	l.VBROADCASTSS(l.Constant("lowest", U32(0xff800000)), low)
	l.VPXOR(zero, zero, zero)
	l.Label("eight")
	l.SUBQ(U8(8), n)
	l.JLT(LabelRef("rest"))
	v := l.YMM()
	l.VPMOVZXBD(Mem{Base: src}, v)
	l.VPCMPEQD(zero, v, v)
	l.VPAND(low, v, v)
	l.VMOVDQU(v, Mem{Base: dst})
	l.ADDQ(U8(8), src)
	l.ADDQ(U8(32), dst)
	l.JMP(LabelRef("eight"))
	l.Label("rest")
	l.ADDQ(U8(8), n)
	l.Label("one")
	l.DECQ(n)
	l.JLT(LabelRef("end"))
	b, bits, none := l.GP32(), l.GP32(), l.GP32()
	l.MOVBLZX(Mem{Base: src}, b)
	l.XORL(none, none)
	l.MOVL(U32(0xff800000), bits)
	l.TESTL(b, b)
	l.CMOVLNE(none, bits)
	l.MOVL(bits, Mem{Base: dst})
	l.INCQ(src)
	l.ADDQ(U8(4), dst)
	l.JMP(LabelRef("one"))
	l.Label("end")
	l.End()
}

// panels copies rows into panels of two vectors, row by row, so that what lies in one
// piece is read in one.
func panels(l *lanes.Level) {
	l.Func("panels", "func(dst *float32, panel int, src *float32, ld, rows, count int)",
		"copies rows, ld floats apart, into count panels of two vectors of columns, panel floats apart.")
	dst, panel, src, ld, rows := l.Arg("dst"), l.Arg("panel"), l.Arg("src"), l.Arg("ld"), l.Arg("rows")
	l.SHLQ(U8(2), panel)
	l.SHLQ(U8(2), ld)
	from, to, left := l.GP64(), l.GP64(), l.GP64()
	vector := 4 * l.Lanes()
	a, b := l.Vec(), l.Vec()
	l.Label("row")
	l.DECQ(rows)
	l.JLT(LabelRef("end"))
	l.MOVQ(src, from)
	l.MOVQ(dst, to)
	l.MOVQ(l.Address("count"), left)
	l.Label("panel")
	l.DECQ(left)
	l.JLT(LabelRef("next"))
	l.VMOVUPS(Mem{Base: from}, a)
	l.VMOVUPS(Mem{Base: from, Disp: vector}, b)
	l.VMOVUPS(a, Mem{Base: to})
	l.VMOVUPS(b, Mem{Base: to, Disp: vector})
	l.ADDQ(U32(2*vector), from)
	l.ADDQ(panel, to)
	l.JMP(LabelRef("panel"))
	l.Label("next")
	l.ADDQ(ld, src)
	l.ADDQ(U32(2*vector), dst)
	l.JMP(LabelRef("row"))
	l.Label("end")
	l.End()
}
