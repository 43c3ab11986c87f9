package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// forLoop unrolls a for, or builds a loop that runs when it carries or collects
// something.
func (e *elaborator) forLoop(s *syntax.ForStmt) {
	if len(s.Carry) > 0 || len(s.Collect) > 0 {
		e.runtimeFor(s)
		return
	}
	e.each(s.In, func(_ int, v value) bool {
		going := true
		e.inScope(roundScope, func(sc *scope) {
			sc.set(s.Var.Name, v, s.Var.At)
			going = e.block(s.Body)
		})
		return going
	})
}

// A loop is a run-time loop under construction.
type loop struct {
	e       *elaborator
	at      diag.Span
	carry   []syntax.Ident
	collect []syntax.Ident
	inits   []*ir.Value
	from    ir.Dim
	to      *ir.Dim // nil: as long as the condition holds
	counter syntax.Ident
	body    *syntax.Block
	cond    syntax.Expr // of a while
}

// runtimeFor builds for ... carry ... collect.
func (e *elaborator) runtimeFor(s *syntax.ForStmt) {
	l := &loop{e: e, at: s.At, carry: s.Carry, collect: s.Collect, counter: s.Var, body: s.Body}
	r, ok := e.eval(s.In).(rangeVal)
	if !ok {
		e.noRange(s)
	}
	l.from, l.to = r.from, &r.to
	if !ok || !l.names() || !l.start() {
		l.abandon()
		return
	}
	l.build()
}

// noRange reports a run-time loop over something that has no bounds.
func (e *elaborator) noRange(s *syntax.ForStmt) {
	if _, isRange := s.In.(*syntax.RangeExpr); isRange {
		return // reported
	}
	d := e.errorf("wrong-arguments", s.In.Span(), "a run-time loop goes over a range")
	note(d, "a for with carry or collect runs at run time; one without is unrolled, and may go over a list")
	help(d, "write for %s in 0..N carry ...", s.Var.Name)
}

// while builds a loop that a condition ends. Without a carried name the condition
// could never change.
func (e *elaborator) while(s *syntax.WhileStmt) {
	l := &loop{e: e, at: s.At, carry: s.Carry, body: s.Body, cond: s.Cond}
	if len(s.Carry) == 0 {
		d := e.errorf("wrong-arguments", s.Cond.Span(), "this while carries nothing, so its condition never changes")
		help(d, "write while ... carry NAMES { }")
		l.abandon()
		return
	}
	if !l.names() || !l.start() {
		l.abandon()
		return
	}
	l.build()
}

// names checks that carry and collect name each variable once.
func (l *loop) names() bool {
	seen := map[string]syntax.Ident{}
	ok := true
	for _, id := range append(append([]syntax.Ident{}, l.carry...), l.collect...) {
		if old, twice := seen[id.Name]; twice {
			l.e.duplicate(id, "loop variable", old.At)
			ok = false
		}
		seen[id.Name] = id
	}
	return ok
}

// abandon gives the loop's names no value after a mistake.
func (l *loop) abandon() {
	for _, id := range append(append([]syntax.Ident{}, l.carry...), l.collect...) {
		home, _ := l.e.act.scope.home(id.Name)
		home.set(id.Name, poison{}, id.At)
	}
}

// start makes tensors of the initial values.
func (l *loop) start() bool {
	ok := true
	for _, id := range l.carry {
		v, found := l.e.lookup(id.Name)
		if !found {
			l.e.unknown(id.Name, id.At, false)
			ok = false
			continue
		}
		t, good := l.e.toTensor(operand{v, id.At}, tensor.Invalid, "carry")
		if !good {
			ok = false
			continue
		}
		l.inits = append(l.inits, t)
	}
	return ok
}

// build elaborates the body, and the condition, in regions of their own and
// adds the loop.
func (l *loop) build() {
	e := l.e
	outer := e.frame
	ok := true
	body := e.inRegion(l.at, func(f *ir.Frame) {
		t := f.Input(l.counterName(), ir.T(tensor.I64))
		carried := l.carriedInputs(f)
		e.inScope(loopScope, func(s *scope) {
			if l.counter.Name != "" {
				s.set(l.counter.Name, e.tensor(t), l.counter.At)
			}
			l.enterCarried(s, carried)
			ok = e.block(l.body) && l.yields(f, s)
		})
	})
	if body == nil || !ok {
		l.abandon()
		return
	}
	frames := []*ir.Frame{body}
	if l.cond != nil {
		cond := l.condition()
		if cond == nil {
			l.abandon()
			return
		}
		frames = append(frames, cond)
	}
	st := site{name: "loop", at: l.at}
	attrs := l.attrs()
	vs := e.finish(st, ir.Loop, l.inits, attrs, func() ([]*ir.Value, error) {
		return outer.AddRegion(ir.Loop, l.inits, attrs, frames...)
	})
	l.bindResults(vs)
}

