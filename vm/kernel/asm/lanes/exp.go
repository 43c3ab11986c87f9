package lanes

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// expSeries makes 2**f of f in [-0.5, 0.5], the highest power first: the polynomial
// of degree six that begins with 1 and whose largest relative error is smallest,
// 2.6e-9 (by Remez's exchange).
var expSeries = []float64{0.000155946770151, 0.00134066438475, 0.00961769297614, 0.0555031055121, 0.240226527829, 0.693147214968, 1}

// An Exp computes exponentials of distances from a top. magic is 1.5 * 2**23 + 127,
// plus a power of two by which results are larger than they are: added, it rounds to
// an integer and leaves that, biased, in the low bits, where a shift makes a power of
// two of it. Below cut all is 0, and NaN stays what it is.
type Exp struct {
	*Level
	magic, cut reg.VecVirtual
	log2, low  Mem
	series     []Mem
}

func NewExp(l *Level, magic, cut reg.VecVirtual) *Exp {
	e := &Exp{Level: l, magic: magic, cut: cut}
	high := float32(math.Log2E)
	e.log2 = l.Wide32("log2e", math.Float32bits(high))
	e.low = l.Wide32("log2eLow", math.Float32bits(float32(math.Log2E-float64(high))))
	for i, c := range expSeries {
		e.series = append(e.series, l.Wide32(Label("series", i), math.Float32bits(float32(c))))
	}
	return e
}

// Of puts exp(x - top) into each x. What the subtraction loses is kept (Knuth's sum of
// two), and so is what the constant has beyond its last bit: the error does not grow
// with the distance. Several vectors go side by side, since a processor looks only some
// instructions ahead and the chain of one is long.
func (e *Exp) Of(top reg.VecVirtual, xs ...reg.VecVirtual) {
	n := len(xs)
	d, b, lost := e.Vecs(n), e.Vecs(n), e.Vecs(n)
	each(n, func(i int) { e.VSUBPS(top, xs[i], d[i]) })
	each(n, func(i int) { e.VSUBPS(xs[i], d[i], b[i]) })
	each(n, func(i int) { e.VSUBPS(b[i], d[i], lost[i]) })
	each(n, func(i int) { e.VSUBPS(lost[i], xs[i], lost[i]) })
	each(n, func(i int) { e.VADDPS(top, b[i], b[i]) })
	each(n, func(i int) { e.VSUBPS(b[i], lost[i], lost[i]) })
	t, f := e.split(d)
	each(n, func(i int) { e.With(e.low, e.VFMADD231PS, e.VFMADD231PS_BCST, d[i], f[i]) })
	each(n, func(i int) { e.With(e.log2, e.VFMADD231PS, e.VFMADD231PS_BCST, lost[i], f[i]) })
	e.join(xs, d, t, f)
}

func each(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

// split makes of d*log2(e) an integer in the low bits of t, and the rest.
func (e *Exp) split(d []reg.VecVirtual) (t, f []reg.VecVirtual) {
	n := len(d)
	t, f = e.Vecs(n), e.Vecs(n)
	each(n, func(i int) { e.Move(e.magic, t[i]) })
	each(n, func(i int) { e.With(e.log2, e.VFMADD231PS, e.VFMADD231PS_BCST, d[i], t[i]) })
	each(n, func(i int) { e.VSUBPS(e.magic, t[i], f[i]) })
	each(n, func(i int) { e.With(e.log2, e.VFMSUB231PS, e.VFMSUB231PS_BCST, d[i], f[i]) })
	return t, f
}

// join makes the power of two of t and f.
func (e *Exp) join(p, d, t, f []reg.VecVirtual) {
	n := len(p)
	each(n, func(i int) { e.Take(e.series[0], p[i]) })
	for _, c := range e.series[1:] {
		each(n, func(i int) { e.With(c, e.VFMADD213PS, e.VFMADD213PS_BCST, f[i], p[i]) })
	}
	each(n, func(i int) { e.VPSLLD(U8(23), t[i], t[i]) })
	each(n, func(i int) { e.VMULPS(t[i], p[i], p[i]) })
	each(n, func(i int) { e.Keep(NotLess, d[i], e.cut, p[i]) })
}

// twoSeries makes 2**f of f in [-1/16, 1/16], the highest power first and without the
// last, 1: the polynomial of degree three whose relative error is smallest, 1.8e-8 (by
// Remez's exchange), divided by its last coefficient. All are larger by the same factor
// for that.
var twoSeries = []float64{0.0554989017546, 0.240264073014, 0.693147242069}

// A Two computes powers of two of distances from a base, where only their ratios count.
// A distance is split into eighths, which a table of eight powers and the exponent take,
// and a rest: that is few products, of which a processor does two at a time and an
// attention has enough, and few instructions at all.
type Two struct {
	*Level
	table  reg.VecVirtual
	series []Mem
}

// TwoLow has the bits of -127, the distance whose power has no exponent left: it is 0.
// TwoMagic has those of 1.5 * 2**20: added, it rounds to eighths and leaves those in the
// low bits.
const (
	TwoLow   = 0xc2fe0000
	TwoMagic = 0x49c00000
)

// NewTwo loads what stays in registers.
func NewTwo(l *Level) *Two {
	e := &Two{Level: l, table: l.Vec()}
	for i := range twoSeries {
		e.series = append(e.series, l.twoSeries(i))
	}
	l.VMOVUPS(l.eighths(), e.table)
	return e
}

// eighths is the table, twice for vectors of sixteen: 2**(i/8), from whose bits those
// of i, where they stand beside the exponent, are taken away before they are added.
func (l *Level) eighths() Mem {
	const name = "eighths"
	if m, ok := l.data[name]; ok {
		return m
	}
	m := l.StaticGlobal(name)
	l.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		power := math.Float32bits(float32(math.Exp2(float64(i%8) / 8)))
		l.AddDatum(4*i, U32(power-uint32(i%8)<<20))
	}
	l.data[name] = m
	return m
}

// Of puts 2**(x - base) into each x. base is an integer below 2**19; low is what TwoLow
// and it make: what is below counts 0, and NaN stays what it is; magic is TwoMagic less
// base. All sums and differences are exact.
func (e *Two) Of(low, magic reg.VecVirtual, xs ...reg.VecVirtual) {
	n := len(xs)
	t, s, q := e.Vecs(n), e.Vecs(n), e.Vecs(n)
	each(n, func(i int) { e.VMAXPS(xs[i], low, xs[i]) })
	each(n, func(i int) { e.VADDPS(magic, xs[i], t[i]) })
	each(n, func(i int) { e.VPERMPS(e.table, t[i], s[i]) })
	each(n, func(i int) { e.VSUBPS(magic, t[i], q[i]) })
	each(n, func(i int) { e.VPSLLD(U8(20), t[i], t[i]) })
	each(n, func(i int) { e.VSUBPS(q[i], xs[i], xs[i]) })
	each(n, func(i int) { e.VPADDD(t[i], s[i], s[i]) })
	each(n, func(i int) { e.Take(e.series[0], q[i]) })
	each(n, func(i int) { e.With(e.series[1], e.VFMADD213PS, e.VFMADD213PS_BCST, xs[i], q[i]) })
	each(n, func(i int) { e.With(e.series[2], e.VFMADD213PS, e.VFMADD213PS_BCST, xs[i], q[i]) })
	each(n, func(i int) { e.VMULPS(xs[i], s[i], xs[i]) })
	each(n, func(i int) { e.VFMADD213PS(s[i], q[i], xs[i]) })
}
