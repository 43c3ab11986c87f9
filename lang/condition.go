package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// ifStmt runs branch i of an if and what follows. With a compile-time condition
// only the side taken is elaborated; with a tensor both are, and run time
// chooses.
func (e *elaborator) ifStmt(s *syntax.IfStmt, i int) {
	for ; i < len(s.Branches); i++ {
		b := s.Branches[i]
		cond := e.operand(b.Cond)
		switch c := cond.val.(type) {
		case boolVal:
			if c {
				e.block(b.Body)
				return
			}
			continue
		case tensorVal:
			e.runtimeIf(s, i, cond)
			return
		case poison:
			e.poisonBound(s)
			return
		default:
			d := e.errorf("wrong-arguments", cond.at, "a condition is a bool, not %s", cond.val.noun())
			labelled(d, cond)
			e.poisonBound(s)
			return
		}
	}
	if s.Else != nil {
		e.block(s.Else)
	}
}

// poisonBound gives the names that an if would have bound no value, so that
// what follows is silent.
func (e *elaborator) poisonBound(s *syntax.IfStmt) {
	for _, b := range s.Branches {
		e.poisonNames(b.Body)
	}
	if s.Else != nil {
		e.poisonNames(s.Else)
	}
}

// poisonNames is poisonBound for one block.
func (e *elaborator) poisonNames(b *syntax.Block) {
	boundNames(b, func(id syntax.Ident) {
		home, _ := e.act.scope.home(id.Name)
		home.set(id.Name, poison{}, id.At)
	})
}

// boundNames visits the names that a block binds beyond itself.
func boundNames(b *syntax.Block, visit func(syntax.Ident)) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *syntax.BindStmt:
			for _, n := range s.Names {
				visit(n)
			}
		case *syntax.ForStmt:
			for _, n := range append(append([]syntax.Ident{}, s.Carry...), s.Collect...) {
				visit(n)
			}
		case *syntax.WhileStmt:
			for _, n := range s.Carry {
				visit(n)
			}
		case *syntax.IfStmt:
			for _, br := range s.Branches {
				boundNames(br.Body, visit)
			}
			if s.Else != nil {
				boundNames(s.Else, visit)
			}
		case *syntax.BlockStmt:
			boundNames(s.Body, visit)
		}
	}
}

// region runs body with a new region frame, unless they nest too deep.
func (e *elaborator) inRegion(at diag.Span, body func(f *ir.Frame)) *ir.Frame {
	if e.region >= maxRegions {
		e.stop(at, "run-time loops and conditions are nested more than %d deep", maxRegions)
		return nil
	}
	outer := e.frame
	f := outer.Body()
	e.frame = f
	e.region++
	body(f)
	e.region--
	e.frame = outer
	return f
}

// A side is one branch of a run-time if: what it was built in, and what it has
// bound.
type side struct {
	frame *ir.Frame
	scope *scope
	at    diag.Span
}

// runtimeIf builds both sides and joins the names that they bind.
func (e *elaborator) runtimeIf(s *syntax.IfStmt, i int, cond operand) {
	c := cond.val.(tensorVal)
	if !e.condition(cond, "an if") {
		e.poisonBound(s)
		return
	}
	then := e.side(s.Branches[i].Body.At, func() { e.block(s.Branches[i].Body) })
	at := s.At
	if s.Else != nil {
		at = s.Else.At
	}
	other := e.side(at, func() { e.ifStmt(s, i+1) })
	if e.stopped {
		return
	}
	e.join(s, c, then, other)
}

// side builds one branch in a region and a scope of its own.
func (e *elaborator) side(at diag.Span, body func()) side {
	out := side{at: at}
	out.frame = e.inRegion(at, func(*ir.Frame) {
		out.scope = e.inScope(branchScope, func(*scope) { body() })
	})
	return out
}

// condition checks that a run-time condition is one bool.
func (e *elaborator) condition(o operand, what string) bool {
	t := o.val.(tensorVal).v.Type
	switch {
	case t.DType.String() != "bool":
		d := e.errorf("dtype-mismatch", o.at, "the condition of %s is %s, not bool", what, t.DType)
		labelled(d, o)
		help(d, "compare it: %s != 0", clip(text(o.at), 40))
	case t.Rank() != 0:
		d := e.errorf("rank-mismatch", o.at, "the condition of %s has rank %d, but must be one bool", what, t.Rank())
		labelled(d, o)
		help(d, "write all(%s) or any(%s), or choose element by element with where(c, a, b)", clip(text(o.at), 40), clip(text(o.at), 40))
	default:
		return true
	}
	return false
}

// A joined is a name with its value on both sides.
type joined struct {
	name string
	vals [2]operand
}

// join makes the if operator: its results are the names that both sides have a
// value for. A name that one side alone binds keeps its old value on the other.
func (e *elaborator) join(s *syntax.IfStmt, cond tensorVal, then, other side) {
	sides := [2]side{then, other}
	var names []joined
	for _, n := range mergedNames(then.scope, other.scope) {
		j := joined{name: n}
		missing := false
		for k, sd := range sides {
			l := sd.scope.names[n]
			if l == nil {
				l = e.act.scope.find(n)
			}
			if l == nil {
				missing = true // it ends with its branch
				continue
			}
			j.vals[k] = operand{l.val, l.at}
		}
		if missing {
			e.act.scope.lose(n, j.vals[0].at.To(j.vals[1].at))
			continue
		}
		names = append(names, j)
	}
	e.joinValues(s, cond, sides, names)
}

