package main

import "math"

// The functions made of exponentials, in floats of four bytes.

// Adding magic to a number of moderate size rounds it to a whole one, whose bits are
// then the lowest of the sum.
const (
	magic     = 3 << 22
	magicWide = 3 << 51
)

// ln(2) in two floats; the first has nine bits less, so that its multiples by an
// exponent are exact.
var (
	ln2High = float64(math.Float32frombits(math.Float32bits(math.Ln2) &^ 0x1ff))
	ln2Low  = math.Ln2 - ln2High
)

// expRest is (exp(r) - 1 - r) / r^2 for |r| up to ln(2)/2, to 2^-28 of exp(r).
var expRest = minimax(func(r float64) float64 {
	if math.Abs(r) < 1e-2 {
		return 1.0/2 + r*(1.0/6+r*(1.0/24+r*(1.0/120+r/720)))
	}
	return (math.Expm1(r) - r) / (r * r)
}, func(r float64) float64 { return r*r + 1e-12 }, -0.3467, 0.3467, 4)

// reduce splits x into n*ln(2) + r. sum is n in its lowest bits.
func reduce(g *graph, x *node) (sum, n, r *node) {
	sum = g.fma(x, g.f(math.Log2E), g.f(magic))
	n = g.sub(sum, g.f(magic))
	r = g.fnma(n, g.f(ln2High), x)
	return sum, n, g.fnma(n, g.f(ln2Low), r)
}

// expm1Of is exp(r) - 1 for a reduced argument.
func expm1Of(g *graph, r *node) *node {
	return g.fma(g.mul(r, r), g.poly(r, expRest), r)
}

// scaleBy is p * 2^n, rounded once, for |n| up to 250: by two powers of half the
// exponent where there is no instruction.
func scaleBy(g *graph, p, n *node) *node {
	if g.scaled {
		return g.op(scale, p, n)
	}
	sum := g.fma(n, g.f(0.5), g.f(magic))
	rest := g.sub(n, g.sub(sum, g.f(magic)))
	one := g.bits(0x3f800000)
	p = g.mul(p, g.addInt(g.shl(sum, 23), one))
	return g.mul(p, g.addInt(g.shl(g.addOf(rest, g.f(magic)), 23), one))
}

// shift is p * 2^n where the result is neither too large nor too small for that; n
// is in the lowest bits of sum. It makes something else of NaN.
func shift(g *graph, p, sum *node) *node { return g.addInt(p, g.shl(sum, 23)) }

// power is shift for 2^n itself, which keeps a NaN of p.
func power(g *graph, p, sum *node) *node {
	return g.mul(p, g.addInt(g.shl(sum, 23), g.bits(0x3f800000)))
}

// expParts is exp(x) as p * 2^n.
func expParts(g *graph, x *node) (p, n *node) {
	_, n, r := reduce(g, x)
	return g.addOf(expm1Of(g, r), g.f(1)), n
}

// exp of anything; beyond the bounds it is 0 or infinity anyway.
func exp(g *graph, x *node) *node {
	p, n := expParts(g, g.atLeast(g.atMost(x, 90), -105))
	return scaleBy(g, p, n)
}

// expNegative is exp(-t) for t from 0 on, as p * 2^n; from 105 on it is 0.
func expNegative(g *graph, t *node) (p, n *node) { return expParts(g, g.neg(g.atMost(t, 105))) }

func exp2(g *graph, x *node) *node {
	x = g.atLeast(g.atMost(x, 130), -151)
	n := g.round(x, nearest)
	return scaleBy(g, g.poly(g.sub(x, n), exp2Terms), n)
}

// exp2Terms is 2^x for |x| up to 1/2, to 2^-29.
var exp2Terms = func() []float64 {
	c := minimax(math.Exp2, func(x float64) float64 { return math.Exp2(-x) }, -0.5, 0.5, 6)
	c[0] = 1 // whole numbers are exact
	return c
}()

