package lang

import (
	"slices"

	"github.com/npulang/npu/lang/syntax"
)

// Before anything is elaborated, the names of a file are resolved as they
// stand: also in branches that are never taken and in fns that nothing calls.
// This pass knows what is declared, not what it is worth.

// A resolver walks one file.
type resolver struct {
	e     *elaborator
	file  *file
	space *space             // of the file, or one that stands for any instance of a module
	scope *staticScope       // nil outside of bodies
	head  *syntax.FuncDecl   // whose head is resolved right now, or nil
	used  map[*declared]bool // imports that something names
}

// resolve checks the names of a file.
func (e *elaborator) resolve(f *file) {
	r := &resolver{e: e, file: f, space: f.space, used: map[*declared]bool{}}
	e.inActivation(e.fileActivation(f), func() {
		for _, d := range f.tree.Decls {
			r.decl(d)
		}
	})
	for _, d := range f.space.order {
		if imp, ok := d.decl.(*syntax.ImportDecl); ok && !r.used[d] && f.imports[imp] != nil && len(f.broken) == 0 {
			w := e.warnf("unused-name", d.at, "the import %s is never used", d.name)
			if hasRules(f.imports[imp]) {
				w.Helps = append(w.Helps, "an import takes no rules along: name a file of rules with --rules")
			}
		}
	}
}

// hasRules reports whether a file declares rules, which may be why it is imported.
func hasRules(f *file) bool {
	return slices.ContainsFunc(f.tree.Decls, func(d syntax.Decl) bool { _, ok := d.(*syntax.RuleDecl); return ok })
}

// decl resolves one declaration.
func (r *resolver) decl(d syntax.Decl) {
	switch d := d.(type) {
	case *syntax.ImportDecl:
		r.e.noAnnotations(d, "an import")
	case *syntax.WeightsDecl:
		r.e.noAnnotations(d, "a weights file")
	case *syntax.RuleDecl:
		r.e.noAnnotations(d, "a rule")
	case *syntax.ConstDecl:
		r.expr(d.Value)
	case *syntax.InstanceDecl:
		r.expr(d.Value)
	case *syntax.ParamDecl:
		r.typeExpr(d.Type)
		r.init(d.Init)
	case *syntax.FuncDecl:
		r.function(d)
	case *syntax.ModuleDecl:
		r.module(d)
	case *syntax.TestDecl:
		r.e.noAnnotations(d, "a test")
		r.body(d.Body, nil, true)
	}
}

// init resolves the init of a weight or the default of a graph's parameter,
// whose outermost word is not a function but a way to make values.
func (r *resolver) init(x syntax.Expr) {
	name, call, ok := calledName(x)
	if ok {
		if _, known := initRows[name.Name]; known || name.Name == loadWord {
			r.args(call)
			return
		}
		if !r.known(name.Name) {
			r.e.unknownAmong(name.Name, name.At, true, initWords)
			r.args(call)
			return
		}
	}
	r.expr(x)
}

// module resolves the members in a space that stands for any instance.
func (r *resolver) module(d *syntax.ModuleDecl) {
	outer := r.space
	r.space = &space{outer: outer, file: r.file, args: map[string]*local{}, decls: map[string]*declared{}}
	for i := range d.Params {
		p := &d.Params[i]
		r.typeExpr(p.Type)
		r.expr(p.Default)
		if old := r.space.args[p.Name.Name]; old != nil {
			r.e.duplicate(p.Name, "parameter", old.at)
		}
		r.space.args[p.Name.Name] = &local{poison{}, p.Name.At}
	}
	r.e.declare(r.space, d.Members)
	for _, m := range d.Members {
		r.decl(m)
	}
	r.space = outer
}

