package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Conditions, comparisons and choices.
//
//	%0 = logical_not %c : bool[4]              %2 = where %c, %b, %a : f32[4]
//	%1 = logical_and %0, true : bool[4]   =>   %4 = not_equal %a, %b : bool[4]
//	%2 = where %1, %a, %b : f32[4]
//	%3 = equal %a, %b : bool[4]
//	%4 = logical_not %3 : bool[4]
//
// Of floats, not (a < b) is more than a >= b: it holds for a NaN, too. Only == and
// != are each other's opposite there.
var logicRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("drop-truth", "a condition beside true or false is the condition, or its opposite, or known", opsWhere(hasTruths), dropTruth),
		anyOf("negate-comparison", "a comparison that is negated is the opposite one", []string{"logical_not", "bit_not"}, negateComparison),
		built("drop-where", "a choice between equal values, or one that is known, is none", dropWhere, "where(c, x, y)"),
		rewrite.Own("swap-where", "a choice by a negated condition has its sides swapped",
			`where(logical_not(c), x, y)  =>  where(c, y, x)`).Or(`where(bit_not(c), x, y)`),
		rewrite.Own("merge-where", "what the same condition has decided is not decided again",
			`where(c, where(c, x, z), y)  =>  where(c, x, y)`).Or(`where(c, x, where(c, z, y))`),
		built("make-logic", "a choice between true or false and another is logic", whereTruth, "where(c, x, y)"),
	}
})

// An effect is what an operator makes of a bool x beside a known one.
type effect uint8

const (
	keeps effect = iota
	flips
	clears
	sets
)

// truths has the effect of false and of true.
var truths = map[*ir.Op][2]effect{
	ir.LogicalAnd: {clears, keeps}, ir.BitAnd: {clears, keeps},
	ir.LogicalOr: {keeps, sets}, ir.BitOr: {keeps, sets},
	ir.LogicalXor: {keeps, flips}, ir.BitXor: {keeps, flips}, ir.NotEqual: {keeps, flips},
	ir.Equal: {flips, keeps},
}

func hasTruths(op *ir.Op) bool { _, ok := truths[op]; return ok }

// A truth is what a constant of bools is throughout.
func truth(v *ir.Value) (yes, known bool) {
	t := rewrite.Splat(v)
	if t == nil || t.DType != tensor.Bool {
		return false, false
	}
	return t.IntAt(0) != 0, true
}

// dropTruth looks to the right: there the canonical form has its constants.
func dropTruth(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	yes, ok := truth(m.Root.Args[1])
	if !ok {
		return nil
	}
	of := truths[m.Root.Op][0]
	if yes {
		of = truths[m.Root.Op][1]
	}
	return effects[of](b, m, m.Root.Args[0])
}

var effects = [...]func(*rewrite.Builder, *rewrite.Match, *ir.Value) *ir.Value{
	keeps: widened,
	flips: func(b *rewrite.Builder, m *rewrite.Match, x *ir.Value) *ir.Value {
		return widened(b, m, b.Op("logical_not", x))
	},
	clears: func(b *rewrite.Builder, m *rewrite.Match, _ *ir.Value) *ir.Value { return filled(b, m, ir.Zeros) },
	sets:   func(b *rewrite.Builder, m *rewrite.Match, _ *ir.Value) *ir.Value { return filled(b, m, ir.Ones) },
}

// opposites of comparisons; those of order are for integers.
var (
	opposites = map[*ir.Op]*ir.Op{
		ir.Equal: ir.NotEqual, ir.NotEqual: ir.Equal,
		ir.Less: ir.GreaterEqual, ir.GreaterEqual: ir.Less, ir.Greater: ir.LessEqual, ir.LessEqual: ir.Greater,
	}
	equality = map[*ir.Op]bool{ir.Equal: true, ir.NotEqual: true}
)

// negateComparison leaves a comparison that something else reads: it would be
// made twice.
func negateComparison(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c := m.Root.Args[0]
	op := opposites[c.Op]
	if op == nil || m.Uses(c) > 1 || !m.Alike(c) || !equality[c.Op] && c.Args[0].Type.DType.IsFloat() {
		return nil
	}
	return b.With(op, c.Args, c.Attrs)
}

func dropWhere(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x, y := m.Value("x"), m.Value("y")
	if x == y {
		return widened(b, m, x)
	}
	switch yes, ok := truth(m.Value("c")); {
	case !ok:
		return nil
	case yes:
		return widened(b, m, x)
	}
	return widened(b, m, y)
}

// whereTruth makes of a choice between bools
//
//	where(c, true, false)  c              where(c, true, y)   c or y
//	where(c, false, true)  not c          where(c, x, false)  c and x
func whereTruth(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c, x, y := m.Value("c"), m.Value("x"), m.Value("y")
	xYes, xKnown := truth(x)
	yYes, yKnown := truth(y)
	switch {
	case xKnown && yKnown && xYes && !yYes:
		return widened(b, m, c)
	case xKnown && yKnown && !xYes && yYes:
		return widened(b, m, b.Op("logical_not", c))
	case xKnown && xYes && !yKnown:
		return b.Op("logical_or", c, y)
	case yKnown && !yYes && !xKnown:
		return b.Op("logical_and", c, x)
	}
	return nil
}
