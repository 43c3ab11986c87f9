package syntax

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
)

// A badText is what is wrong in a text literal, and where in its source text.
type badText struct {
	start, end int
	message    string
}

func (b *badText) diagnostic(src *diag.Source, at int) *syntaxError {
	return newError(diag.Span{Src: src, Start: at + b.start, End: at + b.end}, "%s", b.message).
		help(`the escapes are \n \t \r \" \\ and \u00e9; a backslash itself is \\`)
}

// unquote returns the value of a literal, which still has its quotes. The
// escapes are Go's; the value is always valid UTF-8.
func unquote(literal string) (string, *badText) {
	body := literal[1 : len(literal)-1]
	if plain(body) {
		return body, nil
	}
	value := make([]byte, 0, len(body))
	for rest := body; rest != ""; {
		at := 1 + len(body) - len(rest)
		r, wide, tail, err := strconv.UnquoteChar(rest, '"')
		size := len(rest) - len(tail)
		switch {
		case err != nil:
			return "", &badText{at, min(at+2, len(literal)-1), "unknown escape in a text"}
		case !wide && r >= utf8.RuneSelf:
			return "", &badText{at, at + size, "the escape makes a byte that is not UTF-8"}
		case size == 1 && unicode.IsControl(r) && r != '\t':
			return "", &badText{at, at + size, "a control character stands in a text"}
		}
		value = utf8.AppendRune(value, r)
		rest = tail
	}
	return string(value), nil
}

// plain tells whether a literal's body stands for itself.
func plain(body string) bool {
	for i := 0; i < len(body); i++ {
		if c := body[i]; c == '\\' || c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// clip shortens a piece of source for a message.
func clip(text string) string {
	const most = 40
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}
