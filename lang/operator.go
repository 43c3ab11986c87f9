package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// binaryOps and unaryOps name the operator of the IR behind each sign.
var (
	binaryOps = map[string]string{
		"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "**": "pow", "@": "matmul",
		"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
		"and": "logical_and", "or": "logical_or",
		"&": "bit_and", "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right",
	}
	unaryOps = map[string]string{"-": "neg", "~": "bit_not", "not": "logical_not"}
)

// unary applies a chain of prefix operators, the innermost first.
func (e *elaborator) unary(x *syntax.UnaryExpr) value {
	v := e.operand(x.X)
	for i := len(x.Ops) - 1; i >= 0; i-- {
		op := x.Ops[i]
		v = operand{e.prefix(op, v), op.At.To(v.at)}
	}
	return v.val
}

// prefix applies one prefix operator. Numbers stay compile-time numbers, so that
// -128 is a literal.
func (e *elaborator) prefix(op syntax.OpTok, x operand) value {
	switch v := x.val.(type) {
	case poison:
		return v
	case intVal, floatVal:
		if op.Text == "-" {
			return negate(v)
		}
		if n, ok := v.(intVal); ok && op.Text == "~" && n.big == nil {
			return intVal{d: n.d.Mul(ir.N(-1)).Sub(ir.N(1))} // two's complement
		}
	case lateVal:
		if op.Text == "-" {
			return e.late(site{name: "neg", at: op.At, args: []operand{x}}, ir.Lookup("neg"), []operand{x})
		}
	case boolVal:
		if op.Text == "not" {
			return !v
		}
	}
	return e.sign(op, unaryOps[op.Text], []operand{x})
}

// binary applies the operators of one level from the left, ** from the right.
func (e *elaborator) binary(x *syntax.BinaryExpr) value {
	if x.Rest[0].Op.Text == "**" {
		return e.powers(x)
	}
	left := e.operand(x.First)
	for _, r := range x.Rest {
		if !e.step(r.Op.At, 1) {
			return poison{}
		}
		if b, ok := left.val.(boolVal); ok && decides(r.Op.Text, b) {
			continue
		}
		right := e.operand(r.X)
		left = operand{e.apply(r.Op, left, right), left.at.To(right.at)}
	}
	return left.val
}

// decides reports whether the left side alone gives the value of and, or.
func decides(op string, left boolVal) bool {
	return op == "and" && !bool(left) || op == "or" && bool(left)
}

// powers evaluates the operands from the left and applies ** from the right.
func (e *elaborator) powers(x *syntax.BinaryExpr) value {
	ops := make([]operand, 1, len(x.Rest)+1)
	ops[0] = e.operand(x.First)
	for _, r := range x.Rest {
		ops = append(ops, e.operand(r.X))
	}
	right := ops[len(ops)-1]
	for i := len(x.Rest) - 1; i >= 0; i-- {
		if !e.step(x.Rest[i].Op.At, 1) {
			return poison{}
		}
		right = operand{e.apply(x.Rest[i].Op, ops[i], right), ops[i].at.To(right.at)}
	}
	return right.val
}

// apply gives a op b: at once when both are known, as an operator otherwise.
func (e *elaborator) apply(op syntax.OpTok, a, b operand) value {
	if isPoison(a.val) || isPoison(b.val) {
		return poison{}
	}
	if v, ok := e.known(op, a, b); ok {
		return v
	}
	return e.sign(op, binaryOps[op.Text], []operand{a, b})
}

// known computes an operator of compile-time values.
func (e *elaborator) known(op syntax.OpTok, a, b operand) (value, bool) {
	if isNumber(a.val) && isNumber(b.val) {
		return e.arithmetic(op, a, b)
	}
	switch op.Text {
	case "and", "or":
		x, xOK := a.val.(boolVal)
		y, yOK := b.val.(boolVal)
		if xOK && yOK {
			return boolVal(op.Text == "and" && bool(x) && bool(y) || op.Text == "or" && bool(x || y)), true
		}
	case "==", "!=":
		if same, ok := sameStatic(a.val, b.val); ok {
			return boolVal(same == (op.Text == "==")), true
		}
	}
	return nil, false
}

// arithmetic computes with numbers: at once, or, with a symbol beside a float, when
// the program runs.
func (e *elaborator) arithmetic(op syntax.OpTok, a, b operand) (value, bool) {
	row, ok := arithmetics[op.Text]
	if !ok {
		return nil, false
	}
	x, xInt := a.val.(intVal)
	y, yInt := b.val.(intVal)
	var v value
	var err error
	switch {
	case xInt && yInt && (x.big != nil || y.big != nil):
		err = errRange
	case xInt && yInt:
		v, err = row.ints(e, x.d, y.d, op.At)
	case row.floats == nil:
		return nil, false
	default:
		p, pOK := asFloat(a.val)
		q, qOK := asFloat(b.val)
		if !pOK || !qOK {
			s := site{name: binaryOps[op.Text], at: op.At, args: []operand{a, b}, binary: op.Text}
			return e.late(s, ir.Lookup(s.name), s.args), true
		}
		v, err = row.floats(p, q)
	}
	if err != nil {
		e.refuse(site{name: binaryOps[op.Text], at: op.At, args: []operand{a, b}}, err, nil)
		return poison{}, true
	}
	return v, true
}

// sameStatic compares compile-time values that are no numbers. ok is false when
// they are tensors or cannot be compared.
func sameStatic(a, b value) (same, ok bool) {
	_, aNone := a.(noneVal)
	_, bNone := b.(noneVal)
	if aNone || bNone {
		return aNone && bNone, true
	}
	switch x := a.(type) {
	case boolVal:
		y, ok := b.(boolVal)
		return x == y, ok
	case stringVal:
		y, ok := b.(stringVal)
		return x == y, ok
	case dtypeVal:
		y, ok := b.(dtypeVal)
		return x == y, ok
	case typeVal:
		y, ok := b.(typeVal)
		return ok && ir.Type(x).Equal(ir.Type(y)), ok
	}
	return false, false
}

// sign adds the operator behind a sign.
func (e *elaborator) sign(op syntax.OpTok, name string, args []operand) value {
	s := site{name: name, at: op.At, args: args, binary: op.Text}
	row := ir.Lookup(name)
	if row == nil {
		e.errorf("internal", op.At, "the operator %s is not in the table", name)
		return poison{}
	}
	vs, ok := e.arguments(s, row, args)
	if !ok {
		return poison{}
	}
	return e.add(s, row, vs, nil)[0]
}

// arguments turns operands into tensors for an operator's arguments: numbers
// and lists take the dtype of the tensor beside them.
func (e *elaborator) arguments(s site, row *ir.Op, args []operand) ([]*ir.Value, bool) {
	beside := dtypeBeside(row, args)
	vs := make([]*ir.Value, len(args))
	ok := true
	for i, a := range args {
		if a.val == nil {
			continue
		}
		want := beside
		if standsAlone(row, i) {
			want = 0
		}
		v, good := e.toTensor(a, want, s.name)
		vs[i], ok = v, ok && good
		if !ok && s.binary != "" {
			break // "a" + "b" is one mistake
		}
	}
	return vs, ok
}

// typeOfSpan tells what is known about an operand, for a label.
func labelled(d *diag.Diagnostic, o operand) *diag.Diagnostic {
	d.Label = show(o.val)
	return d
}