// function resolves a head and a body. The head's names are in scope in the body.
func (r *resolver) function(d *syntax.FuncDecl) {
	sig := r.e.signatureOf(funcVal{d, r.space})
	s := &staticScope{names: map[string]*staticName{}}
	for _, v := range d.TypeVars {
		s.bind(v.Name.Name, v.Name.At, true)
	}
	for _, n := range sig.dims {
		s.bind(n, d.Name.At, true)
	}
	for i := range d.Params {
		s.bind(d.Params[i].Name.Name, d.Params[i].Name.At, true)
	}
	r.scope, r.head = s, d
	for i := range d.Params {
		r.typeExpr(d.Params[i].Type)
		if d.Graph {
			r.init(d.Params[i].Default)
		} else {
			r.expr(d.Params[i].Default)
		}
	}
	for i := range d.Results {
		r.typeExpr(d.Results[i].Type)
	}
	r.scope, r.head = nil, nil
	r.body(d.Body, s, false)
}

// body resolves the statements of a fn, graph or test.
func (r *resolver) body(b *syntax.Block, s *staticScope, test bool) {
	if b == nil {
		return
	}
	if s == nil {
		s = &staticScope{names: map[string]*staticName{}}
	}
	r.scope = s
	for i, st := range b.Stmts {
		if ret, ok := st.(*syntax.ReturnStmt); ok && (test || i < len(b.Stmts)-1) {
			r.e.misplacedReturn(ret)
		}
		r.stmt(st)
	}
	r.close(s)
	r.scope = nil
}

// block resolves statements that open no scope.
func (r *resolver) block(b *syntax.Block) {
	if b == nil {
		return
	}
	for _, s := range b.Stmts {
		if ret, ok := s.(*syntax.ReturnStmt); ok {
			r.e.misplacedReturn(ret)
		}
		r.stmt(s)
	}
	r.expr(b.Value)
}

// stmt resolves a statement. A branch binds names for what follows, also where
// only one side does: elaboration knows better.
func (r *resolver) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.BindStmt:
		r.expr(s.Value)
		r.bindAll(s)
	case *syntax.ReturnStmt:
		for _, x := range s.Values {
			r.expr(x)
		}
	case *syntax.BlockStmt:
		r.block(s.Body)
	case *syntax.IfStmt:
		for _, b := range s.Branches {
			r.expr(b.Cond)
			r.block(b.Body)
		}
		r.block(s.Else)
	case *syntax.ForStmt:
		r.expr(s.In)
		r.loop(s.Carry, s.Collect, s.Var, func() { r.block(s.Body) })
	case *syntax.WhileStmt:
		r.loop(s.Carry, nil, syntax.Ident{}, func() {
			r.expr(s.Cond)
			r.block(s.Body)
		})
	case *syntax.ExpectStmt:
		r.expr(s.X)
		r.expr(s.Y)
		r.expr(s.Within)
	case *syntax.ExpectErrorStmt:
		r.expectError(s)
	}
}

// bindAll binds the names of a statement. Of several, one that is read is
// enough.
func (r *resolver) bindAll(s *syntax.BindStmt) {
	for _, n := range s.Names {
		b := r.scope.bind(n.Name, n.At, len(s.Names) > 1)
		b.stmt = b.stmt.To(s.At)
	}
}

// loop resolves a loop. What its body binds first ends with it.
func (r *resolver) loop(carry, collect []syntax.Ident, counter syntax.Ident, body func()) {
	for _, c := range carry {
		if r.scope.find(c.Name) == nil {
			r.name(c.Name, c.At, false)
			r.scope.bind(c.Name, c.At, true)
		}
		r.scope.find(c.Name).read = true
	}
	r.inner(func() {
		if counter.Name != "" {
			// A counter hides an outer name, it does not rebind it.
			r.scope.names[counter.Name] = &staticName{name: counter.Name, at: counter.At, mute: true}
		}
		for _, c := range collect {
			r.scope.names[c.Name] = &staticName{name: c.Name, at: c.At, mute: true}
		}
		body()
	})
	for _, c := range collect {
		r.scope.bind(c.Name, c.At, false)
	}
}

// expectError walks a block whose mistakes are wanted: it only marks what is
// read.
func (r *resolver) expectError(s *syntax.ExpectErrorStmt) {
	old := r.e.trap
	r.e.trap = &trap{}
	outer := r.scope
	r.scope = &staticScope{outer: outer, names: map[string]*staticName{}}
	r.block(s.Body)
	r.scope = outer
	r.e.trap = old
}

