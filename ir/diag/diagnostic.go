package diag

import (
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Severity tells errors, which stop a compilation, from warnings.
type Severity uint8

const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

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
	Cause     error   // what the system said, for errors.Is; no part of the text; may be nil
}

// Error gives the first line of the message, so that a Diagnostic is an error.
func (d *Diagnostic) Error() string { return d.Headline() }

// Unwrap returns the cause.
func (d *Diagnostic) Unwrap() error { return d.Cause }

// Place returns where the culprit is, by its Span or else its Loc.
func (d *Diagnostic) Place() Loc {
	if d.Span.Src != nil {
		return d.Span.Loc()
	}
	return d.Loc
}

// Headline returns the first line of the message:
//
//	file:line:col: error: SUBJECT: statement [code]
//
// without the parts that are not known. It is one line whatever the names in
// it hold.
func (d *Diagnostic) Headline() string {
	var parts []string
	for _, part := range []string{oneLine(d.Place().String()), d.Severity.String(), brief(d.Subject)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(append(parts, brief(d.Message)), ": ")
	if d.Code != "" {
		text += " [" + oneLine(d.Code) + "]"
	}
	return text
}

// A text of a message is cut if it is longer than longest: it quotes a name or a
// value that is no longer one to read. Its end often says what is wanted.
const (
	longest = 1000 // characters: a dozen lines of a terminal
	headOf  = 600
	tailOf  = 200
)

// brief is one line of a length that can be read.
func brief(text string) string {
	if len(text) <= longest {
		return oneLine(text)
	}
	head, tail := text, text
	for i, n := 0, 0; i < len(text) && n <= headOf; n++ {
		head = text[:i]
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	for i, n := len(text), 0; i > 0 && n <= tailOf; n++ {
		tail = text[i:]
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	if len(head)+len(tail) >= len(text) {
		return oneLine(text)
	}
	return oneLine(head) + " ... " + oneLine(tail)
}

// oneLine makes control characters, newlines above all, visible.
func oneLine(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isControl(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isControl finds what could move the cursor, change colours or reorder text:
// the controls and the bidirectional marks. Joiners are harmless.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

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

// Unwrap returns the errors of the list, warnings left out.
func (l List) Unwrap() []error {
	var errs []error
	for _, d := range l {
		if d.Severity == Error {
			errs = append(errs, d)
		}
	}
	return errs
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

// Count returns how many errors and how many warnings the list holds.
func (l List) Count() (errors, warnings int) {
	for _, d := range l {
		if d.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Sort returns the list by source and position, without the second of two
// that say the same. Sources keep the order in which they first appear in the
// list; diagnostics of one place keep theirs.
func (l List) Sort() List {
	rank := map[string]int{}
	rows := make([]ranked, 0, len(l))
	seen := map[string]bool{}
	for _, d := range l {
		at := d.Place()
		if key := d.Headline() + "\x00" + d.Label; !seen[key] {
			seen[key] = true
			if _, ok := rank[at.File]; !ok {
				rank[at.File] = len(rank)
			}
			rows = append(rows, ranked{d, at, rank[at.File]})
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].before(rows[j]) })
	sorted := make(List, len(rows))
	for i, r := range rows {
		sorted[i] = r.d
	}
	return sorted
}

// A ranked diagnostic has its place worked out, once.
type ranked struct {
	d    *Diagnostic
	at   Loc
	file int
}

func (r ranked) before(s ranked) bool {
	switch {
	case r.file != s.file:
		return r.file < s.file
	case r.at.Line != s.at.Line:
		return r.at.Line < s.at.Line
	}
	return r.at.Col < s.at.Col
}
