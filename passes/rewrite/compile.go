package rewrite

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// maxNodes bounds a pattern, and with it the recursion of everything that walks
// one.
const maxNodes = 256

// A compiler turns the expressions of one rule into patterns, and gathers what
// is wrong with them.
type compiler struct {
	errs  diag.List
	names []name
	ids   map[string]int

	nodes     int
	inMaybe   int      // depth of optional parts around the place at hand
	replacing bool     // names have to be bound already
	optionals []*ir.Op // the pattern's optional operators
}

func newCompiler() *compiler { return &compiler{ids: map[string]int{}} }

// A problem is a diagnostic with room for more.
type problem struct{ *diag.Diagnostic }

func (c *compiler) fail(at diag.Span, format string, args ...any) problem {
	d := &diag.Diagnostic{Code: "bad-rule", Span: at, Message: fmt.Sprintf(format, args...)}
	c.errs = append(c.errs, d)
	return problem{d}
}

func (p problem) help(format string, args ...any) problem {
	p.Helps = append(p.Helps, fmt.Sprintf(format, args...))
	return p
}

func (p problem) note(format string, args ...any) problem {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
	return p
}

func (p problem) suggest(name string, candidates []string) problem {
	if near := diag.Suggest(name, candidates); near != "" {
		return p.help("did you mean %s?", near)
	}
	return p
}

// pattern compiles what a rule matches; nil if it is wrong.
func (c *compiler) pattern(e syntax.Expr) *Pattern {
	root := c.node(e)
	if c.errs.Err() != nil {
		return nil
	}
	switch {
	case root.kind == nameNode:
		c.fail(e.Span(), "the pattern is a bare name, which every value matches").help("write the operator that the rule is about")
	case root.kind == numberNode:
		c.fail(e.Span(), "the pattern is a bare constant").help("write the operator that the rule is about")
	case root.optional && root.args[0].kind == nameNode:
		c.fail(e.Span(), "the pattern is a bare name when its optional operator is absent, which every value matches")
	}
	if c.errs.Err() != nil {
		return nil
	}
	return &Pattern{root: root, names: c.names}
}

// replacement compiles what a rule puts in the pattern's place; nil if it is
// wrong.
func (c *compiler) replacement(e syntax.Expr) *Pattern {
	c.replacing, c.nodes = true, 0
	root := c.node(e)
	if root == nil {
		return nil
	}
	if root.kind == nameNode && root.maybe {
		c.fail(e.Span(), "the replacement may be absent")
	}
	return &Pattern{root: root, names: c.names}
}

// node compiles an expression where a tensor stands. It returns nil after an
// error.
func (c *compiler) node(e syntax.Expr) *node {
	if n, ok := c.constant(e); ok {
		return c.counted(&node{kind: numberNode, number: n}, e.Span())
	}
	switch e := e.(type) {
	case *syntax.NameExpr:
		return c.nameNode(e)
	case *syntax.UnaryExpr:
		return c.unary(e)
	case *syntax.BinaryExpr:
		return c.binary(e)
	case *syntax.PostfixExpr:
		return c.postfix(e)
	case *syntax.BoolLit:
		return c.counted(&node{kind: numberNode, number: boolean(e.Value)}, e.Span())
	case *syntax.NumberLit:
		c.fail(e.Span(), "the number %s is too large for a rule", e.Text)
		return nil
	}
	c.fail(e.Span(), "%s has no place in a rule", describe(e)).
		note("patterns are made of operators, lower-case names, numbers, true and false")
	return nil
}

// counted refuses the node that makes a pattern too large.
func (c *compiler) counted(n *node, at diag.Span) *node {
	c.nodes++
	if c.nodes == maxNodes+1 {
		c.fail(at, "a pattern has more than %d parts", maxNodes)
	}
	if c.nodes > maxNodes {
		return nil
	}
	return n
}

// describe names the expressions that patterns do not have.
func describe(e syntax.Expr) string {
	switch e.(type) {
	case *syntax.ListExpr:
		return "a list"
	case *syntax.StringLit:
		return "a string"
	case *syntax.NoneLit:
		return "None"
	case *syntax.TypeLit:
		return "a type"
	case *syntax.IfExpr:
		return "an if"
	}
	return "this expression"
}

func (c *compiler) nameNode(e *syntax.NameExpr) *node {
	if e.Optional && !c.replacing {
		c.fail(e.Span(), "%s? stands where an operand cannot be absent", e.Name).
			note("an optional operand is an optional argument, or one side of an operator with two: x + mask?")
		return nil
	}
	id, ok := c.bind(e.Name, e.Span(), false, ir.KNone)
	if !ok {
		return nil
	}
	if c.replacing && c.names[id].maybe && c.inMaybe == 0 && !e.Optional {
		c.fail(e.Span(), "%s is bound only if an optional part of the pattern is there", e.Name).
			help("write %s? for an operand, or put it into the optional operator it came from", e.Name)
	}
	return c.counted(&node{kind: nameNode, id: id, maybe: e.Optional}, e.Span())
}

// bind finds the id of a name; in a pattern, a new name gets one. A name stands
// for a value or for an attribute, never both.
func (c *compiler) bind(text string, at diag.Span, attr bool, kind ir.AttrKind) (int, bool) {
	id, known := c.ids[text]
	switch {
	case !known && c.replacing:
		p := c.fail(at, "the pattern does not bind the name %s", text)
		p.suggest(text, c.boundNames())
		return 0, false
	case !known && !isLower(text):
		c.fail(at, "the name %s does not begin with a lower-case letter", text).
			note("a lower-case name stands for any value; operators are called: relu(x)")
		return 0, false
	case !known:
		id = len(c.names)
		c.ids[text] = id
		c.names = append(c.names, name{text: text, attr: attr, kind: kind, maybe: c.inMaybe > 0, at: at})
		return id, true
	}
	n := &c.names[id]
	if n.attr != attr || (attr && !convertible(n.kind, kind)) {
		p := c.fail(at, "%s stands for %s here and for %s elsewhere", text, role(attr, kind), role(n.attr, n.kind))
		p.Witnesses = append(p.Witnesses, diag.Label{Span: n.at, Text: "bound here"})
		return 0, false
	}
	if !c.replacing && c.inMaybe == 0 {
		n.maybe = false
	}
	return id, true
}

func (c *compiler) boundNames() []string {
	var out []string
	for _, n := range c.names {
		out = append(out, n.text)
	}
	return out
}

func isLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || unicode.IsLower(r)
}

// role says what a name stands for.
func role(attr bool, kind ir.AttrKind) string {
	if !attr {
		return "a value"
	}
	return kindNames[kind]
}

var kindNames = map[ir.AttrKind]string{
	ir.KInt: "an integer", ir.KInts: "a list of integers", ir.KFloat: "a number", ir.KBool: "a bool",
	ir.KString: "a string", ir.KDType: "a dtype", ir.KType: "a type", ir.KDim: "a dimension",
	ir.KDims: "a list of dimensions", ir.KNum: "a number", ir.KTensor: "a tensor",
}

// convertible reports whether what one attribute holds can be compared with, or
// put into, the other.
func convertible(a, b ir.AttrKind) bool {
	return a == b || (numeric(a) && numeric(b)) || (lists(a) && lists(b))
}

func numeric(k ir.AttrKind) bool {
	return k == ir.KInt || k == ir.KDim || k == ir.KFloat || k == ir.KNum
}

func lists(k ir.AttrKind) bool { return k == ir.KInts || k == ir.KDims }
