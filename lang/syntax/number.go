package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// number moves over a number: 3, 0x1f, 0b11, 0o17, 1_000, 0.5, 1e-5. It ends
// before "..", which is a range, and before ".name", which is a method.
func (s *scanner) number() lexer.TokenType {
	start := s.off
	text := s.text[start:]
	n, bad := numberLength(text)
	if w := wordTail(text[n:]); bad == "" && w > 0 {
		n, bad = n+w, "letters follow the digits"
	}
	s.off += n
	if bad != "" {
		s.fail(newError(s.span(start, s.off), "%s is not a number: %s", clip(text[:n]), bad).
			help("numbers are 3, 0x1f, 1_000, 0.5 and 1e-5; a name begins with a letter"))
	}
	return tNumber
}

// bases maps the letter after a 0 to the digits that may follow.
var bases = map[byte]string{
	'x': "0123456789abcdefABCDEF", 'X': "0123456789abcdefABCDEF",
	'o': "01234567", 'O': "01234567",
	'b': "01", 'B': "01",
}

// numberLength returns how many bytes of text make up the number at its start,
// and what is wrong with it.
func numberLength(text string) (n int, bad string) {
	if len(text) > 1 && text[0] == '0' && bases[text[1]] != "" {
		n, bad = digits(text, 2, bases[text[1]])
		if n == 2 {
			bad = "no digit follows " + text[:2]
		}
		return n, bad
	}
	n, bad = digits(text, 0, "0123456789")
	integer := n
	if n+1 < len(text) && text[n] == '.' && isDigit(text[n+1]) {
		n, bad = digits(text, n+1, "0123456789")
	}
	if m := exponent(text[n:]); m > 0 {
		n += m
	}
	if n == integer && n > 1 && text[0] == '0' && strings.Trim(text[:n], "0_") != "" {
		bad = "an integer has no leading zeros (octal is 0o17)"
	}
	return n, bad
}

// digits moves from i over digits and the single underscores between them.
func digits(text string, i int, set string) (n int, bad string) {
	begin := i
	for i < len(text) && (text[i] == '_' || strings.IndexByte(set, text[i]) >= 0) {
		if text[i] == '_' && (i == begin && begin == 0 || i+1 == len(text) || strings.IndexByte(set, text[i+1]) < 0) {
			bad = "an underscore stands between digits only"
		}
		i++
	}
	return i, bad
}

// exponent returns the length of e5, e-5 or E+5 at the start of text, 0 for
// none.
func exponent(text string) int {
	if text == "" || text[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	begin := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == begin {
		return 0
	}
	return i
}

// wordTail returns how many bytes at the start of text would go on a word.
func wordTail(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, isWordRune))
}

// isFloat tells whether a number's text is that of a float.
func isFloat(text string) bool {
	if text == "inf" || text == "nan" {
		return true
	}
	if len(text) > 1 && bases[text[1]] != "" {
		return false
	}
	return strings.ContainsAny(text, ".eE")
}
