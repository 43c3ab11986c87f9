package ir

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
)

// A tokKind is a kind of word of the text form.
type tokKind uint8

const (
	tokEOF    tokKind = iota
	tokWord           // func, relu, B, max, _
	tokNumber         // 3, 0.5, 1e-05
	tokString         // "..." with Go's escapes; text is what it stands for
	tokValue          // %name or %"odd name"; text is the name
	tokTemp           // %12, an unnamed value; text is the number
	tokPunct          // ( ) { } [ ] , : = - -> == <= % ! @ ...
	tokBad            // an error; text says what
)

// A token is one word with its place: text[start:end].
type token struct {
	kind       tokKind
	text       string
	start, end int
	first      bool // first on its line
}

// A lexer cuts the text form into tokens. Lines matter only where the parser
// asks for token.first.
type lexer struct {
	text string
	at   int
}

// puncts are the marks of the text form, longer ones first.
var puncts = []string{"...", "->", "==", "<=", "(", ")", "{", "}", "[", "]", ",", ":", "=", "-", "+", "*", "/", "%", "!", "@"}

func (l *lexer) next() token {
	first := l.space()
	start := l.at
	if start >= len(l.text) {
		return token{kind: tokEOF, start: start, end: start, first: true}
	}
	kind, text := l.scan()
	return token{kind, text, start, l.at, first}
}

// space skips blanks, comments and the byte order mark of a file, and reports
// whether a line began.
func (l *lexer) space() (newLine bool) {
	newLine = l.at == 0
	if newLine && strings.HasPrefix(l.text, "\ufeff") {
		l.at = len("\ufeff")
	}
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			newLine = true
			l.at++
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"):
			l.at += lineLength(l.text[l.at:])
		default:
			return newLine
		}
	}
	return newLine
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

func (l *lexer) scan() (tokKind, string) {
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case c == '"':
		return l.quoted(tokString)
	case c == '%' && len(rest) > 1 && (rest[1] == '"' || nameLength(rest[1:]) > 0 || isDigit(rest[1])):
		l.at++
		return l.name()
	case isDigit(c):
		return tokNumber, l.take(numberLength(rest))
	}
	if n := nameLength(rest); n > 0 {
		return tokWord, l.take(n)
	}
	for _, p := range puncts {
		if strings.HasPrefix(rest, p) {
			return tokPunct, l.take(len(p))
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	l.at += n
	return tokBad, "unexpected character " + strconv.QuoteRune(r)
}

// name reads what follows the sigil of a value.
func (l *lexer) name() (tokKind, string) {
	rest := l.text[l.at:]
	if rest[0] == '"' {
		return l.quoted(tokValue)
	}
	if n := nameLength(rest); n > 0 {
		return tokValue, l.take(n)
	}
	return tokTemp, l.take(digitsLength(rest))
}

// quoted reads a string on one line.
func (l *lexer) quoted(kind tokKind) (tokKind, string) {
	rest := l.text[l.at:]
	rest = rest[:lineLength(rest)]
	for i := 1; i < len(rest); i++ {
		if rest[i] == '\\' {
			i++
			continue
		}
		if rest[i] != '"' {
			continue
		}
		l.at += i + 1
		s, err := strconv.Unquote(rest[:i+1])
		if err != nil {
			return tokBad, "the string has a bad escape"
		}
		return kind, s
	}
	l.at += len(rest)
	return tokBad, "the string is not closed"
}

func (l *lexer) take(n int) string {
	s := l.text[l.at : l.at+n]
	l.at += n
	return s
}

// nameLength is the length of the plain name that s begins with: a letter or
// _, then letters, digits, _ and dots.
func nameLength(s string) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && (r == '.' || unicode.IsDigit(r)) {
			continue
		}
		return i
	}
	return len(s)
}

func digitsLength(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// numberLength is the length of the number that s begins with.
func numberLength(s string) int {
	n := digitsLength(s)
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n += 1 + digitsLength(s[n+1:])
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		exp := n + 1
		if exp < len(s) && (s[exp] == '-' || s[exp] == '+') {
			exp++
		}
		if digits := digitsLength(s[exp:]); digits > 0 {
			n = exp + digits
		}
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// plain reports whether a name needs no quotes. Letters that are no valid
// UTF-8 do: quoting keeps their bytes.
func plain(name string) bool {
	return name != "" && nameLength(name) == len(name) && utf8.ValidString(name)
}

// notSymbols are words that stand for something else where a symbol may stand.
var notSymbols = map[string]bool{"none": true, "true": true, "false": true, "inf": true, "nan": true, "_": true}

// symbolKey prints the name of a symbol.
func symbolKey(name string) string {
	if plain(name) && !notSymbols[name] {
		return name
	}
	return strconv.Quote(name)
}

// quoteName prints a name, in quotes when it is not plain.
func quoteName(name string) string {
	if plain(name) {
		return name
	}
	return strconv.Quote(name)
}

// span is the place of a token.
func (t token) span(src *diag.Source) diag.Span {
	return diag.Span{Src: src, Start: t.start, End: t.end}
}

// describe names a token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the text"
	case tokString:
		return strconv.Quote(t.text)
	case tokValue, tokTemp:
		return "%" + t.text
	}
	return t.text
}

// plural counts things: "1 result", "2 results".
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
