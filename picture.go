package npu

import (
	"fmt"
	"io"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/draw"
)

// A PictureFormat is a language in which graphs are drawn.
type PictureFormat string

// The formats. The empty format is Dot.
const (
	Dot PictureFormat = "dot" // for Graphviz
	SVG PictureFormat = "svg" // with npu's own layout; browsers show it
)

// PictureFormats lists the formats.
var PictureFormats = []PictureFormat{Dot, SVG}

// painters writes a function in each format.
var painters = map[PictureFormat]func(io.Writer, *ir.Func) error{
	"":  draw.Dot,
	Dot: draw.Dot,
	SVG: func(w io.Writer, f *ir.Func) error { return draw.SVG(w, f, draw.Options{}) },
}

// showPicture draws the chosen graph as the passes leave it.
func (c *compilation) showPicture() (string, error) {
	paint, ok := painters[c.opts.Format]
	if !ok {
		return "", Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("unknown format %q", c.opts.Format),
			Helps: []string{"pictures are written as dot or svg"}}}
	}
	g, err := c.pick()
	if err == nil {
		err = c.checkDims()
	}
	if err != nil {
		return "", err
	}
	o, err := c.optimise(g.Func)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = paint(&b, o.fn)
	return b.String(), err
}

// A Picture is a graph to be drawn, whose nodes know their numbers.
type Picture struct {
	fn   *ir.Func
	mark func(*ir.Value) string
}

// Values counts the nodes.
func (p *Picture) Values() int {
	n := 0
	for range p.fn.All() {
		n++
	}
	return n
}

// WriteSVG draws the graph for a page: without a style sheet, which PictureStyle
// is, and with the numbers of the values as data-v.
func (p *Picture) WriteSVG(w io.Writer) error {
	return draw.SVG(w, p.fn, draw.Options{Mark: p.mark, Bare: true})
}

// PictureStyle is the style sheet of pictures.
const PictureStyle = draw.Style

// picture keeps a function as it is now, with the numbers of its values.
func (h *history) picture(f *ir.Func) *Picture {
	f, copies := f.Clone()
	marks := make(map[*ir.Value]string, len(copies))
	for v, c := range copies {
		marks[c] = fmt.Sprint(h.numbers[v])
	}
	return &Picture{f, func(v *ir.Value) string { return marks[v] }}
}
