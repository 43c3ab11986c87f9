package tensor

import (
	"strings"
	"unicode/utf8"
)

// A Style says how much of a tensor is printed, and in what form.
type Style struct {
	Threshold int  // with more elements than this only the edges of each axis are shown
	Edge      int  // elements at each end of a shortened axis
	Width     int  // columns after which a long row goes on in the next line
	OneLine   bool // no line breaks, no alignment
}

// Page is the style for people reading a result: NumPy's defaults.
var Page = Style{Threshold: 1000, Edge: 3, Width: 80}

// Line is the style for a message.
var Line = Style{Threshold: 12, Edge: 2, OneLine: true}

// String is the type and the values in one line, shortened if there are many:
// f32[2,2] [[1, 2], [3, 4]].
func (t *T) String() string { return t.Type() + " " + t.Format(Line) }

// Pretty is the type and below it the values, aligned, one row a line,
// shortened if there are many.
func (t *T) Pretty() string { return t.Type() + "\n" + t.Format(Page) }

// Format prints the values as nested brackets, without the type.
func (t *T) Format(s Style) string {
	p := printer{t: t, style: s, strides: Strides(t.Shape), edge: -1}
	if t.Len() == 0 {
		return string(appendEmpty(nil, t.Shape))
	}
	if t.Len() > s.Threshold {
		p.edge = p.fitEdge()
	}
	if p.edge == 0 {
		return "[...]" // so many axes that even their ends are too many
	}
	if !s.OneLine {
		p.width = p.widest()
	}
	p.axis(0, 0)
	return p.out.String()
}

type printer struct {
	t       *T
	style   Style
	strides []int
	edge    int // -1: everything
	width   int // of an element, for alignment
	out     strings.Builder
	column  int
}

// fitEdge shortens the edges until what is shown keeps below the threshold.
func (p *printer) fitEdge() int {
	for edge := max(p.style.Edge, 1); edge > 0; edge-- {
		shown := 1
		for _, d := range p.t.Shape {
			shown *= min(d, 2*edge)
			if shown > max(p.style.Threshold, 2) {
				break
			}
		}
		if shown <= max(p.style.Threshold, 2) {
			return edge
		}
	}
	return 0
}

// each visits the indices of an axis that are shown; -1 stands for the gap.
func (p *printer) each(axis int, visit func(i int)) {
	n := p.t.Shape[axis]
	for i := 0; i < n; i++ {
		if p.edge > 0 && i == p.edge && n > 2*p.edge {
			visit(-1)
			i = n - p.edge
		}
		visit(i)
	}
}

// widest measures the elements that are shown.
func (p *printer) widest() int {
	widest := 0
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(p.t.Shape) {
			widest = max(widest, len(p.t.Text(at)))
			return
		}
		p.each(axis, func(i int) {
			if i >= 0 {
				walk(axis+1, at+i*p.strides[axis])
			}
		})
	}
	walk(0, 0)
	return widest
}

// axis prints the list along one axis, whose first element is at at.
func (p *printer) axis(axis, at int) {
	if axis == len(p.t.Shape) {
		p.element(p.t.Text(at))
		return
	}
	p.write("[")
	first := true
	p.each(axis, func(i int) {
		if !first {
			p.separate(axis)
		}
		first = false
		if i < 0 {
			p.write("...")
			return
		}
		p.axis(axis+1, at+i*p.strides[axis])
	})
	p.write("]")
}

// separate puts a comma and, between rows, a line break; blocks of rows are
// set apart by empty lines, one for each further axis.
func (p *printer) separate(axis int) {
	inner := len(p.t.Shape) - 1 - axis
	if p.style.OneLine {
		p.write(", ")
		return
	}
	p.write(",")
	if inner == 0 {
		if p.column+1+p.width >= p.style.Width {
			p.newline(1, axis+1)
			return
		}
		p.write(" ")
		return
	}
	p.newline(inner, axis+1)
}

func (p *printer) element(text string) {
	p.write(strings.Repeat(" ", max(0, p.width-len(text))))
	p.write(text)
}

func (p *printer) newline(lines, indent int) {
	p.out.WriteString(strings.Repeat("\n", lines))
	p.column = 0
	p.write(strings.Repeat(" ", indent))
}

func (p *printer) write(s string) {
	p.out.WriteString(s)
	p.column += utf8.RuneCountInString(s)
}
