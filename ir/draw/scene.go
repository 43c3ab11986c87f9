package draw

import (
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
)

// A kind says what a node stands for.
type kind uint8

const (
	operator kind = iota
	region        // an operator with bodies
	input
	weight
	constant
	output
	port // of a body: a value that it reads, or yields
)

// kindNames are the classes of the nodes in pictures.
var kindNames = [...]string{operator: "op", region: "region", input: "input", weight: "weight", constant: "const", output: "output", port: "port"}

// A node is one box of a picture.
type node struct {
	kind   kind
	head   string    // the operator, or the rule of a fused region
	names  []string  // of the values that it computes, but for sources
	typ    string    // of the first one
	unit   string    // that computes it; empty: none
	whole  string    // the line of the text form that says all
	value  *ir.Value // nil: an output, a port
	bodies []*scene
	at     int // in the scene
}

// A wire leads from a result of a node to an argument of another.
type wire struct {
	from, to     int // in the scene
	result, slot int // which result, which argument
}

// A scene is a function as nodes, which stand in the order of their definition,
// and wires, which lead forward.
type scene struct {
	label string // of a body: then, else, body, cond
	nodes []*node
	wires []wire
	ins   []*node // parameters
	outs  []*node // results
}

// compose makes the scene of a graph.
func compose(f *ir.Func) *scene {
	lines, names := ir.Lines(f, ir.PrintOptions{Elide: 1})
	whole := make(map[*ir.Value]string, len(lines))
	for _, l := range lines {
		if l.Value != nil {
			whole[l.Value] = strings.TrimSpace(l.Text)
		}
	}
	c := &composer{names: names, whole: whole}
	s := c.function(f)
	for i, v := range f.Results {
		c.result(s, v, &node{kind: output, head: f.ResultName(i), typ: typeText(v)})
	}
	return s
}

// A composer makes the scenes of one graph.
type composer struct {
	names map[*ir.Value]string
	whole map[*ir.Value]string
	nodes map[*ir.Value]*node // of the function under way
}

// function makes the nodes of a function's parameters and values.
func (c *composer) function(f *ir.Func) *scene {
	s := &scene{}
	c.nodes = make(map[*ir.Value]*node, len(f.Params)+len(f.Body))
	for _, v := range f.Params {
		n := s.add(&node{kind: input, head: c.names[v], typ: v.Type.String(), whole: c.names[v] + ": " + v.Type.String(), value: v})
		c.nodes[v] = n
		s.ins = append(s.ins, n)
	}
	for _, v := range f.Body {
		if v.Index() > 0 { // drawn with the first result
			owner := c.nodes[v.Args[0]]
			owner.names = append(owner.names, c.names[v])
			c.nodes[v] = owner
			continue
		}
		n := s.add(c.node(v))
		c.nodes[v] = n
		for i, a := range v.Args {
			if a != nil {
				s.wires = append(s.wires, wire{c.nodes[a].at, n.at, a.Index(), i})
			}
		}
	}
	return s
}

// text is the second line of a node: %h f32[B,2].
func (n *node) text() string {
	return strings.TrimSpace(strings.Join(n.names, ", ") + " " + n.typ)
}

func (s *scene) add(n *node) *node {
	n.at = len(s.nodes)
	s.nodes = append(s.nodes, n)
	return n
}

// result adds a node for what a function returns.
func (c *composer) result(s *scene, v *ir.Value, n *node) {
	s.add(n)
	s.outs = append(s.outs, n)
	if v != nil {
		s.wires = append(s.wires, wire{c.nodes[v].at, n.at, v.Index(), 0})
	}
}

// sources are the operators that only bring a value.
var sources = map[*ir.Op]kind{ir.Param: weight, ir.Const: constant}

// node makes the node of a value, its bodies included.
func (c *composer) node(v *ir.Value) *node {
	n := &node{head: v.Op.Name, names: []string{c.names[v]}, typ: typeText(v), unit: v.Op.Unit.String(), whole: c.whole[v], value: v}
	if k, ok := sources[v.Op]; ok {
		n.kind, n.unit, n.head, n.names = k, "", c.names[v], nil
		if k == constant && len(v.Type.Shape) == 0 {
			n.head = strings.TrimPrefix(v.Attrs[0].String(), n.typ+" ")
		}
		return n
	}
	if len(v.Bodies) > 0 {
		n.kind = region
		c.fused(n, v)
		for i, b := range v.Bodies {
			if b != nil {
				n.bodies = append(n.bodies, c.body(b, bodyLabel(v, i)))
			}
		}
	}
	return n
}

// fused gives a fused region the name of its rule and its unit.
func (c *composer) fused(n *node, v *ir.Value) {
	if v.Op != ir.Fused {
		return
	}
	call := v.Call()
	if rule := call.Attr("rule"); rule.Kind == ir.KString {
		n.head = rule.Str
	}
	if unit := call.Attr("unit"); unit.Kind == ir.KString {
		n.unit = unit.Str
	}
}

func bodyLabel(v *ir.Value, i int) string {
	if i < len(v.Op.Regions) {
		return v.Op.Regions[i].Label
	}
	return strconv.Itoa(i)
}

// body makes the scene of a region's body. Its ends are ports.
func (c *composer) body(f *ir.Func, label string) *scene {
	outer := c.nodes
	s := c.function(f)
	s.label = label
	for _, n := range s.ins {
		n.kind = port
	}
	for _, v := range f.Results {
		c.result(s, v, &node{kind: port, head: "yield", typ: typeText(v)})
	}
	c.nodes = outer
	return s
}

func typeText(v *ir.Value) string {
	if v == nil {
		return "none"
	}
	return v.Type.String()
}