// mergedNames lists the names that either side binds, in source order: the order
// of the results must not depend on a map.
func mergedNames(a, b *scope) []string {
	names := append([]string{}, a.binds...)
	for _, n := range b.binds {
		if a.names[n] == nil {
			names = append(names, n)
		}
	}
	return names
}

// joinValues binds the joined names: to the common value where there is no choice,
// else to a result of the operator.
func (e *elaborator) joinValues(s *syntax.IfStmt, cond tensorVal, sides [2]side, names []joined) {
	outer := e.frame
	var results []joined
	for _, j := range names {
		if isPoison(j.vals[0].val) || isPoison(j.vals[1].val) {
			e.bindJoined(j, poison{})
			continue
		}
		if !e.joinable(j) {
			if !sameValue(j.vals[0].val, j.vals[1].val) {
				e.cannotJoin(j)
				e.bindJoined(j, poison{})
			} else {
				e.bindJoined(j, j.vals[0].val)
			}
			continue
		}
		if v, ok := e.joinTypes(j, sides); ok {
			results = append(results, v)
		} else {
			e.bindJoined(j, poison{})
		}
	}
	e.frame = outer
	if len(results) == 0 {
		return
	}
	for _, j := range results {
		for k, sd := range sides {
			sd.frame.Return(j.vals[k].val.(tensorVal).v)
		}
	}
	args := []*ir.Value{e.use(cond)}
	st := site{name: "if", at: s.Branches[0].Cond.Span()}
	vs := e.finish(st, ir.If, args, ir.If.Defaults(), func() ([]*ir.Value, error) {
		return outer.AddRegion(ir.If, args, ir.If.Defaults(), sides[0].frame, sides[1].frame)
	})
	for i, j := range results {
		if i >= len(vs) || isPoison(vs[i]) {
			e.bindJoined(j, poison{})
			continue
		}
		nameValue(vs[i], j.name, 0)
		e.bindJoined(j, vs[i])
	}
}

// bindJoined binds a name after the if. Inside a run-time loop that may be a name
// of outside, which only carry lets change.
func (e *elaborator) bindJoined(j joined, v value) {
	home, stuck := e.act.scope.home(j.name)
	if stuck != nil {
		id := syntax.Ident{Name: j.name}
		id.At = j.vals[0].at
		if id.At == stuck.at {
			id.At = j.vals[1].at
		}
		e.notCarried(id, stuck)
		v = poison{}
	}
	home.set(j.name, v, j.vals[0].at)
}

// joinable reports whether both values are, or can become, tensors.
func (e *elaborator) joinable(j joined) bool {
	for _, o := range j.vals {
		l, isList := o.val.(listVal)
		_, isTensor := o.val.(tensorVal)
		if !isTensor && !isStatic(o.val) && !(isList && !l.tuple && tensorLike(l)) {
			return false
		}
	}
	return !sameValue(j.vals[0].val, j.vals[1].val)
}

// sameValue reports whether two values are surely the same: then an if chooses
// nothing.
func sameValue(a, b value) bool {
	switch x := a.(type) {
	case tensorVal:
		y, ok := b.(tensorVal)
		return ok && x.v == y.v && x.home == y.home
	case intVal:
		y, ok := b.(intVal)
		return ok && x.big == nil && y.big == nil && x.d.Equal(y.d)
	case floatVal:
		y, ok := b.(floatVal)
		return ok && x.f == y.f
	case *instance:
		return a == b
	case funcVal, moduleVal, builtinVal, fileVal, noneVal:
		return a == b
	}
	same, ok := sameStatic(a, b)
	return ok && same
}

// cannotJoin reports values that exist at compile time only, like functions.
func (e *elaborator) cannotJoin(j joined) {
	d := e.errorf("not-constant", j.vals[0].at, "%s is %s, which a condition at run time cannot choose", j.name, j.vals[0].val.noun())
	witness(d, j.vals[1].at, "%s", show(j.vals[1].val))
	note(d, "an if on a tensor chooses between tensors")
}

// joinTypes makes tensors of both values, of one type.
func (e *elaborator) joinTypes(j joined, sides [2]side) (joined, bool) {
	want := ownDType(j.vals[0].val)
	if _, isTensor := j.vals[1].val.(tensorVal); isTensor || ownDType(j.vals[1].val).IsFloat() {
		if _, first := j.vals[0].val.(tensorVal); !first {
			want = ownDType(j.vals[1].val)
		}
	}
	for k, sd := range sides {
		e.frame = sd.frame
		v, ok := e.toTensor(j.vals[k], want, j.name)
		if !ok {
			return j, false
		}
		j.vals[k].val = e.retag(j.vals[k].val, v)
	}
	a, b := j.vals[0].val.(tensorVal).v.Type, j.vals[1].val.(tensorVal).v.Type
	if a.Equal(b) {
		return j, true
	}
	d := e.errorf(mismatchCode(a, b), j.vals[1].at, "%s is %s on one side of the if and %s on the other", j.name, a, b)
	d.Label = b.String()
	witness(d, j.vals[0].at, "%s", a)
	note(d, "both sides of an if give the same types")
	return j, false
}

// mismatchCode tells in what two types differ.
func mismatchCode(a, b ir.Type) string {
	switch {
	case a.DType != b.DType:
		return "dtype-mismatch"
	case a.Rank() != b.Rank():
		return "rank-mismatch"
	}
	return "shape-mismatch"
}
