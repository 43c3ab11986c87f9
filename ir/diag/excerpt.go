package diag

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A mark is a span to be underlined, with what stands beside it.
type mark struct {
	span    Span
	label   string
	culprit bool
}

// mostBytes is how long a line may be to be shown whole; of a longer one, a
// window around the culprit is shown.
const (
	mostBytes  = 160
	windowLead = 40 // bytes before the first mark
)

// mostLines is how many lines of a span are shown whole; of a longer one, the
// first and the last.
const mostLines = 3

// section prints the lines of one source that marks stand on, with the marks
// beneath.
func (p *printer) section(marks []mark) {
	byLine := map[int][]mark{}
	for _, m := range marks {
		for _, piece := range m.pieces() {
			line := piece.span.Src.lineOf(piece.span.Start)
			byLine[line] = append(byLine[line], piece)
		}
	}
	lines := make([]int, 0, len(byLine))
	for line := range byLine {
		lines = append(lines, line)
	}
	sort.Ints(lines)
	src := marks[0].span.Src
	p.bar().end()
	for i, line := range lines {
		if i > 0 {
			p.gap(src, lines[i-1], line)
		}
		p.excerpt(src, line, byLine[line])
	}
}

// gap stands between two lines that are shown: the line between them when it is
// one, dots when there are more.
func (p *printer) gap(src *Source, before, line int) {
	switch line - before {
	case 1:
	case 2:
		p.excerpt(src, before+1, nil)
	default:
		p.add(gutterStyle, "...").end()
	}
}

// pieces cuts a mark into one for each line that is to be shown. White space at
// the end of the span, and before the first character of a later line, is left
// out; the label goes to the last piece.
func (m mark) pieces() []mark {
	s := m.span.within()
	s.End = max(s.Start, s.Start+len(strings.TrimRight(s.Src.Text[s.Start:s.End], " \t\r\n")))
	first, last := s.Src.lineOf(s.Start), s.Src.lineOf(s.End)
	if first == last {
		return []mark{{s, m.label, m.culprit}}
	}
	var list []mark
	for line := first; line <= last; line++ {
		if last-first >= mostLines && line > first && line < last {
			continue
		}
		if piece := lineOf(s, line); piece.Start < piece.End {
			list = append(list, mark{piece, "", m.culprit})
		}
	}
	if len(list) == 0 {
		list = []mark{{Span{s.Src, s.Start, s.Start}, "", m.culprit}}
	}
	list[len(list)-1].label = m.label
	return list
}

// lineOf returns the part of a span that is on a line.
func lineOf(s Span, line int) Span {
	start, end := s.Src.line(line)
	text := s.Src.Text[start:end]
	start += len(text) - len(strings.TrimLeft(text, " \t"))
	return Span{s.Src, max(start, s.Start), min(end, s.End)}
}

// excerpt prints one line and its marks.
func (p *printer) excerpt(src *Source, line int, marks []mark) {
	start, end := src.line(line)
	start, end, marks = p.window(src, start, end, marks)
	shown := newRuler(src.Text, start, end)
	p.number(src.number(line)).add(plainStyle, strings.TrimRight(shown.text, " ")).end()
	if len(marks) > 0 {
		p.underline(shown, marks)
	}
}

// window cuts a line that is too long to show down to the marks on it. A mark
// outside of the window becomes a note.
func (p *printer) window(src *Source, start, end int, marks []mark) (int, int, []mark) {
	if end-start <= mostBytes {
		return start, end, marks
	}
	from, culprit := end, end
	for _, m := range marks {
		from = min(from, m.span.Start)
		if m.culprit {
			culprit = m.span.Start
		}
	}
	if culprit < end && culprit-from > mostBytes/2 {
		from = culprit
	}
	left := start
	if len(marks) > 0 {
		left = runeStart(src.Text, max(start, from-windowLead))
	}
	right := runeStart(src.Text, min(end, left+mostBytes))
	var kept []mark
	for _, m := range marks {
		if m.span.Start < left || m.span.Start > right {
			if m.label != "" {
				p.extra = append(p.extra, m.span.Loc().String()+": "+m.label)
			}
			continue
		}
		m.span.End = min(m.span.End, right)
		kept = append(kept, m)
	}
	return left, right, kept
}

// runeStart moves back to where a character begins.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// A ruler is a piece of a line as a terminal shows it, and where its bytes
// come to stand.
type ruler struct {
	text  string
	start int   // the offset of its first byte
	cols  []int // the cell of each byte, and of the end
}

func newRuler(text string, start, end int) *ruler {
	r := &ruler{start: start, cols: make([]int, 0, end-start+1)}
	var b strings.Builder
	if start > 0 && text[start-1] != '\n' && text[start-1] != '\r' {
		b.WriteString("...")
	}
	col := b.Len()
	prev := rune(0)
	for i := start; i < end; {
		c, size := utf8.DecodeRuneInString(text[i:end])
		for range size {
			r.cols = append(r.cols, col)
		}
		i += size
		col += show(&b, col, prev, c)
		prev = c
	}
	r.cols = append(r.cols, col)
	if end < len(text) && text[end] != '\n' && text[end] != '\r' {
		b.WriteString("...")
	}
	r.text = b.String()
	return r
}

// show writes a character as it is shown at a cell, and returns how many cells
// it takes. Tabs become spaces; controls, which could move the cursor or
// reorder the line, a replacement character.
func show(b *strings.Builder, col int, prev, c rune) int {
	switch {
	case c == '\t':
		n := tabWidth - col%tabWidth
		b.WriteString(strings.Repeat(" ", n))
		return n
	case isControl(c):
		b.WriteRune(utf8.RuneError)
		return 1
	}
	b.WriteRune(c)
	return cells(prev, c)
}

// at returns the cell of an offset.
func (r *ruler) at(offset int) int { return r.cols[clamp(offset-r.start, len(r.cols)-1)] }
