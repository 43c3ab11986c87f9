package rewrite

import (
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// Operators that have a sign.
var (
	binaryOps = map[string]string{
		"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "@": "matmul", "**": "pow",
		"&": "bit_and", "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right",
		"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
		"and": "logical_and", "or": "logical_or",
	}
	unaryOps = map[string]string{"-": "neg", "~": "bit_not", "not": "logical_not"}
)

// unary compiles a chain of prefix operators, the innermost first.
func (c *compiler) unary(e *syntax.UnaryExpr) *node {
	n := c.node(e.X)
	for i := len(e.Ops) - 1; i >= 0 && n != nil; i-- {
		n = c.plain(ir.Lookup(unaryOps[e.Ops[i].Text]), e.Ops[i].Span(), n)
	}
	return n
}

// plain makes the node of an operator without attributes to set.
func (c *compiler) plain(op *ir.Op, at diag.Span, args ...*node) *node {
	for _, a := range args {
		if a == nil {
			return nil
		}
	}
	return c.checked(&node{kind: opNode, op: op, args: args, attrs: defaults(op)}, at)
}

// binary compiles a chain of one level: from the left, but ** from the right.
func (c *compiler) binary(e *syntax.BinaryExpr) *node {
	if e.Rest[0].Op.Text == "**" {
		last := len(e.Rest) - 1
		n := c.node(e.Rest[last].X)
		for i := last; i > 0; i-- {
			n = c.plain(ir.Lookup("pow"), e.Rest[i].Op.Span(), c.node(e.Rest[i-1].X), n)
		}
		return c.plain(ir.Lookup("pow"), e.Rest[0].Op.Span(), c.node(e.First), n)
	}
	left, maybe := c.side(e.First)
	for _, r := range e.Rest {
		op := ir.Lookup(binaryOps[r.Op.Text])
		right, rightMaybe := c.side(r.X)
		left = c.twoSided(op, r.Op.Span(), left, right, maybe, rightMaybe)
		maybe = false
	}
	return left
}

// side compiles one side of a binary operator, which may be mask?.
func (c *compiler) side(e syntax.Expr) (n *node, maybe bool) {
	name, ok := e.(*syntax.NameExpr)
	if !ok || !name.Optional || c.replacing {
		return c.node(e), false
	}
	c.inMaybe++
	defer func() { c.inMaybe-- }()
	id, ok := c.bind(name.Name, name.Span(), false, ir.KNone)
	if !ok {
		return nil, true
	}
	return c.counted(&node{kind: nameNode, id: id}, name.Span()), true
}

// twoSided makes a binary operator. If one side may be absent the operator is
// optional, and the other side stands for it.
func (c *compiler) twoSided(op *ir.Op, at diag.Span, left, right *node, leftMaybe, rightMaybe bool) *node {
	if leftMaybe && rightMaybe {
		c.fail(at, "both sides of %s may be absent", op.Name)
		return nil
	}
	if leftMaybe && op.Flags&ir.Commutative == 0 {
		c.fail(at, "the left side of %s may be absent, but it does not commute", op.Name)
		return nil
	}
	if leftMaybe {
		left, right = right, left
	}
	n := c.plain(op, at, left, right)
	if n != nil && (leftMaybe || rightMaybe) {
		n.optional = true
		c.optionals = append(c.optionals, op)
	}
	return n
}

// postfix compiles calls, also in method form: x.transpose(0, 1), x.T.
func (c *compiler) postfix(e *syntax.PostfixExpr) *node {
	if fn, args, ok := plainCall(e); ok {
		optional := e.Ops[0].(*syntax.CallOp).Optional
		return c.call(fn.Name, fn.Span(), args, optional, nil)
	}
	n := c.node(e.X)
	for i := 0; i < len(e.Ops) && n != nil; i++ {
		sel, ok := e.Ops[i].(*syntax.SelectOp)
		if !ok {
			c.fail(e.Ops[i].Span(), "an index has no place in a rule").help("write slice(...) or gather(...)")
			return nil
		}
		if sel.Name.Name == "T" {
			n = c.plain(ir.Lookup("transpose"), sel.Span(), n)
			continue
		}
		if i++; i == len(e.Ops) {
			c.fail(sel.Span(), "%s is not called", sel.Name.Name)
			return nil
		}
		call, ok := e.Ops[i].(*syntax.CallOp)
		if !ok {
			c.fail(sel.Span(), "%s is not called", sel.Name.Name)
			return nil
		}
		n = c.call(sel.Name.Name, sel.Span(), call.Args, call.Optional, n)
	}
	return n
}

// plainCall takes f(args) apart.
func plainCall(e *syntax.PostfixExpr) (fn *syntax.NameExpr, args []syntax.Arg, ok bool) {
	fn, isName := e.X.(*syntax.NameExpr)
	if !isName || len(e.Ops) != 1 {
		return nil, nil, false
	}
	call, isCall := e.Ops[0].(*syntax.CallOp)
	if !isCall {
		return nil, nil, false
	}
	return fn, call.Args, true
}

// call compiles op(args); self, if not nil, is the first argument of the method
// form.
func (c *compiler) call(name string, at diag.Span, args []syntax.Arg, optional bool, self *node) *node {
	op := c.operator(name, at)
	if op == nil {
		return nil
	}
	if optional {
		if !c.mayBeOptional(op, at) {
			return nil
		}
	}
	// The first argument stands for an optional operator that is absent; what is
	// bound elsewhere in the call may be unbound then.
	a := &arguments{compiler: c, at: at, optional: optional, node: &node{kind: opNode, op: op, attrs: defaults(op), optional: optional}}
	a.node.args = make([]*node, len(op.Args))
	a.given = make([]bool, len(op.Args)+len(op.Attrs))
	if !a.read(args, self) {
		return nil
	}
	return c.checked(a.node, at)
}

// operator finds the row of a called name.
func (c *compiler) operator(name string, at diag.Span) *ir.Op {
	op := ir.Lookup(name)
	if op == nil || op.Group == "structure" {
		c.fail(at, "unknown operator %s", name).suggest(name, opNames())
		return nil
	}
	if op.Class == ir.Region || op.Flags&ir.Impure != 0 {
		c.fail(at, "%s cannot be part of a rule", name).note("operators with regions or effects keep their place")
		return nil
	}
	return op
}

func opNames() []string {
	var out []string
	for _, op := range ir.Ops() {
		if op.Group != "structure" {
			out = append(out, op.Name)
		}
	}
	return out
}

// mayBeOptional checks op?(...): in a replacement, such an operator is built if
// the pattern's was there, so there has to be just one of that name.
func (c *compiler) mayBeOptional(op *ir.Op, at diag.Span) bool {
	if len(op.Args) == 0 || strings.HasSuffix(op.Args[0], "...") {
		c.fail(at, "%s cannot be optional: it has no first operand that could stand for it", op.Name)
		return false
	}
	if !c.replacing {
		c.optionals = append(c.optionals, op)
		return true
	}
	n := 0
	for _, o := range c.optionals {
		if o == op {
			n++
		}
	}
	if n != 1 {
		c.fail(at, "%s? in a replacement needs just one %s? in the pattern; there are %d", op.Name, op.Name, n)
	}
	return n == 1
}

// checked refuses an operator of numbers alone, which is itself a number.
func (c *compiler) checked(n *node, at diag.Span) *node {
	if n = c.counted(n, at); n == nil {
		return nil
	}
	tensors, numbers := 0, 0
	for _, a := range n.args {
		if a == nil {
			continue
		}
		tensors++
		if a.kind == numberNode {
			numbers++
		}
	}
	if tensors > 0 && numbers == tensors {
		c.fail(at, "%s of numbers alone has no place in a rule", n.op.Name).help("write the number that it gives")
		return nil
	}
	return n
}

func defaults(op *ir.Op) []attr {
	as := make([]attr, len(op.Attrs))
	for i, l := range op.Defaults() {
		as[i].lit = l
	}
	return as
}
