package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/lanes"
)

// rowLanes is how many floats of a row are under way.
const rowLanes = 32

// top keeps b where a is NaN.
func top(l *lanes.Level) join {
	return func(a, b, to reg.VecVirtual) { l.VMAXPS(b, a, to) }
}

// A join makes one vector of two.
type join func(a, b, to reg.VecVirtual)

// exact is Go's max or min: of zeros with both signs the larger or smaller, and NaN
// if either is. The instruction gives its second operand in both cases, so that the
// two orders differ in the sign only.
func exact(l *lanes.Level, larger bool) join {
	nan := l.F32("nan", 0xffffffff)
	return func(a, b, to reg.VecVirtual) {
		one, other := l.Like(a), l.Like(a)
		if larger {
			l.VMAXPS(a, b, one)
			l.VMAXPS(b, a, other)
			l.VANDPS(one, other, one)
		} else {
			l.VMINPS(a, b, one)
			l.VMINPS(b, a, other)
			l.VORPS(one, other, one)
		}
		l.Pick(lanes.Unordered, a, b, l.Cut(nan, a), one)
		l.VMOVAPS(one, to)
	}
}

// extremes are the joins that a row or columns are brought to one with.
var extremes = []struct {
	name, row, column string
	start             uint32
	join              func(l *lanes.Level) join
}{
	{"top", "is the largest element that is no NaN, -Inf if there is none; a zero may have any sign.", "takes the larger ones of x and acc, acc where x is NaN.", 0xff800000, top},
	{"most", "is the largest element, NaN if one is.", "takes the larger ones of x and acc, NaN if either is.", 0xff800000, func(l *lanes.Level) join { return exact(l, true) }},
	{"least", "is the smallest element, NaN if one is.", "takes the smaller ones of x and acc, NaN if either is.", 0x7f800000, func(l *lanes.Level) join { return exact(l, false) }},
}

func tops(c *build.Context) {
	for _, l := range lanes.Both(c) {
		for _, e := range extremes {
			l.Func(e.name, "func(x []float32) float32", e.row)
			extreme(l, l.F32(e.name+"Start", e.start), e.join(l))
			l.Func(e.name+"Columns", "func(acc, x []float32)", e.column)
			extremeColumns(l, e.join(l))
		}
		places(l, "mostPlaces", "larger", lanes.GreaterThan)
		places(l, "leastPlaces", "smaller", lanes.LessThan)
		find(l)
		count(l)
	}
}

func extreme(l *lanes.Level, start reg.VecVirtual, f join) {
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	best := l.Vecs(rowLanes / l.Lanes())
	for _, b := range best {
		l.Move(start, b)
	}
	l.Loop("row", n, rowLanes, at,
		func() {
			for i, b := range best {
				v := l.Vec()
				l.VMOVUPS(lanes.At(x, at, i*l.Lanes()), v)
				f(v, b, b)
			}
		},
		func(left reg.GPVirtual) {
			for i, m := range l.Masks(left, len(best), false) {
				v := l.Vec()
				l.LoadMasked(m, lanes.At(x, at, i*l.Lanes()), start, v)
				f(v, best[i], best[i])
			}
		})
	v := l.Fold(best, false, f)
	l.VZEROUPPER()
	l.Store(v, l.ReturnIndex(0))
	l.RET()
}

func extremeColumns(l *lanes.Level, f join) {
	acc, x, n, at := l.Base("acc"), l.Base("x"), l.Len("x"), l.GP64()
	v, a := l.Vec(), l.Vec()
	l.Loop("columns", n, l.Lanes(), at,
		func() {
			l.VMOVUPS(lanes.At(x, at, 0), v)
			l.VMOVUPS(lanes.At(acc, at, 0), a)
			f(v, a, a)
			l.VMOVUPS(a, lanes.At(acc, at, 0))
		},
		func(left reg.GPVirtual) {
			m := l.Masks(left, 1, false)[0]
			l.LoadMasked(m, lanes.At(x, at, 0), nil, v)
			l.LoadMasked(m, lanes.At(acc, at, 0), nil, a)
			f(v, a, a)
			l.StoreMasked(m, a, lanes.At(acc, at, 0))
		})
	l.End()
}

