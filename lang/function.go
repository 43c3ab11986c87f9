package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// callFunc inlines a fn or graph: its body is elaborated again with the
// arguments of this call. A test calls a graph as a program of its own.
func (e *elaborator) callFunc(f funcVal, name string, at diag.Span, args []argument) value {
	sig := e.signatureOf(f)
	ops, ok := e.match(name, at, f.decl.Params, args)
	if !ok || !sig.ok {
		return poison{}
	}
	if b := e.prog.test; f.decl.Graph && b != nil && b.act == e.act && e.region == 0 {
		return e.callGraph(f, sig, at, ops)
	}
	var out value = poison{}
	e.guarded(f, name, at, func() {
		a := &activation{name: name, call: at, in: f.in, scope: newScope(nil, bodyScope), decl: f.decl, body: f.decl.At}
		e.inActivation(a, func() { out = e.runBody(f, sig, ops) })
	})
	return out
}

// guarded runs body unless the fn is running already, or calls nest too deep.
func (e *elaborator) guarded(f funcVal, name string, at diag.Span, body func()) {
	key := callKey{f.decl, f.in.self}
	if e.busy[key] {
		d := e.errorf("recursion", at, "%s calls itself", name)
		d.Label = "this call is never finished"
		witness(d, f.decl.Name.At, "%s is declared here", name)
		note(d, "a %s is inlined at each call", declWord(f.decl))
		help(d, "for ... carry NAMES { } repeats a computation")
		return
	}
	if e.act.depth >= maxCalls || !e.enter(at) {
		e.stop(at, "calls are nested more than %d deep", maxCalls)
		return
	}
	e.busy[key], e.used[f.decl] = true, true
	body()
	delete(e.busy, key)
	e.leave()
}

// runBody binds the parameters, runs the statements and checks the results.
func (e *elaborator) runBody(f funcVal, sig *signature, ops []operand) value {
	if !e.bindParams(f, sig, ops) {
		return poison{}
	}
	results, ok := e.resultTypes(f.decl)
	var out []operand
	e.annotated(f.annotations(), func() {
		var good bool
		out, good = e.statements(f.decl.Body)
		ok = ok && good
	})
	if !ok {
		return poison{}
	}
	return e.fitResults(f.decl, results, out)
}

// statements runs a body and returns what its return gives.
func (e *elaborator) statements(b *syntax.Block) ([]operand, bool) {
	for i, s := range b.Stmts {
		if r, isReturn := s.(*syntax.ReturnStmt); isReturn && i == len(b.Stmts)-1 {
			return e.returned(r)
		}
		if !e.statement(s) {
			return nil, false
		}
	}
	return nil, true
}

// returned evaluates a return. A call of several results passes them on.
func (e *elaborator) returned(r *syntax.ReturnStmt) (out []operand, ok bool) {
	ok = true
	e.annotated(r.Annots, func() {
		for _, x := range r.Values {
			o := e.operand(x)
			ok = ok && !isPoison(o.val)
			out = append(out, o)
		}
	})
	if len(out) == 1 {
		if l, isList := out[0].val.(listVal); isList && l.tuple {
			at := out[0].at
			out = nil
			for _, v := range l.elems {
				out = append(out, operand{v, at})
			}
		}
	}
	return out, ok && !e.stopped
}

// A wantedResult is what a result must be.
type wantedResult struct {
	decl *syntax.Result
	kind paramKind
	typ  ir.Type
}

// resultTypes evaluates the declared results; the dimension variables are
// bound.
func (e *elaborator) resultTypes(f *syntax.FuncDecl) ([]wantedResult, bool) {
	out := make([]wantedResult, len(f.Results))
	ok := true
	for i := range f.Results {
		r := &f.Results[i]
		out[i] = wantedResult{decl: r, kind: kindOf(&syntax.Param{Type: r.Type}, f.Graph)}
		if out[i].kind != tensorParam {
			continue
		}
		t, good := e.typeOf(r.Type)
		out[i].typ, ok = t, ok && good
	}
	return out, ok
}

// fitResults checks what is returned against the head.
func (e *elaborator) fitResults(f *syntax.FuncDecl, want []wantedResult, out []operand) value {
	if len(f.Results) > 0 && len(out) != len(want) {
		e.wrongCount(f, out)
		return poison{}
	}
	vals := make([]value, len(out))
	ok := true
	for i, o := range out {
		vals[i] = o.val
		if len(want) > 0 {
			vals[i] = e.fitResult(f, want[i], o)
		}
		ok = ok && !isPoison(vals[i])
	}
	switch {
	case !ok:
		return poison{}
	case len(vals) == 0:
		return noneVal{}
	case len(vals) == 1:
		return vals[0]
	}
	return listVal{elems: vals, size: sizeOf(vals), tuple: true}
}

