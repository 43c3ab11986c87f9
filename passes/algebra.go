package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Algebra that is exact.
//
//	%0 = mul %x, 1.0 : f32[4]             %4 = abs %x : f32[4]
//	%1 = neg %0 : f32[4]            =>    %5 = zeros : i32[4]
//	%2 = neg %1 : f32[4]
//	%3 = neg %2 : f32[4]
//	%4 = abs %3 : f32[4]
//	%5 = mul %n, 0 : i32[4]
//
// Exact means: every element keeps its bits, whatever it is. So of floats there
// is no x * 0 (which is NaN for an infinity, and -0 for a negative number), no
// x - x, no x + 0.0 (which makes 0 of -0; x + -0.0 and x - 0.0 change nothing),
// and no other order of sums. Integers wrap, and take all of these. What may be
// had at the price of such cases is in the table of fast-math.
//
// An operator that fails for some elements, such as a division of integers by 0,
// may go; none comes.
var algebraRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		guarded(rewrite.Own("drop-neutral", "what adds nothing, or multiplies by one, is none",
			neutral[0]+`  =>  x`).Or(neutral[1:]...), isNeutral),
		guarded(built("expand-neutral", "what multiplies by a larger tensor of ones repeats", widenX, neutral...), isNeutral),
		guarded(built("make-zero", "what is 0, or false, for every x is a constant", makeZeros,
			"x * 0", "x - x", "x ^ x", "logical_xor(x, x)", "x & 0", "x % 1", "x < x", "x > x", "x != x", "x < 0"), alwaysZero),
		guarded(built("make-one", "what is 1, or true, for every x is a constant", makeOnes,
			"x ** 0", "x == x", "x <= x", "x >= x", "x >= 0"), alwaysOne),
		rewrite.Own("make-is-nan", "what is not equal to itself is NaN",
			`x != x  =>  is_nan(x)`),
		rewrite.Own("drop-pair", "what is done twice over is undone",
			`neg(neg(x))  =>  x`).Or(`logical_not(logical_not(x))`, `bit_not(bit_not(x))`),
		built("drop-repeat", "what changes nothing the second time is done once", innerCall,
			"sign(sign(x))", "relu6(relu6(x))", "hardtanh(hardtanh(x, lo=a, hi=b), lo=a, hi=b)",
			"clip(clip(x, lo), lo)", "clip(clip(x, hi=hi), hi=hi)", "clip(clip(x, lo, hi), lo, hi)",
			"maximum(maximum(x, y), y)", "minimum(minimum(x, y), y)", "logical_and(logical_and(x, y), y)",
			"logical_or(logical_or(x, y), y)", "(x & y) & y", "(x | y) | y"),
		built("drop-same", "one of two equal values is as good as both", valueX,
			"maximum(x, x)", "minimum(x, x)", "logical_and(x, x)", "logical_or(x, x)", "x & x", "x | x"),
		anyOf("drop-rounding", "whole numbers are not rounded", []string{"floor", "ceil", "round", "trunc"}, dropRounding),
		anyOf("drop-relu", "what is never below 0 needs no relu", []string{"relu"}, dropRelu),
		guarded(built("drop-sign", "an even function takes no notice of the sign", dropSign, evens()...), func(m *rewrite.Match) bool { return !ofUnsigned(m) }),
		built("merge-constants", "two constants, one after the other, are one", mergeConstants, inSeries(exactSeries)...),
		guarded(built("make-shift", "an unsigned division by a power of two is a shift, its rest a mask", shiftDivision, "x / c", "x % c"), ofUnsigned),
		rewrite.Own("drop-copy", "a copy is the value", `copy(x)  =>  x`),
	}
})

// neutral are the calls that give x back. The number 0 stands for +0, which a sum
// may not have; see isNeutral.
var neutral = []string{
	"x * 1", "x / 1", "x - 0", "x + -0.0", "x + 0", "x ** 1", "x << 0", "x >> 0", "x | 0", "x ^ 0", "x & -1",
}

func isNeutral(m *rewrite.Match) bool {
	return m.Root.Op != ir.Add || noFloats(m) || isZero(m.Root.Args[0], true) || isZero(m.Root.Args[1], true)
}

func widenX(b *rewrite.Builder, m *rewrite.Match) *ir.Value { return widened(b, m, m.Value("x")) }

func valueX(_ *rewrite.Builder, m *rewrite.Match) *ir.Value { return m.Value("x") }

// innerCall is what the outer call of a match is made of.
func innerCall(_ *rewrite.Builder, m *rewrite.Match) *ir.Value { return m.Inside[1] }

