package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
)

// A growthRow is a way in which regions grow by the kinds of their operators,
// without a pattern: two groups, of which the second reads a value of the first,
// or both read the same, become one.
type growthRow struct {
	name  string
	doc   string
	joins string
	// takes reports whether the row is about the two groups that p leads between,
	// whatever their shapes are; nil: the row is not about readers.
	takes func(g *graph, p *pair) bool
	// fits says what the two walk together; not ok: they do not.
	fits func(g *graph, p *pair) (shape []ir.Dim, ok bool)
	// asks puts further questions; nil: there are none.
	asks func(w *fusing, p *pair) *reason
}

// growth holds the rows; a region that grew in several ways goes by the first of
// them.
var growth = []*growthRow{
	epilogueRow:    {"Epilogue", "element-wise operators ride behind a product, with the tensors that they read", "product -> element-wise of the product's shape", takesEpilogue, fitsEpilogue, asksEpilogue},
	prologueRow:    {"Prologue", "a product reads through a transpose, and through element-wise operators that are cheap to do again", "element-wise, transpose -> product", takesPrologue, fitsPrologue, asksPrologue},
	reductionRow:   {"Reduction", "reductions and norms along the last axis with what is done before and after, row by row", "element-wise -> reduction -> element-wise", takesReduction, fitsReduction, nil},
	elementwiseRow: {"Elementwise", "chains and diamonds of element-wise operators, with any broadcast", "element-wise -> element-wise", takesElementwise, fitsElementwise, nil},
	siblingsRow:    {"Siblings", "what reads the same data and walks it alike reads it once", "x -> a, x -> b", nil, nil, nil},
}

const (
	epilogueRow = iota
	prologueRow
	reductionRow
	elementwiseRow
	siblingsRow
)

// A rowSet is a set of rows by their place in growth.
type rowSet uint32

// name is that of the first row of the set.
func (s rowSet) name() string {
	for i, r := range growth {
		if s&(1<<i) != 0 {
			return r.name
		}
	}
	return ""
}

// grows reports whether a row of growth takes part: it keeps the bits by nature.
func (o *Options) grows(r *growthRow) bool {
	if on, set := o.Switches[r.name]; set {
		return on
	}
	return o.Mode != None
}

// Names lists the compiler's own rules that a switch may name, those of growth
// too.
func Names() []string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
	}
	for _, r := range growth {
		names = append(names, r.name)
	}
	return names
}

// A pair is a value that one operator makes and another reads, perhaps through
// views: a place where two groups may become one.
type pair struct {
	value    int32
	from, to int32   // operators
	via      []int32 // views between them
	saved    int64   // bytes that need not go through memory

	a, b *traits // of the groups of from and to, now
	row  int     // the last row that took it; -1: none
	why  *reason // it was turned down for
}

// read is the shape in which the second operator reads the value.
func (g *graph) read(p *pair) []ir.Dim {
	if n := len(p.via); n > 0 {
		return g.vals[p.via[n-1]].v.Type.Shape
	}
	return g.vals[p.value].v.Type.Shape
}

// face is what a group that walks the shape of the value walks behind the views.
func (g *graph) face(p *pair) []ir.Dim {
	if ir.SameShape(p.a.shape, g.vals[p.value].v.Type.Shape) {
		return g.read(p)
	}
	return p.a.shape
}

// broadcasts reports whether small can be read at every place of big.
func broadcasts(small, big []ir.Dim) bool {
	if len(small) > len(big) {
		return false
	}
	for i := range small {
		if d := small[len(small)-1-i]; !d.Is(1) && !d.Equal(big[len(big)-1-i]) {
			return false
		}
	}
	return true
}

// ofRows reports whether a shape has one element for each row of another one:
// it is what a reduction leaves, with the reduced axis or without.
func ofRows(shape, rows []ir.Dim) bool {
	return ir.SameShape(squeezed(shape), squeezed(rows[:max(len(rows)-1, 0)]))
}

// squeezed leaves axes of size 1 out.
func squeezed(shape []ir.Dim) []ir.Dim {
	out := make([]ir.Dim, 0, len(shape))
	for _, d := range shape {
		if !d.Is(1) {
			out = append(out, d)
		}
	}
	return out
}

