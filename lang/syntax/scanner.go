package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A scanner cuts a source into tokens, and the tokens into chunks of one
// top-level declaration each. It drops comments into a list of its own, knows
// which newlines end a statement, and sees to the brackets, because only here
// is it known where a line starts.
type scanner struct {
	src  *diag.Source
	text string
	off  int // where the next token, or the space before it, begins
	line int

	whole   bool // one expression: no newline counts, no chunks
	tokens  int  // scanned so far
	started bool // the chunk has a token
	done    bool // the chunk has ended
	last    lexer.TokenType
	fresh   bool // the next token is the first of its line

	brackets
	lead     leadState // of the chunk
	stmtLead leadState // of the statement at hand, one bracket further in
	window   int       // tokens left before the chunk is paused
	paused   bool      // the chunk goes on; resume does
	comments []Comment
	err      *diag.Diagnostic // the first error of the chunk
}

func newScanner(src *diag.Source) *scanner {
	s := &scanner{src: src, text: src.Text, line: 1, fresh: true}
	s.off = len(byteOrderMark(s.text))
	return s
}

// byteOrderMark returns the mark that some editors put before a text.
func byteOrderMark(text string) string {
	const mark = "\uFEFF"
	if strings.HasPrefix(text, mark) {
		return mark
	}
	return ""
}

// Next returns the next token of the chunk, EOF at its end. It fails never: an
// error stays in s.err, and the rest of the chunk, which nobody will parse, is
// scanned for its end only.
func (s *scanner) Next() (lexer.Token, error) {
	for !s.done && !s.paused {
		begin := s.off
		crossed := s.skipSpace()
		s.fresh = s.fresh || crossed >= 0
		switch {
		case s.off >= len(s.text):
			s.endOfText()
		case s.fresh && s.endsHere():
			s.done = true
		case crossed >= 0 && s.newlineCounts():
			if s.depth() == 0 && s.lead != leadClosed {
				s.done = true
				break
			}
			s.last = tNewline
			s.maybePause()
			if s.err == nil {
				return s.token(tNewline, crossed, crossed+1), nil
			}
		default:
			if t, ok := s.scan(begin); ok && s.err == nil {
				return t, nil
			}
		}
	}
	return lexer.EOFToken(lexer.Position{Offset: s.off, Line: s.line}), nil
}

// begin starts the next chunk; it tells whether there is one.
func (s *scanner) begin() bool {
	s.skipSpace()
	s.fresh, s.started, s.done = true, false, false
	s.last, s.err, s.lead = tNewline, nil, leadStart
	s.brackets.reset()
	s.resume(minWindow)
	return s.off < len(s.text)
}

// minWindow is how many tokens participle is given at a time, at the least: few
// enough to stay in the cache, many enough for the cost of a start.
const minWindow = 256

// resume goes on with a chunk that was paused.
func (s *scanner) resume(window int) { s.window, s.paused = window, false }

// maybePause pauses the chunk behind a newline between two statements of a
// declaration's body, or two members of a module, after enough tokens.
func (s *scanner) maybePause() {
	if len(s.open) != 1 || s.over > 0 {
		return
	}
	s.paused = s.window <= 0 && s.stmtLead != leadClosed && s.err == nil && pausable[s.first]
	if s.stmtLead != leadClosed {
		s.stmtLead = leadStart
	}
}

// pausable are the declarations whose bodies are parsed by a loop that asks for
// more tokens.
var pausable = map[string]bool{"fn": true, "graph": true, "test": true, "module": true}

// scan reads the token at s.off. It reports false when there was only an error.
func (s *scanner) scan(begin int) (lexer.Token, bool) {
	start := s.off
	if s.tokens++; s.tokens > MaxTokens {
		s.fail(limitError(s.span(start, start), "the source has more than %d tokens", MaxTokens))
		s.off, s.done = len(s.text), true
		return lexer.Token{}, false
	}
	typ := s.lex()
	if typ == 0 {
		return lexer.Token{}, false
	}
	s.checkLine(typ, start)
	if s.depth() == 0 && typ == tIdent && (s.lead == leadStart || s.lead == leadClosed) {
		s.first = s.text[start : start+s.declarationAt(start)]
	}
	if !s.bracket(typ, start) {
		return lexer.Token{}, false
	}
	s.lead = s.lead.after(typ, s.depth(), start == begin)
	s.stmtLead = s.stmtLead.after(typ, s.depth()-1, start == begin)
	if typ == tLBrace && s.depth() == 1 {
		s.stmtLead = leadStart
	}
	s.window--
	s.last, s.fresh, s.started = typ, false, true
	return s.token(typ, start, s.off), true
}

