package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// brackets are the brackets open at the scanner's place.
type brackets struct {
	open   []bracket
	over   int    // how many more are open above MaxNesting
	first  string // the declaration word that the chunk begins with
	flush  int    // where a declaration word first stood in column 1 within brackets; 0 for nowhere
	flushL int    // its line
	owed   int    // closing braces that will have nothing to close, because of an error before
}

type bracket struct {
	typ lexer.TokenType
	off int
}

// closers maps a closing bracket to the one that it closes.
var closers = map[lexer.TokenType]lexer.TokenType{tRParen: tLParen, tRBrack: tLBrack, tRBrace: tLBrace}

func (b *brackets) reset() { *b = brackets{open: b.open[:0], owed: b.owed} }

func (b *brackets) depth() int { return len(b.open) + b.over }

// inBlock tells whether newlines count: outside of brackets, and within braces.
func (b *brackets) inBlock() bool {
	return b.over == 0 && (len(b.open) == 0 || b.open[len(b.open)-1].typ == tLBrace)
}

// bracket keeps the account of open brackets after a token at start. It
// reports false for a brace that closes what was given up.
func (s *scanner) bracket(typ lexer.TokenType, start int) bool {
	switch typ {
	case tLParen, tLBrack, tLBrace:
		s.push(typ, start)
	case tRParen, tRBrack, tRBrace:
		if typ == tRBrace && s.depth() == 0 && s.owed > 0 {
			s.owed--
			return false
		}
		s.pop(typ, start)
	}
	return true
}

func (s *scanner) push(typ lexer.TokenType, start int) {
	if len(s.open) < MaxNesting {
		s.open = append(s.open, bracket{typ, start})
		return
	}
	s.over++
	s.fail(limitError(s.span(start, start+1), "brackets are nested more than %d deep", MaxNesting).
		help("bind the inner parts to names"))
}

func (s *scanner) pop(typ lexer.TokenType, start int) {
	if s.over > 0 {
		s.over--
		return
	}
	text := tokenTable[typ].text
	if len(s.open) == 0 {
		s.fail(newError(s.span(start, start+1), "%s closes nothing", text).
			label("no bracket is open here"))
		return
	}
	top := s.open[len(s.open)-1]
	if top.typ != closers[typ] {
		s.misfit(typ, start)
		s.popTo(closers[typ])
		return
	}
	s.open = s.open[:len(s.open)-1]
}

// popTo closes brackets up to and with the innermost of a type, none when there
// is none.
func (s *scanner) popTo(typ lexer.TokenType) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].typ == typ {
			s.open = s.open[:i]
			return
		}
	}
}

// misfit reports the innermost bracket, which a token at start does not close.
func (s *scanner) misfit(typ lexer.TokenType, start int) {
	top := s.open[len(s.open)-1]
	opener, closer := tokenTable[top.typ].text, tokenTable[typ].text
	want := s.closerOf(top.typ)
	if typ == tRBrace && s.fresh {
		s.fail(newError(s.span(top.off, top.off+1), "%s is never closed", opener).
			label("opened here").
			witness(s.span(start, start+1), "the block ends here, without a "+want))
		return
	}
	s.fail(newError(s.span(top.off, top.off+1), "%s is closed by %s", opener, closer).
		label("opened here").
		witness(s.span(start, start+1), "expected "+want))
}

func (s *scanner) closerOf(opener lexer.TokenType) string {
	for closer, o := range closers {
		if o == opener {
			return tokenTable[closer].text
		}
	}
	return ""
}

// neverClosed reports the innermost open bracket, found out at a place further
// down.
func (s *scanner) neverClosed(start, end int, what string) {
	top := s.open[len(s.open)-1]
	s.fail(newError(s.span(top.off, top.off+1), "%s is never closed", tokenTable[top.typ].text).
		label("opened here").
		witness(s.span(start, end), what).
		help(s.commentHelp(top)))
	for _, b := range s.open {
		if b.typ == tLBrace {
			s.owed++
		}
	}
}

// commentHelp is for a bracket whose end stands behind //, as in x // 2.
func (s *scanner) commentHelp(open bracket) string {
	line, _, _ := strings.Cut(s.text[open.off:], "\n")
	_, comment, ok := strings.Cut(line, "//")
	if !ok || !strings.Contains(comment, s.closerOf(open.typ)) {
		return ""
	}
	return "// begins a comment; floordiv(a, b) divides and rounds down"
}

