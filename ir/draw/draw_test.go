package draw

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
)

// TestRandom draws random functions, and looks at what every layout owes: rows
// lead downwards, boxes of a row do not overlap, every line is drawn, and the
// text is XML and the same the second time.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		f, _ := irtest.Func(r, 40)
		checkSheet(t, lay(compose(f)))
		svg := text(t, func(w io.Writer) error {
			return SVG(w, f, Options{Mark: func(v *ir.Value) string { return v.Name }})
		})
		checkXML(t, svg)
		again := text(t, func(w io.Writer) error {
			return SVG(w, f, Options{Mark: func(v *ir.Value) string { return v.Name }})
		})
		if svg != again {
			t.Fatalf("two pictures of one function\n%s", f)
		}
		text(t, func(w io.Writer) error { return Dot(w, f) })
	}
}

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func checkSheet(t *testing.T, s *sheet) {
	t.Helper()
	g := s.grid
	for _, row := range g.rows {
		for i := 1; i < len(row); i++ {
			a, b := g.items[row[i-1]], g.items[row[i]]
			if a.x-a.w/2+a.w > b.x-b.w/2 {
				t.Fatalf("items %d and %d overlap: %+v, %+v", row[i-1], row[i], a, b)
			}
		}
	}
	for i, b := range g.boxes {
		if b.x-b.w/2 < 0 || b.x-b.w/2+b.w > s.width || b.y < 0 || b.y+b.h > s.height {
			t.Fatalf("box %d lies outside: %+v in %d x %d", i, b, s.width, s.height)
		}
	}
	var reached map[int]bool
	wires := append([]wire(nil), s.wires...)
	slices.SortStableFunc(wires, func(a, b wire) int { return a.from - b.from })
	for i, w := range wires {
		if i == 0 || wires[i-1].from != w.from {
			reached = reach(g, w.from)
		}
		if g.boxes[w.from].row >= g.boxes[w.to].row {
			t.Fatalf("the wire %+v leads from row %d to row %d", w, g.boxes[w.from].row, g.boxes[w.to].row)
		}
		if !reached[w.to] {
			t.Fatalf("the wire %+v is not drawn", w)
		}
	}
	for _, bodies := range s.bodies {
		for _, b := range bodies {
			checkSheet(t, b)
		}
	}
}

// reach follows the pieces of the lines that leave a box.
func reach(g *grid, from int) map[int]bool {
	reached := map[int]bool{from: true}
	for _, h := range g.hops[from] {
		if reached[h.from] {
			reached[h.to] = true
		}
	}
	return reached
}

// shapes are graphs of n nodes on which layouts fail.
var shapes = []struct {
	name string
	line func(i int) string
}{
	{"chain", func(i int) string { return fmt.Sprintf("%%a%d = relu %%a%d : f32[4]", i+1, i) }},
	{"fan", func(i int) string { return fmt.Sprintf("%%a%d = relu %%a0 : f32[4]", i+1) }},
	{"ladder", func(i int) string { return fmt.Sprintf("%%a%d = add %%a%d, %%a0 : f32[4]", i+1, i) }},
	{"nest", func(i int) string {
		return fmt.Sprintf("%%a%d = add %%a%d, %%a%d : f32[4]", i+1, i, max(0, i-(i%1500)*2))
	}},
}

// TestLarge bounds the time and the size of pictures of 3,000 nodes.
func TestLarge(t *testing.T) {
	const n = 3000
	for _, shape := range shapes {
		var b strings.Builder
		b.WriteString("func @main(%a0: f32[4]) -> (out: f32[4]) {\n")
		for i := range n {
			b.WriteString(shape.line(i) + "\n")
		}
		fmt.Fprintf(&b, "return %%a%d\n}", n)
		f := irtest.Parse(t, b.String())
		start := time.Now()
		svg := text(t, func(w io.Writer) error { return SVG(w, f, Options{}) })
		took := time.Since(start)
		t.Logf("%s: %v, %d kB", shape.name, took, len(svg)>>10)
		if took > 5*time.Second || len(svg) > 8<<20 {
			t.Errorf("%s: %v and %d bytes", shape.name, took, len(svg))
		}
		checkSheet(t, lay(compose(f)))
	}
}

// TestEscapes draws names that hold what the formats mean something by.
func TestEscapes(t *testing.T) {
	f := irtest.Parse(t, `func @"a<b>&\"\\\n" (%"<i>\"\\N": f32[2]) -> ("</svg>": f32[2]) {
  %"]]>\x01" = relu %"<i>\"\\N" : f32[2]
  return %"]]>\x01"
}`)
	svg := text(t, func(w io.Writer) error { return SVG(w, f, Options{Mark: func(v *ir.Value) string { return v.Name }}) })
	checkXML(t, svg)
	if strings.Contains(svg, "<i>") || strings.Count(svg, "</svg>") != 1 {
		t.Errorf("a name is markup in\n%s", svg)
	}
	dot := text(t, func(w io.Writer) error { return Dot(w, f) })
	if want := `digraph "a<b>&\"\\\n" {`; !strings.HasPrefix(dot, want) {
		t.Errorf("want %s in\n%s", want, dot)
	}
}

// The two forms of pictures have one set of colours.
func TestColours(t *testing.T) {
	for unit, c := range fills {
		if row := fmt.Sprintf(".graph .%s > rect { fill: %s; stroke: %s }\n", unit, c[0], c[1]); !strings.Contains(Style, row) {
			t.Errorf("the style sheet lacks %s", row)
		}
	}
	for _, k := range []kind{weight, constant} {
		if !strings.Contains(looks[k], `fillcolor="#f2f0e6", color="#b8b296"`) {
			t.Errorf("%s has other colours than in the style sheet: %s", kindNames[k], looks[k])
		}
	}
	if !strings.Contains(Style, ".graph .weight > rect, .graph .const > rect { fill: #f2f0e6; stroke: #b8b296 }\n") {
		t.Error("the style sheet has other colours for weights")
	}
}
