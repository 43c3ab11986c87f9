package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A blockKind says whether a block closes with an expression.
type blockKind int

const (
	noValue    blockKind = iota // of a statement
	needsValue                  // a branch of an if-expression
	maybeValue                  // a branch of an if that may turn out to be either
)

// placedStmt is a statement whose head is still to be filled in.
type placedStmt interface {
	Stmt
	place(at diag.Span, annots []Annotation)
}

// stmtTable maps the first token of a statement to its parser; what is not
// here begins with a name. It is filled at start, because the functions lead
// back to it through blocks.
var stmtTable map[lexer.TokenType]func(*parser, *lexer.PeekingLexer) (placedStmt, error)

func init() {
	stmtTable = map[lexer.TokenType]func(*parser, *lexer.PeekingLexer) (placedStmt, error){
		tReturn: (*parser).returnStmt,
		tFor:    (*parser).forStmt,
		tWhile:  (*parser).whileStmt,
		tIf:     (*parser).ifStmt,
	}
}

// block parses { statements }. A newline, or nothing, stands before the }.
func (p *parser) block(lex *lexer.PeekingLexer, kind blockKind) (*Block, error) {
	open := *lex.Peek()
	if open.Type != tLBrace {
		return nil, p.expected(lex, "{")
	}
	lex.Next()
	b := &Block{}
	for head := int(lex.RawCursor()); ; {
		if lex.Peek().EOF() {
			if err := p.refill(lex, head); err != nil {
				return nil, err
			}
		}
		if lex.Peek().Type == tRBrace {
			break
		}
		if err := p.item(lex, b, kind); err != nil {
			return nil, err
		}
		if err := p.endOfLine(lex); err != nil {
			return nil, err
		}
		if b.Value != nil && lex.Peek().Type != tRBrace {
			return nil, p.loneValue(b.Value, lex)
		}
	}
	if kind == needsValue && b.Value == nil {
		return nil, newError(p.tokenSpan(*lex.Peek()), "the branch has no value").
			help("a branch of an if-expression ends with an expression: if c { a } else { b }")
	}
	lex.Next()
	b.pos = p.from(open.Pos.Offset, lex)
	return b, nil
}

// endOfLine takes what separates statements.
func (p *parser) endOfLine(lex *lexer.PeekingLexer) error {
	switch lex.Peek().Type {
	case tNewline:
		lex.Next()
	case tRBrace:
	default:
		return p.expected(lex, "the end of the line or }")
	}
	return nil
}

// item parses a statement of a block, or the expression that closes it.
func (p *parser) item(lex *lexer.PeekingLexer, b *Block, kind blockKind) error {
	t := lex.Peek()
	if kind != noValue && t.Type == tIf {
		return p.ifItem(lex, b)
	}
	if kind != noValue && startsExpr(t.Type) && !p.startsStmt(lex) {
		value, err := p.expr(lex)
		b.Value = value
		return err
	}
	s, err := p.stmt(lex)
	if err == nil {
		b.Stmts = append(b.Stmts, s)
	}
	return err
}

// startsStmt tells a statement that begins with a name from an expression.
func (p *parser) startsStmt(lex *lexer.PeekingLexer) bool {
	t := lex.Peek()
	if t.Type != tIdent {
		return stmtTable[t.Type] != nil
	}
	next := second(lex)
	return next == tAssign || next == tComma || p.inTest && t.Value == "expect"
}

// ifItem parses an if at the start of a line of a block that may close with an
// expression: it is that expression when it stands last and its branches all
// have values.
func (p *parser) ifItem(lex *lexer.PeekingLexer, b *Block) error {
	start := lex.Peek().Pos.Offset
	branches, orElse, err := p.ifChain(lex, maybeValue)
	if err != nil {
		return err
	}
	if !hasValues(branches, orElse) {
		s := &IfStmt{Branches: branches, Else: orElse}
		s.place(p.from(start, lex).At, nil)
		b.Stmts = append(b.Stmts, s)
		return p.refuseValues(branches, orElse, lex)
	}
	e := &IfExpr{exprHead{pos: p.from(start, lex)}, branches, orElse}
	b.Value, err = p.operators(lex, e, start, levelOr)
	return err
}

func hasValues(branches []Branch, orElse *Block) bool {
	for _, b := range branches {
		if b.Body.Value == nil {
			return false
		}
	}
	return orElse != nil && orElse.Value != nil
}

// refuseValues reports a value in an if that is a statement after all.
func (p *parser) refuseValues(branches []Branch, orElse *Block, lex *lexer.PeekingLexer) error {
	for _, b := range branches {
		if b.Body.Value != nil {
			return p.loneValue(b.Body.Value, lex)
		}
	}
	if orElse != nil && orElse.Value != nil {
		return p.loneValue(orElse.Value, lex)
	}
	return nil
}

// stmt parses a statement with its annotations.
func (p *parser) stmt(lex *lexer.PeekingLexer) (Stmt, error) {
	start := lex.Peek().Pos.Offset
	annots, err := p.annotations(lex)
	if err != nil {
		return nil, err
	}
	s, err := p.bareStmt(lex, len(annots) > 0)
	if err != nil {
		return nil, err
	}
	s.place(p.from(start, lex).At, annots)
	return s, nil
}