// expr resolves the names in an expression, untaken branches included.
func (r *resolver) expr(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.NameExpr:
		r.name(x.Name, x.At, false)
	case *syntax.ListExpr:
		for _, el := range x.Elems {
			r.expr(el)
		}
	case *syntax.ComprehensionExpr:
		r.expr(x.In)
		r.inner(func() {
			r.scope.names[x.Var.Name] = &staticName{name: x.Var.Name, at: x.Var.At, mute: true}
			r.expr(x.Elem)
		})
	case *syntax.RangeExpr:
		r.expr(x.From)
		r.expr(x.To)
	case *syntax.TypeLit:
		r.typeExpr(x.Type)
	case *syntax.IfExpr:
		for _, b := range x.Branches {
			r.expr(b.Cond)
			r.inner(func() { r.block(b.Body) })
		}
		r.inner(func() { r.block(x.Else) })
	case *syntax.UnaryExpr:
		r.expr(x.X)
	case *syntax.BinaryExpr:
		r.expr(x.First)
		for _, rest := range x.Rest {
			r.expr(rest.X)
		}
	case *syntax.PostfixExpr:
		r.postfix(x)
	}
}

// typeExpr resolves a dtype and the names in a shape.
func (r *resolver) typeExpr(t *syntax.TypeExpr) {
	if t == nil {
		return
	}
	if _, isKind := kindWords[t.DType.Name]; !isKind || t.HasShape {
		if _, isDType := dtypeWord(t.DType.Name); !isDType {
			r.typeName(t.DType)
		}
	}
	for _, d := range t.Dims {
		r.expr(d)
	}
}

// typeName resolves a name where a dtype stands.
func (r *resolver) typeName(id syntax.Ident) {
	if r.known(id.Name) {
		return
	}
	d := r.e.errorf("unknown-name", id.At, "unknown type %s", id.Name)
	d.Label = "not a dtype"
	suggest(d, id.Name, append(dtypeNames(), r.visible(false)...))
	if r.head == nil {
		return
	}
	// A name that a whole head is written in is one mistake.
	r.e.signatureOf(funcVal{r.head, r.space}).ok = false
	r.scope.bind(id.Name, id.At, true)
	if len(d.Helps) == 0 && !r.head.Graph {
		help(d, "a dtype variable is declared behind the name: fn %s[%s: any](...)", r.head.Name.Name, id.Name)
	}
}

// postfix resolves a chain. What follows a dot depends on what stands before it,
// which only elaboration knows, but for imported files.
func (r *resolver) postfix(x *syntax.PostfixExpr) {
	if n, ok := x.X.(*syntax.NameExpr); ok {
		_, called := x.Ops[0].(*syntax.CallOp)
		if _, word := kindConversions[n.Name]; !word || !called {
			r.name(n.Name, n.At, called)
		}
		r.selected(n, x)
	} else {
		r.expr(x.X)
	}
	for _, op := range x.Ops {
		switch op := op.(type) {
		case *syntax.CallOp:
			r.args(op)
		case *syntax.IndexOp:
			for _, s := range op.Subs {
				r.expr(s.Index)
				r.expr(s.Start)
				r.expr(s.End)
				r.expr(s.Step)
			}
		}
	}
}

// selected checks file.name for an imported file.
func (r *resolver) selected(n *syntax.NameExpr, x *syntax.PostfixExpr) {
	sel, ok := x.Ops[0].(*syntax.SelectOp)
	if !ok || r.scope.find(n.Name) != nil {
		return
	}
	_, d, _ := r.space.find(n.Name)
	if d == nil {
		return
	}
	imp, isImport := d.decl.(*syntax.ImportDecl)
	if f := r.file.imports[imp]; isImport && f != nil && f.space.decls[sel.Name.Name] == nil {
		r.e.imported(fileVal{f}, sel.Name)
	}
}

func (r *resolver) args(op *syntax.CallOp) {
	for _, a := range op.Args {
		r.expr(a.Value)
	}
}
