package draw

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/npulang/npu/ir"
)

// Options steer a picture in SVG.
type Options struct {
	// Mark gives a value a text that its node carries as data-v, for a page that
	// holds the picture; nil: nodes carry none.
	Mark func(*ir.Value) string
	// Bare leaves out the style sheet: the page has the one of Style.
	Bare bool
}

// border is the empty room around a picture.
const border = 12

// SVG writes f as a picture that can be opened by itself or be put into a page.
// The error is the writer's.
func SVG(w io.Writer, f *ir.Func, o Options) error {
	s := lay(compose(f))
	p := &painter{bufio.NewWriter(w), o}
	width, height := s.width+2*border, s.height+2*border
	p.print(`<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	p.print("<title>%s</title>\n", escape("graph "+f.Name))
	if !o.Bare {
		p.print("<style>\n%s</style>\n", Style)
	}
	p.print(`<g transform="translate(%d %d)">`+"\n", border, border)
	p.sheet(s)
	p.print("</g>\n</svg>\n")
	return p.Flush()
}

// A painter writes SVG. Errors stay in the Writer.
type painter struct {
	*bufio.Writer
	Options
}

func (p *painter) print(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

// sheet draws the lines, then the nodes over them.
func (p *painter) sheet(s *sheet) {
	for i := range s.nodes {
		p.lines(s, i)
	}
	for i, n := range s.nodes {
		p.node(s, n, &s.grid.boxes[i])
	}
}

// lines draws all that leaves a node, with a head at each reader.
func (p *painter) lines(s *sheet, at int) {
	hops := s.grid.hops[at]
	if len(hops) == 0 {
		return
	}
	var line, heads strings.Builder
	for _, h := range hops {
		x, y := s.grid.tail(h)
		x1, y1 := s.grid.head(h)
		top := s.grid.bands[s.grid.items[h.to].row].top
		bottom := s.grid.bands[s.grid.items[h.from].row].bottom
		bend := max((top-bottom)/2, rowGap/2)
		fmt.Fprintf(&line, "M%d %d%sC%d %d %d %d %d %d%s", x, y, down(y, bottom), x, bottom+bend, x1, top-bend, x1, top, down(top, y1))
		if h.to < len(s.nodes) {
			fmt.Fprintf(&heads, "M%d %dl-3 -6h6z", x1, y1)
		}
	}
	p.print(`<path class="line"%s d="%s"/><path class="tip" d="%s"/>`+"\n", p.mark(s.nodes[at]), line.String(), heads.String())
}

// down is a straight piece of a line.
func down(from, to int) string {
	if from == to {
		return ""
	}
	return fmt.Sprintf("V%d", to)
}

// tail is where a piece of a line begins: below a box, or at the top of the row
// that a waypoint leads through.
func (g *grid) tail(h hop) (x, y int) {
	if h.from < len(g.boxes) {
		b := g.boxes[h.from]
		return b.x + h.leave, b.y + b.h
	}
	it := g.items[h.from]
	return it.x, g.bands[it.row].top
}

// head is where a piece of a line ends: above a box, or at the top of the row of
// a waypoint.
func (g *grid) head(h hop) (x, y int) {
	if h.to < len(g.boxes) {
		b := g.boxes[h.to]
		return b.x + h.enter, b.y
	}
	it := g.items[h.to]
	return it.x, g.bands[it.row].top
}

// mark is what ties a node to its value in a page.
func (p *painter) mark(n *node) string {
	if p.Mark == nil || n.value == nil {
		return ""
	}
	return ` data-v="` + escape(p.Mark(n.value)) + `"`
}

// node draws a box, its text, and the bodies inside.
func (p *painter) node(s *sheet, n *node, b *box) {
	left := b.x - b.w/2
	p.print(`<g class="%s"%s><title>%s</title>`, strings.TrimSpace("node "+kindNames[n.kind]+" "+n.unit), p.mark(n), escape(n.tooltip()))
	if n.kind == port {
		p.print(`<circle cx="%d" cy="%d" r="%d"/></g>`+"\n", b.x, b.y+b.h/2, portSize/2)
		return
	}
	p.print(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, left, b.y, b.w, b.h, roundness[n.kind])
	p.print(`<text class="h" x="%d" y="%d">%s</text>`, b.x, b.y+lineHeight, escape(short(n.head)))
	p.print(`<text x="%d" y="%d">%s</text></g>`+"\n", b.x, b.y+2*lineHeight-3, escape(short(n.text())))
	for k, body := range s.bodies[n.at] {
		x, y := left+s.bodyLeft(n.at, k, b.w), b.y+2*lineHeight+padding
		p.print(`<g transform="translate(%d %d)">`+"\n", x, y+body.margin()-padding)
		if body.label != "" {
			p.print(`<text class="label" x="0" y="-4">%s</text>`+"\n", escape(body.label))
		}
		p.sheet(body)
		p.print("</g>\n")
	}
}

// roundness tells kinds apart by their corners.
var roundness = [...]int{operator: 4, region: 6, input: 18, weight: 0, constant: 0, output: 18, port: 0}

// tooltip is the whole of what a node shows a part of.
func (n *node) tooltip() string {
	if n.whole != "" {
		return brief(strings.TrimSuffix(n.whole, " {"))
	}
	return brief(n.head + " : " + n.text())
}

// longestTooltip bounds tooltips: attributes may hold a thousand numbers.
const longestTooltip = 300

func brief(text string) string {
	if r := []rune(text); len(r) > longestTooltip {
		return string(r[:longestTooltip]) + "…"
	}
	return text
}

// escape makes a text harmless in XML; what XML cannot hold becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// Style is the style sheet of pictures, in light and dark. Units have the colours
// that Dot gives them.
const Style = `.graph text { font: 10px ui-monospace, Menlo, Consolas, monospace; text-anchor: middle; fill: #1c2127 }
.graph text.h { font-size: 12px; font-weight: 600 }
.graph text.label { text-anchor: start; font-style: italic }
.graph .weight text.h, .graph .const text.h { font-size: 10px; font-weight: 400 }
.graph rect { fill: #fff; stroke: #8a94a0 }
.graph circle { fill: #8a94a0 }
.graph .line { fill: none; stroke: #8a94a0; stroke-width: 1.2 }
.graph .tip { fill: #8a94a0 }
.graph .cube > rect { fill: #ffd9b8; stroke: #c7641a }
.graph .vector > rect { fill: #cfe3ff; stroke: #2f6fc4 }
.graph .scalar > rect { fill: #eadcff; stroke: #7d4fc0 }
.graph .dma > rect { fill: #d3f0d4; stroke: #3b8c41 }
.graph .region > rect { fill-opacity: .35; stroke-width: 1.5 }
.graph .weight > rect, .graph .const > rect { fill: #f2f0e6; stroke: #b8b296 }
@media (prefers-color-scheme: dark) {
.graph text { fill: #e4e8ec }
.graph rect { fill: #23282e; stroke: #6b7683 }
.graph circle, .graph .tip { fill: #7d8894 }
.graph .line { stroke: #7d8894 }
.graph .cube > rect { fill: #5c3412; stroke: #e08a45 }
.graph .vector > rect { fill: #163a66; stroke: #6aa2ee }
.graph .scalar > rect { fill: #3f2a63; stroke: #ae88ea }
.graph .dma > rect { fill: #1d4a21; stroke: #6fbf75 }
.graph .weight > rect, .graph .const > rect { fill: #33312a; stroke: #7d7860 }
}
`