func (p *parser) bareStmt(lex *lexer.PeekingLexer, annotated bool) (placedStmt, error) {
	t := *lex.Peek()
	if parse, ok := stmtTable[t.Type]; ok {
		return parse(p, lex)
	}
	next := second(lex)
	switch {
	case t.Type == tLBrace && annotated:
		return p.blockStmt(lex)
	case t.Type == tLBrace:
		return nil, newError(p.tokenSpan(t), "a block stands after if, else, for, while or an annotation")
	case t.Type == tIdent && (next == tAssign || next == tComma):
		return p.bindStmt(lex)
	case t.Type == tIdent && p.inTest && t.Value == "expect":
		return p.expectStmt(lex)
	case t.Type == tIdent && (next == tIdent || next == tColon || next == tString || next == tNumber):
		return nil, p.notBound(lex)
	case startsExpr(t.Type):
		value, err := p.expr(lex)
		if err != nil {
			return nil, err
		}
		return nil, p.loneValue(value, lex)
	}
	return nil, p.unexpected(t, "a statement")
}

// notBound reports a name at the start of a statement that another name, a
// colon or a literal follows.
func (p *parser) notBound(lex *lexer.PeekingLexer) error {
	t := *lex.Next()
	if declWords[t.Value] != 0 {
		e := p.misplaced(t, "%s does not stand in a block").
			help("it stands at file level" + orInModule(t.Value))
		if t.Value == "const" {
			e.help("in a block the name alone is enough: a number stays a compile-time number")
		}
		return e
	}
	if t.Value == "expect" {
		return p.misplaced(t, "%s stands in a test only")
	}
	return p.expected(lex, "=")
}

func orInModule(word string) string {
	if memberWords[word] {
		return " or in a module"
	}
	return ""
}

// loneValue reports an expression where a statement was wanted.
func (p *parser) loneValue(value Expr, lex *lexer.PeekingLexer) error {
	e := newError(value.Span(), "the value is not used")
	if lex.Peek().Type == tAssign {
		return newError(value.Span(), "only a name can be bound").
			help("a value never changes; bind a new name to the new value")
	}
	switch x := value.(type) {
	case *BinaryExpr:
		if x.Rest[0].Op.Text == "==" {
			return e.help("a name is bound with one =")
		}
	case *UnaryExpr:
		if x.Ops[0].Text == "-" {
			return e.help("bind it to a name (y = ...), or put the - at the end of the line above")
		}
	}
	return e.help("bind it to a name (y = ...), or return it")
}

func (p *parser) blockStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	b, err := p.block(lex, noValue)
	return &BlockStmt{Body: b}, err
}

// bindStmt parses a = e, or a, b = e. The first form, most of all statements, is
// parsed here, which takes half the time of the rule.
func (p *parser) bindStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	if second(lex) == tAssign {
		name := p.ident(*lex.Next())
		lex.Next()
		value, err := p.expr(lex)
		return &BindStmt{Names: []Ident{name}, Value: value}, err
	}
	r, err := p.g.bind(lex)
	if err != nil {
		return nil, err
	}
	return &BindStmt{Names: p.idents(r.Names), Value: r.Value}, nil
}

func (p *parser) returnStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	r, err := p.g.returns(lex)
	if err != nil {
		return nil, err
	}
	return &ReturnStmt{Values: r.Values}, nil
}

func (p *parser) forStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	r, err := p.g.fors(lex)
	if err != nil {
		return nil, err
	}
	return &ForStmt{
		Var: p.ident(r.Var.Token), In: p.rangeOf(r.From, r.To),
		Carry: p.idents(r.Carry), Collect: p.idents(r.Collect), Body: r.Body.(*Block),
	}, nil
}

// rangeOf joins the two ends of a range; without an upper end it is a list.
func (p *parser) rangeOf(from, to Expr) Expr {
	if to == nil {
		return from
	}
	return &RangeExpr{exprHead{pos: pos{from.Span().To(to.Span())}}, from, to}
}

func (p *parser) whileStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	r, err := p.g.while(lex)
	if err != nil {
		return nil, err
	}
	return &WhileStmt{Cond: r.Cond, Carry: p.idents(r.Carry), Body: r.Body.(*Block)}, nil
}

func (p *parser) ifStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	branches, orElse, err := p.ifChain(lex, noValue)
	return &IfStmt{Branches: branches, Else: orElse}, err
}

// ifChain parses if c { } else if d { } else { }, a loop however long it is.
func (p *parser) ifChain(lex *lexer.PeekingLexer, kind blockKind) (branches []Branch, orElse *Block, err error) {
	for {
		lex.Next() // if
		var b Branch
		if b.Cond, err = p.expr(lex); err != nil {
			return nil, nil, err
		}
		if b.Body, err = p.block(lex, kind); err != nil {
			return nil, nil, err
		}
		branches = append(branches, b)
		if lex.Peek().Type != tElse {
			return branches, nil, nil
		}
		lex.Next()
		if lex.Peek().Type != tIf {
			orElse, err = p.block(lex, kind)
			return branches, orElse, err
		}
	}
}

// annotations parses what stands before a statement, block or declaration:
// @name(args), each perhaps on a line of its own.
func (p *parser) annotations(lex *lexer.PeekingLexer) (list []Annotation, err error) {
	for lex.Peek().Type == tAt {
		start := lex.Next().Pos.Offset
		name := *lex.Peek()
		switch {
		case name.Type != tIdent || name.Pos.Offset != start+1:
			return nil, newError(p.span(start, start+1), "an annotation is @name(...), without a space")
		case second(lex) != tLParen:
			lex.Next()
			return nil, p.expected(lex, "(").help("an annotation is @name(...), always with parentheses")
		}
		lex.Next()
		a := Annotation{Name: p.ident(name)}
		if a.Args, err = p.args(lex); err != nil {
			return nil, err
		}
		a.pos = p.from(start, lex)
		list = append(list, a)
		if lex.Peek().Type == tNewline {
			lex.Next()
		}
	}
	return list, nil
}
