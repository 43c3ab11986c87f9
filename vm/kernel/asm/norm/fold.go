package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// A term is what a sum adds up of each element, which it gets as float64.
type term struct {
	name, doc string
	of        func(l *lanes.Level, x reg.VecVirtual)
}

var terms = []term{
	{"sum", "the elements", func(*lanes.Level, reg.VecVirtual) {}},
	{"sumSquare", "the squares", func(l *lanes.Level, x reg.VecVirtual) { l.VMULPD(x, x, x) }},
	{"sumAbs", "the absolute values", func(l *lanes.Level, x reg.VecVirtual) {
		l.VPSLLQ(U8(1), x, x)
		l.VPSRLQ(U8(1), x, x)
	}},
}

// sumLanes is how many sums of float64 a row is split into.
const sumLanes = 16

func folds(c *build.Context) {
	for _, l := range lanes.Both(c) {
		for _, t := range terms {
			rowSum(l, t)
			columnSum(l, t)
		}
		moments(l)
		columnMoments(l)
		columnProduct(l)
	}
}

// widened calls f with each part of a block of sumLanes floats as float64.
func widened(l *lanes.Level, load func(i int, to reg.VecVirtual), f func(i int, x reg.VecVirtual)) {
	half := l.Lanes() / 2
	for i := range sumLanes / half {
		x := l.Vec()
		load(i, x)
		f(i, x)
	}
}

// fromBlock reads a part of a whole block, fromRest one of the last.
func fromBlock(l *lanes.Level, base, at reg.GPVirtual) func(int, reg.VecVirtual) {
	return func(i int, to reg.VecVirtual) { l.VCVTPS2PD(lanes.At(base, at, i*l.Lanes()/2), to) }
}

func fromRest(l *lanes.Level, masks []lanes.Mask, base, at reg.GPVirtual, fill reg.VecVirtual) func(int, reg.VecVirtual) {
	return func(i int, to reg.VecVirtual) {
		h := l.Half()
		l.LoadMasked(masks[i], lanes.At(base, at, i*l.Lanes()/2), fill, h)
		l.VCVTPS2PD(h, to)
	}
}

func rowSum(l *lanes.Level, t term) {
	l.Func(t.name, "func(x []float32) float64", "adds up "+t.doc+" of a row.")
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	sums := l.Vecs(2 * sumLanes / l.Lanes())
	l.Zero(sums...)
	add := func(i int, v reg.VecVirtual) {
		t.of(l, v)
		l.VADDPD(v, sums[i], sums[i])
	}
	l.Loop("row", n, sumLanes, at,
		func() { widened(l, fromBlock(l, x, at), add) },
		func(left reg.GPVirtual) {
			masks := l.Masks(left, len(sums), true)
			widened(l, fromRest(l, masks, x, at, nil), add)
		})
	total := l.Fold(sums, true, addDoubles(l))
	l.VZEROUPPER()
	l.Store(total, l.ReturnIndex(0))
	l.RET()
}

func addDoubles(l *lanes.Level) func(a, b, to reg.VecVirtual) {
	return func(a, b, to reg.VecVirtual) { l.VADDPD(b, a, to) }
}

func moments(l *lanes.Level) {
	l.Func("moments", "func(x []float32, pivot float32) (d, dd float64)", "adds up the distances of a row's elements from a pivot, and their squares.")
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	near := l.Spread("pivot")
	pivot := l.Vec()
	l.VCVTPS2PD(l.AsHalf(near), pivot)
	count := 2 * sumLanes / l.Lanes()
	ds, dds := l.Vecs(count), l.Vecs(count)
	l.Zero(ds...)
	l.Zero(dds...)
	add := func(i int, v reg.VecVirtual) { addMoments(l, v, pivot, ds[i], dds[i]) }
	l.Loop("row", n, sumLanes, at,
		func() { widened(l, fromBlock(l, x, at), add) },
		func(left reg.GPVirtual) {
			masks := l.Masks(left, count, true)
			widened(l, fromRest(l, masks, x, at, l.AsHalf(near)), add)
		})
	d, dd := l.Fold(ds, true, addDoubles(l)), l.Fold(dds, true, addDoubles(l))
	l.VZEROUPPER()
	l.Store(d, l.ReturnIndex(0))
	l.Store(dd, l.ReturnIndex(1))
	l.RET()
}

