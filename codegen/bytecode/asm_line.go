package bytecode

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A line reads one line of a listing from left to right. Its first error ends
// it: from then on nothing is there any more, and what is asked for is zero.
type line struct {
	src   *diag.Source
	at    int // offsets in the text
	end   int
	fault *diag.Diagnostic
}

func (l *line) rest() string {
	if l.fault != nil {
		return ""
	}
	return l.src.Text[l.at:l.end]
}

// fail records the first error, at the next size bytes.
func (l *line) fail(size int, format string, args ...any) {
	if l.fault == nil {
		l.fault = &diag.Diagnostic{
			Code: "bad-bytecode", Message: fmt.Sprintf(format, args...),
			Span: diag.Span{Src: l.src, Start: l.at, End: min(l.at+size, l.end)},
		}
	}
}

// expected fails at the next word.
func (l *line) expected(what string) {
	found := "the line ends"
	word := l.peek()
	if word != "" {
		found = "found " + word
	}
	l.fail(max(1, len(word)), "expected %s, but %s", what, found)
}

// space skips blanks and a comment.
func (l *line) space() {
	rest := l.rest()
	l.at += len(rest) - len(strings.TrimLeft(rest, " \t\r"))
	if strings.HasPrefix(l.rest(), "//") {
		l.at = l.end
	}
}

func (l *line) done() bool { l.space(); return l.rest() == "" }

// peek is what comes up to the next blank.
func (l *line) peek() string {
	l.space()
	rest := l.rest()
	if n := strings.IndexAny(rest, " \t\r"); n >= 0 {
		return rest[:n]
	}
	return rest
}

// word takes what comes up to the next blank.
func (l *line) word() string {
	w := l.peek()
	l.at += len(w)
	return w
}

// accept takes a word if it is the next.
func (l *line) accept(word string) bool {
	if l.fault != nil || l.peek() != word {
		return false
	}
	l.at += len(word)
	return true
}

func (l *line) expect(word string) {
	if !l.accept(word) {
		l.expected(word)
	}
}

// finish checks that nothing follows.
func (l *line) finish() {
	if !l.done() {
		l.expected("the end of the line")
	}
}

// name takes a name as nameText writes it.
func (l *line) name(what string) string {
	l.space()
	rest := l.rest()
	if n := quotedLength(rest); n > 0 {
		return l.quoted(n)
	}
	n := 0
	if strings.HasPrefix(rest, "%") {
		if n = quotedLength(rest[1:]); n == 0 {
			n = max(wordLength(rest[1:]), digitsLength(rest[1:]))
		}
		n++
	} else if n = wordLength(rest); rest[:n] == "frame" {
		n += len(rest[n:]) - len(strings.TrimLeft(rest[n:], "(t0123456789)"))
	}
	if name := rest[:n]; isValue(name) || isFrame(name) || isWord(name) {
		l.at += n
		return name
	}
	l.expected(what)
	return ""
}

// quoted takes a string of so many bytes.
func (l *line) quoted(n int) string {
	s, err := strconv.Unquote(l.rest()[:n])
	if err != nil {
		l.fail(n, "the string has a bad escape")
		return ""
	}
	l.at += n
	return s
}

// integer takes a whole number that lies in a range.
func (l *line) integer(what string, from, to int64) int64 {
	return l.number(l.peek(), 10, what, from, to)
}

// number takes the next bytes, which are the digits of a number.
func (l *line) number(digits string, base int, what string, from, to int64) int64 {
	n, err := strconv.ParseInt(digits, base, 64)
	switch {
	case l.fault != nil:
		return 0
	case err != nil && isNumber(digits, base), err == nil && (n < from || n > to):
		l.fail(len(digits), "%s is not between %d and %d", what, from, to)
		return 0
	case err != nil:
		l.expected(what)
		return 0
	}
	l.at += len(digits)
	return n
}

func isNumber(digits string, base int) bool {
	digits = strings.TrimPrefix(digits, "-")
	allowed := "0123456789abcdefABCDEF"[:base+6*(base/16)]
	return digits != "" && strings.Trim(digits, allowed) == ""
}

// after takes a letter or word and the number behind it: b12, input0.
func (l *line) after(prefix, what string) int {
	digits, ok := strings.CutPrefix(l.peek(), prefix)
	if !ok || digits == "" {
		l.expected(what)
		return 0
	}
	l.at += len(prefix)
	return int(l.number(digits, 10, "the number", 0, math.MaxInt32-1))
}

// isIndex reports whether the next word is a letter and a number, or _.
func (l *line) isIndex(prefix string) bool {
	digits, ok := strings.CutPrefix(l.peek(), prefix)
	return ok && digits != "" && digitsLength(digits) == len(digits)
}

// buffer takes b12.
func (l *line) buffer() int { return l.after("b", "a buffer") }

// buffers takes all that follow; absent ones where that is allowed.
func (l *line) buffers(absentToo bool) (list []int) {
	for l.fault == nil {
		switch {
		case l.isIndex("b"):
			list = append(list, l.buffer())
		case absentToo && l.accept("_"):
			list = append(list, Absent)
		default:
			return list
		}
	}
	return nil
}

