package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A function computes eight floats at a time, for as long as all of them are inside of what
// it is for. Its operations and their order are those of package ir.
type function struct {
	*Context
	name      string
	constants map[uint64]Mem
}

// write emits the function. inside makes masks of what it is for, round four results.
func (f *function) write(what string, inside func(x reg.VecVirtual) reg.VecVirtual, round func(x reg.VecVirtual) reg.VecVirtual) {
	f.Function(f.name + "AVX2")
	f.Pragma("noescape")
	f.SignatureExpr("func(d, a *float64, n int) (done int)")
	f.Doc(f.name+"AVX2 "+what, "n is a multiple of eight, more than 0. It ends before eight of which one is not, with how many are done.")
	d, a := Mem{Base: f.Load(f.Param("d"), f.GP64())}, Mem{Base: f.Load(f.Param("a"), f.GP64())}
	n, done := f.Load(f.Param("n"), f.GP64()), f.GP64()
	f.XORQ(done, done)
	a.Index, a.Scale, d.Index, d.Scale = done, 8, done, 8
	f.Label("eight")
	var x [2]reg.VecVirtual
	var all [2]reg.Register
	for i := range x {
		x[i] = f.YMM()
		f.VMOVUPD(a.Offset(32*i), x[i])
		all[i] = f.GP32()
		f.VMOVMSKPD(inside(x[i]), all[i])
	}
	f.ANDL(all[1], all[0])
	f.CMPL(all[0], Imm(15))
	f.JNE(LabelRef("end"))
	for i := range x {
		f.VMOVUPD(round(x[i]), d.Offset(32*i))
	}
	f.ADDQ(Imm(8), done)
	f.CMPQ(done, n)
	f.JLT(LabelRef("eight"))
	f.Label("end")
	f.VZEROUPPER()
	f.Store(done, f.ReturnIndex(0))
	f.RET()
}

// constant is four times a float in memory.
func (f *function) constant(v float64) Mem { return f.bits(math.Float64bits(v)) }

// bits is four times eight bytes in memory.
func (f *function) bits(bits uint64) Mem {
	if m, ok := f.constants[bits]; ok {
		return m
	}
	m := f.StaticGlobal(f.name + string(rune('A'+len(f.constants))))
	f.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		f.AddDatum(8*i, U64(bits))
	}
	f.constants[bits] = m
	return m
}

// The operations, each in a register of its own. What is multiplied is rounded before it is
// added up, but by fma.
type binary func(ops ...Op)

func (f *function) do(o binary, a, b Op) reg.VecVirtual {
	y := f.YMM()
	o(b, a, y)
	return y
}

func (f *function) add(a, b Op) reg.VecVirtual { return f.do(f.VADDPD, a, b) }
func (f *function) sub(a, b Op) reg.VecVirtual { return f.do(f.VSUBPD, a, b) }
func (f *function) mul(a, b Op) reg.VecVirtual { return f.do(f.VMULPD, a, b) }
func (f *function) div(a, b Op) reg.VecVirtual { return f.do(f.VDIVPD, a, b) }

// functions writes all of them.
func functions(c *Context) {
	type step func(f *function, x reg.VecVirtual) reg.VecVirtual
	for _, one := range []struct {
		name, what    string
		inside, round step
	}{
		{"exp", "makes exponentials of floats between -690 and 690.", (*function).small, (*function).exp},
		{"sigmoid", "makes 1/(1+exp(-x)) of floats x between -690 and 690.", (*function).small, (*function).sigmoid},
		{"silu", "makes x/(1+exp(-x)) of floats x between -690 and 690.", (*function).small, func(f *function, x reg.VecVirtual) reg.VecVirtual { return f.mul(f.sigmoid(x), x) }},
		{"log", "makes logarithms of floats above 0 that are neither subnormal nor infinite.", (*function).normal, (*function).log},
	} {
		f := &function{c, one.name + "Doubles", map[uint64]Mem{}}
		f.write(one.what, func(x reg.VecVirtual) reg.VecVirtual { return one.inside(f, x) }, func(x reg.VecVirtual) reg.VecVirtual { return one.round(f, x) })
	}
}

// small is all ones where a float is between -690 and 690, whose exponential need not be
// scaled twice.
func (f *function) small(x reg.VecVirtual) reg.VecVirtual {
	size, inside := f.do(f.VANDPD, x, f.bits(1<<63-1)), f.YMM()
	f.VCMPPD(Imm(cmpLess), f.constant(690), size, inside)
	return inside
}

