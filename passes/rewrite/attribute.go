package rewrite

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// lit compiles the literal of an attribute of that kind.
func (c *compiler) lit(e syntax.Expr, kind ir.AttrKind) (ir.Lit, bool) {
	switch e := e.(type) {
	case *syntax.NoneLit:
		return ir.None, true
	case *syntax.BoolLit:
		return ir.BoolLit(e.Value), kind == ir.KBool
	case *syntax.StringLit:
		return ir.StrLit(e.Value), kind == ir.KString
	case *syntax.NameExpr:
		d, ok := tensor.ParseDType(e.Name)
		return ir.DTypeLit(d), ok && kind == ir.KDType
	}
	n, ok := c.constant(e)
	if !ok {
		return ir.None, false
	}
	return n.lit(kind)
}

// lit is the number as an attribute of that kind. A single integer stands for
// a list that holds it.
func (n number) lit(kind ir.AttrKind) (ir.Lit, bool) {
	switch kind {
	case ir.KInt:
		return ir.IntLit(n.i), !n.isFloat
	case ir.KInts:
		return ir.IntsLit(n.i), !n.isFloat
	case ir.KDim:
		return ir.DimLit(ir.N(n.i)), !n.isFloat
	case ir.KDims:
		return ir.DimsLit(ir.N(n.i)), !n.isFloat
	case ir.KFloat:
		return ir.FloatLit(n.float()), true
	case ir.KNum:
		if n.isFloat {
			return ir.FloatLit(n.f), true
		}
		return ir.DimLit(ir.N(n.i)), true
	}
	return ir.None, false
}

// list compiles the list of an attribute's integers.
func (a *arguments) list(i int, elems []syntax.Expr, at diag.Span) {
	decl := &a.op().Attrs[i]
	a.given[len(a.op().Args)+i] = true
	var ints []int64
	for _, e := range elems {
		n, ok := a.constant(e)
		if !ok || n.isFloat {
			a.fail(e.Span(), "argument %s of %s is a list of integers, or one name for all of it", decl.Name, a.op().Name)
			return
		}
		ints = append(ints, n.i)
	}
	switch decl.Kind {
	case ir.KInts:
		a.node.attrs[i] = attr{lit: ir.IntsLit(ints...)}
	case ir.KDims:
		a.node.attrs[i] = attr{lit: ir.DimsLit(ir.Dims(ints...)...)}
	default:
		a.fail(at, "argument %s of %s is %s, not a list", decl.Name, a.op().Name, kindNames[decl.Kind])
	}
}

// fromFront counts axes from the front, so that one axis has one number: -1
// among three is 2. A rank of 0 leaves everything as it is.
func fromFront(l ir.Lit, rank int) ir.Lit {
	wrap := func(n int64) int64 {
		if n < 0 {
			n += int64(rank)
		}
		return n
	}
	switch {
	case rank == 0:
	case l.Kind == ir.KInt:
		l.Int = wrap(l.Int)
	case l.Kind == ir.KInts:
		l.Ints = slices.Clone(l.Ints)
		for i := range l.Ints {
			l.Ints[i] = wrap(l.Ints[i])
		}
	}
	return l
}

// sameLit compares attributes that may be held in different kinds.
func sameLit(a, b ir.Lit) bool {
	if a.Equal(b) {
		return true
	}
	if as, ok := litList(a); ok {
		bs, ok := litList(b)
		return ok && ir.SameShape(as, bs)
	}
	x, ok := litNumber(a)
	y, ok2 := litNumber(b)
	return ok && ok2 && math.Float64bits(x.float()) == math.Float64bits(y.float())
}

// litList is the list that an attribute holds.
func litList(l ir.Lit) ([]ir.Dim, bool) {
	switch l.Kind {
	case ir.KInts:
		return ir.Dims(l.Ints...), true
	case ir.KDims:
		return l.Dims, true
	}
	return nil, false
}