// typ takes f32[64,256], or _ for an absent argument.
func (l *line) typ() Type {
	word := l.peek()
	if l.accept("_") {
		return Type{Shape: []int{}}
	}
	name, dims, ok := strings.Cut(word, "[")
	d, known := tensor.ParseDType(name)
	dims, closed := strings.CutSuffix(dims, "]")
	if !ok || !known || !closed {
		l.expected("a type such as f32[64,256]")
		return Type{}
	}
	t := Type{DType: d, Shape: []int{}}
	for dims != "" {
		var dim string
		dim, dims, ok = strings.Cut(dims, ",")
		n, err := strconv.ParseInt(dim, 10, 64)
		if err != nil || n < 0 || n > MaxBytes || ok && dims == "" {
			l.fail(len(word), "%s is no type: a dimension is a number from 0 to %d", word, int64(MaxBytes))
			return Type{}
		}
		t.Shape = append(t.Shape, int(n))
	}
	if _, ok := t.SizeBytes(); !ok {
		l.fail(len(word), "there is no tensor of the type %s", word)
		return Type{}
	}
	l.at += len(word)
	return t
}

// isType reports whether a type may follow.
func (l *line) isType() bool {
	w := l.peek()
	return w != "" && w != "->"
}

// attrs takes the attributes of a kernel, if there are some.
func (l *line) attrs() string {
	l.space()
	rest := l.rest()
	if n := quotedLength(rest); n > 0 {
		return l.quoted(n)
	}
	if !strings.HasPrefix(rest, "{") {
		return ""
	}
	n := bracesLength(rest)
	if n == 0 {
		l.fail(1, "the brace is not closed on this line")
		return ""
	}
	l.at += n
	return rest[1 : n-1]
}

// place takes @in.npu:3:5, if it is there.
func (l *line) place() (pos diag.Loc) {
	if !strings.HasPrefix(l.peek(), "@") {
		return pos
	}
	l.at++
	rest := l.rest()
	if n := quotedLength(rest); n > 0 {
		pos.File = l.quoted(n)
		l.colon()
	} else if n := fileLength(rest); n > 0 && digitsLength(rest) == 0 {
		pos.File = rest[:n]
		l.at += n
		l.colon()
	}
	pos.Line = l.count("a line")
	if strings.HasPrefix(l.rest(), ":") {
		l.colon()
		pos.Col = l.count("a column")
	}
	return pos
}

func (l *line) colon() {
	if !strings.HasPrefix(l.rest(), ":") {
		l.expected(`":" and a line`)
		return
	}
	l.at++
}

func (l *line) count(what string) int {
	rest := l.rest()
	return int(l.number(rest[:digitsLength(rest)], 10, what, 0, math.MaxInt32))
}

// values takes the elements of a constant: 0.5, [1, 2], [0 ...] or base64.
func (l *line) values() (v tensor.Values) {
	l.space()
	rest := l.rest()
	if n := quotedLength(rest); n > 0 {
		v.Coded, v.Base64 = true, l.quoted(n)
		return v
	}
	if !strings.HasPrefix(rest, "[") {
		v.Scalar, v.Words = true, []string{l.element()}
		return v
	}
	l.at++
	for !l.punct("]") && l.fault == nil {
		if len(v.Words) == 0 && strings.HasPrefix(l.rest(), "...") {
			l.fail(3, "the values of the constant were left out of the listing")
			return v
		}
		v.Words = append(v.Words, l.element())
		switch {
		case len(v.Words) == 1 && l.punct("..."):
			v.Fill = true
			if !l.punct("]") {
				l.expected(`"]"`)
			}
			return v
		case l.punct(","):
		case !l.punct("]"):
			l.expected(`"," or "]"`)
		default:
			return v
		}
	}
	return v
}

// punct takes a mark if it is next.
func (l *line) punct(mark string) bool {
	l.space()
	if !strings.HasPrefix(l.rest(), mark) {
		return false
	}
	l.at += len(mark)
	return true
}

// element takes a number, true, false, inf or nan.
func (l *line) element() string {
	l.space()
	rest := l.rest()
	n := strings.IndexAny(rest, " \t\r,]")
	if n < 0 {
		n = len(rest)
	}
	word := strings.TrimSuffix(rest[:n], "...")
	if word == "" {
		l.expected("a number")
		return ""
	}
	l.at += len(word)
	return word
}

// lineAt returns the line that begins at an offset, and where the next begins.
func lineAt(src *diag.Source, at int) (*line, int) {
	end, next := len(src.Text), len(src.Text)
	if n := strings.IndexByte(src.Text[at:], '\n'); n >= 0 {
		end, next = at+n, at+n+1
	}
	l := &line{src: src, at: at, end: end}
	if !utf8.ValidString(l.rest()) {
		l.fail(1, "the line is no text in UTF-8")
	}
	return l, next
}
