package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// expr parses an expression. Its recursion is by nesting only: operators of a
// level, prefix operators and postfix links are gathered in lists, so a chain
// may be as long as it likes.
func (p *parser) expr(lex *lexer.PeekingLexer) (Expr, error) {
	return p.binary(lex, levelOr)
}

// enter counts one level of nesting; leave undoes it.
func (p *parser) enter(lex *lexer.PeekingLexer) error {
	if p.depth++; p.depth > maxDepth {
		return limitError(p.tokenSpan(*lex.Peek()), "expressions are nested more than %d deep", maxDepth).
			help("bind the inner parts to names")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// binary parses an operand and the operators behind it that bind at least as
// tightly as a level.
func (p *parser) binary(lex *lexer.PeekingLexer, least int) (Expr, error) {
	start := lex.Peek().Pos.Offset
	var x Expr
	var err error
	if lex.Peek().Type == tNot && least <= levelNot {
		x, err = p.prefixed(lex, tNot, tNot, func() (Expr, error) { return p.binary(lex, levelCompare) })
	} else {
		x, err = p.unary(lex)
	}
	if err != nil {
		return nil, err
	}
	return p.operators(lex, x, start, least)
}

// operators parses the operators behind an operand x that begins at start. All
// of one level that follow each other become one node.
func (p *parser) operators(lex *lexer.PeekingLexer, x Expr, start, least int) (Expr, error) {
	for {
		level := binaryLevel(lex.Peek().Type)
		if level < least || level == levelNone || level == levelPower {
			return x, nil
		}
		e := &BinaryExpr{First: x}
		for binaryLevel(lex.Peek().Type) == level {
			if level == levelCompare && len(e.Rest) > 0 {
				return nil, newError(p.tokenSpan(*lex.Peek()), "comparisons do not chain").
					help("write a < b and b < c")
			}
			op := p.op(lex)
			y, err := p.binary(lex, level+1)
			if err != nil {
				return nil, err
			}
			e.Rest = append(e.Rest, BinaryRest{op, y})
		}
		e.pos = p.from(start, lex)
		x = e
	}
}

func binaryLevel(t lexer.TokenType) int {
	if t <= 0 {
		return levelNone
	}
	return tokenTable[t].level
}

func (p *parser) op(lex *lexer.PeekingLexer) OpTok {
	t := lex.Next()
	return OpTok{pos{p.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))}, t.Value}
}

// prefixed parses a chain of prefix operators of either type, and its operand.
func (p *parser) prefixed(lex *lexer.PeekingLexer, a, b lexer.TokenType, operand func() (Expr, error)) (Expr, error) {
	e := &UnaryExpr{}
	start := lex.Peek().Pos.Offset
	for t := lex.Peek().Type; t == a || t == b; t = lex.Peek().Type {
		e.Ops = append(e.Ops, p.op(lex))
	}
	var err error
	if e.X, err = operand(); err != nil {
		return nil, err
	}
	e.pos = p.from(start, lex)
	return e, nil
}

// unary parses - and ~, which bind less tightly than **.
func (p *parser) unary(lex *lexer.PeekingLexer) (Expr, error) {
	if t := lex.Peek().Type; t != tMinus && t != tTilde {
		return p.power(lex)
	}
	return p.prefixed(lex, tMinus, tTilde, func() (Expr, error) { return p.power(lex) })
}

// power parses a ** b ** c, read from the right by who uses it. An operand with
// a sign takes the rest of the chain with it: 2 ** -3 ** 4 is 2 ** (-(3 ** 4)).
func (p *parser) power(lex *lexer.PeekingLexer) (Expr, error) {
	start := lex.Peek().Pos.Offset
	x, err := p.postfix(lex)
	if err != nil || lex.Peek().Type != tPow {
		return x, err
	}
	e := &BinaryExpr{First: x}
	for lex.Peek().Type == tPow {
		op := p.op(lex)
		y, err := p.exponent(lex)
		if err != nil {
			return nil, err
		}
		e.Rest = append(e.Rest, BinaryRest{op, y})
	}
	e.pos = p.from(start, lex)
	return e, nil
}

func (p *parser) exponent(lex *lexer.PeekingLexer) (Expr, error) {
	if t := lex.Peek().Type; t != tMinus && t != tTilde {
		return p.postfix(lex)
	}
	if err := p.enter(lex); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.unary(lex)
}

// postfix parses an operand with its calls, subscripts and selectors.
func (p *parser) postfix(lex *lexer.PeekingLexer) (Expr, error) {
	start := lex.Peek().Pos.Offset
	x, err := p.primary(lex)
	if err != nil {
		return nil, err
	}
	if _, ok := x.(*IfExpr); ok {
		return x, nil
	}
	var ops []Postfix
	for {
		op, err := p.link(lex, x, len(ops) == 0)
		if err != nil {
			return nil, err
		}
		if op == nil {
			break
		}
		ops = append(ops, op)
	}
	if ops == nil {
		return x, nil
	}
	return &PostfixExpr{exprHead{pos: p.from(start, lex)}, x, ops}, nil
}

