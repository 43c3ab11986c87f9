package ir

import (
	"fmt"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// maxText bounds the text form that is read.
const maxText = 1 << 30

// ParseFuncs reads functions in their text form (see the package comment). The
// list has at most one error for each function; a function with an error is
// left out.
func ParseFuncs(src *diag.Source) ([]*Func, diag.List) {
	var fs []*Func
	var errs diag.List
	p := newParser(src)
	names := map[string]bool{}
	for p.tok.kind != tokEOF || p.err != nil {
		name := p.tok
		f := p.function()
		if p.err == nil && names[f.Name] {
			p.fail(name, "bad-ir", "two functions are named @%s", quoteName(f.Name))
		}
		if p.err != nil {
			errs = append(errs, p.err.Diagnostic)
			p.recover()
			continue
		}
		names[f.Name] = true
		fs = append(fs, f)
	}
	return fs, errs
}

// A parser reads the text form. The first error stops it: from then on every
// token is the end of the text, so that all loops come to their end.
type parser struct {
	src     *diag.Source
	lex     lexer
	tok     token // the next token
	err     *parseError
	nesting int    // of brackets in a dimension
	regions int    // of regions
	filled  int64  // bytes asked for by [x ...]
	file    string // of locations that name none
}

// A parseError is a diagnostic with what the parser adds to it.
type parseError struct{ *diag.Diagnostic }

func newParser(src *diag.Source) *parser {
	p := &parser{src: src, lex: lexer{text: src.Text}}
	if len(src.Text) > maxText {
		p.fail(token{}, "limit", "the text is longer than %d bytes", maxText)
		return p
	}
	p.next()
	return p
}

func (p *parser) next() {
	if p.err != nil {
		return
	}
	p.tok = p.lex.next()
	if p.tok.kind == tokBad {
		p.fail(p.tok, "bad-ir", "%s", p.tok.text)
	}
}

// fail records the first error.
func (p *parser) fail(at token, code, format string, args ...any) *parseError {
	if p.err == nil {
		p.err = &parseError{&diag.Diagnostic{Code: code, Span: at.span(p.src), Message: fmt.Sprintf(format, args...)}}
		p.tok = token{kind: tokEOF, start: at.start, end: at.end}
	}
	return p.err
}

// suggest adds a name that was perhaps meant.
func (e *parseError) suggest(name string, candidates []string) {
	if s := diag.Suggest(name, candidates); s != "" {
		e.Helps = append(e.Helps, "did you mean "+s+"?")
	}
}

// witness adds what is known about another place.
func (e *parseError) witness(span diag.Span, text string) {
	e.Witnesses = append(e.Witnesses, diag.Label{Span: span, Text: text})
}

// recover goes on at the next function after an error.
func (p *parser) recover() {
	p.err, p.nesting, p.regions = nil, 0, 0
	for {
		p.tok = p.lex.next()
		if p.tok.kind == tokEOF || p.tok.first && p.tok.kind == tokWord && p.tok.text == "func" {
			return
		}
	}
}

// rewind goes back to a parser that was saved by copying it.
func (p *parser) rewind(mark parser) {
	if p.err == nil {
		p.lex, p.tok = mark.lex, mark.tok
	}
}

func (p *parser) is(punct string) bool { return p.tok.kind == tokPunct && p.tok.text == punct }

func (p *parser) accept(punct string) bool {
	if !p.is(punct) {
		return false
	}
	p.next()
	return true
}

func (p *parser) isWord(word string) bool { return p.tok.kind == tokWord && p.tok.text == word }

func (p *parser) acceptWord(word string) bool {
	if !p.isWord(word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.expected(punct)
	}
}

func (p *parser) expectWord(word string) {
	if !p.acceptWord(word) {
		p.expected(word)
	}
}

func (p *parser) expected(what string) {
	p.fail(p.tok, "bad-ir", "expected %s, found %s", what, p.tok.describe())
}

// word reads a name or keyword that is not in quotes.
func (p *parser) word(what string) token {
	t := p.tok
	if t.kind != tokWord {
		p.expected(what)
		return token{}
	}
	p.next()
	return t
}

// name reads a name that may be in quotes.
func (p *parser) name(what string) string {
	t := p.tok
	if t.kind != tokWord && t.kind != tokString {
		p.expected(what)
		return ""
	}
	p.next()
	return t.text
}

func (p *parser) dtype() tensor.DType {
	t := p.word("a dtype")
	d, ok := tensor.ParseDType(t.text)
	if !ok && p.err == nil {
		p.fail(t, "bad-ir", "unknown dtype %s", t.text).suggest(t.text, dtypeNames())
	}
	return d
}

func dtypeNames() []string {
	var names []string
	for _, d := range tensor.DTypes {
		names = append(names, d.String())
	}
	return names
}

// typ reads f32[B,256]; a dtype alone is a scalar.
func (p *parser) typ() Type {
	at := p.tok
	t := Type{DType: p.dtype()}
	if p.is("[") && !p.tok.first {
		t.Shape = list(p, (*parser).dim)
	}
	if err := t.Check(); err != nil && p.err == nil {
		p.fail(at, codeOf(err), "%s", message(err))
	}
	return t
}

// codeOf is the code under which the text form reports an error of a type or a
// call: limits and faults stay what they are.
func codeOf(err error) string {
	if e, ok := err.(*Error); ok && (e.Code == "limit" || e.Code == "internal") {
		return e.Code
	}
	return "bad-ir"
}

// message is the statement of an error, without its code.
func message(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Msg
	}
	return err.Error()
}

// loc reads @3:9, @3 or @"file":3:9, if one is there.
func (p *parser) loc() diag.Loc {
	if !p.accept("@") {
		return diag.Loc{}
	}
	l := diag.Loc{File: p.file}
	if p.tok.kind == tokString {
		l.File = p.tok.text
		p.next()
		p.expect(":")
	}
	l.Line = p.count()
	if p.accept(":") {
		l.Col = p.count()
	}
	return l
}

// count reads a line or column.
func (p *parser) count() int {
	t := p.tok
	n := p.integer()
	if p.err == nil && (n < 0 || n > 1<<31-1) {
		p.fail(t, "bad-ir", "%d is not a line or column", n)
	}
	return int(n)
}

// annots reads !stream(io) !stage(2).
func (p *parser) annots() []Annot {
	var out []Annot
	for p.accept("!") {
		a := Annot{Name: p.word("the name of an annotation").text}
		p.expect("(")
		if t := p.tok; !p.is(")") {
			if t.kind != tokWord && t.kind != tokString && t.kind != tokNumber {
				p.expected("the argument of an annotation")
			}
			a.Arg = t.text
			p.next()
		}
		p.expect(")")
		out = append(out, a)
	}
	return out
}
