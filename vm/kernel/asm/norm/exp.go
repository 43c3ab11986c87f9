package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

func exps(c *build.Context) {
	for _, l := range lanes.Both(c) {
		expRow(l, true)
		expRow(l, false)
		expColumns(l)
	}
}

// expRow writes the exponentials of a row, or adds them up only. Each block of 32 is
// brought to eight floats, so that no sum of float32 is longer than four elements.
func expRow(l *lanes.Level, keep bool) {
	if keep {
		l.Func("exp", "func(dst, x []float32, top, magic, cut float32) float64", "writes exp(x - top) and adds it up.")
	} else {
		l.Func("expSum", "func(x []float32, top, magic, cut float32) float64", "adds up exp(x - top).")
	}
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	var dst reg.GPVirtual
	if keep {
		dst = l.Base("dst")
	}
	top := l.Spread("top")
	e := lanes.NewExp(l, l.Spread("magic"), l.Spread("cut"))
	sums := l.Vecs(16 / l.Lanes())
	l.Zero(sums...)
	count := rowLanes / l.Lanes()
	add := func(parts []reg.VecVirtual) {
		half := l.Eight(parts)
		if l.Wide {
			w := l.Vec()
			l.VCVTPS2PD(half, w)
			l.VADDPD(w, sums[0], sums[0])
			return
		}
		w, high := l.Vec(), l.XMM()
		l.VCVTPS2PD(half.AsX(), w)
		l.VADDPD(w, sums[0], sums[0])
		l.VEXTRACTF128(U8(1), half, high)
		l.VCVTPS2PD(high, w)
		l.VADDPD(w, sums[1], sums[1])
	}
	// parts holds the sums of the vectors i and i+count/2.
	block := func(get func(i int, v reg.VecVirtual), put func(i int, v reg.VecVirtual)) {
		parts := l.Vecs(count / 2)
		for j := range parts {
			pair := []reg.VecVirtual{parts[j], l.Vec()}
			for i, v := range pair {
				get(j+i*count/2, v)
			}
			e.Of(top, pair...)
			for i, v := range pair {
				if keep {
					put(j+i*count/2, v)
				}
			}
			l.VADDPS(pair[1], parts[j], parts[j])
		}
		add(parts)
	}
	l.Loop("row", n, rowLanes, at,
		func() {
			block(func(i int, v reg.VecVirtual) { l.VMOVUPS(lanes.At(x, at, i*l.Lanes()), v) },
				func(i int, v reg.VecVirtual) { l.VMOVUPS(v, lanes.At(dst, at, i*l.Lanes())) })
		},
		func(left reg.GPVirtual) {
			restOfRow(l, e, x, dst, at, left, top, keep, add)
		})
	v := l.Fold(sums, true, addDoubles(l))
	l.VZEROUPPER()
	l.Store(v, l.ReturnIndex(0))
	l.RET()
}

// restOfRow computes the vectors of the last block one by one and leaves those that
// are empty out; what is not there is 0.
func restOfRow(l *lanes.Level, e *lanes.Exp, x, dst, at, left reg.GPVirtual, top reg.VecVirtual, keep bool, add func([]reg.VecVirtual)) {
	count := rowLanes / l.Lanes()
	parts := l.Vecs(count / 2)
	l.Zero(parts...)
	low := l.F32("lowest", 0xff800000)
	for i := range count {
		l.CMPQ(left, U32(i*l.Lanes()))
		l.JLE(LabelRef("computed"))
		n, most := l.GP64(), l.GP64()
		l.MOVQ(left, n)
		if i > 0 {
			l.SUBQ(U32(i*l.Lanes()), n)
		}
		l.MOVQ(U32(l.Lanes()), most)
		l.CMPQ(n, most)
		l.CMOVQGT(most, n)
		m := l.Masks(n, 1, false)[0]
		v := l.Vec()
		l.LoadMasked(m, lanes.At(x, at, i*l.Lanes()), low, v)
		e.Of(top, v)
		if keep {
			l.StoreMasked(m, v, lanes.At(dst, at, i*l.Lanes()))
		}
		// What lies behind the end is -Inf, whose exponential is 0, unless top is
		// no number, which makes all of the row NaN anyway.
		l.VADDPS(v, parts[i%len(parts)], parts[i%len(parts)])
	}
	l.Label("computed")
	add(parts)
}

// expColumns has a top for each column, and adds to the column's sum.
func expColumns(l *lanes.Level) {
	l.Func("expColumns", "func(dst []float32, acc []float64, x, top []float32, magic, cut float32)", "writes exp(x - top) and adds it to the sums of its columns.")
	dst, acc, x, tops, n, at := l.Base("dst"), l.Base("acc"), l.Base("x"), l.Base("top"), l.Len("x"), l.GP64()
	e := lanes.NewExp(l, l.Spread("magic"), l.Spread("cut"))
	v, top := l.Vec(), l.Vec()
	halves := func(f func(i int, w reg.VecVirtual)) {
		for i := range 2 {
			h, w := l.AsHalf(v), l.Vec()
			if i == 1 {
				h = l.Half()
				if l.Wide {
					l.VEXTRACTF64X4(U8(1), v, h)
				} else {
					l.VEXTRACTF128(U8(1), v, h)
				}
			}
			l.VCVTPS2PD(h, w)
			f(i, w)
		}
	}
	sum := func(i int) Mem { return Mem{Base: acc, Index: at, Scale: 2, Disp: 4 * i * l.Lanes()} }
	l.Loop("columns", n, l.Lanes(), at,
		func() {
			l.VMOVUPS(lanes.At(x, at, 0), v)
			l.VMOVUPS(lanes.At(tops, at, 0), top)
			e.Of(top, v)
			l.VMOVUPS(v, lanes.At(dst, at, 0))
			halves(func(i int, w reg.VecVirtual) {
				l.VADDPD(sum(i), w, w)
				l.VMOVUPD(w, sum(i))
			})
		},
		func(left reg.GPVirtual) {
			m := l.Masks(left, 1, false)[0]
			l.LoadMasked(m, lanes.At(x, at, 0), nil, v)
			l.LoadMasked(m, lanes.At(tops, at, 0), nil, top)
			e.Of(top, v)
			l.StoreMasked(m, v, lanes.At(dst, at, 0))
			masks := l.Masks64Pair(left)
			halves(func(i int, w reg.VecVirtual) {
				a := l.Vec()
				l.LoadMasked64(masks[i], sum(i), a)
				l.VADDPD(w, a, a)
				l.StoreMasked64(masks[i], a, sum(i))
			})
		})
	l.End()
}