// expm1 keeps the digits near 0: 2^n * (exp(r) - 1) + (2^n - 1), in halves, since 2^n
// may be too large where the result is not.
func expm1(g *graph, x *node) *node {
	sign := g.signOf(x)
	x = g.atLeast(g.atMost(x, 88.9), -18)
	sum, n, r := reduce(g, x)
	e := expm1Of(g, r)
	half := g.addInt(g.shl(sum, 23), g.bits(0x3f000000))
	y := g.fma(half, e, g.sub(half, g.f(0.5)))
	y = g.addOf(y, y)
	y = g.pick(g.cmp(eq, n, g.f(0)), e, y)
	return g.or(g.abs(y), sign)
}

// elu of a factor: x where it is not below 0.
func elu(g *graph, x, alpha *node) *node { return below0(g, x, g.mul(alpha, expm1(g, x))) }

func selu(g *graph, x *node) *node {
	const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
	return g.pick(g.cmp(lt, x, g.f(0)), g.mul(g.f(alpha*scale), expm1(g, x)), g.mul(g.f(scale), x))
}

// sigmoid is 1 / (1 + exp(-x)), 0 where that is no normal number.
func sigmoid(g *graph, x *node) *node { return g.div(g.f(1), onePlusExp(g, x)) }

// silu is x / (1 + exp(-x)): -0 below -88.4, where it is 4e-37 and less, and NaN of -Inf.
func silu(g *graph, x *node) *node { return g.div(x, onePlusExp(g, x)) }

// onePlusExp is 1 + exp(-x), which is infinite below -88.4. Bounds keep the exponent within
// those of 0 and infinity.
func onePlusExp(g *graph, x *node) *node {
	x = g.atLeast(g.atMost(x, 88), -88.9)
	sum := g.fma(x, g.f(-math.Log2E), g.f(magic))
	n := g.sub(sum, g.f(magic))
	r := g.fma(n, g.f(ln2Low), g.fma(n, g.f(ln2High), x)) // of -x, with the other sign
	return g.addOf(power(g, g.byPairs(r, g.mul(r, r), expMinus), sum), g.f(1))
}

// expMinus is exp(-r) for |r| up to ln(2)/2: the terms of expRest with alternate signs.
var expMinus = func() []float64 {
	c := []float64{1, -1}
	for i, term := range expRest {
		c = append(c, term*float64(1-i%2*2))
	}
	return c
}()

// tanh is m/(m+2) with m = exp(2t) - 1, which has its digits near 0.
func tanh(g *graph, x *node) *node {
	t := g.abs(x)
	sum, _, r := reduce(g, g.atMost(g.addOf(t, t), 20))
	two := g.addInt(g.shl(sum, 23), g.bits(0x3f800000))
	m := g.fma(two, expm1Of(g, r), g.sub(two, g.f(1)))
	return g.or(g.div(m, g.addOf(m, g.f(2))), g.signOf(x))
}

// log1pOf is log(1 + e) for e from 0 to 1: with r = 2e/(2+e) it is
// r + r^3/12 + r^5/80 + ..., the series of 2*atanh(r/2).
func log1pOf(g *graph, e *node) *node {
	r := g.div(g.addOf(e, e), g.addOf(e, g.f(2)))
	z := g.mul(r, r)
	return g.fma(g.mul(r, z), g.poly(z, atanhTerms), r)
}

// atanhTerms is (2*atanh(r/2) - r) / r^3 of z = r^2, for r up to 2/3.
var atanhTerms = minimax(func(z float64) float64 {
	if z < 1e-3 {
		return 1.0/12 + z*(1.0/80+z/448)
	}
	r := math.Sqrt(z)
	return (2*math.Atanh(r/2) - r) / (r * z)
}, func(z float64) float64 { return z + 1e-6 }, 0, 4.0/9, 4)

// softplus is max(x, 0) + log(1 + exp(-|x|)).
func softplus(g *graph, x *node) *node {
	p, n := expNegative(g, g.abs(x))
	return g.addOf(g.op(most, g.f(0), x), log1pOf(g, scaleBy(g, p, n)))
}