func addMoments(l *lanes.Level, v, pivot, d, dd reg.VecVirtual) {
	l.VSUBPD(pivot, v, v)
	l.VADDPD(v, d, d)
	l.VMULPD(v, v, v)
	l.VADDPD(v, dd, dd)
}

// columns writes a loop over columns, of which sums of float64 are kept in memory:
// f changes the sums of the float64 in v. operands are slices of as many floats.
func columns(l *lanes.Level, sums int, f func(x []reg.VecVirtual, sums []reg.VecVirtual), operands ...string) {
	half := l.Lanes() / 2
	acc := []string{"acc", "acc2"}[:sums]
	var bases, tos []reg.GPVirtual
	for _, o := range operands {
		bases = append(bases, l.Base(o))
	}
	for _, a := range acc {
		tos = append(tos, l.Base(a))
	}
	n, at := l.Len(operands[0]), l.GP64()
	step := func(load func(base reg.GPVirtual, to reg.VecVirtual), get func(to reg.GPVirtual, v reg.VecVirtual), put func(v reg.VecVirtual, to reg.GPVirtual)) {
		xs, ss := l.Vecs(len(bases)), l.Vecs(sums)
		for i, b := range bases {
			load(b, xs[i])
		}
		for i, a := range tos {
			get(a, ss[i])
		}
		f(xs, ss)
		for i, a := range tos {
			put(ss[i], a)
		}
	}
	wide := func(a reg.GPVirtual) Mem { return Mem{Base: a, Index: at, Scale: 2} }
	l.Loop("columns", n, half, at,
		func() {
			step(func(b reg.GPVirtual, v reg.VecVirtual) { l.VCVTPS2PD(lanes.At(b, at, 0), v) },
				func(a reg.GPVirtual, v reg.VecVirtual) { l.VMOVUPD(wide(a), v) },
				func(v reg.VecVirtual, a reg.GPVirtual) { l.VMOVUPD(v, wide(a)) })
		},
		func(left reg.GPVirtual) {
			masks := l.Masks(left, 1, true)
			mask := l.Masks64(left)
			step(func(b reg.GPVirtual, v reg.VecVirtual) {
				h := l.Half()
				l.LoadMasked(masks[0], lanes.At(b, at, 0), nil, h)
				l.VCVTPS2PD(h, v)
			},
				func(a reg.GPVirtual, v reg.VecVirtual) { l.LoadMasked64(mask, wide(a), v) },
				func(v reg.VecVirtual, a reg.GPVirtual) { l.StoreMasked64(mask, v, wide(a)) })
		})
	l.End()
}

func columnSum(l *lanes.Level, t term) {
	l.Func(t.name+"Columns", "func(acc []float64, x []float32)", "adds "+t.doc+" of x to the sums of its columns.")
	columns(l, 1, func(x, acc []reg.VecVirtual) {
		t.of(l, x[0])
		l.VADDPD(x[0], acc[0], acc[0])
	}, "x")
}

func columnProduct(l *lanes.Level) {
	l.Func("prodColumns", "func(acc []float64, x []float32)", "multiplies the products of columns by the elements of x.")
	columns(l, 1, func(x, acc []reg.VecVirtual) { l.VMULPD(x[0], acc[0], acc[0]) }, "x")
}

func columnMoments(l *lanes.Level) {
	l.Func("momentsColumns", "func(acc, acc2 []float64, x, pivot []float32)", "adds the distances of x from the pivots of its columns, and their squares, to their sums.")
	columns(l, 2, func(x, acc []reg.VecVirtual) { addMoments(l, x[0], x[1], acc[0], acc[1]) }, "x", "pivot")
}
