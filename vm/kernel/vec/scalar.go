package vec

import "math"

// Functions of one lane that Go's math package does not have, in float64 as the
// operators define them.

func sign(x float32) float32 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// log2 is exact for powers of two.
func log2(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac == 0.5 {
		return float64(exp - 1)
	}
	return math.Log(x) * (1 / math.Ln2)
}

func hold(x, lo, hi float64) float64 {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

func maxPlain(x, a float32) float32 {
	if x < a {
		return a
	}
	return x
}

func minPlain(x, a float32) float32 {
	if x > a {
		return a
	}
	return x
}

func clipLo(x, lo float32) float32 {
	if x < lo || lo != lo {
		return lo
	}
	return x
}

func clipHi(x, hi float32) float32 {
	if x > hi || hi != hi {
		return hi
	}
	return x
}

func leaky(x, slope float32) float32 {
	if x < 0 {
		return slope * x
	}
	return x
}

func leakyInt(x, slope int32) int32 {
	if x < 0 {
		return slope * x
	}
	return x
}

func elu(x, alpha float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x)
	}
	return x
}

func celu(x, alpha float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x/alpha)
	}
	return x
}

// Self-Normalizing Neural Networks, Klambauer et al. 2017, to more digits.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

func selu(x float64) float64 { return seluScale * elu(x, seluAlpha) }

// sigmoid keeps its digits for large negative x, where 1 + exp(-x) overflows.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func gelu(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }

// geluTanh is the approximation of Hendrycks and Gimpel 2016.
func geluTanh(x float64) float64 {
	return x * sigmoid(2*sqrt2OverPi*(x+float64(0.044715*x*x*x)))
}

const sqrt2OverPi = 2 / (math.SqrtPi * math.Sqrt2)

func threshold(x, t, v float64) float64 {
	if x <= t {
		return v
	}
	return x
}

func logAddExp(a, b float64) float64 {
	if a == b {
		return a + math.Ln2 // equal infinities have no difference
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}