func sameLast(a, b []ir.Dim) bool {
	return len(a) > 0 && len(b) > 0 && a[len(a)-1].Equal(b[len(b)-1])
}

func plain(t *traits) bool { return t.cubes == 0 && !t.rows }

func takesElementwise(g *graph, p *pair) bool { return plain(p.a) && plain(p.b) }

// The smaller one is read at every place of the larger one.
func fitsElementwise(g *graph, p *pair) ([]ir.Dim, bool) {
	a := g.face(p)
	switch {
	case broadcasts(a, p.b.shape):
		return p.b.shape, true
	case broadcasts(p.b.shape, a):
		return a, true
	}
	return nil, false
}

func takesReduction(g *graph, p *pair) bool {
	return p.a.cubes == 0 && p.b.cubes == 0 && (p.a.rows || p.b.rows)
}

// All reductions of a region walk the same rows; what stands before and after is
// either done to the rows, or to the one element that is left of each.
func fitsReduction(g *graph, p *pair) ([]ir.Dim, bool) {
	a, b := g.face(p), p.b.shape
	switch {
	case p.a.rows && p.b.rows:
		return b, ir.SameShape(a, b) && (len(p.via) == 0 || sameLast(p.a.shape, b))
	case p.a.rows:
		if broadcasts(b, p.a.shape) || ofRows(b, p.a.shape) {
			return p.a.shape, true
		}
		return b, ir.SameShape(a, b) && sameLast(p.a.shape, b)
	}
	return b, broadcasts(a, b) || ofRows(a, b)
}

// A product takes what follows it, and whatever is read there. Two products stay
// two.
func takesEpilogue(g *graph, p *pair) bool {
	if p.a.cubes > 0 {
		return plain(p.b) && !g.vals[p.from].head
	}
	return p.b.cubes > 0 && plain(p.a)
}

// The tail has the shape of the product: what expands it would have to be written
// in several places.
func fitsEpilogue(g *graph, p *pair) ([]ir.Dim, bool) {
	if p.a.cubes > 0 {
		return p.b.shape, ir.SameShape(g.face(p), p.b.shape) && ir.SameShape(g.read(p), p.b.shape)
	}
	return p.b.shape, broadcasts(g.face(p), p.b.shape)
}

func asksEpilogue(w *fusing, p *pair) *reason {
	if p.a.cubes > 0 {
		return w.behind(w.groups[w.group(p.to)].members)
	}
	return w.behind(w.groups[w.group(p.from)].members)
}

func takesPrologue(g *graph, p *pair) bool {
	return p.b.cubes > 0 && plain(p.a) && (g.vals[p.to].kind == product || g.vals[p.to].head)
}

// The head has the shape of the operand: each element is made where it is read.
func fitsPrologue(g *graph, p *pair) ([]ir.Dim, bool) {
	return p.b.shape, ir.SameShape(p.a.shape, g.vals[p.value].v.Type.Shape)
}

func asksPrologue(w *fusing, p *pair) *reason {
	ops := w.groups[w.group(p.from)].members
	if r := w.ahead(ops); r != nil {
		return r
	}
	if r := w.readElsewhere(p); r != nil {
		return r
	}
	if r := w.narrows(ops); r != nil {
		return r
	}
	return w.dearer(p, ops)
}

// readElsewhere turns down a head of which somebody else reads something: it
// would have to be stored all the same.
func (w *fusing) readElsewhere(p *pair) *reason {
	at := w.group(p.to)
	for _, e := range w.groups[w.group(p.from)].outs.list {
		x := &w.vals[e.key]
		if x.result {
			return &reason{"shared-value", w.name(x.v) + " is a result"}
		}
		for _, r := range x.readers {
			if w.group(r) != at && w.group(r) != w.group(p.from) && !slices.Contains(p.via, r) {
				return &reason{"shared-value", fmt.Sprintf("%s reads %s too", w.vals[r].v.Op.Name, w.name(x.v))}
			}
		}
	}
	return nil
}
