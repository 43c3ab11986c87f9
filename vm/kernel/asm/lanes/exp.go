package lanes

import (
	"math"

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
	log2       reg.VecVirtual
	low        Mem
	series     []Mem
}

// Magic has the bits of Exp's magic for a power of two. Cut has those of the distance
// below which results are subnormal: -126 * ln(2).
func Magic(power int) uint32 { return math.Float32bits(float32(3<<22 + 127 + power)) }

const Cut = 0xc2aeac4f

func NewExp(l *Level, magic, cut reg.VecVirtual) *Exp {
	e := &Exp{Level: l, magic: magic, cut: cut}
	high := float32(math.Log2E)
	e.log2 = l.F32("log2e", math.Float32bits(high))
	e.low = l.Wide32("log2eLow", math.Float32bits(float32(math.Log2E-float64(high))))
	for i, c := range expSeries {
		e.series = append(e.series, l.Wide32(Label("series", i), math.Float32bits(float32(c))))
	}
	return e
}

// Of puts exp(x - top) into x. What the subtraction loses is kept (Knuth's sum of
// two), and so is what the constant has beyond its last bit: the error does not grow
// with the distance.
func (e *Exp) Of(x, top reg.VecVirtual) {
	d, b, lost := e.Vec(), e.Vec(), e.Vec()
	e.VSUBPS(top, x, d)
	e.VSUBPS(x, d, b)
	e.VSUBPS(b, d, lost)
	e.VSUBPS(lost, x, lost)
	e.VADDPS(top, b, b)
	e.VSUBPS(b, lost, lost)
	t, f := e.split(d)
	e.VFMADD231PS(e.low, d, f)
	e.VFMADD231PS(e.log2, lost, f)
	e.join(x, d, t, f)
}

// Near puts exp(x - top) into x with an error that grows with the distance, as that of
// the difference does: 1e-7 of the result for each unit.
func (e *Exp) Near(x, top reg.VecVirtual) {
	d := e.Vec()
	e.VSUBPS(top, x, d)
	t, f := e.split(d)
	e.join(x, d, t, f)
}

// split makes of d*log2(e) an integer in the low bits of t, and the rest.
func (e *Exp) split(d reg.VecVirtual) (t, f reg.VecVirtual) {
	t, f = e.Vec(), e.Vec()
	e.Move(e.magic, t)
	e.VFMADD231PS(e.log2, d, t)
	e.VSUBPS(e.magic, t, f)
	e.VFMSUB231PS(e.log2, d, f)
	return t, f
}

// join makes the power of two of t and f.
func (e *Exp) join(p, d, t, f reg.VecVirtual) {
	e.VMOVUPS(e.series[0], p)
	for _, c := range e.series[1:] {
		e.VFMADD213PS(c, f, p)
	}
	e.VPSLLD(U8(23), t, t)
	e.VMULPS(t, p, p)
	e.Keep(NotLess, d, e.cut, p)
}
