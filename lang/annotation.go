package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// An annotRow is an annotation: what argument it takes, as text for the IR.
type annotRow struct {
	usage string
	arg   func(x syntax.Expr) (string, bool) // nil: a number

	followed bool // some stage does what it says
}

var annotRows = map[string]annotRow{
	"stream":    {usage: `@stream("io")`, arg: annotString, followed: true},
	"unit":      {usage: `@unit(cube), @unit(vector) or @unit(auto)`, arg: annotWord("cube", "vector", "auto"), followed: true},
	"device":    {usage: `@device(1)`},
	"stage":     {usage: `@stage(2)`},
	"fuse":      {usage: `@fuse(off) or @fuse("name")`, arg: annotFuse, followed: true},
	"precision": {usage: precisionUsage, arg: annotPrecision, followed: true},
}

// precisionUsage are the annotations that ask for each precision.
var precisionUsage = precisionForms(ir.Precisions)

func precisionForms(list []ir.NamedPrecision) string {
	forms := make([]string, len(list))
	for i, p := range list {
		forms[i] = "@precision(" + p.Name + ")"
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// annotPrecision reads a precision, by its own name or that of its dtype.
func annotPrecision(x syntax.Expr) (string, bool) {
	n, ok := x.(*syntax.NameExpr)
	if !ok {
		return "", false
	}
	p, ok := ir.PrecisionNamed(n.Name)
	return p.Name, ok
}

// annotString reads a quoted name; streams and fusions have no empty one.
func annotString(x syntax.Expr) (string, bool) {
	s, ok := x.(*syntax.StringLit)
	if !ok || s.Value == "" {
		return "", false
	}
	return s.Value, true
}

// annotWord makes a reader of one word of a fixed set. The word is not a name of
// the program: vector may be a variable too.
func annotWord(words ...string) func(syntax.Expr) (string, bool) {
	return func(x syntax.Expr) (string, bool) {
		n, ok := x.(*syntax.NameExpr)
		return nameText(n), ok && slices.Contains(words, n.Name)
	}
}

func nameText(n *syntax.NameExpr) string {
	if n == nil {
		return ""
	}
	return n.Name
}

// annotInt evaluates the number of an annotation.
func (e *elaborator) annotInt(x syntax.Expr) (string, bool) {
	n, ok := constInt(e.eval(x))
	return strconv.FormatInt(n, 10), ok && n >= 0
}

// annotFuse reads off, or the name of a group.
func annotFuse(x syntax.Expr) (string, bool) {
	if s, ok := annotWord("off")(x); ok {
		return s, true
	}
	return annotString(x)
}

// annotated runs body with the annotations on every value that it makes, by name.
// Inner ones replace outer ones of the same name.
func (e *elaborator) annotated(list []syntax.Annotation, body func()) {
	if len(list) == 0 {
		body()
		return
	}
	outer := e.annots
	e.annots = slices.Clone(outer)
	for _, a := range list {
		if arg, ok := e.annotation(a); ok {
			e.annots = slices.DeleteFunc(e.annots, func(o ir.Annot) bool { return o.Name == a.Name.Name })
			e.annots = append(e.annots, ir.Annot{Name: a.Name.Name, Arg: arg})
		}
	}
	slices.SortFunc(e.annots, func(a, b ir.Annot) int { return strings.Compare(a.Name, b.Name) })
	products := e.products
	body()
	e.annots = outer
	if e.products == products {
		e.noProducts(list)
	}
}

// noProducts warns of annotations about products where there is none. A statement
// with one product is followed: the rest of it may ride in the product's kernel.
func (e *elaborator) noProducts(list []syntax.Annotation) {
	for _, a := range list {
		arg, ok := e.annotation(a)
		switch {
		case !ok:
		case a.Name.Name == "unit" && arg == ir.Cube.String():
			e.warnf("not-followed", a.At, "@unit(cube) is not followed: no product is made here, and a cube can do nothing else")
		case a.Name.Name == "precision":
			e.warnf("not-followed", a.At, "@precision(%s) is not followed: no product is made here, and nothing else has a precision of its own", arg)
		}
	}
}

// annotation checks one annotation. Those that nothing follows yet are said so,
// once at each place.
func (e *elaborator) annotation(a syntax.Annotation) (string, bool) {
	row, ok := annotRows[a.Name.Name]
	if !ok {
		d := e.errorf("bad-annotation", a.Name.At, "unknown annotation @%s", a.Name.Name)
		var names []string
		for n := range annotRows {
			names = append(names, n)
		}
		slices.Sort(names)
		if s := diag.Suggest(a.Name.Name, names); s != "" {
			help(d, "did you mean @%s?", s)
		}
		return "", false
	}
	arg := ""
	good := len(a.Args) == 1 && a.Args[0].Name.Name == ""
	if good {
		parse := row.arg
		if parse == nil {
			parse = e.annotInt
		}
		arg, good = parse(a.Args[0].Value)
	}
	if !good {
		d := e.errorf("bad-annotation", a.At, "the argument of @%s is wrong", a.Name.Name)
		help(d, "write %s", row.usage)
		return "", false
	}
	if !row.followed {
		e.warnf("not-followed", a.At, "@%s(%s) is not followed yet", a.Name.Name, arg)
	}
	return arg, true
}

// noAnnotations refuses annotations before a declaration that makes no values.
func (e *elaborator) noAnnotations(d syntax.Decl, what string) {
	for _, a := range d.Annotations() {
		e.errorf("bad-annotation", a.At, "%s cannot be annotated", what)
	}
}
