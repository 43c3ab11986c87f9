package ir

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

// Unary operators. Those over floats are within an ulp or two of the true
// value in float64, then rounded to the dtype.
var (
	Abs        = unary("abs", Numbers, "absolute value; the smallest integer wraps to itself", arith(perElement(math.Abs), perElement(absInt), same[uint64]))
	Neg        = unary("neg", Numbers, "negation; integers wrap", arith(perElement(minus[float64]), perElement(minus[int64]), perElement(minus[uint64])))
	Sign       = unary("sign", Numbers, "-1, 0 or 1; of a zero 0, of NaN NaN", arith(perElement(signFloat), perElement(signInt), perElement(signUint)))
	Ceil       = unary("ceil", Numbers, "smallest whole number that is not below; integers stay", rounding(math.Ceil))
	Floor      = unary("floor", Numbers, "largest whole number that is not above; integers stay", rounding(math.Floor))
	Round      = unary("round", Numbers, "nearest whole number, half to even; integers stay", rounding(math.RoundToEven))
	Trunc      = unary("trunc", Numbers, "whole part, toward zero; integers stay", rounding(math.Trunc))
	Sqrt       = unary("sqrt", Floats, "square root, NaN below 0", perFloat(math.Sqrt))
	Rsqrt      = unary("rsqrt", Floats, "1 / sqrt(x), NaN below 0", perFloat(func(x float64) float64 { return 1 / math.Sqrt(x) }))
	Cbrt       = unary("cbrt", Floats, "cube root", perFloat(math.Cbrt))
	Reciprocal = unary("reciprocal", Floats, "1 / x", perFloat(func(x float64) float64 { return 1 / x }))
	Square     = unary("square", Numbers, "x * x; integers wrap", arith(perElement(times[float64]), perElement(times[int64]), perElement(times[uint64])))
	Exp        = unary("exp", Floats, "e to the power x", perFloat(exp))
	Exp2       = unary("exp2", Floats, "2 to the power x", perFloat(math.Exp2))
	Expm1      = unary("expm1", Floats, "exp(x) - 1, with all its digits near 0", perFloat(math.Expm1))
	Log        = unary("log", Floats, "natural logarithm, NaN below 0", perFloat(log))
	Log2       = unary("log2", Floats, "logarithm to base 2, NaN below 0", perFloat(log2))
	Log10      = unary("log10", Floats, "logarithm to base 10, NaN below 0", perFloat(log10))
	Log1p      = unary("log1p", Floats, "log(1 + x), with all its digits near 0; NaN below -1", perFloat(math.Log1p))
	Sin        = unary("sin", Floats, "sine of radians", perFloat(sin))
	Cos        = unary("cos", Floats, "cosine of radians", perFloat(cos))
	Tan        = unary("tan", Floats, "tangent of radians", perFloat(tan))
	Asin       = unary("asin", Floats, "inverse sine, NaN outside -1 to 1", perFloat(asin))
	Acos       = unary("acos", Floats, "inverse cosine, NaN outside -1 to 1", perFloat(acos))
	Atan       = unary("atan", Floats, "inverse tangent", perFloat(math.Atan))
	Sinh       = unary("sinh", Floats, "hyperbolic sine", perFloat(sinh))
	Cosh       = unary("cosh", Floats, "hyperbolic cosine", perFloat(cosh))
	Tanh       = unary("tanh", Floats, "hyperbolic tangent", perFloat(tanh))
	Asinh      = unary("asinh", Floats, "inverse hyperbolic sine", perFloat(math.Asinh))
	Acosh      = unary("acosh", Floats, "inverse hyperbolic cosine, NaN below 1", perFloat(math.Acosh))
	Atanh      = unary("atanh", Floats, "inverse hyperbolic tangent, NaN outside -1 to 1", perFloat(math.Atanh))
	Erf        = unary("erf", Floats, "error function", perFloat(math.Erf))
	IsNaN      = predicate("is_nan", "whether x is NaN", math.IsNaN)
	IsInf      = predicate("is_inf", "whether x is infinite", func(x float64) bool { return math.IsInf(x, 0) })
	IsFinite   = predicate("is_finite", "whether x is neither infinite nor NaN", func(x float64) bool { return x-x == 0 })
	LogicalNot = unary("logical_not", BoolOnly, "whether x is false", byKind{}.orBool(notRun))
	BitNot     = unary("bit_not", IntsOrBool, "every bit the other way; of bool, not", arith(nil, perElement(flip[int64]), perElement(flip[uint64])).orBool(notRun))
	Copy       = row(Op{
		Name: "copy", Group: "unary", Doc: "the same values in other memory", Args: []string{"x"},
		Over: AnyDType, Class: Move, Unit: DMA,
		Infer:  func(c *Call) ([]Type, error) { return []Type{c.In[0]}, nil },
		Eval:   func(c *Call, in ...*tensor.T) ([]*tensor.T, error) { return resultOf(c, in[0]), nil },
		Sample: sampleElementwise(AnyDType, []string{"x"}, nil, nil),
	})
)

func unary(name string, over DTypes, doc string, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: over}, shaped{group: "unary", args: []string{"x"}, runs: runs})
}

func predicate(name, doc string, f func(float64) bool) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: Floats},
		shaped{group: "unary", args: []string{"x"}, result: boolResult, runs: tests(perElement(f), nil, nil)})
}

// rounding leaves integers as they are.
func rounding(f func(float64) float64) byKind {
	return arith(perElement(f), same[int64], same[uint64])
}

func same[W wide](_ *Call, dst []W, in [][]W) { copy(dst, in[0]) }

func minus[W wide](v W) W { return -v }

func times[W wide](v W) W { return v * v }

func flip[W int64 | uint64](v W) W { return ^v }

func absInt(v int64) int64 { return max(v, -v) }

func signInt(v int64) int64 { return min(max(v, -1), 1) }

func signUint(v uint64) uint64 { return min(v, 1) }

func signFloat(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	case v == 0:
		return 0 // of -0 too, as NumPy has it
	}
	return v
}

func notRun(_ *Call, dst []bool, in [][]bool) {
	for i, v := range in[0] {
		dst[i] = !v
	}
}
