package rewrite

import (
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A Test is a compiled where-test.
type Test struct {
	text string // as written
	eval evalFn
}

type evalFn func(*Match) term

// Holds reports whether the test is known to be true of a match.
func (t *Test) Holds(m *Match) bool {
	r := t.eval(m)
	return r.known && r.yes
}

// String is the test as it was written.
func (t *Test) String() string { return t.text }

// whereFns are the functions of values that tests may call.
var whereFns = []struct {
	name string
	kind termKind
	eval func(m *Match, v *ir.Value) term
}{
	{"dtype", dtypeTerm, func(_ *Match, v *ir.Value) term {
		return term{kind: dtypeTerm, known: true, dtype: v.Type.DType}
	}},
	{"rank", numberTerm, func(_ *Match, v *ir.Value) term {
		return dimTerm(ir.N(int64(v.Type.Rank())))
	}},
	{"shape", listTerm, func(_ *Match, v *ir.Value) term {
		return shapeTerm(v.Type.Shape)
	}},
	// Whether the elements are known when the program is compiled.
	{"is_const", boolTerm, func(_ *Match, v *ir.Value) term {
		return truth(v.Op == ir.Const || Splat(v) != nil)
	}},
	// The number of which a constant is made.
	{"value", numberTerm, func(_ *Match, v *ir.Value) term {
		return valueTerm(Splat(v))
	}},
	// How often the value is read, as an argument or a result.
	{"uses", numberTerm, func(m *Match, v *ir.Value) term {
		return dimTerm(ir.N(int64(m.uses.Count(v))))
	}},
}

// valueTerm is the number that a scalar holds. An integer beyond what int64
// holds is unknown.
func valueTerm(t *tensor.T) term {
	switch {
	case t == nil || t.DType == tensor.Bool:
		return unknown(numberTerm)
	case t.DType.IsFloat():
		return floatTerm(t.FloatAt(0))
	case t.DType == tensor.U64 && t.IntAt(0) < 0:
		return unknown(numberTerm)
	}
	return dimTerm(ir.N(t.IntAt(0)))
}

func whereNames() []string {
	var out []string
	for _, f := range whereFns {
		out = append(out, f.name)
	}
	return out
}

// tests compiles the where-tests of a rule.
func (c *compiler) tests(exprs []syntax.Expr) []*Test {
	var out []*Test
	replacing := c.replacing
	c.replacing = true // names have to be bound
	for _, e := range exprs {
		c.nodes = 0
		kind, eval := c.term(e)
		if eval == nil {
			continue
		}
		if kind != boolTerm && kind != anyTerm {
			c.fail(e.Span(), "a test is true or false, this is %s", termNames[kind])
			continue
		}
		out = append(out, &Test{written(e.Span()), eval})
	}
	c.replacing = replacing
	return out
}

// written is the source of an expression on one line.
func written(s diag.Span) string {
	if s.Src == nil {
		return ""
	}
	return strings.Join(strings.Fields(s.Src.Text[s.Start:s.End]), " ")
}

// term compiles a part of a test; the function is nil after an error.
func (c *compiler) term(e syntax.Expr) (termKind, evalFn) {
	if c.nodes++; c.nodes > maxNodes {
		if c.nodes == maxNodes+1 {
			c.fail(e.Span(), "a test has more than %d parts", maxNodes)
		}
		return anyTerm, nil
	}
	if n, ok := c.constant(e); ok {
		return fixed(n.term())
	}
	switch e := e.(type) {
	case *syntax.BoolLit:
		return fixed(truth(e.Value))
	case *syntax.StringLit:
		return fixed(term{kind: textTerm, known: true, text: e.Value})
	case *syntax.NameExpr:
		return c.termName(e)
	case *syntax.ListExpr:
		return c.termList(e)
	case *syntax.UnaryExpr:
		return c.termUnary(e)
	case *syntax.BinaryExpr:
		return c.termChain(e)
	case *syntax.PostfixExpr:
		return c.termPostfix(e)
	}
	c.fail(e.Span(), "%s has no place in a test", describe(e))
	return anyTerm, nil
}

func fixed(t term) (termKind, evalFn) { return t.kind, func(*Match) term { return t } }

// termName compiles a dtype, or the name of an attribute.
func (c *compiler) termName(e *syntax.NameExpr) (termKind, evalFn) {
	if d, ok := tensor.ParseDType(e.Name); ok {
		return fixed(term{kind: dtypeTerm, known: true, dtype: d})
	}
	id, known := c.ids[e.Name]
	if !known {
		c.fail(e.Span(), "the pattern does not bind the name %s", e.Name).suggest(e.Name, c.boundNames())
		return anyTerm, nil
	}
	n := c.names[id]
	if !n.attr {
		c.fail(e.Span(), "%s is a tensor, which has no value before the program runs", e.Name).
			help("test what is known of it: %s", strings.Join(whereNames(), "(x), ")+"(x)")
		return anyTerm, nil
	}
	kind := attrKinds[n.kind]
	return kind, func(m *Match) term {
		if t := litTerm(m.bound[id].lit); t.kind == kind {
			return t
		}
		return unknown(kind)
	}
}

func (c *compiler) termList(e *syntax.ListExpr) (termKind, evalFn) {
	var elems []evalFn
	for _, x := range e.Elems {
		kind, eval := c.term(x)
		if eval == nil {
			return listTerm, nil
		}
		if kind != numberTerm {
			c.fail(x.Span(), "a list in a test holds numbers, this is %s", termNames[kind])
			return listTerm, nil
		}
		elems = append(elems, eval)
	}
	return listTerm, func(m *Match) term {
		var dims []ir.Dim
		for _, eval := range elems {
			t := eval(m)
			if !t.known || !t.isDim {
				return unknown(listTerm)
			}
			dims = append(dims, t.dim)
		}
		return shapeTerm(dims)
	}
}

// termPostfix compiles rank(x), and shape(x)[i].
func (c *compiler) termPostfix(e *syntax.PostfixExpr) (termKind, evalFn) {
	fn, isName := e.X.(*syntax.NameExpr)
	call, isCall := e.Ops[0].(*syntax.CallOp)
	if !isName || !isCall || len(e.Ops) > 2 {
		c.fail(e.Span(), "this has no place in a test").note("a test calls %s", strings.Join(whereNames(), ", "))
		return anyTerm, nil
	}
	kind, eval := c.termCall(fn, call)
	if eval == nil || len(e.Ops) == 1 {
		return kind, eval
	}
	index, isIndex := e.Ops[1].(*syntax.IndexOp)
	if !isIndex || kind != listTerm || len(index.Subs) != 1 || index.Subs[0].Kind != syntax.IndexSub {
		c.fail(e.Ops[1].Span(), "only a list is indexed, by one number: shape(x)[-1]")
		return anyTerm, nil
	}
	n, ok := c.constant(index.Subs[0].Index)
	if !ok || n.isFloat {
		c.fail(index.Subs[0].Span(), "a list in a test is indexed by a number that is written")
		return anyTerm, nil
	}
	return numberTerm, func(m *Match) term { return elem(eval(m), n.i) }
}

// elem is element i of a list, counted from the end if negative; one that is
// not there is unknown.
func elem(list term, i int64) term {
	n := int64(len(list.list))
	if i < 0 {
		i += n
	}
	if !list.known || i < 0 || i >= n {
		return unknown(numberTerm)
	}
	return dimTerm(list.list[i])
}

func (c *compiler) termCall(fn *syntax.NameExpr, call *syntax.CallOp) (termKind, evalFn) {
	for _, f := range whereFns {
		if f.name != fn.Name {
			continue
		}
		id, ok := c.tensorArg(fn, call)
		if !ok {
			return f.kind, nil
		}
		return f.kind, func(m *Match) term {
			if v := m.bound[id].value; v != nil {
				return f.eval(m, v)
			}
			return unknown(f.kind)
		}
	}
	c.fail(fn.Span(), "unknown function %s", fn.Name).
		note("a test calls %s", strings.Join(whereNames(), ", ")).
		suggest(fn.Name, whereNames())
	return anyTerm, nil
}

// tensorArg checks the argument of a where-function: the name of a value.
func (c *compiler) tensorArg(fn *syntax.NameExpr, call *syntax.CallOp) (int, bool) {
	if len(call.Args) != 1 || call.Args[0].Name.Name != "" {
		c.fail(call.Span(), "%s takes one argument, the name of a value", fn.Name)
		return 0, false
	}
	name, ok := call.Args[0].Value.(*syntax.NameExpr)
	if !ok {
		c.fail(call.Args[0].Span(), "%s takes the name of a value", fn.Name)
		return 0, false
	}
	return c.bind(name.Name, name.Span(), false, ir.KNone)
}
