package syntax

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A parser is the state of parsing one source: the custom productions are its
// methods.
type parser struct {
	src      *diag.Source
	g        *grammar
	comments []Comment

	scanner *scanner
	chunk   int           // where the declaration at hand begins
	tokens  []lexer.Token // its tokens
	depth   int           // nesting of expressions
	inTest  bool          // expect begins a statement
	pattern bool          // op?(x) and mask? are allowed
}

// Parse reads a script. The file holds every declaration that could be parsed;
// the list has one syntax error per declaration that could not, and File.Broken
// the names that those would have declared.
func Parse(src *diag.Source) (*File, diag.List) {
	f := &File{Src: src}
	if e := refuse(src); e != nil {
		return f, diag.List{e.d}
	}
	p := &parser{src: src, g: grammars.Get().(*grammar)}
	p.g.now = p
	defer p.release()
	s := newScanner(src)
	var errs diag.List
	for skip := false; s.begin(); {
		d, err := p.declaration(s)
		switch {
		case skip && (p.indented() || err != nil && !p.startsDeclaration()):
			// The rest of a declaration whose head was wrong.
			f.Broken = append(f.Broken, p.brokenName()...)
		case err == nil:
			f.Decls = append(f.Decls, d)
			skip = false
		default:
			errs = append(errs, err)
			f.Broken = append(f.Broken, p.brokenName()...)
			skip = true
		}
	}
	f.Comments = s.comments
	return f, errs
}

// ParseExpr reads a single expression, as patterns and command lines have it.
// Newlines do not matter in it, and op?(x) is allowed.
func ParseExpr(src *diag.Source) (Expr, diag.List) {
	if e := refuse(src); e != nil {
		return nil, diag.List{e.d}
	}
	p := &parser{src: src, g: grammars.Get().(*grammar), pattern: true}
	p.g.now = p
	defer p.release()
	s := newScanner(src)
	s.whole = true
	s.begin()
	lex, err := p.upgrade(s)
	if err != nil {
		return nil, diag.List{err}
	}
	e, bad := p.expr(lex)
	if bad == nil && !lex.Peek().EOF() {
		bad = p.expected(lex, "the end of the expression")
	}
	if bad != nil {
		return nil, diag.List{p.translate(bad)}
	}
	return e, nil
}

func (p *parser) release() {
	p.g.now = nil
	grammars.Put(p.g)
}

// refuse reports a source that is no text, or too long.
func refuse(src *diag.Source) *syntaxError {
	text := src.Text
	if len(text) > MaxBytes {
		return limitError(diag.Span{Src: src}, "the source has %d bytes; the limit is %d", len(text), MaxBytes).
			help("keep large values in a weights file or a .npy file")
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") { // byte order marks
		return newError(diag.Span{Src: src}, "the source is UTF-16").help("save the file as UTF-8")
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return newError(diag.Span{Src: src, Start: i, End: i + 1}, "the source has a NUL byte").
			help("a script is UTF-8 text")
	}
	if utf8.ValidString(text) {
		return nil
	}
	i := 0
	for r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRuneInString(text[i:]) {
		i += size
	}
	return newError(diag.Span{Src: src, Start: i, End: i + 1}, "the source is not UTF-8: byte 0x%02x", text[i]).
		help("save the file as UTF-8")
}

// upgrade takes the tokens of the next chunk, the first of them if it is long.
func (p *parser) upgrade(s *scanner) (*lexer.PeekingLexer, *diag.Diagnostic) {
	p.scanner, p.chunk, p.depth, p.inTest = s, s.off, 0, false
	lex, err := lexer.Upgrade(s)
	if err != nil {
		return nil, newError(p.span(s.off, s.off), "%s", err.Error()).d
	}
	p.comments = s.comments
	p.tokens = allTokens(lex)
	return lex, s.err
}

// refill gives a lexer that has come to its end the next tokens of a chunk that
// was paused. Its first tokens, up to the brace of the body, stay: participle
// still has places among them.
func (p *parser) refill(lex *lexer.PeekingLexer, head int) error {
	if !p.scanner.paused {
		return nil
	}
	p.scanner.resume(max(minWindow, 4*head))
	more, err := lexer.Upgrade(&headedLexer{lex.Range(0, lexer.RawCursor(head)), p.scanner})
	if err != nil {
		return err
	}
	p.comments = p.scanner.comments
	p.tokens = allTokens(more)
	if p.scanner.err != nil {
		return &syntaxError{p.scanner.err}
	}
	for range head {
		more.Next()
	}
	*lex = *more
	return nil
}

