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

	// Of a form that was read of an example:
	of    *Pattern // of which it is a form
	kinds []string // what names may stand for, as Match.kinds tells
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
	open     bool    // any arguments and attributes: see Any

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
	kind  ir.AttrKind             // of arguments and result
	eval  func(of []bound) ir.Lit // None: there is no such attribute
}

// attrFns holds the functions of replacements.
var attrFns = []*attrFn{
	{"compose", "compose(p, q)", "the permutation that does p, then q", 2, ir.KInts, compose},
}

// compose is the permutation of transpose(transpose(x, p), q).
func compose(of []bound) ir.Lit {
	p, q := of[0].perm(), of[1].perm()
	if len(p) != len(q) {
		return ir.None
	}
	out := make([]int64, len(p))
	for i, axis := range q {
		out[i] = p[axis]
	}
	return ir.IntsLit(out...)
}

// perm is a matched permutation, counted from the front; if it is absent, the
// last two axes change places.
func (b bound) perm() []int64 {
	if b.lit.Kind == ir.KInts {
		return b.lit.Ints
	}
	n := b.owner.Args[0].Type.Rank()
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	if n >= 2 {
		out[n-2], out[n-1] = out[n-1], out[n-2]
	}
	return out
}

// Must compiles the pattern of a rule of the compiler's own. It panics if the
// pattern is wrong: a fault of this program, found by its first run.
func Must(text string) *Pattern {
	c := newCompiler()
	p := c.pattern(parse(text))
	c.must(text)
	return p
}

func parse(text string) syntax.Expr {
	expr, errs := syntax.ParseExpr(diag.NewSource("pattern", text))
	if err := errs.Err(); err != nil {
		panic("rewrite: pattern `" + text + "`: " + err.Error())
	}
	return expr
}

func (c *compiler) must(text string) {
	if err := c.errs.Err(); err != nil {
		panic("rewrite: pattern `" + text + "`: " + err.Error())
	}
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
