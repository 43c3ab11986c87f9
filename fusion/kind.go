package fusion

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// A kind says how an operator walks its data, which decides what it can share a
// kernel with.
type kind uint8

const (
	opaque  kind = iota // a kernel of its own, but for rules that name it
	point               // each element from those at its place, with any broadcast
	fold                // a row, the last axis, becomes one element
	rows                // a row becomes a row, as in softmax
	product             // a Cube operator
	turn                // data at other addresses, such as a transpose: a product reads through it
	view                // no work
)

// kinds holds the operators of which the class does not say enough.
var kinds = map[*ir.Op]kind{
	ir.RMSNorm:   rows,
	ir.BatchNorm: point, // with the channel's numbers at each place
	ir.Expand:    point,
	ir.Transpose: turn,
	ir.Slice:     turn,
	ir.Split:     turn,
	// Along the last axis these are no rows of which each element sees all others.
	ir.CumSum:  opaque,
	ir.CumProd: opaque,
	ir.Const:   opaque,
}

// byClass gives the kind of the others.
var byClass = map[ir.Class]func(*ir.Value) kind{
	ir.Elementwise: always(point),
	ir.Source:      always(point), // full, iota: each element from its place alone
	ir.Reduce:      reduceKind,
	ir.Contract:    contractKind,
}

func always(k kind) func(*ir.Value) kind { return func(*ir.Value) kind { return k } }

func kindOf(v *ir.Value) kind {
	switch {
	case v.Op.Flags&ir.Impure != 0:
		return opaque
	case v.Op.Flags&ir.View != 0:
		return view
	}
	if k, ok := kinds[v.Op]; ok {
		return k
	}
	if of := byClass[v.Op.Class]; of != nil {
		return of(v)
	}
	return opaque
}

// reduceKind tells the reductions and norms along the last axis from the others.
func reduceKind(v *ir.Value) kind {
	keep := false
	for i, a := range v.Op.Attrs {
		switch a.Name {
		case "keepdims":
			keep = true
		case "axis":
			if !lastAxis(v.Attrs[i], v.Args[0].Type.Rank()) {
				return opaque
			}
		}
	}
	switch {
	case keep:
		return fold
	case v.Op.Group == "normalisation" && hasAttr(v.Op, "axis"):
		return rows
	}
	return opaque
}

func hasAttr(op *ir.Op, name string) bool {
	return slices.ContainsFunc(op.Attrs, func(a ir.Attr) bool { return a.Name == name })
}

// lastAxis reports whether an axis, or a list of them, is the last one alone. No
// list means all axes.
func lastAxis(l ir.Lit, rank int) bool {
	switch l.Kind {
	case ir.KNone:
		return rank == 1
	case ir.KInt:
		return rank > 0 && (l.Int == -1 || l.Int == int64(rank-1))
	case ir.KInts:
		return rank > 0 && len(l.Ints) == 1 && (l.Ints[0] == -1 || l.Ints[0] == int64(rank-1))
	}
	return false
}

func contractKind(v *ir.Value) kind {
	if v.Op.Unit == ir.Cube {
		return product
	}
	return opaque
}
