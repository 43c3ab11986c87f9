package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// items parses what stands between brackets, with commas between the elements
// and perhaps one behind the last. The lexer stands at the opening bracket.
func (p *parser) items(lex *lexer.PeekingLexer, closer lexer.TokenType, item func() error) error {
	if err := p.enter(lex); err != nil {
		return err
	}
	defer p.leave()
	lex.Next()
	for lex.Peek().Type != closer {
		if err := item(); err != nil {
			return err
		}
		if lex.Peek().Type == tComma {
			lex.Next()
			continue
		}
		if lex.Peek().Type != closer {
			return p.expected(lex, ", or "+tokenTable[closer].text)
		}
	}
	lex.Next()
	return nil
}

// args parses (a, b, name=c).
func (p *parser) args(lex *lexer.PeekingLexer) (list []Arg, err error) {
	err = p.items(lex, tRParen, func() (err error) {
		var a Arg
		start := lex.Peek().Pos.Offset
		if lex.Peek().Type == tIdent && second(lex) == tAssign {
			a.Name = p.ident(*lex.Next())
			lex.Next()
		}
		if a.Value, err = p.expr(lex); err != nil {
			return err
		}
		a.pos = p.from(start, lex)
		list = append(list, a)
		return nil
	})
	return list, err
}

// subscripts parses [i, a:b:c, ..., None].
func (p *parser) subscripts(lex *lexer.PeekingLexer) (list []Subscript, err error) {
	err = p.items(lex, tRBrack, func() error {
		s, err := p.subscript(lex)
		list = append(list, s)
		return err
	})
	if err == nil && len(list) == 0 {
		return nil, newError(p.closed(lex), "the brackets hold no subscript")
	}
	return list, err
}

// closed is the span of the last token taken.
func (p *parser) closed(lex *lexer.PeekingLexer) diag.Span {
	return p.from(lex.Range(lex.RawCursor()-1, lex.RawCursor())[0].Pos.Offset, lex).At
}

func (p *parser) subscript(lex *lexer.PeekingLexer) (s Subscript, err error) {
	start := lex.Peek().Pos.Offset
	switch lex.Peek().Type {
	case tEllipsis:
		lex.Next()
		s.Kind = EllipsisSub
	case tNone:
		lex.Next()
		s.Kind = NoneSub
	default:
		err = p.indexOrSlice(lex, &s)
	}
	s.pos = p.from(start, lex)
	return s, err
}

// indexOrSlice parses i, a:b or a:b:c, whose parts may all be absent.
func (p *parser) indexOrSlice(lex *lexer.PeekingLexer, s *Subscript) error {
	parts := [3]*Expr{&s.Start, &s.End, &s.Step}
	for i, part := range parts {
		if t := lex.Peek().Type; t != tColon && t != tComma && t != tRBrack || i == 0 && t != tColon {
			e, err := p.expr(lex)
			if err != nil {
				return err
			}
			*part = e
		}
		if i == 2 || lex.Peek().Type != tColon {
			break
		}
		lex.Next()
		s.Kind = SliceSub
	}
	if s.Kind == IndexSub {
		s.Index, s.Start = s.Start, nil
	}
	return nil
}

// list parses [a, b, c], or [e for v in range].
func (p *parser) list(lex *lexer.PeekingLexer) (Expr, error) {
	start := lex.Peek().Pos.Offset
	var elems []Expr
	var each *ComprehensionExpr
	err := p.items(lex, tRBrack, func() error {
		e, err := p.expr(lex)
		if err != nil {
			return err
		}
		elems = append(elems, e)
		if lex.Peek().Type != tFor || len(elems) > 1 {
			return nil
		}
		if each, err = p.comprehension(lex, e); err != nil {
			return err
		}
		if lex.Peek().Type != tRBrack {
			return p.expected(lex, "]")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if each != nil {
		each.pos = p.from(start, lex)
		return each, nil
	}
	return &ListExpr{exprHead{pos: p.from(start, lex)}, elems}, nil
}

// comprehension parses for v in range, behind the element.
func (p *parser) comprehension(lex *lexer.PeekingLexer, elem Expr) (*ComprehensionExpr, error) {
	lex.Next()
	c := &ComprehensionExpr{Elem: elem}
	if lex.Peek().Type != tIdent {
		return nil, p.expected(lex, "a name")
	}
	c.Var = p.ident(*lex.Next())
	if lex.Peek().Type != tIn {
		return nil, p.expected(lex, "in")
	}
	lex.Next()
	from, err := p.expr(lex)
	if err != nil {
		return nil, err
	}
	var to Expr
	if lex.Peek().Type == tRange {
		lex.Next()
		if to, err = p.expr(lex); err != nil {
			return nil, err
		}
	}
	c.In = p.rangeOf(from, to)
	return c, nil
}