// endsHere tells whether the line that begins at s.off opens a declaration that
// the chunk cannot hold, so that whatever is open is never closed.
func (s *scanner) endsHere() bool {
	if s.whole || !s.started || s.lead == leadClosed {
		return false
	}
	n := s.declarationAt(s.off)
	if n == 0 {
		return false
	}
	if s.depth() == 0 {
		return true
	}
	if s.nested() {
		return false
	}
	word := s.text[s.off : s.off+n]
	if s.first == "module" && memberWords[word] && s.open[0].typ == tLBrace {
		if len(s.open) > 1 {
			s.neverClosed(s.off, s.off+n, "the next declaration begins here")
			s.open, s.over, s.owed = s.open[:1], 0, 0
		}
		if s.flush == 0 && (s.off == 0 || s.text[s.off-1] == '\n') {
			s.flush, s.flushL = s.off, s.line
		}
		return false
	}
	s.neverClosed(s.off, s.off+n, "the next declaration begins here")
	s.backToFlush()
	return true
}

// nested tells whether the line at s.off is indented below the brace that is open:
// then its declaration was meant to stand in the block, which is a mistake of its
// own, and nothing is unclosed.
func (s *scanner) nested() bool {
	if len(s.open) == 0 || s.first == "module" && len(s.open) == 1 {
		return false
	}
	for _, b := range s.open {
		if b.typ != tLBrace {
			return false
		}
	}
	return s.indent(s.off) > s.indent(s.open[len(s.open)-1].off)
}

// indent counts the blanks at the start of the line of a place.
func (s *scanner) indent(off int) int {
	line := strings.LastIndexByte(s.text[:off], '\n') + 1
	return len(s.text[line:off]) - len(strings.TrimLeft(s.text[line:off], " \t"))
}

// endOfText ends the chunk at the end of the source.
func (s *scanner) endOfText() {
	s.done = true
	if len(s.open) == 0 {
		return
	}
	end := len(strings.TrimRight(s.text, " \t\r\n"))
	s.neverClosed(end, end, "the file ends here")
	s.backToFlush()
}

// backToFlush gives the chunk up at the first declaration word in column 1 that
// the unclosed brace of a module has swallowed: it most likely was meant to
// stand at file level.
func (s *scanner) backToFlush() {
	if s.flush > 0 {
		s.off, s.line = s.flush, s.flushL
	}
}

// declarationAt returns the length of the declaration word at off, 0 when no
// declaration begins there. Those words are names elsewhere, but only in a
// declaration does another name, or a text, follow.
func (s *scanner) declarationAt(off int) int {
	n := wordLength(s.text[off:])
	follow, ok := declWords[s.text[off:off+n]]
	if !ok {
		return 0
	}
	rest := strings.TrimLeft(s.text[off+n:], " \t")
	if len(rest) == len(s.text)-off-n && follow == tIdent {
		return 0
	}
	m := wordLength(rest)
	_, reserved := words[rest[:m]]
	if follow == tString && !strings.HasPrefix(rest, `"`) || follow == tIdent && (m == 0 || reserved) {
		return 0
	}
	return n
}

// A leadState follows the annotations at the start of a chunk: a newline after
// them does not end the chunk, since the declaration is still to come.
type leadState uint8

const (
	leadStart  leadState = iota // nothing yet
	leadAt                      // after @
	leadName                    // after @name
	leadArgs                    // within @name(
	leadClosed                  // after @name(...)
	leadOver                    // in the declaration itself
)

// after returns the state behind a token, given how many brackets are open
// behind it and whether it follows the one before without a space.
func (l leadState) after(typ lexer.TokenType, depth int, close bool) leadState {
	switch {
	case (l == leadStart || l == leadClosed) && typ == tAt:
		return leadAt
	case l == leadAt && typ == tIdent && close:
		return leadName
	case l == leadName && typ == tLParen:
		return leadArgs
	case l == leadArgs && depth > 0:
		return leadArgs
	case l == leadArgs:
		return leadClosed
	}
	return leadOver
}