// exp is what exp in ir/elementwise_math.go is.
func (f *function) exp(x reg.VecVirtual) reg.VecVirtual {
	k := f.mul(x, f.constant(1/math.Ln2))
	f.VROUNDPD(Imm(roundNearest), k, k)
	high, low := f.sub(x, f.mul(k, f.constant(ln2High))), f.mul(k, f.constant(ln2Low))
	r := f.sub(high, low)
	rest := f.sub(f.sub(high, r), low)
	factorial := 6227020800.0 // 13!
	q := f.YMM()
	f.VMOVUPD(f.constant(1/factorial), q)
	for i := 13.0; i > 2; i-- {
		factorial /= i
		q = f.add(f.mul(q, r), f.constant(1/factorial))
	}
	y := f.add(f.add(f.add(f.mul(f.mul(r, r), q), rest), r), f.constant(1))
	x32, scale := f.XMM(), f.YMM()
	f.VCVTPD2DQY(k, x32)
	f.VPMOVSXDQ(x32, scale)
	f.VPSLLQ(Imm(52), scale, scale)
	f.VPADDQ(f.constant(1), scale, scale) // the exponent of 1 in the same place
	return f.mul(y, scale)
}

// sigmoid is what sigmoid in ir/ops_activation.go is: by the exponential of what is below 0,
// over one more, or one over that. -0 gives the same by both.
func (f *function) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	e := f.exp(f.do(f.VORPD, x, f.bits(1<<63)))
	over, one := f.YMM(), f.YMM()
	f.VMOVUPD(f.constant(1), one)
	f.VBLENDVPD(x, e, one, over)
	return f.div(over, f.add(e, one))
}

// normal is all ones where a float has a positive exponent, and is above 0.
func (f *function) normal(x reg.VecVirtual) reg.VecVirtual {
	inside, finite := f.YMM(), f.YMM()
	f.VCMPPD(Imm(cmpLessSame), x, f.memory(0x1p-1022), inside)
	f.VCMPPD(Imm(cmpLess), f.constant(math.Inf(1)), x, finite)
	f.VPAND(finite, inside, inside)
	return inside
}

// memory is a constant in a register.
func (f *function) memory(v float64) reg.VecVirtual {
	y := f.YMM()
	f.VMOVUPD(f.constant(v), y)
	return y
}

// log is the larger of the numbers that logPair in ir/elementwise_math.go gives: its names
// are those there.
func (f *function) log(x reg.VecVirtual) reg.VecVirtual {
	exponent, m, few := f.YMM(), f.do(f.VANDPD, x, f.bits(1<<52-1)), f.YMM()
	f.VPSRLQ(Imm(52), x, exponent)
	f.VPOR(f.bits(0x433<<52), exponent, exponent) // 2^52 and the exponent
	e := f.sub(exponent, f.constant(1<<52+1022))
	m = f.do(f.VORPD, m, f.bits(0x3fe<<52)) // from 0.5 to 1
	f.VCMPPD(Imm(cmpLess), f.constant(math.Sqrt2/2), m, few)
	m = f.add(m, f.do(f.VANDPD, m, few))
	e = f.sub(e, f.do(f.VANDPD, few, f.constant(1)))

	num, den := f.sub(m, f.constant(1)), f.add(m, f.constant(1))
	denLow := f.sub(m, f.sub(den, f.constant(1)))
	s := f.div(num, den)
	sLow := f.div(f.sub(f.less(num, s, den), f.mul(s, denLow)), den)
	q := f.mul(s, s)
	qLow := f.add(f.lost(q, s, s), f.mul(f.add(s, s), sLow))
	cube := f.mul(q, s)
	cubeLow := f.add(f.add(f.lost(cube, q, s), f.mul(q, sLow)), f.mul(qLow, s))
	three := f.memory(3)
	c := f.div(cube, three)
	cLow := f.div(f.add(f.less(cube, c, three), cubeLow), three)
	tail := f.memory(1.0 / 33)
	for i := 31; i > 3; i -= 2 {
		tail = f.add(f.mul(tail, q), f.constant(1/float64(i)))
	}
	h, l := f.twoSum(s, c)
	l = f.add(l, f.add(f.add(sLow, cLow), f.mul(tail, f.mul(q, cube))))
	h, l = f.twoSum(f.add(h, h), f.add(l, l))
	h2, l2 := f.twoSum(f.mul(e, f.constant(ln2High)), h)
	return f.add(h2, f.add(f.add(l2, l), f.mul(e, f.constant(ln2Low))))
}

// less is a - b*c, rounded once.
func (f *function) less(a, b, c reg.VecVirtual) reg.VecVirtual {
	y := f.YMM()
	f.VMOVAPD(a, y)
	f.VFNMADD231PD(c, b, y)
	return y
}

// lost is a*b - p, rounded once: what p, the product, lost.
func (f *function) lost(p, a, b reg.VecVirtual) reg.VecVirtual {
	y := f.YMM()
	f.VMOVAPD(p, y)
	f.VFMSUB231PD(b, a, y)
	return y
}

// twoSum gives the rounded sum and what the rounding lost.
func (f *function) twoSum(a, b reg.VecVirtual) (sum, rest reg.VecVirtual) {
	sum = f.add(a, b)
	bb := f.sub(sum, a)
	return sum, f.add(f.sub(a, f.sub(sum, bb)), f.sub(b, bb))
}

// ln(2) in two parts, those of package ir.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)
