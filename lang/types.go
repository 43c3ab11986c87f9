package lang

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// dtypeWord reads the name of a dtype.
func dtypeWord(name string) (dtypeVal, bool) {
	d, ok := tensor.ParseDType(name)
	return dtypeVal(d), ok
}

// intOf evaluates an expression that must be an integer known at compile time,
// perhaps symbolic.
func (e *elaborator) intOf(x syntax.Expr, what string) (ir.Dim, bool) {
	return e.asInt(e.operand(x), what)
}

// asInt is intOf for a value.
func (e *elaborator) asInt(o operand, what string) (ir.Dim, bool) {
	switch v := o.val.(type) {
	case poison:
		return ir.Dim{}, false
	case intVal:
		if v.big != nil {
			e.errorf("out-of-range", o.at, "%s is too large: integers here are at most 2^62", what)
			return ir.Dim{}, false
		}
		return v.d, true
	case tensorVal:
		d := e.errorf("not-constant", o.at, "%s must be known when the program is compiled", what)
		labelled(d, o)
		note(d, "a dimension (x.shape[0]) is such an integer; an element of a tensor is not")
	default:
		labelled(e.errorf("wrong-arguments", o.at, "%s must be an integer, not %s", what, v.noun()), o)
	}
	return ir.Dim{}, false
}

// dtypeOf finds the dtype that a type begins with: a word, or a name that
// stands for one.
func (e *elaborator) dtypeOf(id syntax.Ident) (tensor.DType, bool) {
	if d, ok := dtypeWord(id.Name); ok {
		return tensor.DType(d), true
	}
	v, ok := e.lookup(id.Name)
	if !ok {
		d := e.errorf("unknown-name", id.At, "unknown type %s", id.Name)
		d.Label = "not a dtype"
		suggest(d, id.Name, append(dtypeNames(), e.visible(false)...))
		return 0, false
	}
	switch v := v.(type) {
	case dtypeVal:
		return tensor.DType(v), true
	case poison:
		return 0, false
	}
	d := e.errorf("wrong-arguments", id.At, "%s is %s, not a dtype", id.Name, v.noun())
	d.Label = show(v)
	return 0, false
}

// dtypeNames lists the dtypes, for did-you-mean.
func dtypeNames() []string {
	names := make([]string, len(tensor.DTypes))
	for i, d := range tensor.DTypes {
		names[i] = d.String()
	}
	return names
}

// typeOf evaluates a type whose names are all known.
func (e *elaborator) typeOf(t *syntax.TypeExpr) (ir.Type, bool) {
	d, ok := e.dtypeOf(t.DType)
	if !ok {
		return ir.Type{}, false
	}
	var shape []ir.Dim
	if t.Ellipsis {
		if !e.act.spread {
			diagnosis := e.errorf("not-constant", t.At, "... stands for nothing here")
			note(diagnosis, "... is known in a fn whose parameters have it")
			return ir.Type{}, false
		}
		shape = slices.Clone(e.act.ellipsis)
	}
	for _, x := range t.Dims {
		n, good := e.intOf(x, "a dimension")
		ok = ok && good
		shape = append(shape, n)
	}
	if !ok {
		return ir.Type{}, false
	}
	return e.checkType(ir.Type{DType: d, Shape: shape}, t.At)
}

// checkType refuses types that no tensor can have.
func (e *elaborator) checkType(t ir.Type, at diag.Span) (ir.Type, bool) {
	if err := t.Check(); err != nil {
		e.refuse(site{at: at}, err, nil)
		return ir.Type{}, false
	}
	return t, true
}

// A paramKind is what a parameter takes.
type paramKind uint8

const (
	anyParam paramKind = iota // it has no type
	tensorParam
	intParam
	floatParam
	boolParam
	stringParam
	dtypeParam
)

// kindWords are the types of compile-time parameters.
var kindWords = map[string]paramKind{"int": intParam, "float": floatParam, "bool": boolParam, "string": stringParam, "dtype": dtypeParam}

var kindNouns = [...]string{anyParam: "a value", tensorParam: "a tensor", intParam: "an integer", floatParam: "a float", boolParam: "a compile-time bool", stringParam: "a string", dtypeParam: "a dtype"}

// kindOf tells what a parameter takes. In a graph, bool is bool[].
func kindOf(p *syntax.Param, graph bool) paramKind {
	if p.Type == nil {
		return anyParam
	}
	if k, ok := kindWords[p.Type.DType.Name]; ok && !p.Type.HasShape && !(graph && k == boolParam) {
		return k
	}
	return tensorParam
}

// A signature is what the head of a fn or graph says, once its names are
// sorted into constants and variables.
type signature struct {
	kinds  []paramKind
	dims   []string                // dimension variables in order of appearance
	isDim  map[string]bool         // the same as a set
	dtypes map[string]syntax.Ident // dtype variables and their kinds
	spread bool                    // some parameter has ...
	ok     bool
}

// dtypeKinds are the sets that a dtype variable may range over.
var dtypeKinds = map[string]ir.DTypes{"float": ir.Floats, "int": ir.Ints, "number": ir.Numbers, "any": ir.AnyDType}

