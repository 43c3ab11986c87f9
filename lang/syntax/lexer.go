package syntax

import (
	"errors"
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A definition is the lexer as participle knows it. The parser itself feeds
// participle one declaration at a time, from a scanner; Lex gives the tokens
// of a whole text.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols }

func (definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return definition{}.LexString(name, string(text))
}

func (definition) LexString(name, text string) (lexer.Lexer, error) {
	src := diag.NewSource(name, text)
	if e := refuse(src); e != nil {
		return nil, e
	}
	s := newScanner(src)
	s.begin()
	return &wholeLexer{s}, nil
}

// A wholeLexer joins the chunks of a scanner with newlines between them.
type wholeLexer struct{ s *scanner }

func (l *wholeLexer) Next() (lexer.Token, error) {
	t, err := l.s.Next()
	if t.EOF() && l.s.paused {
		l.s.resume(minWindow)
		return l.Next()
	}
	if l.s.err != nil {
		return t, errors.New(l.s.err.Message)
	}
	if err != nil || !t.EOF() || !l.s.begin() {
		return t, err
	}
	return lexer.Token{Type: tNewline, Value: "\n", Pos: t.Pos}, nil
}

// A headedLexer gives tokens that were taken already, then those of a scanner.
type headedLexer struct {
	head []lexer.Token
	s    *scanner
}

func (l *headedLexer) Next() (lexer.Token, error) {
	if len(l.head) == 0 {
		return l.s.Next()
	}
	t := l.head[0]
	l.head = l.head[1:]
	return t, nil
}
