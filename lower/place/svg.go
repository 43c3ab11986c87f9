package place

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Drawing is a plan as a picture: time goes to the right, offsets upwards, and a
// buffer is a rectangle from the beginning of its life to the end.
type Drawing struct {
	Title   string
	Problem *Problem
	Plan    *Plan
	Names   []string // by buffer; nil: their numbers
	Tick    string   // in front of the numbers of the time axis: "t"; they are then steps, not moments between two
}

// maxDrawn bounds the rectangles: of more the largest are drawn, which are what
// can be seen.
const maxDrawn = 4000

// The sheet, in pixels: the plot and what is around it.
const (
	plotWidth, plotHeight = 1000, 560
	marginLeft            = 90
	marginTop             = 40
	marginRight           = 20
	marginBottom          = 40
	letterWidth           = 7 // of the labels' monospaced letters, with some air
	labelHeight           = 14
)

// fills are the colours of buffers, by turns; dark letters can be read on all.
var fills = [...]string{"#9ecae9", "#ffbf79", "#88d27a", "#f2cf5b", "#d6a5c9", "#83bcb6", "#ff9d98", "#bab0ac", "#c9bd8b", "#d8b5a5"}

const style = `text{font:11px ui-monospace,monospace;fill:#222}.b rect{stroke:#444;stroke-width:.5}.axis{stroke:#888}.grid{stroke:#ddd;stroke-width:.5}.bound{stroke:#c00;stroke-width:1.5;stroke-dasharray:6 4}.h{font-weight:bold;font-size:13px}`

// Draw writes the picture as SVG. The same drawing always gives the same bytes.
func (d *Drawing) Draw(w io.Writer) error {
	p := &pen{Writer: bufio.NewWriter(w), d: d}
	p.scale()
	width, height := marginLeft+plotWidth+marginRight, marginTop+plotHeight+marginBottom
	p.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	p.print("<title>%s</title>\n<style>%s</style>\n", escape(d.Title), style)
	p.print(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	p.print(`<text class="h" x="%d" y="20">%s</text>`+"\n", marginLeft, escape(d.Title))
	shown := d.largest()
	p.axes()
	for _, i := range shown {
		p.buffer(i)
	}
	p.bound()
	if all := len(d.Problem.Buffers); len(shown) < all {
		p.print(`<text x="%d" y="34">the largest %d of %d buffers</text>`+"\n", marginLeft, len(shown), all)
	}
	p.print("</svg>\n")
	return p.Flush()
}

// largest lists the buffers to draw, in their own order: all that have a size, or
// those with the largest rectangles.
func (d *Drawing) largest() []int {
	var list []int
	for i, b := range d.Problem.Buffers {
		if b.Size > 0 && b.Upper > b.Lower {
			list = append(list, i)
		}
	}
	if len(list) <= maxDrawn {
		return list
	}
	area := func(i int) float64 {
		b := d.Problem.Buffers[i]
		return float64(b.Size) * float64(b.Upper-b.Lower)
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(area(j), area(i)) })
	list = list[:maxDrawn]
	slices.Sort(list)
	return list
}

// A pen draws on the sheet.
type pen struct {
	*bufio.Writer
	d        *Drawing
	from, to int64 // times
	top      int64 // bytes
	perTime  float64
	perByte  float64
}

