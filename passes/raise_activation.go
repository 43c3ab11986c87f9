package passes

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Activations that exporters write out.
//
//	%0 = mul %x, 0.5
//	%1 = div %x, 1.4142135
//	%2 = erf %1                =>   %4 = gelu %x
//	%3 = add %2, 1.0
//	%4 = mul %0, %3
//
// PyTorch writes GELU in this order, TensorFlow and JAX the half and the gate in
// another, Hugging Face's variants have the cube of the tanh approximation in
// several. relu of a float is no maximum(x, 0): of -0 it keeps the sign, and a
// division by the result shows the difference; fast-relu is for who does not care.
func activationForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		exactly(guarded(raisedBy(leakyRelu, "raise-leaky-relu", "x, and of negative numbers a part",
			"where(x < 0, x * s, x)", "where(x >= 0, x, x * s)", "where(x > 0, x, x * s)", "maximum(x, x * s)"), isLeak)),

		raised("raise-sigmoid", "1 / (1 + exp(-x)), and by tanh",
			"sigmoid(x)", "reciprocal(exp(neg(x)) + 1)", "(tanh(x * 0.5) + 1) * 0.5", "tanh(x * 0.5) * 0.5 + 0.5"),
		raised("raise-silu", "x times its sigmoid",
			"silu(x)", "x * sigmoid(x)", "x / (exp(neg(x)) + 1)"),
		raised("raise-softplus", "log(1 + exp(x)), which then does not overflow",
			"softplus(x)", "log(exp(x) + 1)", "log1p(exp(x))", "logaddexp(x, 0)"),
		guarded(raised("raise-guarded-softplus", "softplus beside x itself beyond 20, where f32 knows no difference",
			"softplus(x)", "where(x > 20, x, softplus(x))"), narrowerThan(tensor.F64)),
		raised("raise-log-sigmoid", "the negated softplus of -x",
			"log_sigmoid(x)", "neg(softplus(neg(x)))"),
		raised("raise-mish", "x * tanh(softplus(x))",
			"mish(x)", "x * tanh(softplus(x))"),

		guarded(raisedBy(hardSigmoid, "raise-hardsigmoid", "a straight line between 0 and 1",
			"relu6(x + 3) / 6", "relu6(x + 3) * sixth", "clip(x / 6 + 0.5, 0, 1)", "clip(x * a + b, 0, 1)", "minimum(maximum(x * a + b, 0), 1)"), isHardSigmoid),
		guarded(raised("raise-hardswish", "x * relu6(x + 3) / 6",
			"hardswish(x)", "x * hardsigmoid(x, alpha=a, beta=0.5)", "x * relu6(x + 3) / 6", "x * relu6(x + 3) * sixth", "x / 6 * relu6(x + 3)", "x * sixth * relu6(x + 3)"), isHardSwish),

		guarded(raised("raise-gelu", "x times the normal distribution function, by erf",
			"gelu(x)", each(gated, "erf(u)")...), isErfGelu),
		guarded(raised("raise-gelu-tanh", "x times an approximation of the normal distribution function, by tanh",
			`gelu(x, approx="tanh")`, each(gated, "tanh(u)")...), isTanhGelu),
	}
}

// gated are the ways to write x * 0.5 * (gate + 1).
var gated = []string{"x * 0.5 * (% + 1)", "x * (% + 1) * 0.5", "x * ((% + 1) * 0.5)", "x * (% * 0.5 + 0.5)"}

// narrowerThan asks for a dtype with fewer digits.
func narrowerThan(d tensor.DType) func(*rewrite.Match) bool {
	return func(m *rewrite.Match) bool { return m.Root.Type.DType.Size() < d.Size() }
}

// isErfGelu asks for erf of x divided by the square root of 2, or multiplied by that
// of 1/2, which in f64 has two values by the way it is computed.
func isErfGelu(m *rewrite.Match) bool {
	p, ok := polynomialOf(m)
	d := m.Root.Type.DType
	factors := []float64{1 / tensor.Round(d, math.Sqrt2), tensor.Round(d, math.Sqrt(0.5)), tensor.Round(d, 1/math.Sqrt2)}
	return ok && slices.Contains(factors, p[1]) && p == polynomial{0, p[1], 0, 0}
}

// isTanhGelu asks for tanh of k*x + k*c*x**3 with the constants of Hendrycks and
// Gimpel 2016: c = 0.044715 and k = sqrt(2 / pi), which is also written with ten
// digits. Models have it as k*(x + c*x**3), as k*x*(1 + c*x*x), and in several
// orders of each.
func isTanhGelu(m *rewrite.Match) bool {
	p, ok := polynomialOf(m)
	if !ok {
		return false
	}
	d := m.Root.Type.DType
	c := tensor.Round(d, 0.044715)
	for _, k := range []float64{math.Sqrt(2 / math.Pi), 0.7978845608} {
		k = tensor.Round(d, k)
		if p == (polynomial{0, k, 0, k * c}) {
			return true
		}
	}
	return false
}

// isLeak takes what leaky_relu makes of every x: of where(x > 0, ...) zeros pass
// the factor, which must not change their sign; a maximum takes x * s for negative
// x only if s is between 0 and 1.
func isLeak(m *rewrite.Match) bool {
	s, ok := floatOf(m.Value("s"))
	if !ok {
		return false
	}
	switch test := m.Root.Args[0]; {
	case m.Root.Op == ir.Maximum:
		return s > 0 && s <= 1
	case test.Op == ir.Greater:
		return s >= 0 && !math.Signbit(s) && !math.IsInf(s, 1)
	}
	return true
}

func leakyRelu(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	s, _ := floatOf(m.Value("s"))
	return b.Call(ir.LeakyRelu, []*ir.Value{m.Value("x")}, set("slope", ir.FloatLit(s)))
}

// isHardSigmoid asks for one sixth where a form has it as a factor, and for a line
// that crosses 0 and 1 near x = 0: its rounding is then that of numbers near 1.
func isHardSigmoid(m *rewrite.Match) bool {
	if sixth := m.Value("sixth"); sixth != nil {
		return isAnyOf(sixth, 1.0/6)
	}
	if m.Value("a") == nil {
		return true
	}
	alpha, ok := floatOf(m.Value("a"))
	beta, ok2 := floatOf(m.Value("b"))
	return ok && ok2 && math.Abs(alpha) <= math.MaxFloat32 && beta >= 0 && beta <= 1
}

func hardSigmoid(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := []*ir.Value{m.Value("x")}
	alpha, ok := floatOf(m.Value("a"))
	if !ok {
		return b.Call(ir.HardSigmoid, x)
	}
	beta, _ := floatOf(m.Value("b"))
	if alpha == tensor.Round(x[0].Type.DType, 1.0/6) {
		alpha = 1.0 / 6
	}
	return b.Call(ir.HardSigmoid, x, set("alpha", ir.FloatLit(alpha)), set("beta", ir.FloatLit(beta)))
}

// isHardSwish asks for one sixth, as a factor or as the slope, which an attribute
// of ONNX has in f32.
func isHardSwish(m *rewrite.Match) bool {
	if sixth := m.Value("sixth"); sixth != nil {
		return isAnyOf(sixth, 1.0/6)
	}
	slope, ok := m.Attr("a")
	return !ok || slope.Float == 1.0/6 || slope.Float == float64(float32(1.0/6))
}
