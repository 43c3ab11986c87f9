package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/npulang/npu/ir"
)

// Dot writes f in the language of Graphviz. Regions are clusters. The error is
// the writer's.
func Dot(w io.Writer, f *ir.Func) error {
	d := &dot{Writer: bufio.NewWriter(w), ids: map[*node]int{}}
	s := compose(f)
	d.print(0, "digraph %s {", quote(f.Name))
	d.print(1, `node [shape=box, style="filled,rounded", fillcolor=white, fontname=monospace, fontsize=10]`)
	d.print(1, `edge [arrowsize=0.6, color="#66707c"]`)
	d.scene(s, 1)
	d.print(0, "}")
	return d.Flush()
}

// A dot writes one graph. Errors stay in the Writer.
type dot struct {
	*bufio.Writer
	ids map[*node]int
}

func (d *dot) print(depth int, format string, args ...any) {
	_, _ = fmt.Fprintf(d, strings.Repeat("  ", depth)+format+"\n", args...)
}

// scene writes nodes, then what they read.
func (d *dot) scene(s *scene, depth int) {
	for _, n := range s.nodes {
		d.ids[n] = len(d.ids)
		if n.kind == region {
			d.cluster(n, depth)
			continue
		}
		d.print(depth, "n%d [%s]", d.ids[n], attributes(n))
	}
	for _, w := range s.wires {
		d.wire(s.nodes[w.from], s.nodes[w.to], w, depth)
	}
}

// attributes are the label of a node and what its kind looks like.
func attributes(n *node) string {
	label := "label=" + quote(n.head+"\n"+n.text())
	if n.kind == port {
		return "label=\"\", shape=point, width=0.08, tooltip=" + quote(strings.TrimSpace(n.head+" "+n.text()))
	}
	if look := looks[n.kind]; look != "" {
		return label + ", " + look
	}
	return fmt.Sprintf("%s, fillcolor=%q, color=%q", label, fills[n.unit][0], fills[n.unit][1])
}

// looks are the attributes of kinds that have no unit.
var looks = map[kind]string{
	input:    "shape=oval, style=filled",
	output:   "shape=oval, style=filled",
	weight:   `style=filled, fillcolor="#f2f0e6", color="#b8b296", fontsize=8, margin="0.05,0.02", height=0.2`,
	constant: `style=filled, fillcolor="#f2f0e6", color="#b8b296", fontsize=8, margin="0.05,0.02", height=0.2`,
}

// fills are the colours of units: inside and border.
var fills = map[string][2]string{
	"cube":   {"#ffd9b8", "#c7641a"},
	"vector": {"#cfe3ff", "#2f6fc4"},
	"scalar": {"#eadcff", "#7d4fc0"},
	"dma":    {"#d3f0d4", "#3b8c41"},
}

// cluster writes a region. A fused one is read through its ports; another one has
// a node of its own, which leads to its bodies.
func (d *dot) cluster(n *node, depth int) {
	d.print(depth, "subgraph cluster_%d {", d.ids[n])
	d.print(depth+1, "label=%s; style=rounded; color=%q; fontname=monospace; fontsize=10", quote(n.head+"  "+n.text()), fills[n.unit][1])
	if !n.ported() {
		d.print(depth+1, "n%d [%s]", d.ids[n], attributes(n))
	}
	for k, b := range n.bodies {
		if n.ported() {
			d.scene(b, depth+1)
			continue
		}
		d.print(depth+1, "subgraph cluster_%d_%d {", d.ids[n], k)
		d.print(depth+2, "label=%s; style=dashed", quote(b.label))
		d.scene(b, depth+2)
		d.print(depth+1, "}")
		for _, in := range b.ins {
			d.print(depth+1, "n%d -> n%d [style=dashed]", d.ids[n], d.ids[in])
		}
	}
	d.print(depth, "}")
}

// ported reports whether a region is read through the ports of its body alone.
func (n *node) ported() bool { return len(n.bodies) == 1 && n.bodies[0].label == "" }

// wire writes a line from a result to an argument.
func (d *dot) wire(from, to *node, w wire, depth int) {
	if from.ported() && w.result < len(from.bodies[0].outs) {
		from = from.bodies[0].outs[w.result]
	}
	if to.ported() && w.slot < len(to.bodies[0].ins) {
		to = to.bodies[0].ins[w.slot]
	}
	d.print(depth, "n%d -> n%d", d.ids[from], d.ids[to])
}

// quoter makes a text harmless between quotes: a backslash would begin one of
// Graphviz's escapes.
var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x00", "�")

func quote(text string) string {
	return `"` + quoter.Replace(strings.ToValidUTF8(text, "�")) + `"`
}
