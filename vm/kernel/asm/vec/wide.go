package main

import "math"

// Functions that are computed with floats of eight bytes, whose results are rounded
// once: they are off by little more than half a unit in the last place.

const oneWide = 0x3ff << 52

// wideExpTerms is exp(r) for |r| up to ln(2)/2, to 2^-41.
var wideExpTerms = minimax(math.Exp, func(r float64) float64 { return math.Exp(-r) }, -0.3467, 0.3467, 8)

// wideExp is exp(x) for |x| up to 500.
func wideExp(g *graph, x *node) *node {
	sum := g.fma(x, g.f(math.Log2E), g.f(magicWide))
	r := g.fnma(g.sub(sum, g.f(magicWide)), g.f(math.Ln2), x)
	return g.mul(g.poly(r, wideExpTerms), g.addInt(g.shl(sum, 52), g.bits(oneWide)))
}

// wideLog splits log(x) of a positive number into e*ln(2) + l, where num, if given,
// replaces x - 1 near 1 for an x that has been rounded.
func wideLog(g *graph, x, num, near *node) (e, l *node) {
	e = g.sub(g.or(g.shr(x, 52), g.f(1<<52)), g.f(1<<52+1023))
	m := g.or(g.and(x, g.bits(1<<52-1)), g.bits(oneWide))
	big := g.cmp(gt, m, g.f(math.Sqrt2))
	e = g.pick(big, g.addOf(e, g.f(1)), e)
	m = g.pick(big, g.mul(m, g.f(0.5)), m)
	s := g.sub(m, g.f(1))
	if num != nil {
		s = g.pick(near, num, s)
	}
	s = g.div(s, g.addOf(m, g.f(1)))
	z := g.mul(s, s)
	return e, g.fma(g.mul(s, z), g.poly(z, wideLogTerms), g.addOf(s, s))
}

// wideLogTerms are those of the series of 2*atanh(s) = 2s + 2s^3/3 + ..., for s up to
// 0.172.
var wideLogTerms = []float64{2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15}

func wideLog2(g *graph, x *node) *node {
	e, l := wideLog(g, x, nil, nil)
	return logEdges(g, x, g.fma(l, g.f(math.Log2E), e))
}

func log10(g *graph, x *node) *node {
	e, l := wideLog(g, x, nil, nil)
	return logEdges(g, x, g.mul(g.fma(e, g.f(math.Ln2), l), g.f(math.Log10E)))
}

// wideLog1p is log(1+x); near 0 the sum loses digits that x has, and the sign of -0.
func wideLog1p(g *graph, x *node) *node {
	near := g.cmp(lt, g.abs(x), g.f(0.25))
	u := g.addOf(x, g.f(1))
	e, l := wideLog(g, u, x, near)
	return logEdges(g, u, g.or(g.fma(e, g.f(math.Ln2), l), g.signOf(x)))
}

// wideExp2 is 2^x for |x| up to 500.
func wideExp2(g *graph, x *node) *node {
	sum := g.addOf(x, g.f(magicWide))
	r := g.mul(g.sub(x, g.sub(sum, g.f(magicWide))), g.f(math.Ln2))
	return g.mul(g.poly(r, wideExpTerms), g.addInt(g.shl(sum, 52), g.bits(oneWide)))
}

func heldWide(g *graph, x *node) *node { return g.atLeast(g.atMost(x, 500), -500) }

// celu takes the exponential of a quotient that may be too large for a float of four
// bytes where its product with a small alpha is not.
func celu(g *graph, x, alpha *node) *node {
	all := g.div(x, alpha)
	q := heldWide(g, all)
	sum := g.fma(q, g.f(math.Log2E), g.f(magicWide))
	r := g.fnma(g.sub(sum, g.f(magicWide)), g.f(math.Ln2), q)
	e := g.fma(g.mul(r, r), g.poly(r, wideExpm1Terms), r)
	s := g.addInt(g.shl(sum, 52), g.bits(oneWide))
	e = g.fma(s, e, g.sub(s, g.f(1)))
	e = g.pick(g.cmp(eq, all, g.f(math.Inf(1))), all, e)
	return below0(g, x, g.mul(alpha, e))
}

// wideExpm1Terms is (exp(r) - 1 - r) / r^2 for |r| up to ln(2)/2.
var wideExpm1Terms = []float64{1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880}

func cbrt(g *graph, x *node) *node {
	l := wideLog2(g, g.abs(x))
	return g.or(wideExp2(g, heldWide(g, g.mul(l, g.f(1.0/3)))), g.signOf(x))
}

