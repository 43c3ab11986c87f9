package ir

import "math"

// The elementary functions that Go's math package does not give to the last
// bits everywhere: checked against NumPy (glibc), its Exp overflows from 709.1
// on and its Log is wrong for subnormals on amd64, its Log2 and Log10 lose all
// digits near 1, its Asin and Acos near 1, its Sinh and Cosh overflow too early,
// its Sin and Cos lose digits near multiples of pi, and its Pow drifts for large
// exponents. Those here are within an ulp or two, and the same on every
// machine: products are converted before they are added, which keeps Go from
// fusing the two on some.

// ExpOf is exp of a float of eight bytes, for kernels.
func ExpOf(x float64) float64 { return exp(x) }

// LogOf is log of a float of eight bytes, for kernels.
func LogOf(x float64) float64 { return log(x) }

// SigmoidOf is sigmoid of a float of eight bytes, for kernels.
func SigmoidOf(x float64) float64 { return sigmoid(x) }

// exp reduces x to k*ln(2) + r with |r| < 0.35, so that thirteen terms of the
// series suffice: r^14/14! is below 5e-18.
func exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	k := math.RoundToEven(x * (1 / math.Ln2))
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	rest := (high - r) - low
	q := float64(expSeries[0]*r) + expSeries[1] // written out: a loop takes twice as long
	q = float64(q*r) + expSeries[2]
	q = float64(q*r) + expSeries[3]
	q = float64(q*r) + expSeries[4]
	q = float64(q*r) + expSeries[5]
	q = float64(q*r) + expSeries[6]
	q = float64(q*r) + expSeries[7]
	q = float64(q*r) + expSeries[8]
	q = float64(q*r) + expSeries[9]
	q = float64(q*r) + expSeries[10]
	q = float64(q*r) + expSeries[11]
	y := 1 + (r + (rest + float64(float64(r*r)*q)))
	if k > -1000 && k < 1000 {
		return y * math.Float64frombits(uint64(int64(k)+1023)<<52)
	}
	return math.Ldexp(y, int(k))
}

// expSeries is 1/13!, 1/12!, ..., 1/2!.
var expSeries = [...]float64{
	1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
	1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
}

func log(x float64) float64 {
	h, _ := logPair(x)
	return h
}

// log2 is exact for powers of two.
func log2(x float64) float64 {
	if frac, exp := math.Frexp(x); frac == 0.5 {
		return float64(exp - 1)
	}
	h, l := logPair(x)
	return scaled(h, l, 1/math.Ln2, invLn2Low)
}

// log10 is exact for powers of ten.
func log10(x float64) float64 {
	h, l := logPair(x)
	y := scaled(h, l, 1/math.Ln10, invLn10Low)
	// 1e22 is the largest power of ten that float64 holds.
	if n := math.Round(y); n >= 0 && n <= 22 && math.Pow10(int(n)) == x {
		return n
	}
	return y
}

// What 1/ln(2) and 1/ln(10) have beyond the nearest float64.
const (
	invLn2Low  = 2.0355273740931033e-17
	invLn10Low = 1.098319650216765e-17
)

// scaled is (h + l) * (k + kl), rounded.
func scaled(h, l, k, kl float64) float64 {
	p := h * k
	if math.IsInf(p, 0) || p != p {
		return p
	}
	return p + (math.FMA(h, k, -p) + float64(h*kl) + float64(l*k))
}

// logPair gives log(x) as a sum h + l with l below the last bit of h. With m
// the significand of x, s = (m-1)/(m+1) is kept as a pair, and
// log(m) = 2*atanh(s) = 2*(s + s^3/3 + s^5/5 + ...): what follows s^3 adds less
// than 2e-4 of the sum, so that float64 does for it.
func logPair(x float64) (h, l float64) {
	switch {
	case x < 0 || x != x:
		return math.NaN(), 0
	case x == 0:
		return math.Inf(-1), 0
	case x > math.MaxFloat64:
		return x, 0
	}
	m, exp := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		exp--
	}
	// m-1 is exact; m+1 is not.
	num, den := m-1, m+1
	denLow := m - (den - 1)
	s := num / den
	sLow := (math.FMA(-s, den, num) - float64(s*denLow)) / den
	q := float64(s * s)
	qLow := math.FMA(s, s, -q) + float64(2*s*sLow)
	cube := float64(q * s)
	cubeLow := math.FMA(q, s, -cube) + float64(q*sLow) + float64(qLow*s)
	c := cube / 3
	cLow := (math.FMA(-c, 3, cube) + cubeLow) / 3
	tail := 1.0 / 33 // q < 0.03: 0.03^15 is below 2^-75
	for _, c := range logSeries {
		tail = float64(tail*q) + c
	}
	h, l = twoSum(s, c)
	l += sLow + cLow + float64(tail*float64(q*cube))
	h, l = twoSum(2*h, 2*l)
	e := float64(exp)
	h2, l2 := twoSum(float64(e*ln2High), h)
	return twoSum(h2, l2+l+float64(e*ln2Low))
}