func makeZeros(b *rewrite.Builder, m *rewrite.Match) *ir.Value { return filled(b, m, ir.Zeros) }

func makeOnes(b *rewrite.Builder, m *rewrite.Match) *ir.Value { return filled(b, m, ir.Ones) }

// strict are the comparisons that nothing passes with itself, NaN neither.
var strict = map[*ir.Op]bool{ir.Less: true, ir.Greater: true}

// alwaysZero: of floats, only a strict comparison with itself. A pattern with a
// number is about x < 0, false for an unsigned x alone.
func alwaysZero(m *rewrite.Match) bool {
	if strict[m.Root.Op] && m.Root.Args[0] != m.Root.Args[1] {
		return ofUnsigned(m)
	}
	return noFloats(m) || strict[m.Root.Op]
}

// alwaysOne: x ** 0 of NaN, too, as C99 has it.
func alwaysOne(m *rewrite.Match) bool {
	if m.Root.Op == ir.GreaterEqual && m.Root.Args[0] != m.Root.Args[1] {
		return ofUnsigned(m)
	}
	return noFloats(m) || m.Root.Op == ir.Pow
}

// wholes are the operators whose results are whole numbers, or infinite, or NaN.
var wholes = map[*ir.Op]bool{ir.Floor: true, ir.Ceil: true, ir.Round: true, ir.Trunc: true, ir.Sign: true}

func dropRounding(_ *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Root.Args[0]
	ofInt := x.Op == ir.Cast && !x.Args[0].Type.DType.IsFloat()
	if noFloats(m) || wholes[x.Op] || ofInt {
		return x
	}
	return nil
}

// notBelow are the operators whose results are never below 0; integers may wrap
// in the second lot. (A -0 is not below 0, and relu leaves it.)
var (
	notBelow      = map[*ir.Op]bool{ir.Relu: true, ir.Relu6: true}
	floatNotBelow = map[*ir.Op]bool{
		ir.Abs: true, ir.Square: true, ir.Sqrt: true, ir.Exp: true, ir.Exp2: true, ir.Cosh: true,
		ir.Sigmoid: true, ir.HardSigmoid: true, ir.Softplus: true, ir.Softmax: true,
	}
)

func dropRelu(_ *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Root.Args[0]
	if ofUnsigned(m) || notBelow[x.Op] || ofFloats(m) && floatNotBelow[x.Op] {
		return x
	}
	return nil
}

// evens lists calls of even functions. The negation of an unsigned integer is
// another number, not the same with a sign.
func evens() []string {
	var out []string
	for _, f := range []string{"abs", "square", "cos", "cosh"} {
		out = append(out, f+"(neg(x))", f+"(abs(x))")
	}
	return out
}

func dropSign(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	return b.Op(m.Root.Op.Name, m.Value("x"))
}

// A series is an operator that may be done in any order of its arguments.
type series struct {
	op     *ir.Op
	floats bool // of floats, too
}

// exactSeries: maximum and minimum choose among what is there, NaN first.
var exactSeries = []series{
	{ir.Add, false}, {ir.Mul, false}, {ir.Maximum, true}, {ir.Minimum, true},
	{ir.BitAnd, false}, {ir.BitOr, false}, {ir.BitXor, false},
}

// inSeries lists patterns op(op(x, c), d).
func inSeries(of []series) []string {
	var out []string
	for _, c := range of {
		out = append(out, c.op.Name+"("+c.op.Name+"(x, c), d)")
	}
	return out
}

func mergeConstants(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	for _, c := range exactSeries {
		if c.op == m.Root.Op && (c.floats || noFloats(m)) {
			return inOne(b, m)
		}
	}
	return nil
}

// inOne makes op(x, cd) of op(op(x, c), d). An operator of constants alone is
// left to folding.
func inOne(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	op, x := m.Root.Op, m.Value("x")
	cd := computed(op, m.Value("c"), m.Value("d"))
	if cd == nil || known(x) {
		return nil
	}
	return b.Call(op, []*ir.Value{x, b.Const(cd)})
}

// shiftDivision: x / 2**k is x >> k, and x % 2**k is x & (2**k - 1).
func shiftDivision(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	k, ok := powerOfTwo(m.Value("c"))
	if !ok {
		return nil
	}
	op, by := ir.ShiftRight, uint64(k)
	if m.Root.Op == ir.Rem {
		op, by = ir.BitAnd, 1<<k-1
	}
	return b.Call(op, []*ir.Value{m.Value("x"), b.Const(tensor.FromUints(operand(m), nil, []uint64{by}))})
}
