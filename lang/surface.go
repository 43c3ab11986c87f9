package lang

import (
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A surface is how a built-in function is written when that is not simply its
// row's arguments and attributes in order.
type surface struct {
	order []string              // positional order
	adapt func(c *rowCall) bool // changes the arguments before they are laid out
	many  bool                  // the result is a list, also of one tensor
	apart bool                  // the variadic argument is never written as a list
}

var surfaces = map[string]surface{
	"einsum":         {order: []string{"spec"}, apart: true},
	"groupnorm":      {order: []string{"x", "groups", "weight", "bias", "eps"}},
	"split":          {adapt: partsOrSizes, many: true},
	"chunk":          {many: true},
	"pad":            {adapt: flatPairs("pairs", 1)},
	"conv":           {adapt: padding},
	"conv_transpose": {adapt: flatPairs("pad", 4)},
	"max_pool":       {adapt: padding},
	"avg_pool":       {adapt: padding},
	"max":            {adapt: pairwise("maximum")},
	"min":            {adapt: pairwise("minimum")},
}

// named finds the argument of a call that goes to a name or, without names, to
// a position.
func (c *rowCall) named(name string, pos int) *argument {
	positional := 0
	for i := range c.args {
		a := &c.args[i]
		if a.name.Name == name {
			return a
		}
		if a.name.Name == "" {
			if positional == pos {
				return a
			}
			positional++
		}
	}
	return nil
}

// partsOrSizes tells split(x, 3) from split(x, [2, 4]).
func partsOrSizes(c *rowCall) bool {
	a := c.named("n", 1)
	if a == nil {
		return true
	}
	if _, isList := a.val.(listVal); isList {
		a.name = syntax.Ident{Name: "sizes"}
	} else {
		a.name = syntax.Ident{Name: "parts"}
	}
	a.name.At = a.at
	// What follows by position is the axis.
	if b := c.named("axis", 1); b != nil && b.name.Name == "" {
		b.name = syntax.Ident{Name: "axis"}
		b.name.At = b.at
	}
	return true
}

// flatPairs makes [1, 2, 3, 4] of [[1, 2], [3, 4]].
func flatPairs(name string, pos int) func(c *rowCall) bool {
	return func(c *rowCall) bool {
		a := c.named(name, pos)
		if a == nil {
			return true
		}
		l, ok := a.val.(listVal)
		if !ok {
			return true
		}
		flat := listVal{}
		for _, el := range l.elems {
			if inner, nested := el.(listVal); nested {
				flat.elems = append(flat.elems, inner.elems...)
			} else {
				flat.elems = append(flat.elems, el)
			}
		}
		a.val = flat
		return true
	}
}

// padding turns pad="same" into the attribute that says so, and pairs into a
// flat list.
func padding(c *rowCall) bool {
	pos := padPosition(c.row)
	a := c.named("pad", pos)
	if a == nil {
		return true
	}
	s, ok := a.val.(stringVal)
	if !ok {
		return flatPairs("pad", pos)(c)
	}
	switch s {
	case "same", "same_lower":
		at := a.at
		if a.name.Name == "" {
			// What stands behind keeps its place.
			c.args = append(c.args, argument{operand{stringVal(s), at}, syntax.Ident{Name: "auto_pad"}})
			a = c.named("pad", pos)
			a.val = intOf(0)
			return true
		}
		a.name.Name = "auto_pad"
		return true
	}
	d := c.e.errorf("wrong-arguments", a.at, "pad is %q, not an integer, a list or \"same\"", string(s))
	c.explain(d)
	return false
}

// padPosition is where pad stands among the positional arguments.
func padPosition(row *ir.Op) int {
	for i, a := range row.Attrs {
		if a.Name == "pad" {
			return len(row.Args) + i
		}
	}
	return -1
}

// pairwise makes max(a, b) of two tensors the operator maximum. A float is no
// axis, but max(x, 0.0) beside max(x, 0) would be a trap.
func pairwise(name string) func(c *rowCall) bool {
	return func(c *rowCall) bool {
		if len(c.args) != 2 || c.args[0].name.Name != "" || c.args[1].name.Name != "" {
			return true
		}
		a, b := c.args[0], c.args[1]
		switch l, isList := b.val.(listVal); {
		case isTensor(b.val), isNumber(a.val), isList && l.strong && listDType(l) == tensor.F32:
			c.row, c.name = ir.Lookup(name), name
		case ownDType(b.val) == tensor.F32:
			d := c.e.errorf("wrong-arguments", b.at, "an axis is an integer or a list of integers, not %s", show(b.val))
			c.explain(d)
			help(d, "%s(%s, %s) compares element by element", name, clip(text(a.at), 40), clip(text(b.at), 40))
			return false
		}
		return true
	}
}

func isTensor(v value) bool { _, ok := v.(tensorVal); return ok }

// obliged has the conditions that a call adds to the program when its types do
// not prove them.
var obliged = map[string]func(e *elaborator, args []*ir.Value, out *ir.Value, at diag.Span){
	"reshape": reshapeHolds,
	"split":   splitHolds,
}

// reshapeHolds asserts that the number of elements stays.
func reshapeHolds(e *elaborator, args []*ir.Value, out *ir.Value, at diag.Span) {
	before := args[0].Type.Elements()
	if after := out.Type.Elements(); !after.Equal(before) {
		e.assert(before, "==", after, "reshape", at)
		return
	}
	// A -1 was solved by a division, which must be exact.
	rest := ir.N(1)
	for _, d := range out.Type.Shape {
		if !strings.Contains(d.String(), "/") {
			rest = rest.Mul(d)
		}
	}
	for _, d := range out.Type.Shape {
		if strings.Contains(d.String(), "/") {
			e.assert(before, "%", rest, "reshape", at)
			return
		}
	}
}

// splitHolds asserts that the axis divides into the parts.
func splitHolds(e *elaborator, args []*ir.Value, out *ir.Value, at diag.Span) {
	for i, d := range out.Type.Shape {
		if i < args[0].Type.Rank() && strings.Contains(d.String(), "/") && !d.Equal(args[0].Type.Shape[i]) {
			if n := attr(out, "parts").Int; n > 0 {
				e.assert(args[0].Type.Shape[i], "%", ir.N(n), "split", at)
			}
		}
	}
}

// reshape adds a reshape that the compiler itself needs.
func (e *elaborator) reshape(v *ir.Value, dims []ir.Dim, at diag.Span) (*ir.Value, bool) {
	row := ir.Lookup("reshape")
	out, ok := e.add(site{name: "reshape", at: at}, row, []*ir.Value{v}, []ir.Lit{ir.DimsLit(dims...)})[0].(tensorVal)
	return out.v, ok
}
