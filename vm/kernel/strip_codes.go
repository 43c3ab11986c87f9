package kernel

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A lowerer writes the codes of one call.
type lowerer struct {
	*sheetBuilder
	call *ir.Call
}

// A lowering makes an operator's result of its arguments; an absent one is none.
type lowering func(l *lowerer, a []strip.Value) strip.Value

// attr is an attribute as a constant.
func (l *lowerer) attr(name string) strip.Value { return l.Const(float32(l.call.Float(name))) }

// loweringOf finds how an operator is computed on the types of a call: nil if it is
// not.
func loweringOf(c *ir.Call) lowering {
	for _, t := range c.In {
		if _, ok := elemOf(t.DType); !ok && !t.Absent() {
			return nil
		}
	}
	for _, t := range c.Out {
		if _, ok := elemOf(t.DType); !ok {
			return nil
		}
	}
	if f, ok := anyType[c.Op.Name]; ok {
		if f.fits != nil && !f.fits(c) {
			return nil
		}
		return f.make
	}
	switch {
	case len(c.In) == 0 || c.In[0].Absent():
		return nil
	case isByte(c.In[0].DType):
		return onBytes[c.Op.Name]
	}
	return byKind[c.In[0].DType.Kind()][c.Op.Name]
}

// anyType are the operators on every type.
var anyType = map[string]struct {
	make lowering
	fits func(c *ir.Call) bool
}{
	"where":     {code(vec.Where), nil},
	"copy":      {same, nil},
	"transpose": {same, nil},
	"expand":    {same, nil},
	"cast":      {castOf, castFits},
	"bitcast":   {same, bitcastFits},

	"quantize_linear":   {quantizeOf, nil},
	"dequantize_linear": {dequantizeOf, dequantizeFits},
}

// byKind are the operators on floats, int32 and bool; onBytes has those on bytes.
var byKind = [...]map[string]lowering{
	tensor.None: nil,
	tensor.Float: {
		"abs": code(vec.Abs), "neg": code(vec.Neg), "sign": code(vec.Sign), "ceil": code(vec.Ceil), "floor": code(vec.Floor),
		"round": code(vec.Round), "trunc": code(vec.Trunc), "sqrt": code(vec.Sqrt), "rsqrt": code(vec.Rsqrt), "cbrt": code(vec.Cbrt),
		"reciprocal": code(vec.Reciprocal), "square": code(vec.Square), "exp": code(vec.Exp), "exp2": code(vec.Exp2), "expm1": code(vec.Expm1),
		"log": code(vec.Log), "log2": code(vec.Log2), "log10": code(vec.Log10), "log1p": code(vec.Log1p),
		"sin": code(vec.Sin), "cos": code(vec.Cos), "tan": code(vec.Tan), "asin": code(vec.Asin), "acos": code(vec.Acos), "atan": code(vec.Atan),
		"sinh": code(vec.Sinh), "cosh": code(vec.Cosh), "tanh": code(vec.Tanh), "asinh": code(vec.Asinh), "acosh": code(vec.Acosh), "atanh": code(vec.Atanh),
		"erf": code(vec.Erf), "is_nan": code(vec.IsNaN), "is_inf": code(vec.IsInf), "is_finite": code(vec.IsFinite),

		"relu": code(vec.Relu), "relu6": code(vec.Relu6), "selu": code(vec.Selu), "silu": code(vec.Silu), "sigmoid": code(vec.Sigmoid),
		"log_sigmoid": code(vec.LogSigmoid), "softplus": code(vec.Softplus), "softsign": code(vec.Softsign), "mish": code(vec.Mish), "hardswish": code(vec.HardSwish),
		"leaky_relu": with(vec.Leaky, "slope"), "elu": with(vec.Elu, "alpha"), "celu": celuOf, "prelu": code(vec.Leaky),
		"hardsigmoid": with(vec.HardSigmoid, "alpha", "beta"), "threshold": thresholdOf, "hardtanh": hardTanh, "gelu": geluOf, "clip": clipOf(vec.ClipLo, vec.ClipHi),

		"add": code(vec.Add), "bias_add": code(vec.Add), "sub": code(vec.Sub), "mul": code(vec.Mul), "div": code(vec.Div), "maximum": code(vec.Max), "minimum": code(vec.Min),
		"rem": code(vec.Rem), "fmod": code(vec.Rem), "pow": powOf, "atan2": code(vec.Atan2), "hypot": code(vec.Hypot), "logaddexp": code(vec.LogAddExp), "copysign": code(vec.CopySign),
		"equal": code(vec.Equal), "not_equal": code(vec.NotEqual), "less": code(vec.Less), "less_equal": code(vec.LessEqual), "greater": code(vec.Greater), "greater_equal": code(vec.GreaterEqual),
	},
	tensor.Signed: {
		"abs": code(vec.AbsInt), "neg": code(vec.NegInt), "sign": code(vec.SignInt), "square": code(vec.SquareInt), "relu": code(vec.ReluInt), "relu6": relu6Int,
		"ceil": same, "floor": same, "round": same, "trunc": same, "prelu": code(vec.LeakyInt), "clip": clipOf(vec.MaxInt, vec.MinInt),
		"add": code(vec.AddInt), "bias_add": code(vec.AddInt), "sub": code(vec.SubInt), "mul": code(vec.MulInt), "maximum": code(vec.MaxInt), "minimum": code(vec.MinInt),
		"equal": code(vec.EqualInt), "not_equal": code(vec.NotEqualInt), "less": code(vec.LessInt), "less_equal": code(vec.LessEqualInt), "greater": code(vec.GreaterInt), "greater_equal": code(vec.GreaterEqualInt),
		"bit_and": code(vec.And), "bit_or": code(vec.Or), "bit_xor": code(vec.Xor), "bit_not": flip,
	},
	tensor.Unsigned: nil,
	tensor.Logical: {
		"equal": unlike, "not_equal": code(vec.Xor), "logical_and": code(vec.And), "logical_or": code(vec.Or), "logical_xor": code(vec.Xor), "logical_not": flip,
		"bit_and": code(vec.And), "bit_or": code(vec.Or), "bit_xor": code(vec.Xor), "bit_not": flip,
	},
}

