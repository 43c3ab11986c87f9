package syntax

import (
	"strings"
	"unicode/utf8"
)

// lineWidth is how many characters the formatter puts on a line where it can.
const lineWidth = 100

// indentWidth is one step of indentation.
const indentWidth = 4

// A doc is a piece of text with places where it may be broken into lines. The
// formatter builds one for a statement and lays it out: a group stands on one
// line if it fits, else all its own breaks become newlines.
type doc struct {
	kind docKind
	text string
	kids []doc
	hard bool // holds a break that must be taken
}

type docKind uint8

const (
	docText  docKind = iota
	docCat           // kids one after the other
	docNest          // as docCat, newlines within indented one step more
	docGroup         // as docCat, on one line if it fits
	docFill          // as docCat, each break taken only where the next kid does not fit
	docBreak         // text, or a newline
	docBlank         // a newline and an empty line
	docComma         // text where the group is broken, nothing else
	docTrail         // a comment at the end of the line
)

var (
	softBreak = doc{kind: docBreak}
	lineBreak = doc{kind: docBreak, text: " "}
	hardBreak = doc{kind: docBreak, hard: true}
	blankLine = doc{kind: docBlank, hard: true}
	lastComma = doc{kind: docComma, text: ","}
)

func str(text string) doc      { return doc{text: text} }
func trail(comment string) doc { return doc{kind: docTrail, text: comment, hard: true} }
func cat(kids ...doc) doc      { return parent(docCat, kids) }
func nest(kids ...doc) doc     { return parent(docNest, kids) }
func group(kids ...doc) doc    { return parent(docGroup, kids) }
func fill(kids ...doc) doc     { return parent(docFill, kids) }

func parent(kind docKind, kids []doc) doc {
	d := doc{kind: kind, kids: kids}
	for i := range kids {
		if kids[i].hard {
			d.hard = true
			break
		}
	}
	return d
}

// rigid is a doc that is never broken, unless it is too long for any line.
func rigid(d doc) doc {
	if d.hard || measure(&d, lineWidth/2) < 0 {
		return d
	}
	var b strings.Builder
	flatten(&d, &b)
	return str(b.String())
}

// flatten writes a doc as it is on one line.
func flatten(d *doc, b *strings.Builder) {
	if d.kind == docText || d.kind == docBreak {
		b.WriteString(d.text)
	}
	for i := range d.kids {
		flatten(&d.kids[i], b)
	}
}

// A textLine is one line of output, its comment apart so that the comments of
// neighbouring lines can be aligned.
type textLine struct {
	text, comment string
}

// A pending doc waits on the layout's stack: which of its kids is next, and how
// it is to be laid out.
type pending struct {
	d      *doc
	next   int
	indent int
	flat   bool
}

// A layout breaks docs into lines. It keeps a stack of its own, so a doc may
// have as many kids as it likes.
type layout struct {
	lines []textLine
	cur   strings.Builder
	col   int
	trail string
	stack []pending
}

// put lays a doc out as lines of their own.
func (l *layout) put(d doc, indent int) {
	l.startLine(indent)
	l.stack = append(l.stack[:0], pending{d: &d, indent: indent})
	for len(l.stack) > 0 {
		l.step()
	}
	l.endLine()
}

func (l *layout) blank() { l.lines = append(l.lines, textLine{}) }

func (l *layout) startLine(indent int) {
	l.col = indent
	l.cur.WriteString(strings.Repeat(" ", indent))
}

func (l *layout) endLine() {
	l.lines = append(l.lines, textLine{strings.TrimRight(l.cur.String(), " "), l.trail})
	l.cur.Reset()
	l.trail = ""
}

// step deals with the doc on top of the stack: writes it, or puts its next kid
// on top.
func (l *layout) step() {
	top := &l.stack[len(l.stack)-1]
	d := top.d
	switch d.kind {
	case docCat, docNest, docGroup:
		l.descend(top)
		return
	case docFill:
		l.stepFill(top)
		return
	case docText:
		l.write(d.text)
	case docComma:
		if !top.flat {
			l.write(d.text)
		}
	case docTrail:
		l.trail = strings.TrimSpace(l.trail + " " + d.text)
	case docBlank:
		l.endLine()
		l.blank()
		l.startLine(top.indent)
	case docBreak:
		if top.flat {
			l.write(d.text)
			break
		}
		l.endLine()
		l.startLine(top.indent)
	}
	l.stack = l.stack[:len(l.stack)-1]
}

