package diag

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Source is one text that users wrote, with the name under which messages
// show it. A source without text (a call of the Go builder) still has a name
// and a first line.
type Source struct {
	Name      string
	Text      string
	FirstLine int // line number of the text's first line; 0 means 1

	lines []int // byte offset of each line's start
	marks []int // byte offset of every markEvery-th character; nil: no line is long
}

// markEvery is how many characters at most are counted to find a column.
const markEvery = 1 << 10

// NewSource names a text. The text is taken as it is.
func NewSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, lines: lineStarts(text)}
	if slices.ContainsFunc(s.lines, func(start int) bool {
		return len(text)-start > markEvery && strings.IndexByte(text[start:start+markEvery], '\n') < 0
	}) {
		s.marks = marksOf(text)
	}
	return s
}

// marksOf lets columns be found in a text of one line, of which much may be wrong,
// without counting from the beginning for each.
func marksOf(text string) []int {
	marks := make([]int, 0, 1+len(text)/markEvery)
	n := 0
	for i := range text {
		if n%markEvery == 0 {
			marks = append(marks, i)
		}
		n++
	}
	return marks
}

// column counts the characters from the start of a line to an offset, from 1.
func (s *Source) column(start, offset int) int {
	if offset-start <= markEvery || s.marks == nil {
		return 1 + utf8.RuneCountInString(s.Text[start:offset])
	}
	return 1 + s.characters(offset) - s.characters(start)
}

// characters counts those before an offset.
func (s *Source) characters(offset int) int {
	mark := sort.SearchInts(s.marks, offset+1) - 1
	return mark*markEvery + utf8.RuneCountInString(s.Text[s.marks[mark]:offset])
}

func lineStarts(text string) []int {
	lines := make([]int, 1, 2+len(text)/32)
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return lines
		}
		i += n + 1
		lines = append(lines, i)
	}
}

// starts returns the lines' starts. A Source may be asked by several goroutines
// at once, so one that NewSource did not make is counted each time.
func (s *Source) starts() []int {
	if s.lines == nil {
		return lineStarts(s.Text)
	}
	return s.lines
}

// Word returns the span of what begins at a line and a column, both counted
// from 1: a name, else one character. Outside the text it is nowhere.
func (s *Source) Word(line, col int) Span {
	starts := s.starts()
	if line < 1 || line > len(starts) || col < 1 {
		return Span{}
	}
	begin, end := s.line(line - 1)
	rest := []rune(s.Text[begin:end])
	if col > len(rest) {
		return Span{}
	}
	length := 1
	for length < len(rest[col-1:]) && isWord(rest[col-1]) && isWord(rest[col-1+length]) {
		length++
	}
	at := begin + len(string(rest[:col-1]))
	return Span{s, at, at + len(string(rest[col-1:col-1+length]))}
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// lineOf returns which line, from 0, holds an offset.
func (s *Source) lineOf(offset int) int {
	return sort.SearchInts(s.starts(), offset+1) - 1
}

// line returns where a line begins and ends, without its newline.
func (s *Source) line(i int) (start, end int) {
	starts := s.starts()
	start, end = starts[i], len(s.Text)
	if i+1 < len(starts) {
		end = starts[i+1] - 1
	}
	if end > start && s.Text[end-1] == '\r' {
		end--
	}
	return start, end
}

// number returns how users count a line.
func (s *Source) number(line int) int { return max(s.FirstLine, 1) + line }

// At returns the place of a builder call: a file and a line, no text.
func At(file string, line int) Span {
	return Span{Src: &Source{Name: file, FirstLine: line}}
}

// A Span is a half-open range of bytes [Start, End) in a source. The zero
// Span is "nowhere".
type Span struct {
	Src        *Source
	Start, End int
}

// A Loc is a place in words: file, line and column, both counted from 1.
// Columns count characters (code points), a tab being one. The zero Loc is
// "nowhere"; a column of 0 means that only the line is known.
type Loc struct {
	File      string
	Line, Col int
}

// String is file:line:col, without what is not known.
func (l Loc) String() string {
	text := l.File
	for _, n := range []int{l.Line, l.Col} {
		if n <= 0 {
			break
		}
		if text != "" {
			text += ":"
		}
		text += strconv.Itoa(n)
	}
	return text
}

// Loc returns where the span begins.
func (s Span) Loc() Loc { return s.at(s.Start) }

// EndLoc returns where the span ends (exclusive).
func (s Span) EndLoc() Loc { return s.at(s.End) }

func (s Span) at(offset int) Loc {
	if s.Src == nil {
		return Loc{}
	}
	if s.Src.Text == "" {
		return Loc{File: s.Src.Name, Line: max(s.Src.FirstLine, 1)}
	}
	offset = clamp(offset, len(s.Src.Text))
	line := s.Src.lineOf(offset)
	start, _ := s.Src.line(line)
	return Loc{s.Src.Name, s.Src.number(line), s.Src.column(start, offset)}
}

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span {
	if s.Src == nil {
		return t
	}
	if t.Src != s.Src {
		return s
	}
	return Span{s.Src, min(s.Start, t.Start), max(s.End, t.End)}
}

// hasText tells whether there is a line to show.
func (s Span) hasText() bool { return s.Src != nil && s.Src.Text != "" }

// within returns the span cut to its text, so that a wrong one cannot do harm.
func (s Span) within() Span {
	start := clamp(s.Start, len(s.Src.Text))
	return Span{s.Src, start, max(start, clamp(s.End, len(s.Src.Text)))}
}

func clamp(n, top int) int { return max(0, min(n, top)) }
