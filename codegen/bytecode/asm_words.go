package bytecode

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
)

// The words of listings: how they are written so that they can be read back,
// whatever is in them.

// wordLength is the length of the plain word that s begins with: a letter or _,
// then letters, digits, _ and dots, as in names of the IR, which this package does
// not import.
func wordLength(s string) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && (r == '.' || unicode.IsDigit(r)) {
			continue
		}
		return i
	}
	return len(s)
}

// digitsLength is the length of the digits that s begins with.
func digitsLength(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// quotedLength is the length of the quoted string that s begins with; 0: it
// begins with none, or one that is not closed on its line.
func quotedLength(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	escaped := false
	for i := 1; i < len(s) && s[i] != '\n' && s[i] != '\r'; i++ {
		switch {
		case escaped:
			escaped = false
		case s[i] == '\\':
			escaped = true
		case s[i] == '"':
			return i + 1
		}
	}
	return 0
}

func isWord(s string) bool { return s != "" && wordLength(s) == len(s) && utf8.ValidString(s) }

// isValue reports whether s is the name of a value as the IR prints it: %h, %12,
// %"odd name".
func isValue(s string) bool {
	name, ok := strings.CutPrefix(s, "%")
	if !ok || name == "" {
		return false
	}
	if digitsLength(name) == len(name) || isWord(name) {
		return true
	}
	text, err := strconv.Unquote(name)
	return err == nil && strconv.Quote(text) == name
}

// isFrame reports whether s is the name that the planner gives to memory of a
// body: frame(t3).
func isFrame(s string) bool {
	s, ok := strings.CutPrefix(s, "frame(t")
	n := digitsLength(s)
	return ok && n > 0 && s[n:] == ")"
}

// nameText writes a name, in quotes where it could be taken for something else.
func nameText(s string) string {
	if isValue(s) || isFrame(s) || isWord(s) && s != "views" {
		return s
	}
	return strconv.Quote(s)
}

// attrsText writes the attributes of a kernel: between braces, or in quotes if
// the braces would not show where they end.
func attrsText(s string) string {
	if text := "{" + s + "}"; bracesLength(text) == len(text) {
		return text
	}
	return strconv.Quote(s)
}

// bracesLength is the length of the text between balanced braces, strings
// respected, that s begins with; 0: there is none on this line.
func bracesLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n', '\r':
			return 0
		case '"':
			n := quotedLength(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

// placeText writes a place in a source: @in.npu:3:5, @"odd name":3, @3.
func placeText(l diag.Loc) string {
	text := "@"
	if l.File != "" {
		text += fileText(l.File) + ":"
	}
	text += strconv.Itoa(l.Line)
	if l.Col != 0 {
		text += ":" + strconv.Itoa(l.Col)
	}
	return text
}

func fileText(s string) string {
	if n := fileLength(s); n == len(s) && digitsLength(s) == 0 && utf8.ValidString(s) {
		return s
	}
	return strconv.Quote(s)
}

// fileLength is the length of the plain file name that s begins with.
func fileLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./+~", r)
	})
	if n < 0 {
		return len(s)
	}
	return n
}

// span prints the range of a loop: 0..16, or 0.. when only the condition ends
// it.
func (in *Instr) span() string {
	text := strconv.FormatInt(in.From, 10) + ".."
	if in.To != Unbounded {
		text += strconv.FormatInt(in.To, 10)
	}
	return text
}