// drain scans the rest of a chunk whose parsing has stopped. An error of the
// scanner, a bracket above all, goes before that of the grammar: it most likely
// is the cause.
func (p *parser) drain() *diag.Diagnostic {
	for p.scanner.paused {
		p.scanner.resume(minWindow)
		for t, _ := p.scanner.Next(); !t.EOF(); t, _ = p.scanner.Next() {
		}
	}
	p.comments = p.scanner.comments
	return p.scanner.err
}

// allTokens returns the tokens of a fresh lexer, the last being EOF.
func allTokens(lex *lexer.PeekingLexer) []lexer.Token {
	start := lex.MakeCheckpoint()
	for !lex.Peek().EOF() {
		lex.Next()
	}
	end := lex.RawCursor()
	lex.LoadCheckpoint(start)
	return lex.Range(0, end+1)
}

// declaration parses the next chunk.
func (p *parser) declaration(s *scanner) (Decl, *diag.Diagnostic) {
	lex, bad := p.upgrade(s)
	if bad != nil {
		return nil, bad
	}
	d, err := p.decl(lex, fileLevel)
	if err == nil && !lex.Peek().EOF() {
		err = p.expected(lex, "the end of the line")
	}
	if err == nil {
		return d, nil
	}
	e := p.translate(err)
	if bad := p.drain(); bad != nil {
		return nil, bad
	}
	return nil, e
}

// index returns which token stands at t's offset.
func (p *parser) index(t lexer.Token) int {
	return sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].Pos.Offset >= t.Pos.Offset })
}

// before returns the token before t, the zero Token when t is the first.
func (p *parser) before(t lexer.Token) lexer.Token {
	if i := p.index(t); i > 0 {
		return p.tokens[i-1]
	}
	return lexer.Token{Type: tNewline, Pos: t.Pos}
}

// following returns the token after t.
func (p *parser) following(t lexer.Token) lexer.Token {
	return p.tokens[min(p.index(t)+1, len(p.tokens)-1)]
}

func (p *parser) span(start, end int) diag.Span {
	return diag.Span{Src: p.src, Start: start, End: end}
}

// from returns the place from start to the end of the last token taken.
func (p *parser) from(start int, lex *lexer.PeekingLexer) pos {
	at := lex.RawCursor()
	if at == 0 {
		return pos{p.span(start, start)}
	}
	t := lex.Range(at-1, at)[0]
	return pos{p.span(start, max(start, t.Pos.Offset+len(t.Value)))}
}

func (p *parser) ident(t lexer.Token) Ident {
	return Ident{pos{p.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))}, t.Value}
}

func (p *parser) idents(words []word) []Ident {
	list := make([]Ident, len(words))
	for i, w := range words {
		list[i] = p.ident(w.Token)
	}
	return list
}

func (p *parser) optionalIdent(w *word) Ident {
	if w == nil {
		return Ident{}
	}
	return p.ident(w.Token)
}

func (p *parser) text(t lexer.Token) *StringLit {
	value, _ := unquote(t.Value) // the scanner has refused bad ones
	return &StringLit{exprHead{pos: pos{p.span(t.Pos.Offset, t.Pos.Offset+len(t.Value))}}, value}
}

// second returns the type of the token behind the next one.
func second(lex *lexer.PeekingLexer) lexer.TokenType {
	if lex.Peek().EOF() {
		return lexer.EOF
	}
	at := lex.RawCursor() + 1
	return lex.Range(at, at+1)[0].Type
}

// docBefore returns the /// lines right above a place.
func (p *parser) docBefore(start int) string {
	var lines []string
	for _, c := range docComments(p.src.Text, p.comments, start) {
		lines = append(lines, strings.TrimPrefix(c.Text[3:], " "))
	}
	return strings.Join(lines, "\n")
}

// docComments returns those of a text's comments that document what begins at
// an offset: the /// lines right above it.
func docComments(text string, comments []Comment, start int) []Comment {
	end := sort.Search(len(comments), func(i int) bool { return comments[i].At.Start >= start })
	first := end
	for first > 0 {
		c := comments[first-1]
		if !strings.HasPrefix(c.Text, "///") || !isLineBreak(text[c.At.End:start]) || !firstOnLine(text, c.At.Start) {
			break
		}
		start = c.At.Start
		first--
	}
	return comments[first:end]
}

// isLineBreak tells whether a gap is one newline and white space.
func isLineBreak(gap string) bool {
	return len(gap) < 1000 && strings.Count(gap, "\n") == 1 && strings.TrimSpace(gap) == ""
}

// firstOnLine tells whether only white space stands before a place on its line.
func firstOnLine(text string, off int) bool {
	line := text[strings.LastIndexByte(text[:off], '\n')+1 : off]
	return strings.TrimLeft(line, " \t\uFEFF") == ""
}
