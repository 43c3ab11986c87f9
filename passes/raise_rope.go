package passes

import (
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Rotary position embedding: pairs of elements of the last axis are turned.
//
//	%0 = mul %x, %cos
//	%1 = slice %x {starts=[32], ends=[64], axes=[-1]}
//	%2 = neg %1
//	%3 = slice %x {starts=[0], ends=[32], axes=[-1]}       =>   %6 = rope %x, %cos, %sin
//	%4 = concat %2, %3 {axis=-1}
//	%5 = mul %4, %sin
//	%6 = add %0, %5
//
// An element's partner is half an axis away or, interleaved, its neighbour. Forms
// that turn the halves themselves have half as many angles, which the operator
// takes as well. The parts are slices or come from a split, and other code may read
// them: they are not computed twice.
func ropeForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		raisedBy(ropeOf(false), "raise-rope", "the halves of the last axis, turned by angles",
			"x * c + concat([neg(b), a], axis=t) * s", "concat([a * c - b * s, b * c + a * s], axis=t)"),
		raisedBy(ropeOf(true), "raise-interleaved-rope", "neighbours of the last axis, turned by angles",
			interleavedForms()...),
	}
}

// interleavedForms lay two parts side by side along a new axis, which a view then
// joins to the one before it.
func interleavedForms() []string {
	var forms []string
	for _, pair := range []string{
		"stack([$, %], axis=t)",
		"concat([unsqueeze($, axis=u), unsqueeze(%, axis=u)], axis=t)",
		"concat([reshape($, dims=u), reshape(%, dims=u)], axis=t)",
	} {
		of := func(a, b string) string { return strings.NewReplacer("$", a, "%", b).Replace(pair) }
		for _, view := range []string{"reshape(%, dims=d)", "flatten(%, start=d, end=e)"} {
			forms = append(forms,
				"x * c + "+strings.Replace(view, "%", of("neg(b)", "a"), 1)+" * s",
				strings.Replace(view, "%", of("a * c - b * s", "b * c + a * s"), 1))
		}
	}
	return forms
}

// ropeOf builds the operator if a and b are the two parts of what is turned, which
// stand behind each other along the last axis, or alternate there.
func ropeOf(interleaved bool) builder {
	return func(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
		first, second := m.Value("a"), m.Value("b")
		x, spans := partOf(first)
		y, others := partOf(second)
		if x == nil || x != y || spans == nil || others == nil || m.Value("x") != nil && m.Value("x") != x {
			return nil
		}
		if !areHalves(x.Type.Shape, spans, others, interleaved) || !joinsLast(m, interleaved) {
			return nil
		}
		return b.Call(ir.Rope, []*ir.Value{x, m.Value("c"), m.Value("s")}, set("interleaved", ir.BoolLit(interleaved)))
	}
}

// areHalves reports whether two parts of a shape take all of it, half of the last
// axis each.
func areHalves(shape []ir.Dim, first, second []span, interleaved bool) bool {
	last := len(shape) - 1
	for i, d := range shape[:last] {
		if !first[i].takesAll(d) || !second[i].takesAll(d) {
			return false
		}
	}
	depth, a, b := shape[last], first[last], second[last]
	if !a.count.Equal(b.count) || !a.count.Add(b.count).Equal(depth) || !a.start.Is(0) {
		return false
	}
	if interleaved {
		return a.step == 2 && b.step == 2 && b.start.Is(1)
	}
	return a.step == 1 && b.step == 1 && b.start.Equal(a.count)
}

// joinsLast reports whether the parts come together along the last axis or, where
// they alternate, along a new one behind it.
func joinsLast(m *rewrite.Match, interleaved bool) bool {
	for _, v := range m.Inside {
		if v.Op != ir.Concat && v.Op != ir.Stack {
			continue
		}
		rank := v.Type.Rank()
		if front(attrOf(v, "axis").Int, rank) != rank-1 {
			return false
		}
		return !interleaved || v.Type.Shape[rank-1].Is(2) && rank == m.Value("a").Type.Rank()+1
	}
	return false
}
