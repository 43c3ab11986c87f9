package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

func applies(c *build.Context) {
	for _, l := range lanes.Both(c) {
		scale(l)
		scaleColumns(l)
		wideRow(l, "lower", "x - c, computed in float64", func(c, x reg.VecVirtual) { l.VSUBPD(c, x, x) })
		wideRow(l, "stretch", "x * c, computed in float64", func(c, x reg.VecVirtual) { l.VMULPD(c, x, x) })
		wideColumns(l, "lower", "x - c, computed in float64", func(c, x reg.VecVirtual) { l.VSUBPD(c, x, x) })
		wideColumns(l, "stretch", "x * c, computed in float64", func(c, x reg.VecVirtual) { l.VMULPD(c, x, x) })
		for _, with := range []struct {
			name         string
			weight, bias bool
		}{{"Weight", true, false}, {"Bias", false, true}, {"Affine", true, true}} {
			normalRow(l, "normal"+with.name, with.weight, with.bias)
		}
		normalChannel(l)
		normalColumns(l)
		normalEach(l)
	}
}

// each writes a loop over elements of x, some vectors at a time, which f changes into
// what is written to dst. operands are read beside x.
func each(l *lanes.Level, vectors int, f func(x reg.VecVirtual, operands []reg.VecVirtual), operands ...string) {
	dst, x, n, at := l.Base("dst"), l.Base("x"), l.Len("x"), l.GP64()
	bases := make([]reg.GPVirtual, len(operands))
	for i, o := range operands {
		bases[i] = l.Base(o)
	}
	v, vs := l.Vec(), l.Vecs(len(operands))
	one := func(lane int) {
		l.VMOVUPS(lanes.At(x, at, lane), v)
		for j, b := range bases {
			l.VMOVUPS(lanes.At(b, at, lane), vs[j])
		}
		f(v, vs)
		l.VMOVUPS(v, lanes.At(dst, at, lane))
	}
	left := l.GP64()
	l.MOVQ(n, left)
	l.XORQ(at, at)
	l.SUBQ(U32(vectors*l.Lanes()), left)
	l.JLT(LabelRef("few"))
	l.Label("many")
	for i := range vectors {
		one(i * l.Lanes())
	}
	l.ADDQ(U32(4*vectors*l.Lanes()), at)
	l.SUBQ(U32(vectors*l.Lanes()), left)
	l.JGE(LabelRef("many"))
	l.Label("few")
	l.ADDQ(U32((vectors-1)*l.Lanes()), left)
	l.JLT(LabelRef("rest"))
	l.Label("single")
	one(0)
	l.ADDQ(U32(4*l.Lanes()), at)
	l.SUBQ(U32(l.Lanes()), left)
	l.JGE(LabelRef("single"))
	l.Label("rest")
	l.ADDQ(U32(l.Lanes()), left)
	l.JEQ(LabelRef("done"))
	m := l.Masks(left, 1, false)[0]
	l.LoadMasked(m, lanes.At(x, at, 0), nil, v)
	for j, b := range bases {
		l.LoadMasked(m, lanes.At(b, at, 0), nil, vs[j])
	}
	f(v, vs)
	l.StoreMasked(m, v, lanes.At(dst, at, 0))
	l.Label("done")
	l.End()
}

func scale(l *lanes.Level) {
	l.Func("scale", "func(dst, x []float32, s float32)", "writes x * s.")
	s := l.Spread("s")
	each(l, 4, func(x reg.VecVirtual, _ []reg.VecVirtual) { l.VMULPS(s, x, x) })
}

func scaleColumns(l *lanes.Level) {
	l.Func("scaleColumns", "func(dst, x, s []float32)", "writes x * s.")
	each(l, 2, func(x reg.VecVirtual, o []reg.VecVirtual) { l.VMULPS(o[0], x, x) }, "s")
}

// normalise makes ((x - hi) - lo) * r of x: the mean comes in two parts.
func normalise(l *lanes.Level, x, hi, lo, r reg.VecVirtual) {
	l.VSUBPS(hi, x, x)
	l.VSUBPS(lo, x, x)
	l.VMULPS(r, x, x)
}

func normalRow(l *lanes.Level, name string, weight, bias bool) {
	formula, names, params := "((x - hi) - lo) * r", []string{}, ""
	if weight {
		formula, names, params = formula+" * w", append(names, "w"), params+", w"
	}
	if bias {
		formula, names, params = formula+" + b", append(names, "b"), params+", b"
	}
	l.Func(name, "func(dst, x"+params+" []float32, hi, lo, r float32)", "writes "+formula+".")
	hi, lo, r := l.Spread("hi"), l.Spread("lo"), l.Spread("r")
	each(l, 4, func(x reg.VecVirtual, o []reg.VecVirtual) {
		normalise(l, x, hi, lo, r)
		if weight {
			l.VMULPS(o[0], x, x)
		}
		if bias {
			l.VADDPS(o[len(o)-1], x, x)
		}
	}, names...)
}

