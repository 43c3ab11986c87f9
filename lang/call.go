package lang

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// An argument is an evaluated argument of a call; name is empty when it is
// positional.
type argument struct {
	operand
	name syntax.Ident
}

// postfix applies a chain of calls, subscripts and selections, the innermost
// first.
func (e *elaborator) postfix(x *syntax.PostfixExpr) value {
	cur, i := e.postfixBase(x)
	for i < len(x.Ops) {
		op := x.Ops[i]
		if !e.step(op.Span(), 1) {
			return poison{}
		}
		whole := cur.at.To(op.Span())
		switch op := op.(type) {
		case *syntax.CallOp:
			cur = operand{e.call(cur, op, whole), whole}
		case *syntax.IndexOp:
			cur = operand{e.index(cur, op), whole}
		case *syntax.SelectOp:
			if next, ok := nextCall(x, i); ok && !isPoison(cur.val) && isData(cur.val) {
				i++
				whole = cur.at.To(next.Span())
				cur = operand{e.method(cur, op.Name, next), whole}
				break
			}
			cur = operand{e.selection(cur, op.Name), whole}
		}
		i++
	}
	return cur.val
}

// postfixBase evaluates what the chain starts from; a name that is called at
// once is looked up as a callee.
func (e *elaborator) postfixBase(x *syntax.PostfixExpr) (operand, int) {
	if n, ok := x.X.(*syntax.NameExpr); ok {
		if w, isWord := kindConversions[n.Name]; isWord {
			return operand{w, n.At}, 0
		}
		_, called := x.Ops[0].(*syntax.CallOp)
		return operand{e.name(n, called), n.At}, 0
	}
	return e.operand(x.X), 0
}

// nextCall returns link i+1 of a chain if that is a call: x.f then is a method,
// not a property.
func nextCall(x *syntax.PostfixExpr, i int) (*syntax.CallOp, bool) {
	if i+1 >= len(x.Ops) {
		return nil, false
	}
	c, ok := x.Ops[i+1].(*syntax.CallOp)
	return c, ok
}

// isData tells values whose methods are functions from values that have
// members of their own.
func isData(v value) bool {
	switch v.(type) {
	case *instance, fileVal, moduleVal, funcVal, builtinVal:
		return false
	}
	return true
}

// evalArgs evaluates the arguments of a call. paths names instances that are
// made in them by the parameter they are for.
func (e *elaborator) evalArgs(call *syntax.CallOp, params []syntax.Param) ([]argument, bool) {
	args := make([]argument, 0, len(call.Args))
	ok := e.inOrder(call)
	for i, a := range call.Args {
		path := ""
		if params != nil && e.act.path != "" {
			path = e.act.path + "." + argName(a, i, params)
		}
		var v value
		e.inPath(path, func() { v = e.eval(a.Value) })
		ok = ok && !isPoison(v)
		args = append(args, argument{operand{v, a.Value.Span()}, a.Name})
	}
	return args, ok
}

// inOrder checks that arguments by position stand before those by name.
func (e *elaborator) inOrder(call *syntax.CallOp) bool {
	named := syntax.Ident{}
	for _, a := range call.Args {
		switch {
		case a.Name.Name != "":
			named = a.Name
		case named.Name != "":
			d := e.errorf("wrong-arguments", a.Value.Span(), "an argument by position stands behind one by name")
			witness(d, named.At, "by name")
			help(d, "put it before %s=, or give it by name too", named.Name)
			return false
		}
	}
	return true
}

// argName is the parameter that argument i is for, as a part of a path.
func argName(a syntax.Arg, i int, params []syntax.Param) string {
	switch {
	case a.Name.Name != "":
		return a.Name.Name
	case i < len(params):
		return params[i].Name.Name
	}
	return fmt.Sprint(i)
}

