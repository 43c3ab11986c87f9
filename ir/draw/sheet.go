package draw

import "unicode/utf8"

// Sizes of boxes. Text is set in a font whose characters are all as wide.
const (
	headSize, textSize = 12, 10 // of the font
	headChar, textChar = 8, 6   // widths of a character: 0.6 of the size, rounded up
	lineHeight         = 15
	padding            = 8
	portSize           = 8
	longestText        = 34 // characters; the rest is in the tooltip
)

// A sheet is a scene with its layout.
type sheet struct {
	*scene
	grid          *grid
	width, height int
	bodies        [][]*sheet // of each node
}

// lay makes the layout of a scene, that of its regions' bodies first.
func lay(s *scene) *sheet {
	out := &sheet{scene: s, bodies: make([][]*sheet, len(s.nodes))}
	boxes := make([]box, len(s.nodes))
	for i, n := range s.nodes {
		for _, b := range n.bodies {
			out.bodies[i] = append(out.bodies[i], lay(b))
		}
		boxes[i] = measure(n, out.bodies[i])
	}
	links := make([]link, len(s.wires))
	for i, w := range s.wires {
		links[i] = link{w.from, w.to, out.shift(w.from, w.result, outsOf, boxes), out.shift(w.to, w.slot, insOf, boxes)}
	}
	out.grid = newGrid(boxes, links, assignRows(boxes, links))
	out.width, out.height = out.grid.arrange()
	return out
}

// measure sizes the box of a node.
func measure(n *node, bodies []*sheet) box {
	b := box{w: max(headChar*length(n.head), textChar*length(n.text())) + 2*padding, h: 2*lineHeight + padding, pull: nodePull}
	switch {
	case n.kind == port && n.value != nil:
		b.ends = atTop
	case n.kind == port:
		b.ends = atBottom
	}
	switch n.kind {
	case weight, constant:
		b.w, b.h = textChar*max(length(n.head), length(n.text()))+2*padding, 2*lineHeight
		b.pull = sourcePull
	case port:
		b.w, b.h = portSize, portSize
	case region:
		w, h := inside(bodies)
		b.w, b.h = max(b.w, w), b.h+h
	}
	return b
}

// inside is the room that the bodies of a region take, side by side.
func inside(bodies []*sheet) (w, h int) {
	for _, s := range bodies {
		w += s.width + 2*padding
		h = max(h, s.height+s.margin())
	}
	return w, h
}

// margin is what a body takes in height beside its layout.
func (s *sheet) margin() int {
	if s.label == "" {
		return padding
	}
	return lineHeight + padding
}

// insOf and outsOf are the ports of a body, by argument and result.
func insOf(s *scene) []*node  { return s.ins }
func outsOf(s *scene) []*node { return s.outs }

// shift is where, from the middle of a node's box, the i-th value arrives or
// leaves: at the port of a region of one body that stands for it, else in the
// middle.
func (s *sheet) shift(at, i int, ports func(*scene) []*node, boxes []box) int {
	bodies := s.bodies[at]
	if len(bodies) != 1 || bodies[0].label != "" {
		return 0
	}
	if list := ports(bodies[0].scene); i < len(list) {
		return bodies[0].grid.boxes[list[i].at].x + s.bodyLeft(at, 0, boxes[at].w) - boxes[at].w/2
	}
	return 0
}

// bodyLeft is where a body's layout begins, from the left edge of its region.
func (s *sheet) bodyLeft(at, k, width int) int {
	all, _ := inside(s.bodies[at])
	left := (width - all) / 2
	for _, b := range s.bodies[at][:k] {
		left += b.width + 2*padding
	}
	return left + padding
}

// length counts the characters of a text as far as it is shown.
func length(text string) int { return min(utf8.RuneCountInString(text), longestText) }

// short cuts a text to what is shown of it.
func short(text string) string {
	if utf8.RuneCountInString(text) <= longestText {
		return text
	}
	return string([]rune(text)[:longestText-1]) + "…"
}