// counterName names the counter; a while has one that the source does not.
func (l *loop) counterName() string {
	if l.counter.Name == "" {
		return "t"
	}
	return l.counter.Name
}

// carriedInputs makes the parameters that stand for the carried names.
func (l *loop) carriedInputs(f *ir.Frame) []*ir.Value {
	vs := make([]*ir.Value, len(l.carry))
	for i, id := range l.carry {
		vs[i] = f.Input(id.Name, l.inits[i].Type)
		vs[i].Pos = l.e.where(id.At)
	}
	return vs
}

// enterCarried binds the carried names, and lets the body bind the others that
// the loop gives.
func (l *loop) enterCarried(s *scope, carried []*ir.Value) {
	s.carry = map[string]bool{}
	for i, id := range l.carry {
		s.carry[id.Name] = true
		s.set(id.Name, l.e.tensor(carried[i]), id.At)
	}
	for _, id := range l.collect {
		s.carry[id.Name] = true
	}
}

// yields ends the body: the next values of the carried names, then what is
// collected.
func (l *loop) yields(f *ir.Frame, s *scope) bool {
	ok := true
	for i, id := range l.carry {
		ok = l.yieldCarried(f, s.names[id.Name], id, l.inits[i].Type) && ok
	}
	for _, id := range l.collect {
		b := s.names[id.Name]
		if b == nil {
			d := l.e.errorf("unknown-name", id.At, "%s is collected, but the loop does not bind it", id.Name)
			note(d, "every round binds the names under collect; the loop stacks them")
			ok = false
			continue
		}
		v, good := l.e.toTensor(operand{b.val, b.at}, tensor.Invalid, "collect")
		if !good {
			ok = false
			continue
		}
		f.Return(v)
	}
	return ok
}

// yieldCarried checks that a carried name has kept its type, and yields it.
func (l *loop) yieldCarried(f *ir.Frame, b *local, id syntax.Ident, want ir.Type) bool {
	v, ok := l.e.toTensor(operand{b.val, b.at}, want.DType, "carry")
	if !ok {
		return false
	}
	if !v.Type.Equal(want) {
		d := l.e.errorf(mismatchCode(v.Type, want), b.at, "%s changes from %s to %s in the loop", id.Name, want, v.Type)
		d.Label = v.Type.String()
		witness(d, id.At, "%s", want)
		note(d, "a carried name keeps its dtype and shape")
		return false
	}
	f.Return(v)
	return true
}

// condition elaborates the condition of a while.
func (l *loop) condition() *ir.Frame {
	e := l.e
	ok := false
	f := e.inRegion(l.cond.Span(), func(f *ir.Frame) {
		carried := l.carriedInputs(f)
		e.inScope(loopScope, func(s *scope) {
			l.enterCarried(s, carried)
			o := e.operand(l.cond)
			if isPoison(o.val) {
				return
			}
			if _, static := o.val.(boolVal); static {
				d := e.errorf("wrong-arguments", o.at, "the condition of a while is known when the program is compiled")
				note(d, "a while runs as long as a bool tensor is true")
				return
			}
			v, good := e.toTensor(o, tensor.Invalid, "while")
			if !good {
				return
			}
			o.val = e.retag(o.val, v)
			if ok = e.condition(o, "a while"); ok {
				f.Return(v)
			}
		})
	})
	if !ok {
		return nil
	}
	return f
}

// attrs are the attributes of the loop operator.
func (l *loop) attrs() []ir.Lit {
	attrs := ir.Loop.Defaults()
	for i, a := range ir.Loop.Attrs {
		switch a.Name {
		case "from":
			attrs[i] = ir.DimLit(l.from)
		case "to":
			if l.to != nil {
				attrs[i] = ir.DimLit(*l.to)
			}
		case "carry":
			attrs[i] = ir.IntLit(int64(len(l.carry)))
		case "collect":
			attrs[i] = ir.IntLit(int64(len(l.collect)))
		}
	}
	return attrs
}

// bindResults binds the carried and collected names after the loop.
func (l *loop) bindResults(vs []value) {
	ids := append(append([]syntax.Ident{}, l.carry...), l.collect...)
	if len(vs) != len(ids) {
		l.abandon()
		return
	}
	for i, id := range ids {
		home, stuck := l.e.act.scope.home(id.Name)
		if stuck != nil {
			l.e.notCarried(id, stuck)
		}
		nameValue(vs[i], id.Name, 0)
		home.set(id.Name, vs[i], id.At)
	}
}
