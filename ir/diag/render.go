package diag

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MostErrors is how many diagnostics a list prints; of the others, how many
// there are.
const MostErrors = 100

// Render writes the list, an empty line between two diagnostics. Of more than
// MostErrors it tells how many are left out. The list is sorted by Sort if it
// is to be.
func (l List) Render(w io.Writer, color bool) error {
	var b strings.Builder
	for i, d := range l {
		if i == MostErrors {
			fmt.Fprintf(&b, "\nand %d more\n", len(l)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		d.render(&b, color)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Render writes the whole message: the first line, the excerpt with its marks,
// notes and helps, each line ended by a newline. With color it has the escape
// sequences of a terminal in it.
func (d *Diagnostic) Render(w io.Writer, color bool) error {
	var b strings.Builder
	d.render(&b, color)
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the whole message, without colors.
func (d *Diagnostic) String() string {
	var b strings.Builder
	d.render(&b, false)
	return b.String()
}

func (d *Diagnostic) render(b *strings.Builder, color bool) {
	p := &printer{b: b, color: color}
	p.headline(d)
	sections := d.sections()
	p.gutter = gutterWidth(sections)
	for i, s := range sections {
		if i > 0 || s[0].span.Src != d.Span.Src {
			p.arrow(s[0].span.Loc())
		}
		p.section(s)
	}
	p.remarks("note", append(p.extra, append(d.placeless(), d.Notes...)...))
	p.remarks("help", d.Helps)
}

// sections groups the marks by what is shown together: the culprit's source,
// each other source of a witness, each library line by itself.
func (d *Diagnostic) sections() [][]mark {
	var list [][]mark
	put := func(m mark) {
		for i := range list {
			if list[i][0].span.Src == m.span.Src {
				list[i] = append(list[i], m)
				return
			}
		}
		list = append(list, []mark{m})
	}
	if d.Span.hasText() {
		put(mark{d.Span, d.Label, true})
	}
	for _, w := range d.Witnesses {
		if w.Span.hasText() {
			put(mark{w.Span, w.Text, false})
		}
	}
	for _, w := range d.Within {
		if w.Span.hasText() {
			list = append(list, []mark{{w.Span, w.Text, false}})
		}
	}
	return list
}

// placeless words the labels that have no text to stand under.
func (d *Diagnostic) placeless() []string {
	var list []string
	if d.Label != "" && !d.Span.hasText() {
		list = append(list, d.Label)
	}
	for _, labels := range [][]Label{d.Witnesses, d.Within} {
		for _, l := range labels {
			switch at := l.Span.Loc().String(); {
			case l.Span.hasText():
			case at == "":
				list = append(list, l.Text)
			default:
				list = append(list, at+": "+l.Text)
			}
		}
	}
	return list
}

// gutterWidth is the width of the largest line number that is shown.
func gutterWidth(sections [][]mark) int {
	width := 1
	for _, s := range sections {
		for _, m := range s {
			at := m.span.within()
			width = max(width, len(strconv.Itoa(at.Src.number(at.Src.lineOf(at.End)))))
		}
	}
	return width
}

// A style is a terminal's rendition, as the parameters of its escape sequence.
type style string

const (
	plainStyle   style = ""
	boldStyle    style = "1"
	errorStyle   style = "1;31"
	warningStyle style = "1;33"
	culpritStyle style = "1;31"
	witnessStyle style = "1;34"
	gutterStyle  style = "1;34"
	remarkStyle  style = "1;36"
)

type cell struct {
	r     rune
	style style
}

// A printer writes the lines of one diagnostic.
type printer struct {
	b      *strings.Builder
	line   strings.Builder
	color  bool
	gutter int
	extra  []string // labels that found no place, for the notes
}

// add appends text to the line at hand.
func (p *printer) add(s style, text string) *printer {
	if p.color && s != plainStyle && text != "" {
		p.line.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
		return p
	}
	p.line.WriteString(text)
	return p
}

// end writes the line at hand, without spaces at its end.
func (p *printer) end() {
	p.b.WriteString(strings.TrimRight(p.line.String(), " "))
	p.b.WriteByte('\n')
	p.line.Reset()
}

func (p *printer) cells(row []cell) *printer {
	for i := 0; i < len(row); {
		j := i
		var text strings.Builder
		for ; j < len(row) && row[j].style == row[i].style; j++ {
			text.WriteRune(row[j].r)
		}
		p.add(row[i].style, text.String())
		i = j
	}
	return p
}

// bar begins a line without a number.
func (p *printer) bar() *printer {
	return p.add(gutterStyle, strings.Repeat(" ", p.gutter)+" |").add(plainStyle, " ")
}

// number begins the line of a source.
func (p *printer) number(n int) *printer {
	return p.add(gutterStyle, fmt.Sprintf("%*d |", p.gutter, n)).add(plainStyle, " ")
}

// arrow tells the place of a section that is not that of the first line.
func (p *printer) arrow(at Loc) {
	p.add(gutterStyle, strings.Repeat(" ", p.gutter)+"-->").add(plainStyle, " "+oneLine(at.String())).end()
}

// headline prints the first line; only its color differs from Headline.
func (p *printer) headline(d *Diagnostic) {
	text := d.Headline()
	name := errorStyle
	if d.Severity == Warning {
		name = warningStyle
	}
	place := ""
	if at := d.Place().String(); at != "" {
		place = oneLine(at) + ": "
	}
	word := d.Severity.String()
	p.add(boldStyle, place).add(name, word).add(boldStyle, text[len(place)+len(word):]).end()
}

// remarks prints notes or helps, the further lines of one below its first.
func (p *printer) remarks(name string, texts []string) {
	indent := strings.Repeat(" ", p.gutter+1)
	for _, text := range texts {
		first, rest, _ := strings.Cut(text, "\n")
		p.add(gutterStyle, indent+"= ").add(remarkStyle, name+":").add(plainStyle, " "+brief(first)).end()
		for rest != "" {
			first, rest, _ = strings.Cut(rest, "\n")
			p.add(plainStyle, indent+"        "+brief(first)).end()
		}
	}
}
