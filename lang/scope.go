package lang

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// Names are looked up from the inside out: the scopes of the running body, the
// members and arguments of the instance it belongs to, the declarations of its
// file, the built-in functions.

// A scope holds the local names of a body or of a block that has its own.
type scope struct {
	outer *scope
	kind  scopeKind
	names map[string]*local
	carry map[string]bool      // of a run-time loop: the names that may be bound in it
	binds []string             // names in order of first binding, for the results of an if
	lost  map[string]diag.Span // names that one side of a run-time if has bound, and where
}

// A scopeKind tells what binding an outer name does.
type scopeKind uint8

const (
	bodyScope   scopeKind = iota // of a fn, graph or test: the outermost
	roundScope                   // one round of an unrolled loop: rebinding reaches outwards
	branchScope                  // a branch of a run-time if: rebinding stays inside until both are joined
	loopScope                    // the body of a run-time loop: rebinding needs carry
)

// A local is a name and what it stands for at the moment.
type local struct {
	val value
	at  diag.Span // where it was bound last
}

func newScope(outer *scope, kind scopeKind) *scope {
	return &scope{outer: outer, kind: kind, names: map[string]*local{}}
}

// find looks for a name from the inside out.
func (s *scope) find(name string) *local {
	for ; s != nil; s = s.outer {
		if l := s.names[name]; l != nil {
			return l
		}
	}
	return nil
}

// lose notes that a name has no value here, because only one side of an if has
// bound it.
func (s *scope) lose(name string, at diag.Span) {
	if s.lost == nil {
		s.lost = map[string]diag.Span{}
	}
	s.lost[name] = at
}

// whereLost tells where a name was bound that has no value here.
func (s *scope) whereLost(name string) (diag.Span, bool) {
	for ; s != nil; s = s.outer {
		if at, ok := s.lost[name]; ok {
			return at, true
		}
	}
	return diag.Span{}, false
}

// set binds a name in this scope.
func (s *scope) set(name string, v value, at diag.Span) {
	if l := s.names[name]; l != nil {
		*l = local{v, at}
		return
	}
	s.names[name] = &local{v, at}
	s.binds = append(s.binds, name)
}

// home finds the scope in which binding a name takes effect. stuck is the local
// of an outer scope that a run-time loop in between keeps from being rebound.
func (s *scope) home(name string) (home *scope, stuck *local) {
	for at := s; at != nil; at = at.outer {
		switch {
		case at.names[name] != nil, at.kind == branchScope:
			return at, nil
		case at.kind == loopScope:
			if outer := at.outer.find(name); outer != nil && !at.carry[name] {
				return s, outer
			}
			return s, nil
		}
	}
	return s, nil
}

// A space holds the declarations of a file, or the members of an instance.
type space struct {
	outer *space // of an instance: its file's
	file  *file
	self  *instance         // nil for a file
	path  string            // prefix of the full names of parameters
	args  map[string]*local // of an instance: the arguments of its module
	decls map[string]*declared
	order []*declared
}

// A declared is a declaration and, once it was asked for, its value.
type declared struct {
	name  string
	decl  syntax.Decl
	at    diag.Span // of the name
	state evalState
	val   value
}

// An evalState tells a declaration that is being evaluated from one that has been:
// coming back to a running one is a circle.
type evalState uint8

const (
	unseen evalState = iota
	running
	done
)

// find looks for a name among the declarations that s sees.
func (s *space) find(name string) (*space, *declared, *local) {
	for ; s != nil; s = s.outer {
		if l := s.args[name]; l != nil {
			return s, nil, l
		}
		if d := s.decls[name]; d != nil {
			return s, d, nil
		}
	}
	return nil, nil, nil
}

// declare enters declarations, of which names tells the name; two of one name
// are an error.
func (e *elaborator) declare(s *space, decls []syntax.Decl) {
	for _, d := range decls {
		id := declName(d)
		if id.Name == "" {
			continue
		}
		// A weight may have the name of an argument, as in PyTorch's
		// Linear(..., bias=False): see lookup.
		if l := s.args[id.Name]; l != nil && !isWeight(d) {
			e.duplicate(id, "", l.at)
			continue
		}
		if old := s.decls[id.Name]; old != nil {
			e.duplicate(id, "", old.at)
			continue
		}
		n := &declared{name: id.Name, decl: d, at: id.At}
		s.decls[id.Name] = n
		s.order = append(s.order, n)
	}
}

func isWeight(d syntax.Decl) bool {
	_, ok := d.(*syntax.ParamDecl)
	return ok
}

// duplicate reports a name that its scope has already.
func (e *elaborator) duplicate(id syntax.Ident, what string, first diag.Span) {
	if what != "" {
		what += " "
	}
	d := e.errorf("duplicate-name", id.At, "%s%s is declared twice", what, id.Name)
	d.Label = "again here"
	witness(d, first, "first declared here")
}

// declName is the name that a declaration brings into its scope, if any.
func declName(d syntax.Decl) syntax.Ident {
	switch d := d.(type) {
	case *syntax.ImportDecl:
		return importName(d)
	case *syntax.ParamDecl:
		return d.Name
	case *syntax.ConstDecl:
		return d.Name
	case *syntax.InstanceDecl:
		return d.Name
	case *syntax.FuncDecl:
		return d.Name
	case *syntax.ModuleDecl:
		return d.Name
	}
	return syntax.Ident{}
}

// An activation is a body that is being elaborated: of a fn, graph or test, or
// the expression of a declaration.
type activation struct {
	caller   *activation
	name     string    // as messages show it
	call     diag.Span // where it was called
	body     diag.Span
	in       *space
	scope    *scope
	decl     *syntax.FuncDecl
	ellipsis []ir.Dim // what ... stands for
	spread   bool     // there is a ... in the signature
	plain    bool     // no call: a graph, test or declaration
	path     string   // full name of the instance that is being made, if any
	depth    int
}

// lookup finds what a name stands for. Where a weight has the name of an
// argument of its module, bodies of fns mean the weight and the declarations of
// members (consts, types, arguments of submodules) the argument.
func (e *elaborator) lookup(name string) (value, bool) {
	if l := e.act.scope.find(name); l != nil {
		return l.val, true
	}
	in, d, l := e.act.in.find(name)
	if l != nil && e.act.decl != nil && in.decls[name] != nil {
		d, l = in.decls[name], nil
	}
	if l != nil {
		return l.val, true
	}
	if d != nil {
		return e.declaredValue(in, d), true
	}
	return builtin(name)
}

// named is what a value becomes under a name: a list of numbers is then a tensor
// of its own dtype.
func named(v value, name string) value {
	if l, ok := v.(listVal); ok && !l.tuple && !l.strong && tensorLike(l) {
		l.strong, l.label = true, name
		return l
	}
	return v
}

// visible lists the names that can be written here, for did-you-mean.
func (e *elaborator) visible(callable bool) []string {
	var names []string
	for s := e.act.scope; s != nil; s = s.outer {
		for n := range s.names {
			names = append(names, n)
		}
	}
	return e.act.in.visible(names, callable)
}

// visible adds to the names of locals those of a module, its file and, where a
// call may stand, the built-in functions; sorted, each once.
func (s *space) visible(names []string, callable bool) []string {
	for ; s != nil; s = s.outer {
		for n := range s.args {
			names = append(names, n)
		}
		for n := range s.decls {
			names = append(names, n)
		}
	}
	if callable {
		names = append(names, builtinNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
