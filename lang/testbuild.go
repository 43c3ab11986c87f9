package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A test becomes a list of steps. The operators written in it form programs of
// their own, called segments here: one ends where a graph is called and where
// something is expected. A value of one segment that a later one reads is a
// result of the first and an input of the second.
//
//	a = zeros(f32[2, 784])       segment 1: a
//	p = main(a)                  call of main with a
//	expect sum(p) ~= 2           segment 2: sum(p), 2; expectation

// A testBuild is a test under construction.
type testBuild struct {
	test    *Test
	act     *activation
	outside *program // home of the results of graphs
	keep    bool     // in an expect error block: every value that is bound is computed
}

// A segment is a part of a test that runs as one program.
type segment struct {
	fn      *ir.Func
	feeds   []feed      // one for each input
	exports []*ir.Value // its results, by the values that the test knows
	has     map[*ir.Value]bool
	imports map[*ir.Value]*ir.Value // values of elsewhere: the inputs that stand for them
}

// A feed is what an input gets: a literal, or a value of an earlier step.
type feed struct {
	literal *tensor.T
	from    *ir.Value
}

// buildTest elaborates a test.
func (e *elaborator) buildTest(f *file, d *syntax.TestDecl) *Test {
	t := &Test{Name: d.Name.Value, At: d.Name.At}
	a := &activation{name: "test", in: f.space, scope: newScope(nil, bodyScope), body: d.At, plain: true}
	b := &testBuild{test: t, act: a, outside: newProgram("")}
	e.inProgram(b.program(), func() {
		e.inActivation(a, func() {
			for _, s := range d.Body.Stmts {
				if !e.testStatement(b, s) {
					return
				}
			}
			b.close(e)
		})
	})
	return t
}

// program begins a segment.
func (b *testBuild) program() *program {
	p := newProgram("test")
	p.test = b
	p.seg = &segment{fn: p.frame.Func, has: map[*ir.Value]bool{}, imports: map[*ir.Value]*ir.Value{}}
	return p
}

// close ends the current segment and begins the next.
func (b *testBuild) close(e *elaborator) {
	e.prog.finish()
	b.test.steps = append(b.test.steps, &segmentStep{e.prog.seg})
	p := b.program()
	e.prog, e.frame = p, p.frame
}

// export makes a tensor a result of its segment.
func (b *testBuild) export(t tensorVal) {
	s := t.home.seg
	if s == nil || s.has[t.v] {
		return
	}
	s.has[t.v] = true
	s.exports = append(s.exports, t.v)
}

// fetch makes a tensor of an earlier step an input of the current segment.
func (b *testBuild) fetch(e *elaborator, t tensorVal) *ir.Value {
	s := e.prog.seg
	if in := s.imports[t.v]; in != nil {
		return in
	}
	b.export(t)
	in := e.prog.frame.Input(t.v.Name, t.v.Type)
	s.feeds = append(s.feeds, feed{from: t.v})
	s.imports[t.v] = in
	return in
}

// literal makes a known tensor an input of the current segment.
func (b *testBuild) literal(e *elaborator, t *tensor.T) *ir.Value {
	in := e.prog.frame.Input("", ir.TypeOf(t))
	e.prog.seg.feeds = append(e.prog.seg.feeds, feed{literal: t})
	return in
}

// testStatement elaborates a statement of a test, where expectations stand too.
func (e *elaborator) testStatement(b *testBuild, s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.ExpectStmt:
		e.annotated(s.Annots, func() { e.expect(b, s) })
		return !e.stopped
	case *syntax.ExpectErrorStmt:
		e.expectError(b, s)
		return !e.stopped
	}
	return e.statement(s)
}

// callGraph calls a graph from a test: as a program of its own.
func (e *elaborator) callGraph(f funcVal, sig *signature, at diag.Span, ops []operand) value {
	g := e.buildGraph(f)
	if g == nil {
		return poison{}
	}
	b := e.prog.test
	a := &activation{name: g.Name, call: at, in: f.in, scope: newScope(nil, bodyScope), decl: f.decl, body: f.decl.At}
	ok := false
	e.inActivation(a, func() { ok = e.bindParams(f, sig, ops) })
	if !ok {
		return poison{}
	}
	step := &callStep{graph: g, at: at}
	for i := range f.decl.Params {
		t := a.scope.names[f.decl.Params[i].Name.Name].val.(tensorVal)
		b.export(t)
		step.args = append(step.args, t.v)
	}
	types, ok := e.graphResults(g, sig, a, at)
	if !ok {
		return poison{}
	}
	b.close(e)
	b.test.steps = append(b.test.steps, step)
	out := make([]value, len(types))
	for i, t := range types {
		v := &ir.Value{Op: ir.Input, Attrs: []ir.Lit{ir.TypeLit(t)}, Type: t, Name: g.Func.ResultNames[i], Pos: e.where(at)}
		step.results = append(step.results, v)
		e.born++
		tv := tensorVal{v, b.outside, e.born}
		b.kept(tv)
		out[i] = tv
	}
	if len(out) == 1 {
		return out[0]
	}
	return listVal{elems: out, tuple: true}
}

// kept computes a value for its own sake, where every value is wanted.
func (b *testBuild) kept(v value) {
	if t, ok := v.(tensorVal); ok && b.keep {
		b.export(t)
	}
}