// wrongCount reports more or fewer values than the head declares.
func (e *elaborator) wrongCount(f *syntax.FuncDecl, out []operand) {
	if len(out) == 0 && strayReturn(f.Body) {
		return // reported where it stands
	}
	if len(out) == 0 {
		d := e.errorf("wrong-arguments", f.Name.At, "%s declares %s, but returns none", f.Name.Name, count(len(f.Results), "result"))
		note(d, "return stands last in a %s", declWord(f))
		return
	}
	d := e.errorf("wrong-arguments", out[0].at.To(out[len(out)-1].at), "%s returns %s, but declares %s", f.Name.Name, count(len(out), "value"), count(len(f.Results), "result"))
	witness(d, f.Results[0].At.To(f.Results[len(f.Results)-1].At), "declared here")
}

// fitResult makes one returned value what its declaration says.
func (e *elaborator) fitResult(f *syntax.FuncDecl, want wantedResult, o operand) value {
	if want.kind == boolParam {
		if _, static := o.val.(boolVal); static {
			return o.val
		}
		want.kind, want.typ = tensorParam, ir.T(tensor.Bool)
	}
	if want.kind != tensorParam {
		if v, ok := convertStatic(want.kind, o.val); ok {
			return v
		}
		d := e.errorf("wrong-arguments", o.at, "the result must be %s, not %s", kindNouns[want.kind], o.val.noun())
		d.Subject = f.Name.Name
		labelled(d, o)
		return poison{}
	}
	v, ok := e.toTensor(o, want.typ.DType, "the result")
	if !ok {
		return poison{}
	}
	o.val = e.retag(o.val, v)
	if e.fits(f.Name.Name, "the result", o, v.Type, want.typ, text(want.decl.Type.At), want.decl.At) {
		return o.val
	}
	return poison{}
}

// retag keeps the age of a tensor that toTensor only passed through.
func (e *elaborator) retag(old value, v *ir.Value) value {
	if t, ok := old.(tensorVal); ok && t.v == v {
		return t
	}
	return e.tensor(v)
}

// fits checks a tensor against a type that a head declares.
func (e *elaborator) fits(subject, what string, o operand, have, want ir.Type, declared string, decl diag.Span) bool {
	var d *diag.Diagnostic
	switch i := differingDim(have, want); {
	case have.DType != want.DType:
		d = e.errorf("dtype-mismatch", o.at, "%s is %s, not %s", what, have.DType, want.DType)
		help(d, "write cast(%s, %s)", clip(text(o.at), 60), want.DType)
	case have.Rank() != want.Rank():
		d = e.errorf("rank-mismatch", o.at, "%s has rank %d, not %d", what, have.Rank(), want.Rank())
	case i >= 0:
		d = e.errorf("shape-mismatch", o.at, "dimension %d of %s is %s, not %s", i, what, have.Shape[i], want.Shape[i])
		if !have.Shape[i].IsConst() || !want.Shape[i].IsConst() {
			note(d, "a reshape to the wanted shape asserts that the sizes agree")
		}
	default:
		return true
	}
	d.Subject = subject
	d.Label = have.String()
	if e.inLibrary(decl) && !e.inLibrary(o.at) {
		note(d, "it is declared %s", declared)
	} else {
		witness(d, decl, "%s", want)
	}
	return false
}

// differingDim is the first dimension in which two shapes of one rank differ,
// or -1.
func differingDim(a, b ir.Type) int {
	if a.Rank() == b.Rank() {
		for i := range a.Shape {
			if !a.Shape[i].Equal(b.Shape[i]) {
				return i
			}
		}
	}
	return -1
}

// convertStatic checks a compile-time value against the kind of a parameter.
func convertStatic(k paramKind, v value) (value, bool) {
	switch k {
	case anyParam:
		return v, true
	case intParam:
		_, ok := v.(intVal)
		return v, ok
	case floatParam:
		if _, ok := v.(floatVal); ok {
			return v, true
		}
		if f, ok := asFloat(v); ok {
			return floatVal{f: f}, true
		}
		return v, false
	case boolParam:
		_, ok := v.(boolVal)
		return v, ok
	case stringParam:
		_, ok := v.(stringVal)
		return v, ok
	case dtypeParam:
		_, ok := v.(dtypeVal)
		return v, ok
	}
	return v, false
}