// call applies callee. The culprit of a mistake is its name, the last one in
// a.b.c(x).
func (e *elaborator) call(callee operand, op *syntax.CallOp, whole diag.Span) value {
	at := lastName(callee.at)
	if op.Optional {
		e.errorf("syntax", op.At, "?( stands only in the pattern of a rewrite or fusion")
		return poison{}
	}
	switch f := callee.val.(type) {
	case poison:
		e.evalArgs(op, nil)
		return f
	case dtypeVal:
		return e.cast(tensor.DType(f), op, at)
	case builtinVal:
		return e.callBuiltin(f, at, nil, op)
	case moduleVal:
		args, ok := e.evalArgs(op, f.decl.Params)
		if !ok {
			return poison{}
		}
		return e.instantiate(f, at, args)
	case funcVal:
		args, ok := e.evalArgs(op, nil)
		if !ok {
			return poison{}
		}
		return e.callFunc(f, f.decl.Name.Name, at, args)
	case *instance:
		return e.callInstance(f, at, op)
	}
	e.evalArgs(op, nil)
	d := e.errorf("wrong-arguments", callee.at, "%s is called, but is %s", clip(text(callee.at), 40), callee.val.noun())
	labelled(d, callee)
	if name := text(callee.at); e.hides(name) {
		note(d, "the name %s hides the built-in function", name)
	}
	return poison{}
}

// hides reports whether a name of the user's stands before a built-in one.
func (e *elaborator) hides(name string) bool { _, ok := builtin(name); return ok }

// lastName narrows the span of a.b.c to c.
func lastName(s diag.Span) diag.Span {
	t := text(s)
	if i := strings.LastIndexAny(t, ".)]\n "); i >= 0 && i+1 < len(t) && t[i] == '.' {
		s.Start += i + 1
	}
	return s
}

// method is x.f(...) for a value x: f(x, ...).
func (e *elaborator) method(x operand, name syntax.Ident, op *syntax.CallOp) value {
	if d, ok := dtypeWord(name.Name); ok {
		return e.castMethod(tensor.DType(d), x, name.At, op)
	}
	f, ok := e.function(name.Name)
	if !ok {
		if _, prop := properties[name.Name]; prop || name.Name == transposed {
			d := e.errorf("wrong-arguments", name.At, "%s is a property", name.Name)
			help(d, "write it without ( )")
			return poison{}
		}
		e.evalArgs(op, nil)
		e.unknownAmong(name.Name, name.At, true, e.functions)
		return poison{}
	}
	switch f := f.(type) {
	case builtinVal:
		return e.callBuiltin(f, name.At, &x, op)
	case funcVal:
		args, ok := e.evalArgs(op, nil)
		if !ok {
			return poison{}
		}
		return e.callFunc(f, name.Name, name.At, append([]argument{{operand: x}}, args...))
	}
	return poison{}
}

// function looks a name up among functions only, as method form does: a tensor
// named like an operator does not hide the method.
func (e *elaborator) function(name string) (value, bool) {
	if l := e.act.scope.find(name); l != nil && isFunction(l.val) {
		return l.val, true
	}
	for s := e.act.in; s != nil; s = s.outer {
		if l := s.args[name]; l != nil && isFunction(l.val) {
			return l.val, true
		}
		if d := s.decls[name]; d != nil {
			if _, ok := d.decl.(*syntax.FuncDecl); ok {
				return e.declaredValue(s, d), true
			}
		}
	}
	return builtin(name)
}

func isFunction(v value) bool {
	switch v.(type) {
	case funcVal, builtinVal:
		return true
	}
	return false
}

// functions lists the names that function finds.
func (e *elaborator) functions() []string {
	names := builtinNames()
	for s := e.act.in; s != nil; s = s.outer {
		for _, d := range s.order {
			if _, ok := d.decl.(*syntax.FuncDecl); ok {
				names = append(names, d.name)
			}
		}
	}
	return names
}

