package fusion

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
)

// maxRounds bounds how often what was turned down is looked at again: a merge can
// be possible once what stood between is inside.
const maxRounds = 8

// maxViews bounds the views between two operators of a pair; simplification
// leaves one.
const maxViews = 4

// grow joins groups where bytes are saved: most first, and in a chain from its
// beginning. Last come those that only read the same.
func (w *fusing) grow() {
	pairs := w.pairs()
	for range maxRounds {
		changed := false
		for _, p := range pairs {
			if w.try(p) {
				changed = true
			}
		}
		pairs = slices.DeleteFunc(pairs, func(p *pair) bool { return w.group(p.from) == w.group(p.to) })
		if !changed {
			break
		}
	}
	for _, p := range pairs {
		if p.row >= 0 {
			w.refused(p.row, p.why, w.vals[p.value].v)
		}
	}
	w.siblings()
}

func (w *fusing) refused(row int, why *reason, at *ir.Value) {
	t := w.grown[row]
	t.Matches++
	t.refuse(why, w.name(at), at)
}

func (w *fusing) joined(row int) {
	w.grown[row].Matches++
	w.grown[row].Effects++
}

// pairs lists what may be joined, the most valuable first.
func (w *fusing) pairs() []*pair {
	var pairs []*pair
	for id := range w.vals {
		if x := &w.vals[id]; x.owner == int32(id) && joins(x.kind) {
			pairs = w.pairsTo(int32(id), pairs)
		}
	}
	slices.SortStableFunc(pairs, func(a, b *pair) int { return cmp.Compare(b.saved, a.saved) })
	return pairs
}

// joins reports whether operators of a kind are joined to others by growth.
func joins(k kind) bool { return k != opaque && k != view }