// signatureOf reads a head, once; its mistakes are reported.
func (e *elaborator) signatureOf(f funcVal) *signature {
	if s := e.signatures[f.decl]; s != nil {
		return s
	}
	s := &signature{isDim: map[string]bool{}, dtypes: map[string]syntax.Ident{}, ok: true}
	e.signatures[f.decl] = s
	for _, v := range f.decl.TypeVars {
		s.ok = e.typeVar(s, v) && s.ok
	}
	if f.decl.Graph && len(f.decl.TypeVars) > 0 {
		d := e.errorf("wrong-arguments", f.decl.TypeVars[0].Name.At, "a graph has no dtype variables")
		note(d, "a graph is compiled for fixed dtypes; a fn may be called with several")
		s.ok = false
	}
	params := map[string]*syntax.Param{}
	for i := range f.decl.Params {
		p := &f.decl.Params[i]
		if old := params[p.Name.Name]; old != nil {
			e.duplicate(p.Name, "parameter", old.Name.At)
			s.ok = false
		}
		params[p.Name.Name] = p
		k := kindOf(p, f.decl.Graph)
		s.kinds = append(s.kinds, k)
		s.spread = s.spread || p.Type != nil && p.Type.Ellipsis
		s.ok = e.graphParam(f.decl, p, k) && s.ok
	}
	e.dimVars(f, s, params)
	s.ok = e.resultNames(f.decl) && s.ok
	return s
}

// typeVar reads T: float.
func (e *elaborator) typeVar(s *signature, v syntax.TypeVar) bool {
	if old, twice := s.dtypes[v.Name.Name]; twice {
		e.duplicate(v.Name, "dtype variable", old.At)
		return false
	}
	s.dtypes[v.Name.Name] = v.Kind
	if _, ok := dtypeKinds[v.Kind.Name]; !ok {
		d := e.errorf("unknown-name", v.Kind.At, "unknown kind of dtypes %s", v.Kind.Name)
		note(d, "the kinds are float, int, number and any")
		return false
	}
	return true
}

// graphParam checks what only holds for the parameters of a graph: they are
// tensors of known rank.
func (e *elaborator) graphParam(f *syntax.FuncDecl, p *syntax.Param, k paramKind) bool {
	switch {
	case !f.Graph:
		return true
	case k != tensorParam:
		d := e.errorf("wrong-arguments", p.At, "the graph's parameter %s has no tensor type", p.Name.Name)
		note(d, "a graph takes tensors; a fn or a module takes compile-time values too")
		return false
	case p.Type.Ellipsis:
		d := e.errorf("not-constant", p.Type.At, "the rank of %s is not known", p.Name.Name)
		note(d, "a graph is compiled for fixed ranks; ... stands in a fn")
		return false
	}
	return true
}

// resultNames checks that labels of results differ: outputs are found by them.
func (e *elaborator) resultNames(f *syntax.FuncDecl) bool {
	seen := map[string]syntax.Ident{}
	for _, r := range f.Results {
		if old, twice := seen[r.Name.Name]; twice && r.Name.Name != "" {
			e.duplicate(r.Name, "result", old.At)
			return false
		}
		seen[r.Name.Name] = r.Name
	}
	return true
}

// dimVars finds the dimension variables of a head: names in shapes that are no
// constant in scope. Each must stand alone in some parameter's shape.
func (e *elaborator) dimVars(f funcVal, s *signature, params map[string]*syntax.Param) {
	bare := map[string]bool{}
	first := map[string]*syntax.NameExpr{}
	var order []string
	visit := func(t *syntax.TypeExpr, param bool) {
		if t == nil {
			return
		}
		for _, x := range t.Dims {
			freeNames(x, func(n *syntax.NameExpr) {
				_, dtype := dtypeWord(n.Name) // evaluation tells that it is no size
				if dtype || params[n.Name] != nil || e.isConstant(f.in, n.Name) {
					return
				}
				if first[n.Name] == nil {
					first[n.Name] = n
					order = append(order, n.Name)
				}
				bare[n.Name] = bare[n.Name] || param && x == syntax.Expr(n)
			})
		}
	}
	for i := range f.decl.Params {
		visit(f.decl.Params[i].Type, true)
	}
	for i := range f.decl.Results {
		visit(f.decl.Results[i].Type, false)
	}
	for _, name := range order {
		s.isDim[name] = true
		s.dims = append(s.dims, name)
		if bare[name] {
			continue
		}
		s.ok = false
		n := first[name]
		d := e.errorf("unknown-name", n.At, "the dimension %s is not known", name)
		d.Label = "not a constant, and alone in no parameter's shape"
		note(d, "a parameter of the signature must hold a dimension variable bare: [%s], not only in an expression", name)
		suggest(d, name, e.constants(f.in))
	}
}

// isConstant reports whether a name in a shape is a compile-time constant among
// the declarations that s sees.
func (e *elaborator) isConstant(s *space, name string) bool {
	_, d, arg := s.find(name)
	if arg != nil {
		return true
	}
	if d == nil {
		return false
	}
	_, isConst := d.decl.(*syntax.ConstDecl)
	return isConst
}

// constants lists the names that a shape could have meant.
func (e *elaborator) constants(s *space) []string {
	var names []string
	for ; s != nil; s = s.outer {
		for n := range s.args {
			names = append(names, n)
		}
		for n, d := range s.decls {
			if _, ok := d.decl.(*syntax.ConstDecl); ok {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

// freeNames visits the names in an expression, but for those that are called.
func freeNames(x syntax.Expr, visit func(*syntax.NameExpr)) {
	switch x := x.(type) {
	case *syntax.NameExpr:
		visit(x)
	case *syntax.UnaryExpr:
		freeNames(x.X, visit)
	case *syntax.BinaryExpr:
		freeNames(x.First, visit)
		for _, r := range x.Rest {
			freeNames(r.X, visit)
		}
	case *syntax.PostfixExpr:
		callee := false
		if len(x.Ops) > 0 {
			_, callee = x.Ops[0].(*syntax.CallOp)
		}
		if _, isName := x.X.(*syntax.NameExpr); !isName || !callee {
			freeNames(x.X, visit)
		}
		for _, op := range x.Ops {
			if c, ok := op.(*syntax.CallOp); ok {
				for _, a := range c.Args {
					freeNames(a.Value, visit)
				}
			}
		}
	}
}
