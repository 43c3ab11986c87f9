package lang

import (
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// eval gives the value of an expression. A mistake is reported here and gives
// poison.
func (e *elaborator) eval(x syntax.Expr) value {
	if x == nil || !e.enter(x.Span()) {
		return poison{}
	}
	defer e.leave()
	switch x := x.(type) {
	case *syntax.NumberLit:
		return number(x)
	case *syntax.StringLit:
		return stringVal(x.Value)
	case *syntax.BoolLit:
		return boolVal(x.Value)
	case *syntax.NoneLit:
		return noneVal{}
	case *syntax.NameExpr:
		return e.name(x, false)
	case *syntax.ListExpr:
		return e.list(x)
	case *syntax.ComprehensionExpr:
		return e.comprehension(x)
	case *syntax.RangeExpr:
		return e.rangeOf(x)
	case *syntax.TypeLit:
		t, ok := e.typeOf(x.Type)
		if !ok {
			return poison{}
		}
		return typeVal(t)
	case *syntax.IfExpr:
		return e.ifExpr(x)
	case *syntax.UnaryExpr:
		return e.unary(x)
	case *syntax.BinaryExpr:
		return e.binary(x)
	case *syntax.PostfixExpr:
		return e.postfix(x)
	}
	e.errorf("syntax", x.Span(), "this expression has no meaning here")
	return poison{}
}

// operand evaluates an expression and keeps its place.
func (e *elaborator) operand(x syntax.Expr) operand { return operand{e.eval(x), x.Span()} }

// name looks a name up. callee says that it is called, for the message.
func (e *elaborator) name(x *syntax.NameExpr, callee bool) value {
	if d, ok := dtypeWord(x.Name); ok {
		return d
	}
	v, ok := e.lookup(x.Name)
	if !ok {
		e.unknown(x.Name, x.At, callee)
		return poison{}
	}
	return v
}

// unknown reports a name that stands for nothing.
func (e *elaborator) unknown(name string, at diag.Span, callee bool) {
	e.unknownAmong(name, at, callee, func() []string { return e.visible(callee) })
}

// unknownAmong is unknown with the names that could have been meant.
func (e *elaborator) unknownAmong(name string, at diag.Span, callee bool, candidates func() []string) {
	if e.act.in.file.broken[name] {
		return // its declaration has a syntax error
	}
	var d *diag.Diagnostic
	if callee {
		d = e.errorf("unknown-name", at, "unknown function %s", name)
		d.Label = "not a function, an operator or an imported module"
	} else {
		d = e.errorf("unknown-name", at, "unknown name %s", name)
		d.Label = "not a variable, a parameter or a constant that is visible here"
	}
	if first, ok := e.act.scope.whereLost(name); ok {
		witness(d, first, "bound on one side of the if alone")
		return
	}
	if full := e.act.in.file.importedAs(name); full != "" {
		help(d, "did you mean %s?", full)
		return
	}
	if e.proposals > maxProposals || !callee && e.suggestModule(d, name) {
		return
	}
	names := append(candidates(), dtypeNames()...)
	e.proposals += len(names)
	suggest(d, name, names)
}

// maxProposals bounds the names that misspellings are compared with, all
// together: a large file with many unknown names must not take for ever.
const maxProposals = 1_000_000

// suggest adds the help that most misspellings need.
func suggest(d *diag.Diagnostic, name string, candidates []string) {
	if ours := foreign[name]; ours != "" {
		help(d, "did you mean %s?", ours)
		return
	}
	if s := diag.Suggest(name, candidates); s != "" {
		help(d, "did you mean %s?", s)
	}
}

// list evaluates a bracket list. Instances made in it get their index as a part
// of their path.
func (e *elaborator) list(x *syntax.ListExpr) value {
	elems := make([]value, len(x.Elems))
	failed := false
	for i, el := range x.Elems {
		e.inPath(index(e.act.path, i), func() { elems[i] = e.eval(el) })
		failed = failed || isPoison(elems[i])
	}
	if failed {
		return poison{}
	}
	return e.listOf(elems, x, x.Span())
}

// listOf makes a list. Lists share what is in them: one that holds another list
// twice takes no room, but to read it takes as long as to read that list twice.
// So a list counts with all that it holds.
func (e *elaborator) listOf(elems []value, node *syntax.ListExpr, at diag.Span) value {
	size := sizeOf(elems)
	if !e.step(at, size) {
		return poison{}
	}
	return listVal{elems: elems, size: size, node: node}
}

func sizeOf(elems []value) int {
	n := len(elems)
	for _, el := range elems {
		if inner, ok := el.(listVal); ok {
			n += inner.size
		}
	}
	return n
}

// comprehension unrolls [e for v in range].
func (e *elaborator) comprehension(x *syntax.ComprehensionExpr) value {
	var elems []value
	failed := false
	ok := e.each(x.In, func(i int, v value) bool {
		e.inScope(branchScope, func(s *scope) {
			s.set(x.Var.Name, v, x.Var.At)
			e.inPath(index(e.act.path, i), func() {
				el := e.eval(x.Elem)
				failed = failed || isPoison(el)
				elems = append(elems, el)
			})
		})
		return !failed
	})
	if !ok || failed {
		return poison{}
	}
	return e.listOf(elems, nil, x.Span())
}

// ifExpr chooses when the program is compiled.
func (e *elaborator) ifExpr(x *syntax.IfExpr) value {
	for _, b := range x.Branches {
		taken, ok := e.constBool(b.Cond, "an if expression")
		if !ok {
			return poison{}
		}
		if taken {
			return e.branchValue(b.Body)
		}
	}
	if x.Else == nil {
		return noneVal{}
	}
	return e.branchValue(x.Else)
}

// branchValue evaluates the branch taken. What it binds ends with it.
func (e *elaborator) branchValue(b *syntax.Block) value {
	var v value = poison{}
	e.inScope(branchScope, func(*scope) {
		if e.block(b) && b.Value != nil {
			v = e.eval(b.Value)
		}
	})
	return v
}

// constBool evaluates a condition that must be known.
func (e *elaborator) constBool(x syntax.Expr, what string) (val, ok bool) {
	switch v := e.eval(x).(type) {
	case boolVal:
		return bool(v), true
	case poison:
	case tensorVal:
		d := e.errorf("not-constant", x.Span(), "%s needs a condition that is known when the program is compiled", what)
		d.Label = show(v)
		help(d, "where(c, a, b) chooses element by element when the program runs")
	default:
		d := e.errorf("wrong-arguments", x.Span(), "%s needs a bool as condition, not %s", what, v.noun())
		d.Label = show(v)
	}
	return false, false
}

// rangeOf evaluates a..b.
func (e *elaborator) rangeOf(x *syntax.RangeExpr) value {
	from, okFrom := e.intOf(x.From, "a bound of a range")
	to, okTo := e.intOf(x.To, "a bound of a range")
	if !okFrom || !okTo {
		return poison{}
	}
	return rangeVal{from, to}
}

// unroll calls f for each number of a range.
func (e *elaborator) unroll(x syntax.Expr, from, to int64, f func(i int, v value) bool) bool {
	// Unsigned, since the distance of two integers may need all 64 bits.
	if rounds := uint64(to) - uint64(from); to > from && rounds > maxRounds {
		d := e.errorf("limit", x.Span(), "a loop of %d rounds is not unrolled: at most %d are", rounds, maxRounds)
		help(d, "write for ... in ... carry NAMES { } to loop when the program runs")
		return false
	}
	for i := from; i < to; i++ {
		if !e.step(x.Span(), 1) || !f(int(i-from), intOf(i)) {
			return false
		}
	}
	return true
}

// maxRounds bounds a loop that is unrolled: more rounds than a program may have
// operators are refused at once, not when they have used up the limit.
const maxRounds = defaultMaxValues

// each calls f with every element of a list, or every number of a range, that
// is known when the program is compiled; f returns false to stop. It is false
// when the list is not known.
func (e *elaborator) each(x syntax.Expr, f func(i int, v value) bool) bool {
	switch v := e.eval(x).(type) {
	case listVal:
		for i, el := range v.elems {
			if !e.step(x.Span(), 1) || !f(i, el) {
				return false
			}
		}
		return true
	case rangeVal:
		from, okFrom := v.from.Const()
		to, okTo := v.to.Const()
		if !okFrom || !okTo {
			d := e.errorf("not-constant", x.Span(), "the range %s is not known when the program is compiled", show(v))
			note(d, "a for without carry or collect is unrolled")
			help(d, "write for ... in ... carry NAMES { } to loop when the program runs")
			return false
		}
		return e.unroll(x, from, to, f)
	case poison:
		return false
	default:
		d := e.errorf("wrong-arguments", x.Span(), "%s is not a list or a range", v.noun())
		d.Label = show(v)
		if _, isTensor := v.(tensorVal); isTensor {
			help(d, "for i in 0..x.shape[0] goes over the rows of a tensor x")
		}
		return false
	}
}
