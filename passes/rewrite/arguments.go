package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// An arguments lays the arguments of one call onto its operator's row:
// positional ones take the operands and then the attributes in the row's order,
// as in a script.
type arguments struct {
	*compiler
	node     *node
	at       diag.Span
	optional bool
	given    []bool // of the operands, then of the attributes
	next     int    // the next positional place
}

func (a *arguments) op() *ir.Op { return a.node.op }

// read compiles the arguments, and reports whether the call is right.
func (a *arguments) read(args []syntax.Arg, self *node) bool {
	before := len(a.errs)
	if self != nil {
		a.node.args[0], a.given[0], a.next = self, true, 1
	}
	args = a.specFirst(args)
	for i := 0; i < len(args); i++ {
		if args[i].Name.Name != "" {
			a.named(args[i])
			continue
		}
		rest := positional(args[i:])
		if used := a.positional(rest); used > 0 {
			i += used - 1
		}
	}
	a.missing()
	return len(a.errs) == before
}

// specFirst moves the text of einsum("ij,jk->ik", a, b) behind the operands,
// where the row has it.
func (a *arguments) specFirst(args []syntax.Arg) []syntax.Arg {
	if len(args) == 0 || args[0].Name.Name != "" {
		return args
	}
	if _, isText := args[0].Value.(*syntax.StringLit); !isText || len(a.op().Attrs) == 0 || a.op().Attrs[0].Kind != ir.KString {
		return args
	}
	a.attribute(0, args[0].Value)
	return args[1:]
}

// positional counts off the arguments before the first named one.
func positional(args []syntax.Arg) []syntax.Arg {
	for i := range args {
		if args[i].Name.Name != "" {
			return args[:i]
		}
	}
	return args
}

// positional lays down one argument, or all the rest for a place that takes
// many, and returns how many it took.
func (a *arguments) positional(rest []syntax.Arg) int {
	op := a.op()
	if a.next < len(op.Args) {
		if _, _, variadic := ir.ArgKind(op.Args[a.next]); variadic {
			return a.many(rest)
		}
		a.operand(a.next, rest[0].Value)
		a.next++
		return 1
	}
	at := a.next - len(op.Args)
	if at >= len(op.Attrs) {
		a.fail(rest[0].Span(), "%s takes fewer arguments", op.Name)
		return len(rest)
	}
	a.next++
	if op.Attrs[at].Variadic && len(rest) > 1 {
		var elems []syntax.Expr
		for _, r := range rest {
			elems = append(elems, r.Value)
		}
		a.list(at, elems, rest[0].Span().To(rest[len(rest)-1].Span()))
		return len(rest)
	}
	a.attribute(at, rest[0].Value)
	return 1
}

// many lays down the operands of a variadic operator: one list, or all that is
// left.
func (a *arguments) many(rest []syntax.Arg) int {
	elems, used := []syntax.Expr{}, 1
	if list, ok := rest[0].Value.(*syntax.ListExpr); ok {
		elems = list.Elems
	} else {
		for used = range rest {
			elems = append(elems, rest[used].Value)
		}
		used++
	}
	a.node.args = a.node.args[:a.next]
	for _, e := range elems {
		a.node.args = append(a.node.args, a.sub(len(a.node.args), e))
	}
	a.given[a.next] = true
	a.next++
	return used
}

// sub compiles an operand; beside the first one of an optional operator, names
// may stay unbound.
func (a *arguments) sub(i int, e syntax.Expr) *node {
	if a.optional && i > 0 {
		a.inMaybe++
		defer func() { a.inMaybe-- }()
	}
	return a.compiler.node(e)
}

func (a *arguments) operand(i int, e syntax.Expr) {
	name, optional, _ := ir.ArgKind(a.op().Args[i])
	if a.once(i, e.Span(), name) {
		return
	}
	if _, none := e.(*syntax.NoneLit); none && optional {
		return
	}
	if n, ok := e.(*syntax.NameExpr); ok && n.Optional {
		a.maybeOperand(i, n, optional)
		return
	}
	a.node.args[i] = a.sub(i, e)
}

// maybeOperand compiles m? in an operand's place: of an optional argument, or
// the second of a binary operator, which is optional itself then.
func (a *arguments) maybeOperand(i int, e *syntax.NameExpr, optional bool) {
	binary := len(a.op().Args) == 2 && i == 1 && !a.replacing
	if !optional && !binary {
		a.node.args[i] = a.nameNode(e) // which reports it, in a pattern
		return
	}
	a.inMaybe++
	defer func() { a.inMaybe-- }()
	id, ok := a.bind(e.Name, e.Span(), false, ir.KNone)
	if !ok {
		return
	}
	a.node.args[i] = &node{kind: nameNode, id: id, maybe: optional}
	if !optional {
		a.node.optional = true
		a.optionals = append(a.optionals, a.op())
	}
}

// once reports, with an error, a place that was given before.
func (a *arguments) once(i int, at diag.Span, name string) bool {
	if a.given[i] {
		a.fail(at, "argument %s of %s is given twice", name, a.op().Name)
		return true
	}
	a.given[i] = true
	return false
}