func normalChannel(l *lanes.Level) {
	l.Func("normalChannel", "func(dst, x []float32, hi, lo, r, w, b float32)", "writes ((x - hi) - lo) * r * w + b.")
	hi, lo, r, w, b := l.Spread("hi"), l.Spread("lo"), l.Spread("r"), l.Spread("w"), l.Spread("b")
	each(l, 4, func(x reg.VecVirtual, _ []reg.VecVirtual) {
		normalise(l, x, hi, lo, r)
		l.VMULPS(w, x, x)
		l.VADDPS(b, x, x)
	})
}

func normalColumns(l *lanes.Level) {
	l.Func("normalColumns", "func(dst, x, hi, lo, r []float32, w, b float32)", "writes ((x - hi) - lo) * r * w + b, where each column has its hi, lo and r.")
	w, b := l.Spread("w"), l.Spread("b")
	each(l, 1, func(x reg.VecVirtual, o []reg.VecVirtual) {
		normalise(l, x, o[0], o[1], o[2])
		l.VMULPS(w, x, x)
		l.VADDPS(b, x, x)
	}, "hi", "lo", "r")
}

func normalEach(l *lanes.Level) {
	l.Func("normalEach", "func(dst, x, hi, r, w, b []float32)", "writes (x - hi) * r * w + b.")
	each(l, 1, func(x reg.VecVirtual, o []reg.VecVirtual) {
		l.VSUBPS(o[0], x, x)
		l.VMULPS(o[1], x, x)
		l.VMULPS(o[2], x, x)
		l.VADDPS(o[3], x, x)
	}, "hi", "r", "w", "b")
}

// wideRow computes in float64 and rounds once.
func wideRow(l *lanes.Level, name, doc string, f func(c, x reg.VecVirtual)) {
	l.Func(name, "func(dst, x []float32, c float64)", "writes "+doc+".")
	c := l.Spread64("c")
	dst, x, n, at := l.Base("dst"), l.Base("x"), l.Len("x"), l.GP64()
	half := l.Lanes() / 2
	l.Loop("row", n, 4*half, at,
		func() {
			for i := range 4 {
				v := l.Vec()
				l.VCVTPS2PD(lanes.At(x, at, i*half), v)
				f(c, v)
				l.VMOVUPS(narrowed(l, v), lanes.At(dst, at, i*half))
			}
		},
		func(left reg.GPVirtual) {
			for i, m := range l.Masks(left, 4, true) {
				h, v := l.Half(), l.Vec()
				l.LoadMasked(m, lanes.At(x, at, i*half), nil, h)
				l.VCVTPS2PD(h, v)
				f(c, v)
				l.StoreMasked(m, narrowed(l, v), lanes.At(dst, at, i*half))
			}
		})
	l.End()
}

// narrowed rounds float64 to half a vector of float32.
func narrowed(l *lanes.Level, v reg.VecVirtual) reg.VecVirtual {
	h := l.Half()
	if l.Wide {
		l.VCVTPD2PS(v, h)
	} else {
		l.VCVTPD2PSY(v, h)
	}
	return h
}

func wideColumns(l *lanes.Level, name, doc string, f func(c, x reg.VecVirtual)) {
	l.Func(name+"Columns", "func(dst, x []float32, c []float64)", "writes "+doc+".")
	dst, x, c, n, at := l.Base("dst"), l.Base("x"), l.Base("c"), l.Len("x"), l.GP64()
	half := l.Lanes() / 2
	v, w := l.Vec(), l.Vec()
	l.Loop("columns", n, half, at,
		func() {
			l.VCVTPS2PD(lanes.At(x, at, 0), v)
			l.VMOVUPD(Mem{Base: c, Index: at, Scale: 2}, w)
			f(w, v)
			l.VMOVUPS(narrowed(l, v), lanes.At(dst, at, 0))
		},
		func(left reg.GPVirtual) {
			m, m64, h := l.Masks(left, 1, true)[0], l.Masks64(left), l.Half()
			l.LoadMasked(m, lanes.At(x, at, 0), nil, h)
			l.VCVTPS2PD(h, v)
			l.LoadMasked64(m64, Mem{Base: c, Index: at, Scale: 2}, w)
			f(w, v)
			l.StoreMasked(m, narrowed(l, v), lanes.At(dst, at, 0))
		})
	l.End()
}
