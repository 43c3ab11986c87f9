package ir

import "math"

// Go's math package is within an ulp for most functions. Those here are
// replaced because it is not: measured against NumPy (glibc), its Log2 and
// Log10 lose all digits near 1, its Acos near 1, its Sinh and Cosh overflow
// too early, and its Pow drifts for large exponents.

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
	return p + (math.FMA(h, k, -p) + h*kl + l*k)
}

func asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// acos keeps its digits near 1, where pi/2 - asin(x) has none left.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// Beyond this exp(|x|) may overflow where half of it does not.
const expLimit = 709

func sinh(x float64) float64 {
	if a := math.Abs(x); a > expLimit {
		e := math.Exp(a / 2)
		return math.Copysign(e/2*e, x)
	}
	return math.Sinh(x)
}

func cosh(x float64) float64 {
	if a := math.Abs(x); a > expLimit {
		e := math.Exp(a / 2)
		return e / 2 * e
	}
	return math.Cosh(x)
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
	}
	if x > 0 {
		return expProduct(x, y)
	}
	if math.Trunc(y) != y {
		return math.NaN()
	}
	if math.Mod(y, 2) != 0 {
		return -expProduct(-x, y)
	}
	return expProduct(-x, y)
}

func expProduct(x, y float64) float64 {
	h, l := logPair(x)
	p := h * y
	if math.Abs(p) > 1e3 {
		return math.Exp(p) // 0 or infinity
	}
	rest := math.FMA(h, y, -p) + l*y
	if math.Abs(p) < 700 {
		e := math.Exp(p)
		return e + e*rest
	}
	// In halves: exp(709.8) would overflow before the rest is in.
	e := math.Exp(p / 2)
	return e * (e + e*rest)
}

// logPair gives log(x) as a sum h + l with l below the last bit of h. With m
// the significand of x, s = (m-1)/(m+1) is kept as a pair, and
// log(m) = 2*atanh(s) = 2*(s + s^3/3 + s^5/5 + ...): what follows s^3 adds less
// than 2e-4 of the sum, so that float64 does for it.
func logPair(x float64) (h, l float64) {
	if x <= 0 || x-x != 0 {
		return math.Log(x), 0
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
	sLow := (math.FMA(-s, den, num) - s*denLow) / den
	q := s * s
	qLow := math.FMA(s, s, -q) + 2*s*sLow
	// c = s^3 / 3 as a pair.
	cu := q * s
	cuLow := math.FMA(q, s, -cu) + q*sLow + qLow*s
	c := cu / 3
	cLow := (math.FMA(-c, 3, cu) + cuLow) / 3
	tail := 0.0
	for n := 33; n >= 5; n -= 2 { // q < 0.03: 0.03^15 is below 2^-75
		tail = tail*q + 1/float64(n)
	}
	tail *= q * cu
	h, l = twoSum(s, c)
	l += sLow + cLow + tail
	h, l = twoSum(2*h, 2*l)
	h2, l2 := twoSum(float64(exp)*ln2High, h)
	return twoSum(h2, l2+l+float64(exp)*ln2Low)
}

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
