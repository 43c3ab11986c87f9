package fusion

import (
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A guard is a test of a match that the language of patterns has no words for.
type guard = func(*rewrite.Match) bool

// all joins guards.
func all(guards ...guard) guard {
	return func(m *rewrite.Match) bool {
		for _, g := range guards {
			if !g(m) {
				return false
			}
		}
		return true
	}
}

// epilogue asks that whatever is done element by element inside keeps the shape
// of what it is done to: a bias, residual, scale or mask never expands the
// product, which would have to be written in several places, and a weight that
// is scaled on its way into the product stays as large. A product by a vector
// has no columns along which a bias could lie.
func epilogue(m *rewrite.Match) bool {
	for _, v := range m.Inside {
		if v.Op == ir.MatMul && v.Args[1].Type.Rank() < 2 {
			return false
		}
		if v.Op.Class != ir.Elementwise {
			continue
		}
		for _, a := range v.Args {
			if inside(m, a) && !ir.SameShape(a.Type.Shape, v.Type.Shape) {
				return false
			}
		}
	}
	return true
}

func inside(m *rewrite.Match, v *ir.Value) bool { return v != nil && slices.Contains(m.Inside, v) }

// sameShape asks that values have the shape of the match's result: a residual is
// read tile by tile, as the result is written.
func sameShape(names ...string) guard {
	return func(m *rewrite.Match) bool {
		for _, name := range names {
			if !ir.SameShape(m.Value(name).Type.Shape, m.Root.Type.Shape) {
				return false
			}
		}
		return true
	}
}

// oneElement asks that a value, if the match has it, is a number: a scalar, or a
// tensor of one element.
func oneElement(names ...string) guard {
	return func(m *rewrite.Match) bool {
		for _, name := range names {
			if v := m.Value(name); v != nil && !v.Type.Elements().Equal(ir.N(1)) {
				return false
			}
		}
		return true
	}
}

// rowsOf asks that the rows of a table that are looked up have the shape of the
// match's result: what is added to them does not repeat them.
func rowsOf(table, ids string) guard {
	return func(m *rewrite.Match) bool {
		shape := append(slices.Clone(m.Value(ids).Type.Shape), m.Value(table).Type.Shape[1:]...)
		return ir.SameShape(shape, m.Root.Type.Shape)
	}
}

// distinct asks that two names stand for different values.
func distinct(a, b string) guard {
	return func(m *rewrite.Match) bool { return m.Value(a) != m.Value(b) }
}

// fromIntegers asks that what is cast inside are integers, and that they become
// floats.
func fromIntegers(m *rewrite.Match) bool {
	for _, v := range m.Inside {
		if v.Op == ir.Cast && (v.Args[0].Type.DType.IsFloat() || !v.Type.DType.IsFloat()) {
			return false
		}
	}
	return true
}

// letters writes texts in the places of the letters A, B, C and so on of a
// pattern, whose names are lower-case.
func letters(pattern string, texts ...string) string {
	var pairs []string
	for i, t := range texts {
		pairs = append(pairs, string(rune('A'+i)), t)
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// each writes every pattern with every one of the texts for its letter A.
func each(texts []string, patterns ...string) []string {
	var out []string
	for _, p := range patterns {
		for _, t := range texts {
			out = append(out, letters(p, t))
		}
	}
	return out
}
