package syntax

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A syntaxError carries a finished diagnostic through participle, which hands
// on the errors of custom productions as they are.
type syntaxError struct{ d *diag.Diagnostic }

func (e *syntaxError) Error() string { return e.d.Message }

func newError(at diag.Span, format string, args ...any) *syntaxError {
	return &syntaxError{&diag.Diagnostic{Code: "syntax", Span: at, Message: fmt.Sprintf(format, args...)}}
}

func limitError(at diag.Span, format string, args ...any) *syntaxError {
	e := newError(at, format, args...)
	e.d.Code = "limit"
	return e
}

func (e *syntaxError) label(text string) *syntaxError {
	e.d.Label = text
	return e
}

func (e *syntaxError) witness(at diag.Span, text string) *syntaxError {
	e.d.Witnesses = append(e.d.Witnesses, diag.Label{Span: at, Text: text})
	return e
}

func (e *syntaxError) help(text string) *syntaxError {
	if text != "" {
		e.d.Helps = append(e.d.Helps, text)
	}
	return e
}

// expected reports that something else than want stands at the lexer's place.
func (p *parser) expected(lex *lexer.PeekingLexer, want string) *syntaxError {
	return p.unexpected(*lex.Peek(), want)
}

// unexpected words the error at a token, and adds the help for the slip that
// it looks like.
func (p *parser) unexpected(found lexer.Token, want string) *syntaxError {
	prev := p.before(found)
	e := newError(p.tokenSpan(found), "expected %s, found %s", want, p.describe(found))
	return e.help(slipHelp(slipPlace{prev, found, p.following(found), want}))
}

// tokenSpan is where a token stands; a newline and the end of the text stand
// right behind the token before.
func (p *parser) tokenSpan(t lexer.Token) diag.Span {
	if t.Type == tNewline || t.EOF() {
		prev := p.before(t)
		end := prev.Pos.Offset + len(prev.Value)
		return p.span(end, end)
	}
	return p.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))
}

// describe words a token as the user sees it.
func (p *parser) describe(t lexer.Token) string {
	switch {
	case t.EOF() && strings.TrimSpace(p.src.Text[min(t.Pos.Offset, len(p.src.Text)):]) == "":
		return "the end of the text"
	case t.Type == tNewline || t.EOF():
		return "the end of the line"
	case t.Type == tIdent:
		return "the name " + clip(t.Value)
	case t.Type == tNumber:
		return "the number " + clip(t.Value)
	case t.Type == tString:
		return "the text " + clip(t.Value)
	case t.Type == tDType:
		return "the type " + t.Value
	case isLetter(t.Value[0]):
		return "the word " + t.Value
	}
	return t.Value
}

// productions words what participle's notation names, where that is not text.
var productions = map[string]string{
	"Expr": "an expression", "<ident>": "a name", "<string>": "a text in double quotes",
	"<dtype>": "a type", "TypeRule": "a type", "word": "a name",
	"ShapeRule": "[", "BlockNode": "{", "MembersNode": "{", "BranchRule": "a condition",
	"ParamRule": "param", "ParameterRule": "a parameter", "ResultsRule": "the type of the result",
	"ResultRule": "a result", "TypeVarRule": "a dtype variable", "<newline>": "the end of the line",
}

// translate makes participle's error ours.
func (p *parser) translate(err error) *diag.Diagnostic {
	var own *syntaxError
	if errors.As(err, &own) {
		return own.d
	}
	var token *participle.UnexpectedTokenError
	if errors.As(err, &token) {
		return p.unexpected(token.Unexpected, expectation(token.Message())).d
	}
	var other participle.Error
	if errors.As(err, &other) {
		at := min(other.Position().Offset, len(p.src.Text))
		if strings.Contains(other.Message(), "too many iterations") {
			return limitError(p.span(at, at), "a list has more than %d elements", participle.MaxIterations).d
		}
		return newError(p.span(at, at), "%s", other.Message()).d
	}
	return newError(p.span(p.chunk, p.chunk), "%s", err.Error()).d
}

// expectation takes what was expected out of participle's message, which has
// it as a piece of grammar: (expected ":" TypeRule ("=" Expr)?).
func expectation(message string) string {
	_, grammar, ok := strings.Cut(message, "(expected ")
	if !ok {
		return ", or )"
	}
	grammar = strings.TrimLeft(strings.TrimSuffix(grammar, ")"), "(")
	if rest, ok := strings.CutPrefix(grammar, `"`); ok {
		literal, _, _ := strings.Cut(rest, `"`)
		return literal
	}
	first := grammar
	if i := strings.IndexAny(grammar, ` ()|?*+`); i > 0 {
		first = grammar[:i]
	}
	if words, ok := productions[first]; ok {
		return words
	}
	return first
}