func logSigmoid(g *graph, x *node) *node {
	p, n := expNegative(g, g.abs(x))
	return g.sub(g.op(least, g.f(0), x), log1pOf(g, scaleBy(g, p, n)))
}

// mish is x * tanh(softplus(x)), which is x * m / (m + 2) with m = e^2 + 2e and
// e = exp(x): from 20 on the quotient is 1, below -87.6 it is 0, where what it is
// multiplied by leaves less than 8e-37.
func mish(g *graph, x *node) *node {
	sum, _, r := reduce(g, g.atLeast(g.atMost(x, 20), -88))
	e := power(g, g.byPairs(r, g.mul(r, r), expPlus), sum)
	m := g.mul(e, g.addOf(e, g.f(2)))
	return g.mul(x, g.div(m, g.addOf(m, g.f(2))))
}

// expPlus is exp(r) for |r| up to ln(2)/2.
var expPlus = append([]float64{1, 1}, expRest...)

// geluTanh is x * sigmoid(2 * sqrt(2/pi) * (x + 0.044715 x^3)), Hendrycks and Gimpel
// 2016: x / (1 + exp(-z)) as silu is of x, with what z lost to rounding, of which the
// exponential would make an error as large. It is -0 below -10.04, where it is 5e-38 and
// less.
func geluTanh(g *graph, x *node) *node {
	const a = 2 * 0.79788456080286535588
	t := g.atLeast(g.atMost(x, 10), -10.07)
	w := g.fma(g.mul(t, t), g.f(a*0.044715), g.f(a))
	z := g.mul(t, w)
	low := g.fma(t, w, g.neg(z))
	sum := g.fma(z, g.f(-math.Log2E), g.f(magic))
	n := g.sub(sum, g.f(magic))
	r := g.addOf(g.fma(n, g.f(ln2Low), g.fma(n, g.f(ln2High), z)), low)
	e := power(g, g.byPairs(r, g.mul(r, r), expMinus), sum)
	return g.div(x, g.addOf(e, g.f(1)))
}

// gelu is x - t * Q(t), or -t * Q(t) below 0, with t = |x| and Q the upper tail of the
// normal distribution, exp(-t^2/2) times a quotient of polynomials. The square is taken
// in two parts, since the exponential makes an error of it as large as itself; its
// exponent is counted down. What x is multiplied by leaves -0 and makes NaN of -Inf.
func gelu(g *graph, x *node) *node {
	t := g.and(x, g.bits(1<<31-1))
	high := g.mul(t, t)
	low := g.fnma(t, t, high) // what high has too much
	sum := g.fnma(high, g.f(math.Log2E/2), g.f(magic))
	r := g.fnma(high, g.f(halfHigh), g.sub(g.f(magic), sum))
	r = g.fma(low, g.f(halfHigh), g.fnma(high, g.f(halfLow), r))
	q := g.div(g.mul(t, g.byPairs(t, high, tailTop)), g.byPairs(t, high, tailBottom))
	q = shift(g, g.fma(q, g.mul(r, g.poly(r, exp2Terms[1:])), q), sum)
	q = g.pick(g.cmp(lt, t, g.f(tailEnd)), q, g.bits(1<<31))
	return g.fma(x, g.pick(g.negative(x), g.f(0), g.f(1)), q)
}

// Beyond tailEnd, where t * Q(t) is 2.2e-38, the tail is 0: so the exponent needs no care.
const tailEnd = 13.1

// Half of log2(e) in two floats.
var (
	halfHigh = float64(float32(math.Log2E / 2))
	halfLow  = math.Log2E/2 - halfHigh
)

// The quotient of tailTop and tailBottom is -exp(t^2/2) * Q(t) for t up to tailEnd, to
// 2^-26.5 with terms as they are rounded; of places for the points near the best one,
// 2.9 is where that does least harm. The terms have one sign each, so that nothing
// cancels.
var tailTop, tailBottom = quotient(func(t float64) float64 {
	return -math.Exp(t*t/2) * math.Erfc(t/math.Sqrt2) / 2
}, 4, 5, 2.9, tailEnd)

