package passes

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Views and moves that move nothing.
//
//	%a = flatten %x : f32[B,12]                  %b = reshape %x {dims=[B,4,3]}
//	%b = reshape %a {dims=[B,4,3]}           =>  %c = expand %b {dims=[2,B,4,3]}
//	%c = expand %b {dims=[2,B,4,3]}              %f = tile %c {reps=[2]}
//	%d = transpose %c {perm=[0,1,2,3]}
//	%e = pad %d {pairs=[0]}
//	%f = tile %e {reps=[2]}
//
// A view costs nothing when the program runs, but it stands between operators
// that a later rule would see as one; so of a chain of views one is left, or
// none. A shape that is taken on trust is asserted by the function already: what
// is made anew takes nothing more on trust, or Apply refuses it.
//
// Moves never change a bit, whatever the dtype; so these rules are exact for
// every element, and what they have to prove is only where the elements lie.

var shapeRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("merge-views", "of several views in a row one is left", views, mergeViews),
		anyOf("drop-move", "what moves nothing is none", names(stills), dropMove),
		anyOf("move-to-view", "what changes the shape only is a view", names(reshapes), moveToView),
		anyOf("merge-flips", "two flips in a row are one; an axis that is flipped twice is not", []string{"flip"}, mergeFlips),
	}
})

var views = []string{"reshape", "flatten", "squeeze", "unsqueeze"}

func mergeViews(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Root.Args[0]
	if !isView(x) {
		return nil
	}
	for isView(x) && m.Alike(x) {
		x = x.Args[0]
	}
	if x == m.Root.Args[0] {
		return nil
	}
	return reshaped(b, x, m.Root.Type.Shape)
}

// A place is a row of a table of moves: what has to hold for the operator to
// leave every element where it is. That the result has the type of the argument,
// or as many elements, is asked for all.
type place struct {
	op    string
	holds func(v *ir.Value) bool
}

func names(table []place) []string {
	out := make([]string, len(table))
	for i := range table {
		out[i] = table[i].op
	}
	return out
}

func inPlace(table []place, v *ir.Value) bool {
	for i := range table {
		if table[i].op == v.Op.Name {
			return table[i].holds(v)
		}
	}
	return false
}

func always(*ir.Value) bool { return true }

// stills are moves that may do nothing, their result being of the argument's type.
var stills = []place{
	{"reshape", always},
	{"flatten", always},
	{"squeeze", always},
	{"unsqueeze", always},
	{"expand", always}, // it repeats along axes that grow
	{"tile", countsKept},
	{"repeat", countsKept},
	{"concat", func(v *ir.Value) bool { return len(v.Args) == 1 }},
	{"split", always}, // a part as large as the whole
	{"chunk", always},
	{"result", func(v *ir.Value) bool { return v.Args[0].Op == ir.Split || v.Args[0].Op == ir.Chunk }},
	{"transpose", func(v *ir.Value) bool { return staysInPlace(v.Args[0].Type.Shape, permOf(v)) }},
	{"pad", func(v *ir.Value) bool { return allAre(attrOf(v, "pairs").Dims, 0) }},
	{"slice", takesAll},
	{"roll", func(v *ir.Value) bool { return allAre(attrOf(v, "shift").Dims, 0) }},
	{"flip", func(v *ir.Value) bool { return allOnes(v, axesAttr(v, "axis", v.Type.Rank())) }},
}

// countsKept reports whether an operator that repeats does so once.
func countsKept(v *ir.Value) bool {
	for _, l := range []string{"reps", "n"} {
		if i := slices.IndexFunc(v.Op.Attrs, func(a ir.Attr) bool { return a.Name == l }); i >= 0 {
			return allAre(v.Attrs[i].Dims, 1)
		}
	}
	return false
}

func allAre(ds []ir.Dim, n int64) bool {
	return !slices.ContainsFunc(ds, func(d ir.Dim) bool { return !d.Is(n) })
}

func allOnes(v *ir.Value, axes []int) bool {
	return !slices.ContainsFunc(axes, func(a int) bool { return !v.Type.Shape[a].Is(1) })
}

// takesAll reports whether a slice whose result is as large as its argument has
// it from the first element to the last.
func takesAll(v *ir.Value) bool {
	return !slices.ContainsFunc(attrOf(v, "steps").Ints, func(step int64) bool { return step != 1 })
}

func dropMove(_ *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v := m.Root
	x := v.Args[0]
	if projection(v) {
		if x = x.Args[0]; !m.Alike(v.Args[0]) {
			return nil
		}
	}
	if !v.Type.Equal(x.Type) || !inPlace(stills, v) {
		return nil
	}
	return x
}

// reshapes are moves that may give their elements nothing but another shape: as
// many elements as before, and these in the same order. What repeats n times has
// n times as many, so that it repeats once, or has none to repeat.
var reshapes = []place{
	{"expand", always},
	{"tile", always},
	{"repeat", always},
	{"stack", func(v *ir.Value) bool { return len(v.Args) == 1 }},
	{"transpose", func(v *ir.Value) bool { return staysInPlace(v.Args[0].Type.Shape, permOf(v)) }},
}

func moveToView(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	v, x := m.Root, m.Root.Args[0]
	if v.Type.Equal(x.Type) || !v.Type.Elements().Equal(x.Type.Elements()) || !inPlace(reshapes, v) {
		return nil
	}
	return reshaped(b, x, v.Type.Shape)
}

func mergeFlips(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	inner, rank := m.Root.Args[0], m.Root.Type.Rank()
	if inner.Op != ir.Flip || !m.Alike(inner) {
		return nil
	}
	outerAxes, innerAxes := axesAttr(m.Root, "axis", rank), axesAttr(inner, "axis", rank)
	var once []int
	for a := range rank {
		if slices.Contains(outerAxes, a) != slices.Contains(innerAxes, a) {
			once = append(once, a)
		}
	}
	if len(once) == 0 {
		return inner.Args[0]
	}
	return b.Call(ir.Flip, []*ir.Value{inner.Args[0]}, set("axis", ints(once)))
}