func (w *fusing) pairsTo(to int32, pairs []*pair) []*pair {
	v := w.vals[to].v
	for i, a := range v.Args {
		if a == nil || slices.Contains(v.Args[:i], a) {
			continue
		}
		p := &pair{value: w.number[a], to: to, row: -1}
		for w.isView(p.value) && len(p.via) < maxViews {
			p.via = append(p.via, w.vals[p.value].owner)
			p.value = w.number[w.vals[p.value].v.Args[0]]
		}
		slices.Reverse(p.via)
		if p.from = w.vals[p.value].owner; p.from != none && joins(w.vals[p.from].kind) {
			p.saved = w.saves(p.value)
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func (g *graph) isView(value int32) bool {
	o := g.vals[value].owner
	return o != none && g.vals[o].kind == view
}

// saves is how many bytes need not move if a reader of a value is joined to its
// maker: one read, and the write too if there is no other.
func (w *fusing) saves(value int32) int64 {
	n := w.size.bytes(w.vals[value].v.Type)
	if x := &w.vals[value]; len(x.readers) == 1 && !x.result {
		n *= 2
	}
	return n
}

// try joins the groups of a pair, or notes in it what is against that.
func (w *fusing) try(p *pair) bool {
	a, b := w.group(p.from), w.group(p.to)
	if a == b {
		return false
	}
	p.a, p.b = &w.groups[a].traits, &w.groups[b].traits
	p.row, p.why = w.rowOf(p), nil
	parts := w.parts(a, b, p.via)
	if p.row < 0 || parts == nil {
		p.row = -1
		return false
	}
	row := growth[p.row]
	shape, ok := row.fits(w.graph, p)
	if !ok {
		p.why = &reason{"layout", fmt.Sprintf("%s and %s", ir.ShapeString(p.a.shape), ir.ShapeString(p.b.shape))}
		return false
	}
	if row.asks != nil && w.options.grows(row) {
		if p.why = row.asks(w, p); p.why != nil {
			return false
		}
	}
	if p.why = w.join(p.row, parts, shape); p.why != nil {
		return false
	}
	if p.row == prologueRow {
		w.head(p)
	}
	return true
}

// rowOf is the row that is about a pair; -1 if there is none. A region of one
// named rule is not joined to that of another, one that is sealed to none, and a
// transpose only to a product.
func (w *fusing) rowOf(p *pair) int {
	if p.a.sealed || p.b.sealed || p.a.rule != nil && p.b.rule != nil {
		return -1
	}
	for _, i := range []int{prologueRow, epilogueRow, reductionRow, elementwiseRow} {
		if growth[i].takes(w.graph, p) {
			if i != prologueRow && (w.vals[p.from].kind == turn || w.vals[p.to].kind == turn) {
				return -1
			}
			return i
		}
	}
	return -1
}

// parts lists the groups that a pair makes one: both ends and the views between,
// unless these belong to others.
func (w *fusing) parts(a, b int32, via []int32) []int32 {
	parts := []int32{a, b}
	for _, v := range via {
		g := w.group(v)
		if slices.Contains(parts, g) {
			continue
		}
		if w.groups[g].work > 0 {
			return nil
		}
		parts = append(parts, g)
	}
	return parts
}

// join makes one group of parts that walk a shape, or says why not.
func (w *fusing) join(row int, parts []int32, shape []ir.Dim) *reason {
	if !w.options.grows(growth[row]) {
		return &reason{"disabled", ""}
	}
	if r := w.banned(parts); r != nil {
		return r
	}
	m, ok := w.merging(parts...)
	if !ok {
		return w.cycle(m)
	}
	t := w.joint(m.parts)
	t.shape = shape
	t.grown |= 1 << row
	if r := w.legal(m, &t); r != nil {
		return r
	}
	m.do(t)
	w.joined(row)
	return nil
}

// head notes that what was joined in front of a product stands there.
func (w *fusing) head(p *pair) {
	todo := append(slices.Clone(p.via), p.from)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w.vals[id].head {
			continue
		}
		w.vals[id].head = true
		for _, a := range w.vals[id].v.Args {
			if o := w.ownerOf(a); o != none && w.group(o) == w.group(id) {
				todo = append(todo, o)
			}
		}
	}
}

// ownerOf is the operator that makes a; none for leaves and absent arguments.
func (g *graph) ownerOf(a *ir.Value) int32 {
	if a == nil {
		return none
	}
	return g.vals[g.number[a]].owner
}

// siblings joins groups that read the same value and walk it alike, neighbours
// among its readers first.
func (w *fusing) siblings() {
	var read []int32
	for id := range w.vals {
		if len(w.vals[id].readers) > 1 {
			read = append(read, int32(id))
		}
	}
	saved := make(map[int32]int64, len(read))
	for _, id := range read {
		saved[id] = w.size.bytes(w.vals[id].v.Type)
	}
	slices.SortStableFunc(read, func(a, b int32) int { return cmp.Compare(saved[b], saved[a]) })
	for _, id := range read {
		w.family(id)
	}
}

// family joins the readers of one value.
func (w *fusing) family(value int32) {
	last := none
	for _, r := range w.vals[value].readers {
		g := w.group(r)
		if g == last || !w.sibling(r, value) {
			continue
		}
		if last != none && (w.groups[last].rule == nil || w.groups[g].rule == nil) {
			if why := w.join(siblingsRow, []int32{last, g}, w.groups[g].shape); why != nil {
				w.refused(siblingsRow, why, w.vals[r].v)
			} else {
				g = w.group(r)
			}
		}
		last = g
	}
}

// sibling reports whether a reader is of a group that walks the value.
func (w *fusing) sibling(reader, value int32) bool {
	t := &w.groups[w.group(reader)].traits
	shape := w.vals[value].v.Type.Shape
	return joins(w.vals[reader].kind) && w.vals[reader].kind != turn &&
		t.cubes == 0 && !t.sealed && len(squeezed(shape)) > 0 && ir.SameShape(t.shape, shape)
}