// erf is x times a polynomial of x^2 near 0, and 1 - exp(-q(t)) beyond.
func erf(g *graph, x *node) *node {
	t := g.atMost(g.abs(x), 3.95)
	sum, _, r := reduce(g, g.neg(g.poly(t, erfcTerms)))
	large := g.sub(g.f(1), power(g, g.addOf(expm1Of(g, r), g.f(1)), sum))
	small := g.fma(t, g.poly(g.mul(t, t), erfTerms), t)
	return g.or(g.pick(g.cmp(lt, t, g.f(erfSmall)), small, large), g.signOf(x))
}

const erfSmall = 0.95

var (
	// erfTerms is erf(x)/x - 1 of z = x^2.
	erfTerms = minimax(func(z float64) float64 {
		if z < 1e-8 {
			return 2/math.SqrtPi - 1
		}
		return math.Erf(math.Sqrt(z))/math.Sqrt(z) - 1
	}, one, 0, erfSmall*erfSmall, 6)
	// erfcTerms is -log(erfc(t)).
	erfcTerms = minimax(func(t float64) float64 { return -math.Log(math.Erfc(t)) }, math.Erfc, erfSmall, 3.95, 7)
)

// log: x is m * 2^e with m around 1, and f = m - 1 exact; log(m) is f - f^2/2 + f^3 *
// a polynomial. Subnormals are scaled first.
func log(g *graph, x *node) *node {
	tiny := g.cmp(lt, x, g.bits(0x00800000))
	up := g.pick(tiny, g.mul(x, g.f(1<<25)), x)
	e := g.sar(g.subInt(up, g.bits(sqrtHalf)), 23)
	f := g.sub(g.subInt(up, g.shl(e, 23)), g.f(1))
	k := g.sub(g.op(toFloat, e), g.pick(tiny, g.f(25), g.f(0)))
	z := g.mul(f, f)
	y := g.mul(g.mul(f, z), g.poly(f, logTerms))
	y = g.fma(k, g.f(ln2Low), y)
	y = g.fnma(z, g.f(0.5), y)
	y = g.fma(k, g.f(ln2High), g.addOf(f, y))
	return logEdges(g, x, y)
}

// sqrtHalf is the bits of the square root of 1/2.
const sqrtHalf = 0x3f3504f3

// logEdges puts in what a logarithm is at 0, below it, at infinity and of NaN.
func logEdges(g *graph, x, y *node) *node {
	y = g.pick(g.cmp(eq, x, g.f(math.Inf(1))), x, y)
	y = g.pick(g.cmp(eq, x, g.f(0)), g.f(math.Inf(-1)), y)
	return g.pick(g.cmp(notGE, x, g.f(0)), g.f(math.NaN()), y)
}

// notGE is true below and with a NaN.
const notGE = 0x19

// logTerms is (log(1+f) - f + f^2/2) / f^3.
var logTerms = minimax(func(f float64) float64 {
	if math.Abs(f) < 2e-3 {
		return 1.0/3 - f*(1.0/4-f*(1.0/5-f*(1.0/6-f/7)))
	}
	return (math.Log1p(f) - f + f*f/2) / (f * f * f)
}, func(f float64) float64 { return f*f + 1e-9 }, math.Sqrt2/2-1, math.Sqrt2-1, 8)

var elementary = []function{
	f1("Exp", exp), f1("Exp2", exp2), f1("Expm1", expm1), f1("Log", log),
	f1("Sigmoid", sigmoid), f1("Silu", silu), f1("Tanh", tanh), f1("Softplus", softplus), f1("LogSigmoid", logSigmoid),
	f1("Mish", mish), f1("Gelu", gelu), f1("GeluTanh", geluTanh), f1("Erf", erf),
	f2("Elu", elu), f1("Selu", selu),
}
