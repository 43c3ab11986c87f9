package passes

import (
	"math"
	"sync"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Algebra of real numbers, for who asks for it with fast-math.
//
//	%0 = mul %x, 2.0 : f32[4]             %1 = mul %x, 6.0 : f32[4]
//	%1 = mul %0, 3.0 : f32[4]        =>   %4 = add %y, %z : f32[4]
//	%2 = mul %1, %y : f32[4]              %5 = mul %1, %4 : f32[4]
//	%3 = mul %1, %z : f32[4]
//	%5 = add %2, %3 : f32[4]
//
// Each rule states its liberty: what it takes for granted that IEEE 754 does not.
// Where that holds, results are off by the roundings that were left out, within
// the tolerance that the rules state for numbers of ordinary size; where it does
// not hold, a result may be any number.
var fastMathRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		free("fast-zero", "a product with 0, and a difference from itself, are 0", finite+"; "+oneZero,
			guarded(built("", "", makeZeros, "x * 0", "x - x"), ofFloats)),
		free("fast-one", "a number divided by itself is 1", "no NaN, no infinity and no division by 0",
			guarded(built("", "", makeOnes, "x / x"), ofFloats)),
		free("fast-drop-zero", "a sum with 0 is the number", oneZero,
			guarded(built("", "", widenX, "x + 0", "x - -0.0"), ofFloats)),
		free("fast-relu", "the larger of a number and 0 is its relu", oneZero,
			guarded(rewrite.Own("", "", `maximum(x, 0)  =>  relu(x)`), ofFloats)),
		free("fast-negate", "a difference from 0 is the negation", oneZero,
			guarded(rewrite.Own("", "", `0 - x  =>  neg(x)`), ofFloats)),
		free("fast-merge-constants", "two constants, one after the other, are one", anyRounding+"; nothing overflows on the way",
			guarded(built("", "", inOne, "add(add(x, c), d)", "mul(mul(x, c), d)"), ofFloats)),
		free("fast-inverse", "a division by a constant is a product with its inverse", anyRounding,
			guarded(built("", "", byInverse, "x / c"), constantDivisor)),
		free("fast-factor", "a common factor is multiplied once", anyRounding+"; nothing overflows on the way",
			guarded(closed(rewrite.Own("", "", `x * y + x * z  =>  x * (y + z)`)), ofFloats)),
		free("fast-root", "the square of a root is the number", "what is under a root is not below 0; "+anyRounding,
			rewrite.Own("", "", `square(sqrt(x))  =>  x`)),
		free("fast-abs", "the root of a square is the size", "squares neither overflow nor vanish; "+anyRounding,
			rewrite.Own("", "", `sqrt(square(x))  =>  abs(x)`)),
		free("fast-rsqrt", "one over a root is rsqrt", notInfinite+"; "+anyRounding,
			rewrite.Own("", "", `reciprocal(sqrt(x))  =>  rsqrt(x)`).Or(`sqrt(reciprocal(x))`, `pow(x, -0.5)`)),
		free("fast-sqrt", "to the power of a half is the root", notInfinite+"; "+oneZero,
			rewrite.Own("", "", `pow(x, 0.5)  =>  sqrt(x)`)),
		free("fast-divide", "a product with an inverse is a division", anyRounding,
			rewrite.Own("", "", `x * reciprocal(y)  =>  x / y`)),
		free("fast-log-exp", "the logarithm of an exponential is the exponent", "exponentials neither overflow nor vanish; "+anyRounding,
			rewrite.Own("", "", `log(exp(x))  =>  x`)),
		free("fast-exp-sum", "a product of exponentials is one of the sum", "exponentials neither overflow nor vanish; "+anyRounding,
			closed(rewrite.Own("", "", `exp(x) * exp(y)  =>  exp(x + y)`))),
	}
})

// Liberties that several rules take.
const (
	finite      = "no NaN and no infinity"
	oneZero     = "0 and -0 are the same"
	notInfinite = "what is under a root is not -infinity"
	anyRounding = "where numbers are rounded does not matter"
)

// free names a rule of this table, and says what it takes for granted.
func free(name, doc, liberty string, r *rewrite.Rule) *rewrite.Rule {
	r.Name, r.Doc = name, doc
	return freely(roughly(r), liberty)
}

// constantDivisor asks for a number whose inverse the dtype has with all its
// digits: neither infinite nor below the smallest normal number, 2**-126 of f32.
func constantDivisor(m *rewrite.Match) bool {
	t := rewrite.Splat(m.Value("c"))
	if t == nil || !ofFloats(m) {
		return false
	}
	inverse := tensor.FromFloats(t.DType, nil, []float64{1 / t.FloatAt(0)}).FloatAt(0)
	return !math.IsInf(inverse, 0) && math.Abs(inverse) >= math.Ldexp(1, 2-spreads[t.DType].exponent)
}
