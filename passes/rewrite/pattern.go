package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// A Pattern is a compiled expression: what a rule matches, or what it puts in
// its place.
type Pattern struct {
	root  *node
	names []name // by id
}

// A name is a lower-case name of a pattern.
type name struct {
	text  string
	attr  bool        // stands for an attribute's value, not for a tensor
	kind  ir.AttrKind // of that attribute
	maybe bool        // bound only if an optional part is present
	at    diag.Span   // where it stands first
}

// A node is one place of a pattern.
type node struct {
	kind nodeKind

	// An operator.
	op       *ir.Op
	args     []*node // nil: has to be absent; for a variadic operator, as many as there are
	attrs    []attr  // one for each of op.Attrs
	optional bool    // may be missing: then args[0] stands for it

	// A name.
	id    int
	maybe bool // an optional argument that may be absent

	number number
}

type nodeKind uint8

const (
	opNode nodeKind = iota
	nameNode
	numberNode
)

// An attr is what a pattern says about an attribute.
type attr struct {
	lit   ir.Lit   // the value, unless
	named bool     // it is the name with
	id    int      // this id, or
	fn    *attrFn  // in a replacement, a function of
	of    []attrID // these
}

type attrID = int

// An attrFn computes an attribute of a replacement from matched ones.
type attrFn struct {
	name  string
	form  string
	doc   string
	arity int
	kind  ir.AttrKind // of arguments and result
}

// attrFns holds the functions of replacements.
var attrFns = []*attrFn{
	{"compose", "compose(p, q)", "the permutation that does p, then q", 2, ir.KInts},
}

// Must compiles the pattern of a rule of the compiler's own. It panics if the
// pattern is wrong: a fault of this program, found by its first run.
func Must(text string) *Pattern {
	src := diag.NewSource("pattern", text)
	expr, errs := syntax.ParseExpr(src)
	var p *Pattern
	if errs.Err() == nil {
		c := newCompiler()
		p, errs = c.pattern(expr), c.errs
	}
	if err := errs.Err(); err != nil {
		panic("rewrite.Must(`" + text + "`): " + err.Error())
	}
	return p
}

// Names lists the names that the pattern binds, in the order in which they
// first stand.
func (p *Pattern) Names() []string {
	var out []string
	for _, n := range p.names {
		out = append(out, n.text)
	}
	return out
}

// Roots lists the operators that the root of a match may be of: several if the
// outermost ones are optional. A pass looks for a rule at values of these only.
func (p *Pattern) Roots() []*ir.Op {
	var out []*ir.Op
	for n := p.root; n.kind == opNode; n = n.args[0] {
		if !slices.Contains(out, n.op) {
			out = append(out, n.op)
		}
		if !n.optional {
			break
		}
	}
	return out
}

// Ops lists the operators of the pattern, outer ones first, one entry for each
// place.
func (p *Pattern) Ops() []*ir.Op {
	var out []*ir.Op
	p.root.walk(func(n *node) {
		if n.kind == opNode {
			out = append(out, n.op)
		}
	})
	return out
}

// walk visits the nodes, outer ones first.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		if a != nil {
			a.walk(visit)
		}
	}
}
