package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// block runs the statements of a block. It is false when the compilation has
// to stop.
func (e *elaborator) block(b *syntax.Block) bool {
	for _, s := range b.Stmts {
		if !e.statement(s) {
			return false
		}
	}
	return true
}

// statement runs one statement. It is false when the compilation has to stop.
func (e *elaborator) statement(s syntax.Stmt) bool {
	if !e.enter(s.Span()) {
		return false
	}
	e.annotated(s.Annotations(), func() {
		switch s := s.(type) {
		case *syntax.BindStmt:
			e.bind(s)
		case *syntax.ForStmt:
			e.forLoop(s)
		case *syntax.WhileStmt:
			e.while(s)
		case *syntax.IfStmt:
			e.ifStmt(s, 0)
		case *syntax.BlockStmt:
			e.block(s.Body)
		case *syntax.ReturnStmt:
			e.misplacedReturn(s)
		case *syntax.ExpectStmt, *syntax.ExpectErrorStmt:
			e.errorf("syntax", s.Span(), "expect stands in a test, outside of loops and conditions")
		}
	})
	e.leave()
	return !e.stopped
}

// misplacedReturn reports a return that is not the end of its body.
func (e *elaborator) misplacedReturn(s *syntax.ReturnStmt) {
	d := e.errorf("syntax", s.At, "return stands last in a fn or graph, nowhere else")
	help(d, "where(c, a, b), or an if that binds a name in both branches, chooses what is returned")
}

// strayReturn reports whether a return stands in a body that returns nothing:
// then its place is the mistake.
func strayReturn(b *syntax.Block) bool {
	if b == nil {
		return false
	}
	for _, s := range b.Stmts {
		stray := false
		switch s := s.(type) {
		case *syntax.ReturnStmt:
			stray = true
		case *syntax.ForStmt:
			stray = strayReturn(s.Body)
		case *syntax.WhileStmt:
			stray = strayReturn(s.Body)
		case *syntax.BlockStmt:
			stray = strayReturn(s.Body)
		case *syntax.IfStmt:
			stray = strayReturn(s.Else)
			for _, br := range s.Branches {
				stray = stray || strayReturn(br.Body)
			}
		}
		if stray {
			return true
		}
	}
	return false
}

// bind is a = e, and a, b = e.
func (e *elaborator) bind(s *syntax.BindStmt) {
	age := e.born
	var v value
	path := ""
	if len(s.Names) == 1 {
		path = s.Names[0].Name
	}
	e.inPath(path, func() { v = e.eval(s.Value) })
	if len(s.Names) == 1 {
		e.assign(s.Names[0], e.checkedList(s, v), age)
		return
	}
	l, ok := v.(listVal)
	if !ok || len(l.elems) != len(s.Names) {
		e.bindCount(s, v)
		for _, n := range s.Names {
			e.assign(n, poison{}, age)
		}
		return
	}
	for i, n := range s.Names {
		e.assign(n, l.elems[i], age)
	}
}

// checkedList refuses a list that is bound as a tensor but has rows of several
// lengths. One float makes floats of all its numbers.
func (e *elaborator) checkedList(s *syntax.BindStmt, v value) value {
	l, ok := v.(listVal)
	if !ok || l.tuple || l.node == nil || !tensorLike(l) {
		return v
	}
	if nested(l) {
		if _, _, _, ok := e.flatten(operand{v, s.Value.Span()}, l); !ok {
			return poison{}
		}
	}
	if listDType(l) == tensor.F32 {
		return floats(l)
	}
	return l
}

// floats is a list with floats in place of the integers that are known.
func floats(l listVal) listVal {
	elems := make([]value, len(l.elems))
	for i, el := range l.elems {
		switch v := el.(type) {
		case listVal:
			elems[i] = floats(v)
		case intVal:
			elems[i] = el
			if f, ok := asFloat(v); ok {
				elems[i] = floatVal{f, v.String()}
			}
		default:
			elems[i] = el
		}
	}
	l.elems = elems
	return l
}

// nested reports whether a list holds lists.
func nested(l listVal) bool {
	for _, el := range l.elems {
		if _, ok := el.(listVal); ok {
			return true
		}
	}
	return false
}

// bindCount reports as many names as there are no values.
func (e *elaborator) bindCount(s *syntax.BindStmt, v value) {
	if isPoison(v) {
		return
	}
	have := 1
	if l, ok := v.(listVal); ok {
		have = len(l.elems)
	}
	d := e.errorf("wrong-arguments", s.Value.Span(), "%s for %s", count(len(s.Names), "name"), count(have, "value"))
	d.Label = show(v)
	witness(d, s.Names[0].At.To(s.Names[len(s.Names)-1].At), "")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// assign binds a name. A tensor that the statement has made gets it as its own.
func (e *elaborator) assign(id syntax.Ident, v value, age int) {
	home, stuck := e.act.scope.home(id.Name)
	if stuck != nil {
		e.notCarried(id, stuck)
		v = poison{}
	}
	nameValue(v, id.Name, age)
	home.set(id.Name, named(v, id.Name), id.At)
	if b := e.prog.test; b != nil {
		b.kept(v)
	}
}

// nameValue names a tensor made since age; weights and inputs keep theirs.
func nameValue(v value, name string, age int) {
	if l, ok := v.(lateVal); ok {
		v = l.t
	}
	t, ok := v.(tensorVal)
	if !ok || t.born <= age || t.v.Op == ir.Param || t.v.Op == ir.Input {
		return
	}
	t.v.Name = name
}

// notCarried reports a name of outside that a run-time loop rebinds without
// carrying it: after the loop it would have its old value.
func (e *elaborator) notCarried(id syntax.Ident, outer *local) {
	d := e.errorf("not-carried", id.At, "%s is bound outside of the loop, and the loop does not carry it", id.Name)
	witness(d, outer.at, "bound here")
	note(d, "a run-time loop changes only the names under carry")
	help(d, "add %s to carry, or use another name", id.Name)
}