// pow is 2^(y*log2|x|) with the sign of odd powers. Of a negative number only whole
// powers are no NaN; 1 to any power and any number to the power 0 are 1.
func pow(g *graph, x, y *node) *node {
	a := g.abs(x)
	p := g.mul(wideLog2(g, a), y)
	p = g.pick(g.either(g.cmp(eq, a, g.f(1)), g.cmp(eq, y, g.f(0))), g.f(0), p)
	p = wideExp2(g, heldWide(g, p))
	half := g.mul(y, g.f(0.5))
	whole := g.cmp(eq, g.round(y, floor), y)
	odd := g.both(whole, g.cmp(ne, g.round(half, floor), half))
	p = g.pick(odd, g.or(p, g.signOf(x)), p)
	broken := g.both(g.cmp(ne, g.round(y, floor), y), g.both(g.cmp(lt, x, g.f(0)), g.cmp(gt, x, g.f(math.Inf(-1)))))
	p = g.pick(broken, g.f(math.NaN()), p)
	p = g.pick(g.cmp(eq, y, g.f(2)), g.mul(x, x), p)
	return g.pick(g.both(g.cmp(un, y, y), g.cmp(ne, x, g.f(1))), y, p)
}

// turns reduces x to n quarter turns and r. sum has n in its lowest bits.
func turns(g *graph, x *node) (sum, r *node) {
	const low = 6.123233995736766e-17 // what pi/2 has beyond the nearest float64
	sum = g.fma(x, g.f(2/math.Pi), g.f(magicWide))
	n := g.sub(sum, g.f(magicWide))
	r = g.fnma(n, g.f(math.Pi/2), x)
	return sum, g.fnma(n, g.f(low), r)
}

// The series of sine and cosine up to pi/4, to 2^-37.
var (
	sinTerms = []float64{-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800}
	cosTerms = []float64{1, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800}
)

// waves are sine and cosine of a reduced argument. The sine of -0 is -0.
func waves(g *graph, r *node) (s, c *node) {
	z := g.mul(r, r)
	c = g.poly(z, cosTerms)
	return g.mul(r, g.fma(z, g.poly(z, sinTerms), g.f(1))), c
}

// wave is the sine, some quarter turns on.
func wave(more uint64) func(g *graph, x *node) *node {
	return func(g *graph, x *node) *node {
		sum, r := turns(g, x)
		if more > 0 {
			sum = g.addInt(sum, g.bits(more))
		}
		s, c := waves(g, r)
		y := g.pick(g.negative(g.shl(sum, 63)), c, s)
		return g.xor(y, g.signOf(g.shl(sum, 62)))
	}
}

func tan(g *graph, x *node) *node {
	sum, r := turns(g, x)
	s, c := waves(g, r)
	odd := g.shl(sum, 63)
	m := g.negative(odd)
	q := g.div(g.pick(m, c, s), g.pick(m, s, c))
	return g.xor(q, g.signOf(odd))
}

// far finds arguments that turns does not reduce well enough.
func far(g *graph, x, _, _ *node) *node { return g.cmp(ge, g.abs(x), g.f(1<<28)) }

// atanTerms is (atan(q) - q) / q^3 of z = q^2, for q up to tan(pi/8).
var atanTerms = minimax(func(z float64) float64 {
	if z < 1e-3 {
		return -1.0/3 + z*(1.0/5-z*(1.0/7-z/9))
	}
	q := math.Sqrt(z)
	return (math.Atan(q) - q) / (q * z)
}, one, 0, 0.1716, 6)

// angle is that of the point (x, y), for y from 0 on. The quotient of the smaller and
// the larger is turned by pi/4 if it is above tan(pi/8).
func angle(g *graph, y, x *node) *node {
	b := g.atMost(g.abs(x), 1e300)
	a := g.atMost(y, 1e300)
	steep := g.cmp(gt, a, b)
	num, den := g.pick(steep, b, a), g.pick(steep, a, b)
	turn := g.cmp(gt, num, g.mul(den, g.f(math.Sqrt2-1)))
	q := g.div(g.pick(turn, g.sub(num, den), num), g.pick(turn, g.addOf(num, den), den))
	q = g.pick(g.cmp(eq, g.addOf(num, den), g.f(0)), g.f(0), q)
	z := g.mul(q, q)
	r := g.fma(g.mul(q, z), g.poly(z, atanTerms), q)
	r = g.pick(turn, g.addOf(r, g.f(math.Pi/4)), r)
	r = g.pick(steep, g.sub(g.f(math.Pi/2), r), r)
	return g.pick(g.negative(x), g.sub(g.f(math.Pi), r), r)
}

func atan2(g *graph, y, x *node) *node { return g.or(angle(g, g.abs(y), x), g.signOf(y)) }

func atan(g *graph, x *node) *node { return g.or(angle(g, g.abs(x), g.f(1)), g.signOf(x)) }

// besides is the cosine that belongs to a sine, NaN beyond 1.
func besides(g *graph, x *node) *node {
	return g.sqrt(g.mul(g.sub(g.f(1), x), g.addOf(x, g.f(1))))
}

