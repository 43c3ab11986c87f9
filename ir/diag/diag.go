package diag

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A Source is one text that users wrote, with the name under which messages
// show it. A source without text (a call of the Go builder) still has a name
// and a first line.
type Source struct {
	Name      string
	Text      string
	FirstLine int // line number of the text's first line; 0 means 1

	lines []int // byte offset of each line's start, made on first use
}

// NewSource names a text. The text is taken as it is.
func NewSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// At returns the place of a builder call: a file and a line, no text.
func At(file string, line int) Span {
	return Span{Src: &Source{Name: file, FirstLine: line, lines: []int{0}}}
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

// Loc returns where the span begins.
func (s Span) Loc() Loc { return s.at(s.Start) }

// EndLoc returns where the span ends (exclusive).
func (s Span) EndLoc() Loc { return s.at(s.End) }

func (s Span) at(offset int) Loc {
	if s.Src == nil {
		return Loc{}
	}
	first := max(s.Src.FirstLine, 1)
	if s.Src.Text == "" {
		return Loc{File: s.Src.Name, Line: first}
	}
	line := sort.SearchInts(s.Src.lines, offset+1) - 1
	begin := s.Src.lines[line]
	return Loc{s.Src.Name, first + line, 1 + utf8.RuneCountInString(s.Src.Text[begin:min(offset, len(s.Src.Text))])}
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

// Severity tells errors, which stop a compilation, from warnings.
type Severity uint8

const (
	Error Severity = iota
	Warning
)

// A Label marks a span with what the compiler knows about it.
type Label struct {
	Span Span
	Text string
}

// A Diagnostic is one message to the user.
//
//	file:line:col: error: SUBJECT: statement [code]
type Diagnostic struct {
	Severity  Severity
	Code      string  // a row of Codes: "shape-mismatch"
	Span      Span    // the culprit, marked ^
	Loc       Loc     // where the culprit is when there is no Span (run time, IR text)
	Subject   string  // the operator or construct: "matmul"; may be empty
	Message   string  // the statement
	Label     string  // what is known about the culprit; may be empty
	Witnesses []Label // marked -, at most three
	Notes     []string
	Helps     []string
	Within    []Label // library lines that the culprit led to, outermost first
}

// Error gives the first line of the message, so that a Diagnostic is an error.
func (d *Diagnostic) Error() string { return d.Headline() }

// A List is the diagnostics of one compilation, in source order once sorted.
// A List with an error in it is an error.
type List []*Diagnostic

// Error joins the first lines of the errors.
func (l List) Error() string {
	var lines []string
	for _, d := range l {
		if d.Severity == Error {
			lines = append(lines, d.Headline())
		}
	}
	return strings.Join(lines, "\n")
}

// Err returns the list as an error if it holds an error, else nil.
func (l List) Err() error {
	for _, d := range l {
		if d.Severity == Error {
			return l
		}
	}
	return nil
}