// link parses one call, subscript or selector; nil when there is none.
func (p *parser) link(lex *lexer.PeekingLexer, x Expr, first bool) (Postfix, error) {
	start := lex.Peek().Pos.Offset
	switch lex.Peek().Type {
	case tLParen:
		args, err := p.args(lex)
		return &CallOp{postfixHead{p.from(start, lex)}, args, false}, err
	case tLBrack:
		subs, err := p.subscripts(lex)
		return &IndexOp{postfixHead{p.from(start, lex)}, subs}, err
	case tDot:
		lex.Next()
		if lex.Peek().Type != tIdent {
			return nil, p.dotError(lex)
		}
		name := p.ident(*lex.Next())
		return &SelectOp{postfixHead{p.from(start, lex)}, name}, nil
	case tQuestion:
		return p.optional(lex, x, first)
	}
	return nil, nil
}

// optional parses the ? of a pattern: op?(x), or mask? alone.
func (p *parser) optional(lex *lexer.PeekingLexer, x Expr, first bool) (Postfix, error) {
	mark := *lex.Next()
	name, isName := x.(*NameExpr)
	switch {
	case !p.pattern:
		return nil, newError(p.tokenSpan(mark), "? stands in the pattern of a rule only").help("a value is chosen with where(c, a, b)")
	case !isName || !first || name.Optional:
		return nil, newError(p.tokenSpan(mark), "? stands behind the name of an operator or operand only")
	case lex.Peek().Type != tLParen:
		name.Optional = true
		return nil, nil
	}
	args, err := p.args(lex)
	return &CallOp{postfixHead{p.from(mark.Pos.Offset, lex)}, args, true}, err
}

func (p *parser) dotError(lex *lexer.PeekingLexer) error {
	e := p.expected(lex, "a name after the point")
	if before := p.before(p.before(*lex.Peek())); before.Type == tNumber && !strings.ContainsAny(before.Value, ".eExX") {
		return e.help("a float has a digit behind its point: " + before.Value + ".0")
	}
	return e
}

// primaryTable maps the first token of an operand to its parser. It is filled
// at start, because the functions lead back to it.
var primaryTable [tokenTypes]func(*parser, *lexer.PeekingLexer) (Expr, error)

func init() {
	primaryTable[tIdent] = (*parser).name
	primaryTable[tNumber] = (*parser).numberLit
	primaryTable[tString] = (*parser).stringLit
	primaryTable[tDType] = (*parser).dtype
	primaryTable[tTrue] = (*parser).boolLit
	primaryTable[tFalse] = (*parser).boolLit
	primaryTable[tNone] = (*parser).noneLit
	primaryTable[tLParen] = (*parser).inParens
	primaryTable[tLBrack] = (*parser).list
	primaryTable[tIf] = (*parser).ifExpr
}

func (p *parser) primary(lex *lexer.PeekingLexer) (Expr, error) {
	t := lex.Peek()
	if t.Type <= 0 || primaryTable[t.Type] == nil {
		return nil, p.expected(lex, "an expression")
	}
	return primaryTable[t.Type](p, lex)
}

func (p *parser) head(t *lexer.Token) exprHead {
	return exprHead{pos: pos{p.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))}}
}

func (p *parser) name(lex *lexer.PeekingLexer) (Expr, error) {
	t := lex.Next()
	return &NameExpr{exprHead: p.head(t), Name: t.Value}, nil
}

func (p *parser) numberLit(lex *lexer.PeekingLexer) (Expr, error) {
	t := lex.Next()
	return &NumberLit{p.head(t), t.Value, isFloat(t.Value)}, nil
}

func (p *parser) stringLit(lex *lexer.PeekingLexer) (Expr, error) {
	return p.text(*lex.Next()), nil
}

func (p *parser) boolLit(lex *lexer.PeekingLexer) (Expr, error) {
	t := lex.Next()
	return &BoolLit{p.head(t), t.Type == tTrue}, nil
}

func (p *parser) noneLit(lex *lexer.PeekingLexer) (Expr, error) {
	return &NoneLit{p.head(lex.Next())}, nil
}

// dtype parses f32, a name, or f32[2, 3], a type.
func (p *parser) dtype(lex *lexer.PeekingLexer) (Expr, error) {
	if second(lex) != tLBrack {
		return p.name(lex)
	}
	if err := p.enter(lex); err != nil {
		return nil, err
	}
	defer p.leave()
	r, err := p.g.typ(lex)
	if err != nil {
		return nil, err
	}
	t := p.typeExpr(r)
	return &TypeLit{exprHead{pos: t.pos}, t}, nil
}

func (p *parser) inParens(lex *lexer.PeekingLexer) (Expr, error) {
	if err := p.enter(lex); err != nil {
		return nil, err
	}
	defer p.leave()
	lex.Next()
	e, err := p.expr(lex)
	if err != nil {
		return nil, err
	}
	if lex.Peek().Type != tRParen {
		return nil, p.expected(lex, ")")
	}
	lex.Next()
	e.(interface{ parens() }).parens()
	return e, nil
}

// ifExpr parses if c { a } else { b } where a value is wanted.
func (p *parser) ifExpr(lex *lexer.PeekingLexer) (Expr, error) {
	if err := p.enter(lex); err != nil {
		return nil, err
	}
	defer p.leave()
	start := lex.Peek().Pos.Offset
	branches, orElse, err := p.ifChain(lex, needsValue)
	if err != nil {
		return nil, err
	}
	if orElse == nil {
		return nil, p.expected(lex, "else").help("an if that is a value needs both sides: if c { a } else { b }")
	}
	return &IfExpr{exprHead{pos: p.from(start, lex)}, branches, orElse}, nil
}
