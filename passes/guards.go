package passes

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// What rules about single operators ask of a match, and what they make of it.

// operand is the dtype that the root of a match computes with: that of its
// first argument, since a comparison's own is bool.
func operand(m *rewrite.Match) tensor.DType { return m.Root.Args[0].Type.DType }

func ofFloats(m *rewrite.Match) bool   { return operand(m).IsFloat() }
func noFloats(m *rewrite.Match) bool   { return !operand(m).IsFloat() }
func ofUnsigned(m *rewrite.Match) bool { return operand(m).Kind() == tensor.Unsigned }

// known reports whether the elements of v are known when the program is compiled.
func known(v *ir.Value) bool { return v.Op == ir.Const || rewrite.Splat(v) != nil }

// isSet reports whether the elements are known to be true.
func isSet(t *tensor.T) bool { return t != nil && t.DType == tensor.Bool && t.IntAt(0) != 0 }

// isZero reports whether v is a constant of zeros with that sign; integers have
// no sign of zero, and are +0.
func isZero(v *ir.Value, negative bool) bool {
	t := rewrite.Splat(v)
	if t == nil || t.DType == tensor.Bool {
		return false
	}
	x := t.FloatAt(0)
	return x == 0 && math.Signbit(x) == negative
}

// widened is x in the root's type: x itself, or repeated along the axes that
// another operand has brought in.
func widened(b *rewrite.Builder, m *rewrite.Match, x *ir.Value) *ir.Value {
	if x == nil || x.Type.Equal(m.Root.Type) {
		return x
	}
	return b.Call(ir.Expand, []*ir.Value{x}, set("dims", ir.DimsLit(m.Root.Type.Shape...)))
}

// filled is the root's type full of zeros or ones.
func filled(b *rewrite.Builder, m *rewrite.Match, op *ir.Op) *ir.Value {
	return b.Call(op, nil, set("type", ir.TypeLit(m.Root.Type)))
}

// computed applies an operator to two constants of one number each; nil if that
// is not what they are, or it fails.
func computed(op *ir.Op, c, d *ir.Value) *tensor.T {
	args := []*tensor.T{rewrite.Splat(c), rewrite.Splat(d)}
	if args[0] == nil || args[1] == nil {
		return nil
	}
	return evaluated(op, op.Defaults(), args)
}

// evaluated is the first result of a call whose arguments are known; nil if it is
// not legal, or fails.
func evaluated(op *ir.Op, attrs []ir.Lit, args []*tensor.T) *tensor.T {
	call := &ir.Call{Op: op, Attrs: attrs, Known: args}
	for _, t := range args {
		call.In = append(call.In, ir.TypeOf(t))
	}
	if ir.InferCall(call) != nil {
		return nil
	}
	out, err := ir.Evaluate(call, args...)
	if err != nil {
		return nil
	}
	return out[0]
}

// holds reports whether a float dtype has the number.
func holds(d tensor.DType, x float64) bool {
	return !math.IsInf(x, 0) && tensor.FromFloats(d, nil, []float64{x}).FloatAt(0) == x
}

// powerOfTwo gives k if the elements of v are all 2**k or, of floats, -(2**k).
func powerOfTwo(v *ir.Value) (k int, ok bool) {
	t := rewrite.Splat(v)
	if t == nil || t.DType == tensor.Bool {
		return 0, false
	}
	x := t.FloatAt(0)
	if t.DType.IsInt() && (x < 1 || t.IntAt(0)&(t.IntAt(0)-1) != 0) {
		return 0, false // an integer beyond 2**53 is rounded to x
	}
	frac, exp := math.Frexp(x)
	return exp - 1, math.Abs(frac) == 0.5
}
