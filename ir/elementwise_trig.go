package ir

import "math"

// Sine, cosine and tangent: the argument less the nearest multiple of pi/2, as
// a pair of float64, goes into the polynomials of FreeBSD's k_sin.c and k_cos.c.

// trigLimit bounds the multiples that turnPair takes exactly; beyond it Go's
// own functions reduce with as many digits of pi as are needed.
const trigLimit = 1 << 28

func sin(x float64) float64 {
	if !(math.Abs(x) < trigLimit) {
		return math.Sin(x)
	}
	if x == 0 {
		return x
	}
	k, r, rest := turnPair(x)
	return quarter(k, r, rest)
}

func cos(x float64) float64 {
	if !(math.Abs(x) < trigLimit) {
		return math.Cos(x)
	}
	k, r, rest := turnPair(x)
	return quarter(k+1, r, rest)
}

func tan(x float64) float64 {
	if !(math.Abs(x) < trigLimit) {
		return math.Tan(x)
	}
	if math.Abs(x) < 1e-8 {
		return x // x^3/3 is below half an ulp
	}
	k, r, rest := turnPair(x)
	return quarter(k, r, rest) / quarter(k+1, r, rest)
}

// quarter is the sine of r + rest, k quarter turns on.
func quarter(k int64, r, rest float64) float64 {
	switch k & 3 {
	case 0:
		return sinKernel(r, rest)
	case 1:
		return cosKernel(r, rest)
	case 2:
		return -sinKernel(r, rest)
	}
	return -cosKernel(r, rest)
}

// pi/2 in three float64.
const (
	halfPi1 = 1.5707963267948966
	halfPi2 = 6.123233995736766e-17
	halfPi3 = -1.4973849048591833e-33
)

// turnPair gives x - k*pi/2 as a pair, |r| up to pi/4.
func turnPair(x float64) (k int64, r, rest float64) {
	n := math.RoundToEven(x * (2 / math.Pi))
	p := float64(n * halfPi1)
	t, tLow := twoSum(x, -p)
	q := float64(n * halfPi2)
	r, rest = twoSum(t, -math.FMA(n, halfPi1, -p))
	rest += tLow
	r, low := twoSum(r, -q)
	rest += low - math.FMA(n, halfPi2, -q) - float64(n*halfPi3)
	r, rest = twoSum(r, rest)
	return int64(n), r, rest
}

var (
	sinTerms = [...]float64{1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04, 8.33333333332248946124e-03}
	cosTerms = [...]float64{-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02}
)

const sinThird = -1.66666666666666324348e-01

func sinKernel(r, rest float64) float64 {
	z := float64(r * r)
	v := float64(z * r)
	p := horner(sinTerms[:], z)
	return r - ((float64(z*(float64(0.5*rest)-float64(v*p))) - rest) - float64(v*sinThird))
}

func cosKernel(r, rest float64) float64 {
	z := float64(r * r)
	p := float64(z * horner(cosTerms[:], z))
	half := float64(0.5 * z)
	w := 1 - half
	return w + (((1 - w) - half) + (float64(z*p) - float64(r*rest)))
}

func horner(terms []float64, z float64) float64 {
	p := terms[0]
	for _, c := range terms[1:] {
		p = float64(p*z) + c
	}
	return p
}