func (p *pen) print(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// scale fits the lives and the offsets into the plot.
func (p *pen) scale() {
	for i, b := range p.d.Problem.Buffers {
		if i == 0 || b.Lower < p.from {
			p.from = b.Lower
		}
		p.to = max(p.to, b.Upper)
	}
	p.top = max(p.d.Plan.Height, p.d.Plan.Bound, 1)
	p.perTime = plotWidth / float64(max(p.to-p.from, 1))
	p.perByte = plotHeight / float64(p.top)
}

func (p *pen) x(time int64) float64  { return marginLeft + float64(time-p.from)*p.perTime }
func (p *pen) y(bytes int64) float64 { return marginTop + plotHeight - float64(bytes)*p.perByte }

func (p *pen) buffer(i int) {
	b, at := p.d.Problem.Buffers[i], p.d.Plan.Offsets[i]
	x, y := p.x(b.Lower), p.y(at+b.Size)
	w, h := p.x(b.Upper)-x, p.y(at)-y
	name := p.d.name(i)
	p.print(`<g class="b"><title>%s, %d bytes at %d, from %s%d to %s%d</title>`, escape(name), b.Size, at, p.d.Tick, b.Lower, p.d.Tick, b.Upper-1)
	p.print(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, w, h, fills[i%len(fills)])
	if label := fit(name, fmt.Sprint(b.Size), w, h); label != "" {
		p.print(`<text x="%.1f" y="%.1f">%s</text>`, x+3, y+h/2+4, escape(label))
	}
	p.print("</g>\n")
}

// fit is as much of a label as a rectangle has room for: name and size, the name,
// its beginning, or nothing.
func fit(name, size string, w, h float64) string {
	room := int((w - 6) / letterWidth)
	runes := []rune(name)
	switch {
	case h < labelHeight || room < 2:
		return ""
	case len(runes)+1+len(size) <= room:
		return name + " " + size
	case len(runes) <= room:
		return name
	}
	return string(runes[:room-1]) + "…"
}

func (d *Drawing) name(i int) string {
	if d.Names == nil {
		return fmt.Sprint(i)
	}
	return d.Names[i]
}

// axes draws the frame of the plot, and some numbers at it: those of steps in the
// middle of their time, moments where they are, and bytes with a line across.
func (p *pen) axes() {
	step := byteStep(p.top)
	for k := range p.top/step + 1 {
		n := k * step
		p.print(`<path class="grid" d="M%d %.1fH%d"/>`, marginLeft, p.y(n), marginLeft+plotWidth)
		p.print(`<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", marginLeft-6, p.y(n)+4, bytesText(n, step))
	}
	to, half := p.to, 0.0
	if p.d.Tick != "" {
		to, half = max(p.to-1, p.from), p.perTime/2
	}
	for _, n := range ticks(p.from, to) {
		p.print(`<text x="%.1f" y="%d" text-anchor="middle">%s%d</text>`+"\n", p.x(n)+half, marginTop+plotHeight+18, p.d.Tick, n)
	}
	p.print(`<path class="axis" fill="none" d="M%d %dV%dH%d"/>`+"\n", marginLeft, marginTop, marginTop+plotHeight, marginLeft+plotWidth)
}

// byteStep is the least power of two that makes at most ten steps to the top:
// sizes are mostly multiples of one, so that edges fall on lines.
func byteStep(top int64) int64 {
	step := int64(1)
	for top/step > 10 {
		step *= 2
	}
	return step
}

// byteUnits are what offsets are counted in, from the step that has them on.
var byteUnits = [...]struct {
	bytes int64
	name  string
}{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}}

// bytesText is an offset in the unit of the steps.
func bytesText(n, step int64) string {
	for _, u := range byteUnits {
		if n > 0 && step >= u.bytes {
			return fmt.Sprint(n/u.bytes) + u.name
		}
	}
	return "0"
}

// ticks are at most eleven round numbers from lo to hi.
func ticks(lo, hi int64) (list []int64) {
	step, factors := int64(1), [...]int64{2, 5, 10}
	for unit := int64(1); (hi-lo)/step > 10; {
		for _, f := range factors {
			if step = unit * f; (hi-lo)/step <= 10 {
				break
			}
		}
		unit *= 10
	}
	first := lo / step * step
	if first < lo {
		first += step
	}
	for n := first; n <= hi; n += step {
		list = append(list, n)
	}
	return list
}

// bound draws the line that no plan can stay below.
func (p *pen) bound() {
	y := p.y(p.d.Plan.Bound)
	p.print(`<path class="bound" d="M%d %.1fH%d"/>`, marginLeft, y, marginLeft+plotWidth)
	p.print(`<text x="%d" y="%.1f" text-anchor="end">lower bound %d</text>`+"\n", marginLeft+plotWidth, y-4, p.d.Plan.Bound)
}

// escape makes a text harmless in XML; what XML cannot hold becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
