package ir

import (
	"math"
)

var alphaAttr = []Attr{number("alpha", 1, "how far negative elements reach down")}

// Activations, by PyTorch's names and defaults. NaN comes through all of them.
var (
	Relu  = activation("relu", Numbers, "x where it is not below 0, else 0", nil, arith(reluRun[float64], reluRun[int64], same[uint64]))
	Relu6 = activation("relu6", Numbers, "x held between 0 and 6", nil, arith(
		perElement(func(x float64) float64 { return hold(x, 0, 6) }), perElement(func(x int64) int64 { return hold(x, 0, 6) }), perElement(func(x uint64) uint64 { return min(x, 6) })))
	LeakyRelu = activation("leaky_relu", Floats, "x where it is not below 0, else slope * x",
		[]Attr{number("slope", 0.01, "the factor of negative elements")}, with1("slope", func(x, slope float64) float64 {
			if x < 0 {
				return slope * x
			}
			return x
		}))
	Elu  = activation("elu", Floats, "x where it is not below 0, else alpha * (exp(x) - 1)", alphaAttr, with1("alpha", elu))
	Celu = activation("celu", Floats, "x where it is not below 0, else alpha * (exp(x / alpha) - 1)", alphaAttr,
		with1("alpha", func(x, alpha float64) float64 {
			if x < 0 {
				return alpha * math.Expm1(x/alpha)
			}
			return x
		}))
	Selu = activation("selu", Floats, "elu with the scale and alpha that keep a mean of 0 and a variance of 1", nil,
		perFloat(func(x float64) float64 { return seluScale * elu(x, seluAlpha) }))
	Gelu = activation("gelu", Floats, "x times the normal distribution function of x",
		[]Attr{{Name: "approx", Kind: KString, Default: StrLit("none"), Values: []string{"none", "tanh"}, Doc: "tanh: the approximation with tanh"}}, arith(geluRun, nil, nil))
	Silu        = activation("silu", Floats, "x * sigmoid(x)", nil, perFloat(func(x float64) float64 { return x * sigmoid(x) }))
	Sigmoid     = activation("sigmoid", Floats, "1 / (1 + exp(-x))", nil, perFloat(sigmoid))
	LogSigmoid  = activation("log_sigmoid", Floats, "log(sigmoid(x)) without overflow", nil, perFloat(func(x float64) float64 { return -softplus(-x) }))
	Softplus    = activation("softplus", Floats, "log(1 + exp(x)) without overflow", nil, perFloat(softplus))
	Softsign    = activation("softsign", Floats, "x / (1 + |x|)", nil, perFloat(func(x float64) float64 { return x / (1 + math.Abs(x)) }))
	Mish        = activation("mish", Floats, "x * tanh(softplus(x))", nil, perFloat(func(x float64) float64 { return x * tanh(softplus(x)) }))
	HardSigmoid = activation("hardsigmoid", Floats, "alpha * x + beta, held between 0 and 1",
		[]Attr{number("alpha", 1.0/6, "the slope"), number("beta", 0.5, "the value at 0")},
		with2("alpha", "beta", func(x, alpha, beta float64) float64 { return hold(float64(alpha*x)+beta, 0, 1) }))
	HardSwish = activation("hardswish", Floats, "x * relu6(x + 3) / 6", nil, perFloat(func(x float64) float64 { return x * hold(x+3, 0, 6) / 6 }))
	HardTanh  = activation("hardtanh", Floats, "x held between lo and hi",
		[]Attr{number("lo", -1, "the lower bound"), number("hi", 1, "the upper bound")}, with2("lo", "hi", hold[float64]))
	Threshold = activation("threshold", Floats, "v where x is at or below t, else x",
		[]Attr{{Name: "t", Kind: KFloat, Required: true, Doc: "the threshold"}, {Name: "v", Kind: KFloat, Required: true, Doc: "the value at and below the threshold"}},
		with2("t", "v", func(x, t, v float64) float64 {
			if x <= t {
				return v
			}
			return x
		}))
	PRelu = elementwise(Op{Name: "prelu", Over: Numbers, Doc: "x where it is not below 0, else slope * x, with slope a tensor that broadcasts"},
		shaped{group: "activation", args: []string{"x", "slope"}, runs: arith(preluRun[float64], preluRun[int64], same[uint64])})
	Clip = elementwise(Op{Name: "clip", Over: Numbers, Doc: "min(max(x, lo), hi); NaN if one of them is, and hi where lo is above it"},
		shaped{group: "activation", args: []string{"x", "lo?", "hi?"}, runs: arith(clipRun[float64], clipRun[int64], clipRun[uint64])})
)

// Self-Normalizing Neural Networks, Klambauer et al. 2017, to more digits.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

func activation(name string, over DTypes, doc string, attrs []Attr, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: over, Attrs: attrs}, shaped{group: "activation", args: []string{"x"}, runs: runs})
}

func number(name string, value float64, doc string) Attr {
	return Attr{Name: name, Kind: KFloat, Default: FloatLit(value), Doc: doc}
}

// with1 makes the runners of a function of x and an attribute.
func with1(attr string, f func(x, a float64) float64) byKind {
	return arith(func(c *Call, dst []float64, in [][]float64) {
		a := c.Float(attr)
		for i, v := range in[0] {
			dst[i] = f(v, a)
		}
	}, nil, nil)
}

// with2 is with1 for two attributes.
func with2(attr1, attr2 string, f func(x, a, b float64) float64) byKind {
	return arith(func(c *Call, dst []float64, in [][]float64) {
		a, b := c.Float(attr1), c.Float(attr2)
		for i, v := range in[0] {
			dst[i] = f(v, a, b)
		}
	}, nil, nil)
}

// reluRun keeps -0 and NaN.
func reluRun[W float64 | int64](_ *Call, dst []W, in [][]W) {
	for i, v := range in[0] {
		if v < 0 {
			v = 0
		}
		dst[i] = v
	}
}

func preluRun[W wide](_ *Call, dst []W, in [][]W) {
	slope := in[1]
	for i, v := range in[0] {
		if v < 0 {
			v *= slope[i]
		}
		dst[i] = v
	}
}

// clipRun applies the bounds that there are; NaN in a bound wins as in x.
func clipRun[W wide](_ *Call, dst []W, in [][]W) {
	copy(dst, in[0])
	if len(in) > 1 {
		for i, lo := range in[1] {
			if dst[i] < lo || lo != lo {
				dst[i] = lo
			}
		}
	}
	if len(in) > 2 {
		for i, hi := range in[2] {
			if dst[i] > hi || hi != hi {
				dst[i] = hi
			}
		}
	}
}

// hold is x between lo and hi, hi if they cross.
func hold[W wide](x, lo, hi W) W {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

func elu(x, alpha float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x)
	}
	return x
}

// sigmoid keeps its digits for large negative x, where 1 + exp(-x) overflows.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + exp(-x))
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(exp(-math.Abs(x))) }

// geluRun: erfc keeps the digits of large negative x that 1 + erf loses.
func geluRun(c *Call, dst []float64, in [][]float64) {
	if c.Str("approx") == "tanh" {
		for i, x := range in[0] {
			// Hendrycks and Gimpel 2016; 0.044715 and sqrt(2/pi) are theirs.
			dst[i] = x * sigmoid(2*sqrt2OverPi*(x+float64(0.044715*x*x*x)))
		}
		return
	}
	for i, x := range in[0] {
		dst[i] = x / 2 * math.Erfc(-x/math.Sqrt2)
	}
}

const sqrt2OverPi = 2 / (math.SqrtPi * math.Sqrt2)
