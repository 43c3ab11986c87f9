package syntax

import "github.com/alecthomas/participle/v2/lexer"

// expectStmt parses the four forms of a test's expectation:
//
//	expect c
//	expect x == y
//	expect x ~= y within t
//	expect error "text" { ... }
//
// The sides of == and ~= bind tighter than a comparison, so that no one has to
// wonder what "expect a == b and c" compares.
func (p *parser) expectStmt(lex *lexer.PeekingLexer) (placedStmt, error) {
	if p.isExpectError(lex) {
		r, err := p.g.expectError(lex)
		if err != nil {
			return nil, err
		}
		return &ExpectErrorStmt{Text: p.text(r.Text), Body: r.Body.(*Block)}, nil
	}
	lex.Next()
	s := &ExpectStmt{}
	start := lex.Peek().Pos.Offset
	var err error
	if lex.Peek().Type == tNot {
		s.X, err = p.condition(lex)
		return s, err
	}
	if s.X, err = p.binary(lex, levelBitOr); err != nil {
		return nil, err
	}
	switch op := *lex.Peek(); {
	case op.Type == tEq || op.Type == tAbout:
		s.Op = lex.Next().Value
		return s, p.expectRight(lex, s)
	case isLogic(op.Type):
		if s.X, err = p.operators(lex, s.X, start, levelOr); err != nil {
			return nil, err
		}
		return s, p.refuseEqual(s.X)
	}
	return s, nil
}

func (p *parser) isExpectError(lex *lexer.PeekingLexer) bool {
	at := lex.RawCursor()
	if second(lex) != tIdent {
		return false
	}
	next := lex.Range(at+1, at+3)
	return next[0].Value == "error" && next[1].Type == tString
}

// condition parses expect not ..., a bool.
func (p *parser) condition(lex *lexer.PeekingLexer) (Expr, error) {
	e, err := p.expr(lex)
	if err != nil {
		return nil, err
	}
	return e, p.refuseEqual(e)
}

// expectRight parses what stands after == or ~=.
func (p *parser) expectRight(lex *lexer.PeekingLexer, s *ExpectStmt) (err error) {
	if s.Y, err = p.binary(lex, levelBitOr); err != nil {
		return err
	}
	t := *lex.Peek()
	if isLogic(t.Type) || t.Type == tEq || t.Type == tAbout {
		return newError(p.tokenSpan(t), "%s stands beside the %s of an expectation", t.Value, s.Op).
			help("put parentheses around the side that holds it")
	}
	if t.Type != tIdent || t.Value != "within" {
		return nil
	}
	if s.Op != "~=" {
		return newError(p.tokenSpan(t), "a tolerance goes with ~=, not with ==")
	}
	lex.Next()
	s.Within, err = p.binary(lex, levelBitOr)
	return err
}

// isLogic tells the operators that bind less tightly than an expectation's
// sides.
func isLogic(t lexer.TokenType) bool {
	return t == tAnd || t == tOr || t > 0 && tokenTable[t].level == levelCompare && t != tEq
}

// refuseEqual reports an == at the top of an expectation that is a condition:
// it would compare element by element, not as an expectation does.
func (p *parser) refuseEqual(e Expr) error {
	for stack := []Expr{e}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch n := top.(type) {
		case *UnaryExpr:
			if n.Ops[0].Text == "not" && !n.Parens {
				stack = append(stack, n.X)
			}
		case *BinaryExpr:
			if n.Parens {
				continue
			}
			if n.Rest[0].Op.Text == "==" {
				return newError(n.Rest[0].Op.At, "== stands beside and, or or not in an expectation").
					help("put parentheses around the comparison")
			}
			if n.Rest[0].Op.Text == "and" || n.Rest[0].Op.Text == "or" {
				stack = append(stack, n.First)
				for _, r := range n.Rest {
					stack = append(stack, r.X)
				}
			}
		}
	}
	return nil
}