func (a *arguments) named(arg syntax.Arg) {
	op := a.op()
	var names []string
	for i, decl := range op.Args {
		name, _, variadic := ir.ArgKind(decl)
		if name == arg.Name.Name && !variadic {
			a.operand(i, arg.Value)
			return
		}
		names = append(names, name)
	}
	for i, at := range op.Attrs {
		if at.Name == arg.Name.Name {
			a.attribute(i, arg.Value)
			return
		}
		names = append(names, at.Name)
	}
	a.fail(arg.Name.Span(), "%s has no argument %s", op.Name, arg.Name.Name).suggest(arg.Name.Name, names)
}

// attribute compiles the value of an attribute: a name, a literal or, in a
// replacement, a function of matched ones.
func (a *arguments) attribute(i int, e syntax.Expr) {
	decl := &a.op().Attrs[i]
	if a.once(len(a.op().Args)+i, e.Span(), decl.Name) {
		return
	}
	if a.optional {
		a.inMaybe++
		defer func() { a.inMaybe-- }()
	}
	switch e := e.(type) {
	case *syntax.NameExpr:
		if _, isDType := tensor.ParseDType(e.Name); !isDType {
			a.attrName(i, e)
			return
		}
	case *syntax.ListExpr:
		if lists(decl.Kind) {
			a.list(i, e.Elems, e.Span())
			return
		}
	case *syntax.PostfixExpr:
		if fn, args, ok := plainCall(e); ok && constFns[fn.Name] == nil {
			a.attrCall(i, fn, args)
			return
		}
	}
	lit, ok := a.lit(e, decl.Kind)
	if !ok {
		a.fail(e.Span(), "argument %s of %s is %s or a name", decl.Name, a.op().Name, kindNames[decl.Kind])
		return
	}
	if decl.Values != nil && lit.Kind == ir.KString && !slices.Contains(decl.Values, lit.Str) {
		a.fail(e.Span(), "argument %s of %s is %q, not one of %q", decl.Name, a.op().Name, lit.Str, decl.Values)
	}
	a.node.attrs[i] = attr{lit: lit}
}

func (a *arguments) attrName(i int, e *syntax.NameExpr) {
	decl := &a.op().Attrs[i]
	if e.Optional {
		a.fail(e.Span(), "%s? stands for an attribute, which is never absent", e.Name)
		return
	}
	id, ok := a.bind(e.Name, e.Span(), true, decl.Kind)
	if !ok {
		return
	}
	if a.replacing && a.names[id].maybe && a.inMaybe == 0 {
		a.fail(e.Span(), "%s is bound only if an optional part of the pattern is there", e.Name)
	}
	a.node.attrs[i] = attr{named: true, id: id}
}

// attrCall compiles compose(p, q) in a replacement.
func (a *arguments) attrCall(i int, fn *syntax.NameExpr, args []syntax.Arg) {
	f := findAttrFn(fn.Name)
	switch {
	case f == nil:
		p := a.fail(fn.Span(), "unknown function %s", fn.Name).suggest(fn.Name, attrFnNames())
		for _, f := range attrFns {
			p.note("%s: %s", f.form, f.doc)
		}
		return
	case !a.replacing:
		a.fail(fn.Span(), "%s stands in a replacement only", fn.Name).help("bind the attribute to a name and test it in where")
		return
	case f.kind != a.op().Attrs[i].Kind:
		a.fail(fn.Span(), "%s gives %s, but argument %s of %s is %s", f.name, kindNames[f.kind],
			a.op().Attrs[i].Name, a.op().Name, kindNames[a.op().Attrs[i].Kind])
		return
	case len(args) != f.arity:
		a.fail(fn.Span(), "%s takes %d arguments, got %d", f.name, f.arity, len(args))
		return
	}
	out := attr{fn: f}
	for _, arg := range args {
		name, ok := arg.Value.(*syntax.NameExpr)
		if !ok || arg.Name.Name != "" {
			a.fail(arg.Span(), "%s takes names of attributes that the pattern binds", f.name)
			return
		}
		id, ok := a.bind(name.Name, name.Span(), true, f.kind)
		if !ok {
			return
		}
		out.of = append(out.of, id)
	}
	a.node.attrs[i] = out
}

func findAttrFn(name string) *attrFn {
	for _, f := range attrFns {
		if f.name == name {
			return f
		}
	}
	return nil
}

func attrFnNames() []string {
	var out []string
	for _, f := range attrFns {
		out = append(out, f.name)
	}
	return out
}

// missing reports the operands and attributes that the row requires.
func (a *arguments) missing() {
	op := a.op()
	for i, decl := range op.Args {
		if name, optional, variadic := ir.ArgKind(decl); !a.given[i] && !optional && !variadic {
			a.fail(a.at, "argument %s of %s is missing", name, op.Name)
		}
	}
	for i, decl := range op.Attrs {
		if decl.Required && !a.given[len(op.Args)+i] {
			a.fail(a.at, "argument %s of %s is missing", decl.Name, op.Name)
		}
	}
	if n := len(op.Args); n > 0 && (!a.given[n-1] || len(a.node.args) < n) {
		if _, _, variadic := ir.ArgKind(op.Args[n-1]); variadic {
			a.fail(a.at, "%s has no operands", op.Name)
		}
	}
}