// properties are what x.name gives for a tensor x of a type; T is an operator.
var properties = map[string]func(t ir.Type) value{
	"shape": func(t ir.Type) value {
		elems := make([]value, len(t.Shape))
		for i, d := range t.Shape {
			elems[i] = intVal{d: d}
		}
		return listVal{elems: elems}
	},
	"rank":  func(t ir.Type) value { return intOf(int64(t.Rank())) },
	"dtype": func(t ir.Type) value { return dtypeVal(t.DType) },
}

// transposed is the property that is short for transpose(x).
const transposed = "T"

// selection is x.name without a call.
func (e *elaborator) selection(x operand, name syntax.Ident) value {
	switch v := x.val.(type) {
	case poison:
		return v
	case *instance:
		return e.member(v, name)
	case fileVal:
		return e.imported(v, name)
	}
	if l, ok := x.val.(listVal); ok && !l.tuple && tensorLike(l) || isStatic(x.val) {
		t, ok := e.toTensor(x, tensor.Invalid, name.Name)
		if !ok {
			return poison{}
		}
		x.val = e.tensor(t)
	}
	if t, isTensor := x.val.(tensorVal); isTensor {
		if p, ok := properties[name.Name]; ok {
			return p(t.v.Type)
		}
		if name.Name == transposed {
			return e.callRow(builtinVal{name: "transpose", op: ir.Lookup("transpose")}, name.At, []argument{{operand: x}})
		}
		d := e.errorf("unknown-name", name.At, "a tensor has no %s", name.Name)
		if f, ok := e.function(name.Name); ok && isFunction(f) {
			help(d, "%s is a function: write %s()", name.Name, name.Name)
			return poison{}
		}
		note(d, "a tensor has shape, rank, dtype and T, and every function as a method: x.relu()")
		suggest(d, name.Name, []string{"shape", "rank", "dtype"})
		return poison{}
	}
	d := e.errorf("unknown-name", name.At, "%s has no %s", x.val.noun(), name.Name)
	witness(d, x.at, "%s", show(x.val))
	return poison{}
}

// match lays arguments beside parameters: positional ones first, then by name.
// An absent one has no value.
func (e *elaborator) match(name string, at diag.Span, params []syntax.Param, args []argument) ([]operand, bool) {
	ops := make([]operand, len(params))
	ok := true
	for i, a := range args {
		slot := i
		if a.name.Name != "" {
			slot = paramIndex(params, a.name.Name)
		}
		switch {
		case a.name.Name != "" && slot < 0:
			d := e.errorf("wrong-arguments", a.name.At, "there is no parameter %s", a.name.Name)
			d.Subject = name
			suggestArg(d, a.name.Name, paramNames(params))
			note(d, "%s", headOf(name, params))
			ok = false
		case slot >= len(params):
			d := e.errorf("wrong-arguments", a.at, "takes %s, got %d", count(len(params), "argument"), len(args))
			d.Subject = name
			note(d, "%s", headOf(name, params))
			return nil, false
		case ops[slot].val != nil:
			d := e.errorf("wrong-arguments", a.at, "argument %s is given twice", params[slot].Name.Name)
			d.Subject = name
			witness(d, ops[slot].at, "given here")
			ok = false
		default:
			ops[slot] = a.operand
		}
	}
	for i, p := range params {
		if ok && ops[i].val == nil && p.Default == nil {
			d := e.errorf("missing-argument", at, "argument %s is missing", p.Name.Name)
			d.Subject = name
			note(d, "%s", headOf(name, params))
			ok = false
		}
	}
	return ops, ok
}

func paramIndex(params []syntax.Param, name string) int {
	for i := range params {
		if params[i].Name.Name == name {
			return i
		}
	}
	return -1
}

func paramNames(params []syntax.Param) []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name.Name
	}
	return names
}

// headOf prints the head of a fn or module for a note.
func headOf(name string, params []syntax.Param) string {
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = p.Name.Name
		if p.At.Src != nil {
			parts[i] = clip(strings.Join(strings.Fields(text(p.At)), " "), 60)
		}
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