func (l *layout) write(text string) {
	l.cur.WriteString(text)
	l.col += utf8.RuneCountInString(text)
}

// descend puts the next kid of a doc on the stack, in the doc's place when it
// is the last.
func (l *layout) descend(top *pending) {
	d := top.d
	if top.next == 0 {
		switch d.kind {
		case docNest:
			top.indent += indentWidth
		case docGroup:
			top.next = len(d.kids) // what is measured is not what follows it
			top.flat = top.flat || !d.hard && l.fits(0, d)
			top.next = 0
		}
	}
	if top.next == len(d.kids) {
		l.stack = l.stack[:len(l.stack)-1]
		return
	}
	kid := pending{d: &d.kids[top.next], indent: top.indent, flat: top.flat}
	top.next++
	if top.next == len(d.kids) {
		*top = kid
		return
	}
	l.stack = append(l.stack, kid)
}

// stepFill lays out the next kid of a fill. A break among the kids is taken
// when what follows it does not fit.
func (l *layout) stepFill(top *pending) {
	d := top.d
	if top.next == len(d.kids) {
		l.stack = l.stack[:len(l.stack)-1]
		return
	}
	i := top.next
	top.next++
	kid := pending{d: &d.kids[i], indent: top.indent, flat: top.flat}
	if kid.d.kind == docBreak && !kid.flat && !kid.d.hard && i+1 < len(d.kids) {
		top.next++ // what is measured is not what follows it
		kid.flat = !d.kids[i+1].hard && l.fits(utf8.RuneCountInString(kid.d.text), &d.kids[i+1])
		top.next--
	}
	l.stack = append(l.stack, kid)
}

// fits tells whether a gap, a doc, and what follows it up to the next break,
// have place on the line at hand.
func (l *layout) fits(gap int, d *doc) bool {
	left := measure(d, lineWidth-l.col-gap)
	if left < 0 {
		return false
	}
	for i := len(l.stack) - 1; i >= 0; i-- {
		p := l.stack[i]
		for k := p.next; k < len(p.d.kids); k++ {
			kid := &p.d.kids[k]
			if breaks(kid) && !p.flat {
				return true
			}
			if left = measureToBreak(kid, left, p.flat); left < 0 {
				return left == ended
			}
		}
	}
	return true
}

// ended is what measureToBreak returns when it met a break with room left.
const ended = -1 << 30

func breaks(d *doc) bool { return d.kind == docBreak || d.kind == docBlank }

// measure takes the flat width of a doc off left, and stops below zero.
func measure(d *doc, left int) int {
	switch d.kind {
	case docText, docBreak:
		return left - utf8.RuneCountInString(d.text)
	}
	for i := range d.kids {
		if left = measure(&d.kids[i], left); left < 0 {
			return left
		}
	}
	return left
}

// measureToBreak takes the width of a doc that follows a group off left, up to
// its first break.
func measureToBreak(d *doc, left int, flat bool) int {
	switch {
	case flat || d.kind == docText:
		return measure(d, left)
	case breaks(d):
		return ended
	}
	for i := range d.kids {
		if left = measureToBreak(&d.kids[i], left, false); left < 0 {
			return left
		}
	}
	return left
}

// String joins the lines, the comments of neighbouring lines aligned.
func (l *layout) String() string {
	var b strings.Builder
	for i := 0; i < len(l.lines); {
		n, width := i, 0
		for ; n < len(l.lines) && l.lines[n].comment != "" && l.lines[n].text != ""; n++ {
			width = max(width, utf8.RuneCountInString(l.lines[n].text))
		}
		for ; i < n; i++ {
			line := l.lines[i]
			b.WriteString(line.text + strings.Repeat(" ", 1+width-utf8.RuneCountInString(line.text)) + line.comment + "\n")
		}
		if i < len(l.lines) {
			b.WriteString(l.lines[i].text + l.lines[i].comment + "\n")
			i++
		}
	}
	return b.String()
}