// places keeps the first of the elements that no other beats, of NaN the first one,
// and the row that it is from.
func places(l *lanes.Level, name, what string, beats int) {
	l.Func(name, "func(best []float32, place []int32, x []float32, row int32)", "puts what is "+what+" than the best of its column, or the first NaN, into best, and row into place.")
	bests, rows, x, n, at := l.Base("best"), l.Base("place"), l.Base("x"), l.Len("x"), l.GP64()
	row := l.Spread("row")
	v, best, place := l.Vec(), l.Vec(), l.Vec()
	step := func() {
		// NaN beats what is not NaN; it is made to look like that by comparing the
		// two with each other: neither less, nor equal, nor greater.
		candidate, from := l.Vec(), l.Vec()
		l.Move(best, candidate)
		l.Move(place, from)
		l.Pick(beats, v, best, v, candidate)
		l.Pick(beats, v, best, row, from)
		l.Pick(lanes.Unordered, v, v, v, candidate)
		l.Pick(lanes.Unordered, v, v, row, from)
		l.Pick(lanes.Unordered, best, best, best, candidate)
		l.Pick(lanes.Unordered, best, best, place, from)
		l.Move(candidate, best)
		l.Move(from, place)
	}
	l.Loop("columns", n, l.Lanes(), at,
		func() {
			l.VMOVUPS(lanes.At(x, at, 0), v)
			l.VMOVUPS(lanes.At(bests, at, 0), best)
			l.VMOVUPS(lanes.At(rows, at, 0), place)
			step()
			l.VMOVUPS(best, lanes.At(bests, at, 0))
			l.VMOVUPS(place, lanes.At(rows, at, 0))
		},
		func(left reg.GPVirtual) {
			m := l.Masks(left, 1, false)[0]
			l.LoadMasked(m, lanes.At(x, at, 0), nil, v)
			l.LoadMasked(m, lanes.At(bests, at, 0), nil, best)
			l.LoadMasked(m, lanes.At(rows, at, 0), nil, place)
			step()
			l.StoreMasked(m, best, lanes.At(bests, at, 0))
			l.StoreMasked(m, place, lanes.At(rows, at, 0))
		})
	l.End()
}

// find looks through eight elements at a time on both levels: it ends at the first.
func find(l *lanes.Level) {
	l.Func("find", "func(x []float32, v float32) int", "is the place of the first element that is v or NaN, the number of elements if there is none.")
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	want := l.YMM()
	l.VBROADCASTSS(l.Address("v"), want)
	hits, place := l.GP32(), l.GP64()
	look := func(v reg.VecVirtual) {
		nan := l.YMM()
		l.VCMPPS(U8(lanes.Unordered), v, v, nan)
		l.VCMPPS(U8(lanes.Equal), want, v, v)
		l.VORPS(nan, v, v)
		l.VMOVMSKPS(v, hits)
	}
	v := l.YMM()
	narrow := l.Narrow()
	l.Loop("row", n, 8, at,
		func() {
			l.VMOVUPS(lanes.At(x, at, 0), v)
			look(v)
			l.TESTL(hits, hits)
			l.JNE(LabelRef("found"))
		},
		func(left reg.GPVirtual) {
			m := narrow.Masks(left, 1, false)[0]
			narrow.LoadMasked(m, lanes.At(x, at, 0), nil, v)
			look(v)
			lanesLeft := l.GP32()
			l.MOVL(U32(0xffffffff), lanesLeft)
			l.BZHIL(left.As32(), lanesLeft, lanesLeft)
			l.ANDL(lanesLeft, hits)
			l.JNE(LabelRef("found"))
		})
	l.VZEROUPPER()
	l.Store(n, l.ReturnIndex(0))
	l.RET()
	l.Label("found")
	l.TZCNTL(hits, hits)
	l.MOVL(hits, place.As32())
	l.SHRQ(U8(2), at)
	l.ADDQ(at, place)
	l.VZEROUPPER()
	l.Store(place, l.ReturnIndex(0))
	l.RET()
}

// count takes the signs of a comparison as -1.
func count(l *lanes.Level) {
	l.Func("count", "func(x []float32) int", "is how many elements are not zero, as NaN is not.")
	x, n, at := l.Base("x"), l.Len("x"), l.GP64()
	zero := l.Vec()
	l.Zero(zero)
	bits, some, total := l.GP32(), l.GP64(), l.GP64()
	l.XORQ(total, total)
	step := func(v reg.VecVirtual) {
		if l.Wide {
			k := l.K()
			l.VCMPPS(U8(lanes.NotEqual), zero, v, k)
			l.KMOVW(k, bits)
		} else {
			l.VCMPPS(U8(lanes.NotEqual), zero, v, v)
			l.VMOVMSKPS(v, bits)
		}
		l.POPCNTL(bits, some.As32())
		l.ADDQ(some, total)
	}
	l.Loop("row", n, l.Lanes(), at,
		func() {
			v := l.Vec()
			l.VMOVUPS(lanes.At(x, at, 0), v)
			step(v)
		},
		func(left reg.GPVirtual) {
			v := l.Vec()
			l.LoadMasked(l.Masks(left, 1, false)[0], lanes.At(x, at, 0), nil, v)
			step(v)
		})
	l.VZEROUPPER()
	l.Store(total, l.ReturnIndex(0))
	l.RET()
}