// logSeries is 1/31, 1/29, ..., 1/5.
var logSeries = [...]float64{1.0 / 31, 1.0 / 29, 1.0 / 27, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5}

// ln(2) in two parts; the first has 32 zero bits at its end, so that its
// multiples by an exponent are exact (FreeBSD's e_log.c).
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// twoSum gives the rounded sum and what the rounding lost (Knuth).
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	bb := sum - a
	return sum, (a - (sum - bb)) + (b - bb)
}

// pow is exp(y * log(x)) with the logarithm and the product to about 65 bits.
// The special cases are those of C99, which Go's Pow has too.
func pow(x, y float64) float64 {
	switch {
	case x == 0 || x == 1 || y == 0 || x-x != 0 || y-y != 0:
		return math.Pow(x, y)
	case y == 1:
		return x
	case y == 2:
		return x * x
	case y == 0.5:
		return math.Sqrt(x)
	case x > 0:
		return expProduct(x, y)
	case math.Trunc(y) != y:
		return math.NaN()
	case math.Mod(y, 2) != 0:
		return -expProduct(-x, y)
	}
	return expProduct(-x, y)
}

func expProduct(x, y float64) float64 {
	h, l := logPair(x)
	p := h * y
	if math.Abs(p) > 1e3 {
		return exp(p) // 0 or infinity
	}
	rest := math.FMA(h, y, -p) + float64(l*y)
	if math.Abs(p) < 700 {
		e := exp(p)
		return e + float64(e*rest)
	}
	// In halves: exp(709.8) would overflow before the rest is in.
	e := exp(p / 2)
	return e * (e + float64(e*rest))
}

// Beyond this exp(|x|) may overflow where half of it does not; below it
// exp(-|x|) has long ceased to count.
const expLimit = 40

func sinh(x float64) float64 {
	a := math.Abs(x)
	if a > expLimit {
		e := exp(a / 2)
		return math.Copysign(e/2*e, x)
	}
	e := math.Expm1(a)
	return math.Copysign((e+e/(e+1))/2, x)
}

func cosh(x float64) float64 {
	a := math.Abs(x)
	if a > expLimit {
		e := exp(a / 2)
		return e / 2 * e
	}
	e := exp(a)
	return (e + 1/e) / 2
}

func tanh(x float64) float64 {
	a := math.Abs(x)
	if a > 22 { // 1 - tanh(22) is 2^-63
		return math.Copysign(1, x)
	}
	e := math.Expm1(-2 * a)
	return math.Copysign(-e/(e+2), x)
}

func asin(x float64) float64 { return math.Atan2(x, math.Sqrt(float64(1-x)*(1+x))) }

// acos keeps its digits near 1, where pi/2 - asin(x) has none left.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// hypot scales by a power of two and corrects the root for what the squares
// and their sum lost.
func hypot(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	if math.IsInf(a, 1) || math.IsInf(b, 1) {
		return math.Inf(1)
	}
	a, b = max(a, b), min(a, b)
	_, e := math.Frexp(a)
	if a == 0 || a != a || b < math.Ldexp(a, -60) {
		return a
	}
	x, y := math.Ldexp(a, -e), math.Ldexp(b, -e)
	p, q := float64(x*x), float64(y*y)
	s, rest := twoSum(p, q)
	rest += math.FMA(x, x, -p) + math.FMA(y, y, -q)
	h := math.Sqrt(s)
	return math.Ldexp(h+(math.FMA(-h, h, s)+rest)/(2*h), e)
}
