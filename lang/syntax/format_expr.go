package syntax

import (
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// A listItem is one element of a bracketed list.
type listItem struct {
	at    diag.Span
	build func() doc
}

// list formats items between brackets, which stand at two offsets: on one line,
// or each item on its own. A comment among them keeps its place and breaks the
// list.
func (p *formatter) list(open string, items []listItem, closer string, start, end int) doc {
	cells := p.cells(items, start, end)
	if len(cells) == 0 {
		return str(open + closer)
	}
	return group(str(open), nest(cells...), softBreak, str(closer))
}

// cells are the items of a list and the comments among them, each with the
// break before it.
func (p *formatter) cells(items []listItem, start, end int) (cells []doc) {
	p.leave(start)
	p.prev = max(p.prev, start)
	gap := softBreak
	comments := func(off int) {
		for _, c := range p.commentEntries(off) {
			if c.trails {
				cells = append(cells, trail(c.d.text))
			} else {
				cells = append(cells, hardBreak, doc{text: c.d.text, hard: true})
			}
			gap = hardBreak
		}
	}
	for i, item := range items {
		comments(item.at.Start)
		p.prev = max(p.prev, item.at.Start)
		comma := str(",")
		if i == len(items)-1 {
			comma = lastComma
		}
		cells = append(cells, gap, cat(item.build(), comma))
		gap = lineBreak
		p.prev = max(p.prev, item.at.End)
	}
	comments(end)
	p.prev = max(p.prev, end+1)
	return cells
}

// filled formats items as list does, but with as many on a line as fit.
func (p *formatter) filled(open string, items []listItem, closer string, start, end int) doc {
	cells := p.cells(items, start, end)
	return group(str(open), nest(cells[0], fill(cells[1:]...)), softBreak, str(closer))
}

func (p *formatter) args(args []Arg, start, end int) doc {
	items := make([]listItem, len(args))
	for i := range args {
		items[i] = listItem{args[i].At, func() doc { return p.arg(&args[i]) }}
	}
	p.leave(start)
	if len(args) == 1 && p.hugs(&args[0], end) {
		d := cat(str("("), p.arg(&args[0]), str(")"))
		p.prev = max(p.prev, end)
		return d
	}
	return p.list("(", items, ")", start, end-1)
}

// hugs tells an only argument that has brackets of its own to be broken in: a
// list, or a call.
func (p *formatter) hugs(a *Arg, end int) bool {
	if a.Name.Name != "" || inParens(a.Value) || !hasBrackets(a.Value) {
		return false
	}
	rest := p.file.Comments[p.next:]
	for _, c := range rest {
		if c.At.Start < a.At.Start || c.At.Start >= a.At.End && c.At.Start < end {
			return false
		}
		if c.At.Start >= end {
			break
		}
	}
	return true
}

func hasBrackets(e Expr) bool {
	switch e := e.(type) {
	case *ListExpr:
		return true
	case *PostfixExpr:
		_, isCall := e.Ops[len(e.Ops)-1].(*CallOp)
		return isCall && methods(e.Ops) < breakingLinks
	}
	return false
}

// methods counts the selectors with a call behind them.
func methods(ops []Postfix) (n int) {
	for i := range ops {
		if isMethod(ops, i) {
			n++
		}
	}
	return n
}

func (p *formatter) arg(a *Arg) doc {
	if a.Name.Name == "" {
		return p.expr(a.Value)
	}
	return cat(str(a.Name.Name+"="), p.expr(a.Value))
}

func (p *formatter) exprs(list []Expr) doc {
	kids := make([]doc, 0, 2*len(list))
	for i, e := range list {
		if i > 0 {
			kids = append(kids, str(", "))
		}
		kids = append(kids, p.expr(e))
	}
	return cat(kids...)
}

// typ formats a dtype and its shape.
func (p *formatter) typ(t *TypeExpr) doc {
	if !t.HasShape {
		return str(t.DType.Name)
	}
	var items []listItem
	if t.Ellipsis {
		items = append(items, listItem{t.dots, func() doc { return str("...") }})
	}
	for _, e := range t.Dims {
		items = append(items, listItem{e.Span(), func() doc { return p.expr(e) }})
	}
	return cat(str(t.DType.Name), p.list("[", items, "]", t.DType.At.End, t.At.End-1))
}

// quoted returns a text literal as the source has it.
func (p *formatter) quoted(s *StringLit) string {
	if at := s.At; at.Start >= 0 && at.End <= len(p.text) && at.Start+2 <= at.End && p.text[at.Start] == '"' {
		return p.text[at.Start:at.End]
	}
	return strconv.Quote(s.Value)
}

// expr formats an expression, in parentheses where the source has them.
func (p *formatter) expr(e Expr) doc { return p.operand(e, levelNone) }

// operand formats an expression where one that binds less tightly than a level
// needs parentheses.
func (p *formatter) operand(e Expr, least int) doc {
	if inParens(e) || levelOf(e) < least {
		return cat(str("("), p.bare(e), str(")"))
	}
	return p.bare(e)
}

func inParens(e Expr) bool {
	n, ok := e.(interface{ inParens() bool })
	return ok && n.inParens()
}

// levelOf returns how tightly an expression binds.
func levelOf(e Expr) int {
	switch e := e.(type) {
	case *BinaryExpr:
		return binaryLevel(opType(e.Rest[0].Op.Text))
	case *UnaryExpr:
		if e.Ops[0].Text == "not" {
			return levelNot
		}
		return levelUnary
	case *IfExpr:
		return levelPower
	}
	return levelPower + 1
}

// bare formats an expression without parentheses around it.
func (p *formatter) bare(e Expr) doc {
	switch e := e.(type) {
	case *NumberLit:
		return str(e.Text)
	case *StringLit:
		return str(p.quoted(e))
	case *BoolLit:
		return str(strconv.FormatBool(e.Value))
	case *NoneLit:
		return str("None")
	case *NameExpr:
		return str(nameText(e))
	case *ListExpr:
		return p.listExpr(e)
	case *ComprehensionExpr:
		return cat(str("["), p.expr(e.Elem), str(" for "+e.Var.Name+" in "), p.expr(e.In), str("]"))
	case *RangeExpr:
		return cat(p.expr(e.From), str(".."), p.expr(e.To))
	case *TypeLit:
		return p.typ(e.Type)
	case *IfExpr:
		return p.ifChain(e.Branches, e.Else)
	case *UnaryExpr:
		return p.unary(e)
	case *BinaryExpr:
		return p.binary(e)
	case *PostfixExpr:
		return p.postfix(e)
	}
	return doc{}
}

func nameText(e *NameExpr) string {
	if e.Optional {
		return e.Name + "?"
	}
	return e.Name
}

func (p *formatter) listExpr(e *ListExpr) doc {
	items := make([]listItem, len(e.Elems))
	numbers := len(e.Elems) > 0
	for i, elem := range e.Elems {
		items[i] = listItem{elem.Span(), func() doc { return p.expr(elem) }}
		numbers = numbers && isLiteral(elem)
	}
	if numbers {
		return p.filled("[", items, "]", e.At.Start, e.At.End-1)
	}
	return p.list("[", items, "]", e.At.Start, e.At.End-1)
}

// isLiteral tells a number, perhaps with a sign, or a bool.
func isLiteral(e Expr) bool {
	switch e := e.(type) {
	case *NumberLit, *BoolLit:
		return true
	case *UnaryExpr:
		_, ok := e.X.(*NumberLit)
		return ok
	}
	return false
}

func (p *formatter) unary(e *UnaryExpr) doc {
	var ops strings.Builder
	least := levelPower
	for _, op := range e.Ops {
		ops.WriteString(op.Text)
		if op.Text == "not" {
			ops.WriteByte(' ')
			least = levelCompare
		}
	}
	return cat(str(ops.String()), p.operand(e.X, least))
}

// binary formats a chain of operators, broken behind an operator where the next
// operand does not fit.
func (p *formatter) binary(e *BinaryExpr) doc {
	least := levelOf(e) + 1
	first := p.operand(e.First, least)
	rest := make([]doc, 0, 2*len(e.Rest))
	for i, r := range e.Rest {
		cell := p.rightOperand(r, least)
		if i+1 < len(e.Rest) {
			cell = cat(cell, str(" "+e.Rest[i+1].Op.Text))
		}
		rest = append(rest, lineBreak, cell)
	}
	return cat(first, str(" "+e.Rest[0].Op.Text), nest(fill(rest...)))
}

// rightOperand formats the operand behind an operator; behind ** a sign needs
// no parentheses.
func (p *formatter) rightOperand(r BinaryRest, least int) doc {
	if _, signed := r.X.(*UnaryExpr); signed && least > levelPower {
		least = levelUnary
	}
	return p.operand(r.X, least)
}

// breakingLinks is how many method calls make a chain that may be broken before
// its points.
const breakingLinks = 3

// postfix formats calls, subscripts and selectors.
func (p *formatter) postfix(e *PostfixExpr) doc {
	kids := make([]doc, 0, len(e.Ops)+1)
	calls := methods(e.Ops)
	head := p.operand(e.X, levelPower+1)
	for i, op := range e.Ops {
		if calls >= breakingLinks && isMethod(e.Ops, i) {
			kids = append(kids, softBreak)
		}
		kids = append(kids, p.link(op))
	}
	if calls >= breakingLinks {
		return group(head, nest(kids...))
	}
	return cat(append([]doc{head}, kids...)...)
}

// isMethod tells whether link i is a selector with a call behind it.
func isMethod(ops []Postfix, i int) bool {
	if _, ok := ops[i].(*SelectOp); !ok || i+1 == len(ops) {
		return false
	}
	_, ok := ops[i+1].(*CallOp)
	return ok
}

func (p *formatter) link(op Postfix) doc {
	switch op := op.(type) {
	case *SelectOp:
		return str("." + op.Name.Name)
	case *CallOp:
		if op.Optional {
			return cat(str("?"), p.args(op.Args, op.At.Start, op.At.End))
		}
		return p.args(op.Args, op.At.Start, op.At.End)
	case *IndexOp:
		items := make([]listItem, len(op.Subs))
		for i := range op.Subs {
			items[i] = listItem{op.Subs[i].At, func() doc { return p.subscript(&op.Subs[i]) }}
		}
		return p.list("[", items, "]", op.At.Start, op.At.End-1)
	}
	return doc{}
}

func (p *formatter) subscript(s *Subscript) doc {
	switch s.Kind {
	case EllipsisSub:
		return str("...")
	case NoneSub:
		return str("None")
	case IndexSub:
		return p.expr(s.Index)
	}
	var kids []doc
	for i, part := range []Expr{s.Start, s.End, s.Step} {
		if i == 1 || i == 2 && part != nil {
			kids = append(kids, str(":"))
		}
		if part != nil {
			kids = append(kids, p.expr(part))
		}
	}
	return cat(kids...)
}