func asin(g *graph, x *node) *node {
	return g.or(angle(g, g.abs(x), besides(g, x)), g.signOf(x))
}

func acos(g *graph, x *node) *node { return angle(g, besides(g, x), x) }

// sinhTerms is (sinh(x) - x) / x^3 of x^2, for x up to 0.3.
var sinhTerms = []float64{1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880}

func sinh(g *graph, x *node) *node {
	t := g.atMost(g.abs(x), 200)
	e := wideExp(g, t)
	large := g.mul(g.sub(e, g.div(g.f(1), e)), g.f(0.5))
	z := g.mul(t, t)
	small := g.fma(g.mul(t, z), g.poly(z, sinhTerms), t)
	return g.or(g.pick(g.cmp(lt, t, g.f(0.3)), small, large), g.signOf(x))
}

func cosh(g *graph, x *node) *node {
	e := wideExp(g, g.atMost(g.abs(x), 200))
	return g.mul(g.addOf(e, g.div(g.f(1), e)), g.f(0.5))
}

func asinh(g *graph, x *node) *node {
	t := g.abs(x)
	q := g.mul(t, t)
	q = g.div(q, g.addOf(g.sqrt(g.addOf(q, g.f(1))), g.f(1)))
	q = g.pick(g.cmp(gt, t, g.f(1e10)), t, q) // of infinity it would be NaN
	return g.or(wideLog1p(g, g.addOf(t, q)), g.signOf(x))
}

func acosh(g *graph, x *node) *node {
	d := g.sub(x, g.f(1))
	y := wideLog1p(g, g.addOf(d, g.sqrt(g.mul(d, g.addOf(x, g.f(1))))))
	return g.pick(g.cmp(lt, x, g.f(1)), g.f(math.NaN()), y)
}

func atanh(g *graph, x *node) *node {
	t := g.abs(x)
	y := wideLog1p(g, g.div(g.addOf(t, t), g.sub(g.f(1), t)))
	return g.or(g.mul(y, g.f(0.5)), g.signOf(x))
}

// hypot needs no care for what is large or small. An infinity wins over NaN.
func hypot(g *graph, x, y *node) *node {
	h := g.sqrt(g.fma(x, x, g.mul(y, y)))
	inf := g.f(math.Inf(1))
	return g.pick(g.either(g.cmp(eq, g.abs(x), inf), g.cmp(eq, g.abs(y), inf)), inf, h)
}

func logAddExp(g *graph, x, y *node) *node {
	same := g.cmp(eq, x, y) // equal infinities have no difference
	d := g.atMost(g.abs(g.sub(x, y)), 500)
	l := wideLog1p(g, wideExp(g, g.neg(d)))
	l = g.pick(same, g.f(math.Ln2), l)
	return g.addOf(g.op(most, y, x), l)
}

// rem: the quotient is right or one too large, and the rest exact, if the quotient
// has no more than 29 bits.
func rem(g *graph, x, y *node) *node {
	q := g.round(g.div(x, y), trunc)
	r := g.fnma(q, y, x)
	over := g.negative(g.xor(r, x))
	r = g.pick(over, g.addOf(r, g.or(g.abs(y), g.signOf(x))), r)
	r = g.pick(g.cmp(eq, g.fnma(q, y, x), g.f(0)), g.f(0), r)
	r = g.or(g.abs(r), g.signOf(x))
	return g.pick(g.cmp(eq, g.abs(y), g.f(math.Inf(1))), x, r)
}

// many finds quotients that are too large for rem, and divisors and dividends that
// have none.
func many(g *graph, x, y, _ *node) *node { return g.cmp(nl, g.abs(x), g.mul(g.abs(y), g.f(1<<28))) }

func wide1(code string, make func(g *graph, x *node) *node) function {
	f := f1(code, make)
	f.wide = true
	return f
}

func wide2(code string, make func(g *graph, x, a *node) *node) function {
	f := f2(code, make)
	f.wide = true
	return f
}

func (f function) unless(guard func(g *graph, x, a, b *node) *node) function {
	f.guard = guard
	return f
}

var wides = []function{
	wide1("Log2", wideLog2), wide1("Log10", log10), wide1("Log1p", wideLog1p), wide1("Cbrt", cbrt),
	wide1("Sin", wave(0)).unless(far), wide1("Cos", wave(1)).unless(far), wide1("Tan", tan).unless(far),
	wide1("Asin", asin), wide1("Acos", acos), wide1("Atan", atan), wide1("Sinh", sinh), wide1("Cosh", cosh),
	wide1("Asinh", asinh), wide1("Acosh", acosh), wide1("Atanh", atanh),
	wide2("Celu", celu), wide2("Pow", pow), wide2("Atan2", atan2), wide2("Hypot", hypot), wide2("LogAddExp", logAddExp), wide2("Rem", rem).unless(many),
}