// code is an operator that is one code of its arguments.
func code(c vec.Code) lowering {
	return func(l *lowerer, a []strip.Value) strip.Value { return l.Op(c, a...) }
}

// with is a code whose operands are attributes, which are rounded to floats.
func with(c vec.Code, attrs ...string) lowering {
	return func(l *lowerer, a []strip.Value) strip.Value {
		args := a[:1:1]
		for _, name := range attrs {
			args = append(args, l.attr(name))
			l.within += 0x1p-23
		}
		return l.Op(c, args...)
	}
}

// celuOf: what alpha is rounded by is enlarged by the size of the exponent, up to 89.
func celuOf(l *lowerer, a []strip.Value) strip.Value {
	l.within += 89 * 0x1p-23
	return with(vec.Celu, "alpha")(l, a)
}

func same(_ *lowerer, a []strip.Value) strip.Value { return a[0] }

func flip(l *lowerer, a []strip.Value) strip.Value { return l.Op(vec.Xor, a[0], l.Truth(true)) }

func unlike(l *lowerer, a []strip.Value) strip.Value {
	return l.Op(vec.Xor, l.Op(vec.Xor, a[0], a[1]), l.Truth(true))
}

func relu6Int(l *lowerer, a []strip.Value) strip.Value {
	return l.Op(vec.MinInt, l.Op(vec.ReluInt, a[0]), l.Int(6))
}

func geluOf(l *lowerer, a []strip.Value) strip.Value {
	if l.call.Str("approx") == "tanh" {
		return l.Op(vec.GeluTanh, a[0])
	}
	return l.Op(vec.Gelu, a[0])
}

// hardTanh: a NaN as a bound, which only an attribute can be, bounds nothing.
func hardTanh(l *lowerer, a []strip.Value) strip.Value {
	v := a[0]
	for _, bound := range []struct {
		code vec.Code
		attr string
	}{{vec.ClipLo, "lo"}, {vec.ClipHi, "hi"}} {
		if x := l.call.Float(bound.attr); x == x {
			v = l.Op(bound.code, v, l.Const(float32(x)))
		}
	}
	return v
}

// thresholdOf rounds the threshold down: what a float is at most.
func thresholdOf(l *lowerer, a []strip.Value) strip.Value {
	t := l.call.Float("t")
	down := float32(t)
	if float64(down) > t {
		down = math.Nextafter32(down, float32(math.Inf(-1)))
	}
	return l.Op(vec.Threshold, a[0], l.Const(down), l.attr("v"))
}

// clipOf applies the bounds that there are.
func clipOf(lo, hi vec.Code) lowering {
	return func(l *lowerer, a []strip.Value) strip.Value {
		v := a[0]
		for i, c := range []vec.Code{lo, hi} {
			if i+1 < len(a) && a[i+1] != none {
				v = l.Op(c, v, a[i+1])
			}
		}
		return v
	}
}

// powOf: the exponents that have an operation of their own give what it gives.
func powOf(l *lowerer, a []strip.Value) strip.Value {
	switch a[1] {
	case l.Const(1):
		return a[0]
	case l.Const(2):
		return l.Op(vec.Square, a[0])
	}
	return l.Op(vec.Pow, a...)
}

// castFits leaves out integers to bfloat16, which would be rounded twice.
func castFits(c *ir.Call) bool { return c.In[0].DType != tensor.I32 || c.Out[0].DType != tensor.BF16 }

func bitcastFits(c *ir.Call) bool {
	from, to := c.In[0].DType, c.Out[0].DType
	return from.Size() == 4 && to.Size() == 4 || from == to
}

// castOf goes by way of a float or an int32; the rounding to a smaller float follows.
func castOf(l *lowerer, a []strip.Value) strip.Value {
	from, to := l.call.In[0].DType, l.call.Out[0].DType
	switch {
	case from.IsInt() && isByte(to) && from != to:
		return l.wrapped(a[0], to)
	case from.Kind() == to.Kind() || from.IsInt() && to.IsInt():
		return a[0]
	case from.IsInt() && to == tensor.Bool:
		return l.Op(vec.NotEqualInt, a[0], l.Int(0))
	case from.IsInt():
		return l.Op(vec.FromInt, a[0])
	}
	v := l.Op(castCodes[from.Kind()][isInt(to)], a[0])
	if isByte(to) && from != tensor.Bool {
		v = l.held(v, to)
	}
	return v
}

// castCodes make floats, integers and bools of floats and bools: by the kind that they
// come from, those of integers second.
var castCodes = [...][2]vec.Code{
	tensor.Float:   {vec.Truth, vec.ToInt},
	tensor.Logical: {vec.Float, vec.Int},
}

func isInt(d tensor.DType) int {
	if d.IsInt() {
		return 1
	}
	return 0
}