func (s *scanner) token(typ lexer.TokenType, start, end int) lexer.Token {
	return lexer.Token{Type: typ, Value: s.text[start:end], Pos: lexer.Position{Offset: start, Line: s.line}}
}

// lex moves over one token and returns its type, 0 for none.
func (s *scanner) lex() lexer.TokenType {
	c := s.text[s.off]
	switch {
	case c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf:
		return s.word()
	case '0' <= c && c <= '9':
		return s.number()
	case c == '"':
		return s.quoted()
	}
	if slip := s.slipAt(); slip != nil {
		s.fail(slip.at(s.span(s.off, s.off+len(slip.text))))
		s.skipSlip(slip)
		return 0
	}
	for _, t := range punctuation[c] {
		if strings.HasPrefix(s.text[s.off:], tokenTable[t].text) {
			s.off += len(tokenTable[t].text)
			return t
		}
	}
	return s.stray()
}

// word reads a name or a reserved word. After a point every word is a name.
func (s *scanner) word() lexer.TokenType {
	start := s.off
	s.off += wordLength(s.text[start:])
	if s.off == start {
		return s.stray()
	}
	if t, ok := words[s.text[start:s.off]]; ok && s.last != tDot {
		return t
	}
	return tIdent
}

// wordLength returns how many bytes at the start of text make up a word.
func wordLength(text string) int {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c != '_' && !isLetter(c) && (i == 0 || !isDigit(c)) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
		i += size
	}
	return len(text)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// quoted moves over a text in double quotes, which ends on its line.
func (s *scanner) quoted() lexer.TokenType {
	start := s.off
	for i := start + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '"':
			s.off = i + 1
			if _, bad := unquote(s.text[start:s.off]); bad != nil {
				s.fail(bad.diagnostic(s.src, start))
			}
			return tString
		case '\\':
			i++
			if i < len(s.text) && s.text[i] != '\n' {
				continue
			}
			i--
		case '\n':
			s.unclosedText(start, i)
			return tString
		}
	}
	s.unclosedText(start, len(s.text))
	return tString
}

func (s *scanner) unclosedText(start, end int) {
	s.off = end
	end = start + len(strings.TrimRight(s.text[start:end], " \t\r"))
	s.fail(newError(s.span(start, end), "the text is not closed on its line").
		help(`end it with ", or write a line break in it as \n`))
}

// skipSpace moves over white space and comments. It returns where the first
// newline among them stands, -1 for none.
func (s *scanner) skipSpace() int {
	newline := -1
	for s.off < len(s.text) {
		switch c := s.text[s.off]; {
		case c == '\n':
			if newline < 0 {
				newline = s.off
			}
			s.off++
			s.line++
		case c == ' ' || c == '\t' || c == '\r' && strings.HasPrefix(s.text[s.off:], "\r\n"):
			s.off++
		case strings.HasPrefix(s.text[s.off:], "//"):
			s.comment()
		default:
			return newline
		}
	}
	return newline
}

func (s *scanner) comment() {
	start := s.off
	if n := strings.IndexByte(s.text[start:], '\n'); n >= 0 {
		s.off += n
	} else {
		s.off = len(s.text)
	}
	// A chunk may be scanned again from a place before this comment.
	if n := len(s.comments); n > 0 && s.comments[n-1].At.Start >= start {
		return
	}
	text := strings.TrimRight(s.text[start:s.off], " \t\r")
	s.comments = append(s.comments, Comment{pos{s.span(start, start+len(text))}, text})
}

// newlineCounts tells whether the newline just crossed ends a statement, given
// what stood before it and what stands at s.off.
func (s *scanner) newlineCounts() bool {
	if s.whole || s.last == tNewline || tokenTable[s.last].open || !s.inBlock() {
		return false
	}
	rest := s.text[s.off:]
	switch {
	case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, "=>"):
		return false
	case rest[0] == '.':
		return strings.HasPrefix(rest, "..")
	case rest[0] == 'e':
		return rest[:wordLength(rest)] != "else"
	}
	return true
}

func (s *scanner) span(start, end int) diag.Span {
	return diag.Span{Src: s.src, Start: start, End: end}
}

// fail keeps the first error of the chunk.
func (s *scanner) fail(e *syntaxError) {
	if s.err == nil {
		s.err = e.d
	}
}