// graphResults binds the result types of a graph by the arguments.
func (e *elaborator) graphResults(g *Graph, sig *signature, a *activation, at diag.Span) ([]ir.Type, bool) {
	env := ir.Env{}
	for _, name := range sig.dims {
		if l := a.scope.names[name]; l != nil {
			if n, known := constInt(l.val); known {
				env[name] = n
			}
		}
	}
	types := make([]ir.Type, len(g.Func.Results))
	for i, r := range g.Func.Results {
		t, err := r.Type.Bind(env)
		if err == nil {
			err = t.Check()
		}
		if err != nil {
			d := e.errorf("dimension-mismatch", at, "the result %s has no shape: %s", g.Func.ResultNames[i], err)
			d.Subject = g.Name
			return nil, false
		}
		types[i] = t
	}
	return types, true
}

// expect adds an expectation. One about compile-time values is decided at once,
// and reported when the test runs.
func (e *elaborator) expect(b *testBuild, s *syntax.ExpectStmt) {
	x := e.operand(s.X)
	if s.Op == "" {
		e.expectTrue(b, s, x)
		return
	}
	y := e.operand(s.Y)
	within, ok := e.tolerance(s)
	if isPoison(x.val) || isPoison(y.val) || !ok {
		return
	}
	if same, static := staticEqual(x.val, y.val, s.Op, within); static {
		b.test.steps = append(b.test.steps, &staticStep{at: x.at, ok: same, text: show(x.val) + " is not " + show(y.val)})
		return
	}
	args := []operand{x, y}
	vs, ok := e.arguments(site{name: "expect", at: s.At}, ir.Lookup("equal"), args)
	if !ok {
		return
	}
	step := &compareStep{at: s.At, x: e.exported(b, x, vs[0]), y: e.exported(b, y, vs[1]), approx: s.Op == "~=", within: within, xAt: x.at, yAt: y.at}
	b.close(e)
	b.test.steps = append(b.test.steps, step)
}

// exported makes the operand of an expectation a result of its segment.
func (e *elaborator) exported(b *testBuild, o operand, v *ir.Value) *ir.Value {
	if t, ok := o.val.(tensorVal); ok {
		b.export(t)
		return t.v
	}
	b.export(tensorVal{v: v, home: e.prog})
	return v
}

// expectTrue is expect c.
func (e *elaborator) expectTrue(b *testBuild, s *syntax.ExpectStmt, x operand) {
	if l, ok := x.val.(listVal); ok && !l.tuple && tensorLike(l) {
		x.val = e.wrap(e.listTensor(x, l, listDType(l)))
	}
	switch v := x.val.(type) {
	case poison:
	case boolVal:
		b.test.steps = append(b.test.steps, &staticStep{at: x.at, ok: bool(v), text: "the condition is false"})
	case tensorVal:
		if v.v.Type.DType != tensor.Bool {
			d := e.errorf("dtype-mismatch", x.at, "expect needs bool, not %s", v.v.Type.DType)
			labelled(d, x)
			help(d, "compare it: expect %s == ...", clip(text(x.at), 40))
			return
		}
		b.export(v)
		b.close(e)
		b.test.steps = append(b.test.steps, &trueStep{at: x.at, x: v.v})
	default:
		labelled(e.errorf("wrong-arguments", x.at, "expect needs a bool, not %s", x.val.noun()), x)
	}
}

// tolerance evaluates `within t`; it is negative when there is none.
func (e *elaborator) tolerance(s *syntax.ExpectStmt) (float64, bool) {
	if s.Within == nil {
		return -1, true
	}
	o := e.operand(s.Within)
	f, ok := asFloat(o.val)
	if !isPoison(o.val) && (!ok || !(f >= 0)) {
		labelled(e.errorf("wrong-arguments", o.at, "a tolerance is a number of at least 0"), o)
		return 0, false
	}
	return f, ok
}

// staticEqual compares compile-time values.
func staticEqual(x, y value, op string, within float64) (same, ok bool) {
	if isNumber(x) && isNumber(y) {
		a, aOK := asFloat(x)
		b, bOK := asFloat(y)
		if p, q := x, y; aOK && bOK {
			m, pInt := p.(intVal)
			n, qInt := q.(intVal)
			if pInt && qInt && m.big == nil && n.big == nil && op == "==" {
				return m.d.Equal(n.d), true
			}
			tol := tensor.Exact
			if op == "~=" {
				tol = tensor.DefaultTolerance(tensor.F32)
				if within >= 0 {
					tol = tensor.Tolerance(within)
				}
			}
			return tensor.Compare(tensor.Scalar(a), tensor.Scalar(b), tol) == nil, true
		}
		return sameValue(x, y), true
	}
	l, xList := x.(listVal)
	m, yList := y.(listVal)
	if xList && yList && !l.strong && !m.strong {
		if len(l.elems) != len(m.elems) {
			return false, true
		}
		for i := range l.elems {
			same, ok := staticEqual(l.elems[i], m.elems[i], op, within)
			if !ok || !same {
				return same, ok
			}
		}
		return true, true
	}
	return sameStatic(x, y)
}

// expectError elaborates a block whose first error is what the test is about.
func (e *elaborator) expectError(b *testBuild, s *syntax.ExpectErrorStmt) {
	b.close(e)
	outer, keep := b.test.steps, b.keep
	oldTrap := e.trap
	t := &trap{}
	b.test.steps, b.keep, e.trap = nil, true, t
	e.inScope(branchScope, func(*scope) {
		for _, st := range s.Body.Stmts {
			if !e.testStatement(b, st) {
				break
			}
		}
		b.close(e)
	})
	step := &errorStep{at: s.Text.At, want: s.Text.Value, steps: b.test.steps, caught: t.caught}
	b.test.steps, b.keep, e.trap = append(outer, step), keep, oldTrap
	if !e.stopped {
		return
	}
	e.stopped = false
	if e.steps > e.opts.MaxSteps || e.born >= e.opts.MaxValues {
		e.stop(s.At, "the program needs too many steps to compile")
	}
}
