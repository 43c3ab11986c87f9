package rewrite

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang/syntax"
)

// A relation is an operator of where-tests.
type relation struct {
	takes termKind // of both sides; anyTerm: both the same
	gives termKind
	eval  func(a, b term) term
}

// relations holds the binary operators of tests.
var relations = map[string]relation{
	"==":  {anyTerm, boolTerm, func(a, b term) term { return a.equal(b).term() }},
	"!=":  {anyTerm, boolTerm, func(a, b term) term { return a.equal(b).not().term() }},
	"<":   {numberTerm, boolTerm, ordered(func(a, b float64) bool { return a < b }, less)},
	"<=":  {numberTerm, boolTerm, ordered(func(a, b float64) bool { return a <= b }, lessEqual)},
	">":   {numberTerm, boolTerm, ordered(func(a, b float64) bool { return a > b }, func(a, b ir.Dim) tri { return less(b, a) })},
	">=":  {numberTerm, boolTerm, ordered(func(a, b float64) bool { return a >= b }, func(a, b ir.Dim) tri { return lessEqual(b, a) })},
	"and": {boolTerm, boolTerm, func(a, b term) term { return min(a.tri(), b.tri()).term() }},
	"or":  {boolTerm, boolTerm, func(a, b term) term { return max(a.tri(), b.tri()).term() }},
	"+":   {numberTerm, numberTerm, computed(func(a, b float64) float64 { return a + b }, ir.Dim.Add)},
	"-":   {numberTerm, numberTerm, computed(func(a, b float64) float64 { return a - b }, ir.Dim.Sub)},
	"*":   {numberTerm, numberTerm, computed(func(a, b float64) float64 { return a * b }, ir.Dim.Mul)},
	"%":   {numberTerm, numberTerm, remainder},
}

func ordered(floats func(a, b float64) bool, dims func(a, b ir.Dim) tri) func(a, b term) term {
	return func(a, b term) term { return a.compare(b, floats, dims).term() }
}

func computed(floats func(a, b float64) float64, dims func(a, b ir.Dim) ir.Dim) func(a, b term) term {
	return func(a, b term) term {
		if !a.known || !b.known {
			return unknown(numberTerm)
		}
		if a.isDim && b.isDim {
			return dimTerm(dims(a.dim, b.dim))
		}
		x, ok := a.float()
		y, ok2 := b.float()
		if !ok || !ok2 {
			return unknown(numberTerm)
		}
		return floatTerm(floats(x, y))
	}
}

// remainder is that of two integers; by 0 it is unknown.
func remainder(a, b term) term {
	if !a.known || !b.known || !a.isDim || !b.isDim || b.dim.Is(0) {
		return unknown(numberTerm)
	}
	return dimTerm(ir.Mod(a.dim, b.dim))
}

// termChain compiles a chain of operators of one level, from the left.
func (c *compiler) termChain(e *syntax.BinaryExpr) (termKind, evalFn) {
	kind, eval := c.term(e.First)
	for _, r := range e.Rest {
		rightKind, right := c.term(r.X)
		if eval == nil || right == nil {
			return anyTerm, nil
		}
		rel, ok := relations[r.Op.Text]
		if !ok {
			c.fail(r.Op.Span(), "%s has no place in a test", r.Op.Text)
			return anyTerm, nil
		}
		if !c.sides(r.Op, rel, kind, rightKind) {
			return anyTerm, nil
		}
		left := eval
		kind, eval = rel.gives, func(m *Match) term { return rel.eval(left(m), right(m)) }
	}
	return kind, eval
}

// sides checks the kinds beside an operator.
func (c *compiler) sides(op syntax.OpTok, rel relation, left, right termKind) bool {
	switch {
	case rel.takes == anyTerm && left != right && left != anyTerm && right != anyTerm:
		c.fail(op.Span(), "%s compares %s with %s", op.Text, termNames[left], termNames[right])
		return false
	case rel.takes == anyTerm:
		return true
	}
	for _, k := range []termKind{left, right} {
		if k != rel.takes && k != anyTerm {
			c.fail(op.Span(), "%s takes %s on both sides, here is %s", op.Text, termNames[rel.takes], termNames[k])
			return false
		}
	}
	return true
}

// termUnary compiles not x and -x.
func (c *compiler) termUnary(e *syntax.UnaryExpr) (termKind, evalFn) {
	kind, eval := c.term(e.X)
	for i := len(e.Ops) - 1; i >= 0 && eval != nil; i-- {
		inner := eval
		switch op := e.Ops[i]; {
		case op.Text == "not" && kind == boolTerm:
			eval = func(m *Match) term { return inner(m).tri().not().term() }
		case op.Text == "-" && kind == numberTerm:
			eval = func(m *Match) term { return relations["-"].eval(dimTerm(ir.N(0)), inner(m)) }
		default:
			c.fail(op.Span(), "%s does not apply to %s in a test", op.Text, termNames[kind])
			return anyTerm, nil
		}
	}
	return kind, eval
}
