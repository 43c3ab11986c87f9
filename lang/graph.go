package lang

import (
	"fmt"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// buildGraph elaborates a graph into a function of its own, once.
func (e *elaborator) buildGraph(f funcVal) *Graph {
	if g, ok := e.graphs[f.decl]; ok {
		return g
	}
	e.graphs[f.decl] = nil // while it is being built, and if it fails
	sig := e.signatureOf(f)
	if !sig.ok {
		return nil
	}
	trap := e.trap
	e.trap = nil // its mistakes are its own
	fn, ok := e.standalone(f, sig)
	e.trap = trap
	if !ok {
		return nil
	}
	g := &Graph{Name: f.decl.Name.Name, Doc: f.decl.Doc, Func: fn, At: f.decl.Name.At, Defaults: e.defaults(f)}
	e.graphs[f.decl] = g
	return g
}

// standalone elaborates a fn or graph with parameters in place of arguments.
func (e *elaborator) standalone(f funcVal, sig *signature) (fn *ir.Func, ok bool) {
	p := newProgram(f.decl.Name.Name)
	e.inProgram(p, func() {
		e.guarded(f, f.decl.Name.Name, f.decl.Name.At, func() {
			a := &activation{name: f.decl.Name.Name, in: f.in, scope: newScope(nil, bodyScope), decl: f.decl, body: f.decl.At, plain: true}
			e.inActivation(a, func() { ok = e.buildBody(f, sig) })
		})
	})
	return p.finish(), ok && !e.stopped
}

// buildBody elaborates a body with symbols for its dimension variables.
func (e *elaborator) buildBody(f funcVal, sig *signature) bool {
	for _, name := range sig.dims {
		e.act.scope.set(name, intVal{d: ir.Sym(name)}, f.decl.Name.At)
	}
	if !e.inputs(f, sig) {
		return false
	}
	want, ok := e.resultTypes(f.decl)
	if !ok {
		return false
	}
	var out []operand
	e.annotated(f.annotations(), func() { out, ok = e.statements(f.decl.Body) })
	if !ok {
		return false
	}
	if f.decl.Graph && len(f.decl.Results) == 0 && len(out) == 0 {
		d := e.errorf("wrong-arguments", f.decl.Name.At, "the graph %s returns nothing", f.decl.Name.Name)
		help(d, "add a result to its head and a return at its end")
		return false
	}
	return e.giveResults(f.decl, want, out)
}

// inputs makes an input of every tensor parameter; others have their defaults.
func (e *elaborator) inputs(f funcVal, sig *signature) bool {
	for i := range f.decl.Params {
		p := &f.decl.Params[i]
		if sig.kinds[i] != tensorParam || isNone(p.Default) {
			v, ok := convertStatic(sig.kinds[i], e.eval(p.Default))
			if !ok && !isNone(p.Default) {
				return false
			}
			e.act.scope.set(p.Name.Name, v, p.Name.At)
			continue
		}
		t, ok := e.typeOf(p.Type)
		if !ok {
			return false
		}
		v := e.prog.frame.Input(p.Name.Name, t)
		v.Pos = e.where(p.Name.At)
		e.act.scope.set(p.Name.Name, e.tensor(v), p.Name.At)
	}
	return true
}

func isNone(x syntax.Expr) bool { _, ok := x.(*syntax.NoneLit); return ok }

// giveResults makes the returned values the results of the function.
func (e *elaborator) giveResults(f *syntax.FuncDecl, want []wantedResult, out []operand) bool {
	fit := e.fitResults(f, want, out)
	if isPoison(fit) {
		return false
	}
	if !f.Graph {
		return true
	}
	vals := []value{fit}
	if l, ok := fit.(listVal); ok && l.tuple {
		vals = l.elems
	}
	for i, v := range vals {
		t, ok := e.toTensor(operand{v, out[i].at}, tensor.Invalid, "the result")
		if !ok {
			return false
		}
		e.prog.frame.Return(t)
	}
	e.prog.frame.Func.ResultNames = resultLabels(f, len(vals))
	return true
}

// resultLabels names the results: an unnamed one is out, further ones out1,
// out2 ...
func resultLabels(f *syntax.FuncDecl, n int) []string {
	taken := map[string]bool{}
	for _, r := range f.Results {
		taken[r.Name.Name] = true
	}
	names := make([]string, n)
	next := 0
	for i := range names {
		if i < len(f.Results) && f.Results[i].Name.Name != "" {
			names[i] = f.Results[i].Name.Name
			continue
		}
		for {
			name := "out"
			if next > 0 {
				name = fmt.Sprintf("out%d", next)
			}
			next++
			if !taken[name] {
				names[i] = name
				break
			}
		}
	}
	return names
}

// checkUnused elaborates a fn that nothing has called, if its head determines
// everything: no dtype variable, no ..., no compile-time parameter without a
// default.
func (e *elaborator) checkUnused(f funcVal) {
	sig := e.signatureOf(f)
	if e.used[f.decl] || !sig.ok || sig.spread || len(sig.dtypes) > 0 {
		return
	}
	for i, p := range f.decl.Params {
		if sig.kinds[i] != tensorParam && p.Default == nil {
			return
		}
	}
	e.standalone(f, sig)
}
