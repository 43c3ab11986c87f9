package fusion

import (
	"cmp"
	"slices"

	"github.com/npulang/npu/ir"
)

// outline puts the groups that became regions into the body.
//
//	%0 = exp %x          {%0 %y}        %y = fused %x {rule=Elementwise} {
//	%1 = abs %x          {%1}      =>     %0 = exp %x
//	%y = relu %0                          %y = relu %0
//	                                      yield %y
//	                                    }
//	                                    %1 = abs %x
//
// A region stands where its last operator stood, or later if something that it
// reads is made later. asks tells of each region whether it may be made.
func (w *fusing) outline(asks func(root int32) bool) {
	regions := map[int32]bool{}
	for _, root := range w.roots() {
		if w.worth(root) {
			regions[root] = true
		}
	}
	if w.options.SaveMemory {
		w.keepPeak(regions)
	}
	for _, root := range w.roots() {
		if regions[root] && !asks(root) {
			delete(regions, root)
		}
	}
	if len(regions) == 0 {
		return
	}
	o := &outliner{graph: w.graph, with: map[*ir.Value]*ir.Value{}, further: w.furtherResults()}
	for _, s := range w.steps(regions) {
		o.put(s)
	}
	w.f.Body = o.body
	w.f.Replace(o.with)
	w.dropUnread()
}

// worth reports whether a group is more than one operator.
func (g *graph) worth(root int32) bool {
	return g.groups[root].work > 1 || g.groups[root].script != ""
}

// roots lists the groups by their last operators.
func (g *graph) roots() []int32 {
	var roots []int32
	last := map[int32]int32{}
	for id := range g.vals {
		if g.vals[id].owner == int32(id) {
			root := g.group(int32(id))
			if _, seen := last[root]; !seen {
				roots = append(roots, root)
			}
			last[root] = int32(id)
		}
	}
	slices.SortFunc(roots, func(a, b int32) int { return cmp.Compare(last[a], last[b]) })
	return roots
}

// furtherResults lists the projections of each operator.
func (g *graph) furtherResults() map[int32][]int32 {
	out := map[int32][]int32{}
	for id := range g.vals {
		if o := g.vals[id].owner; o != none && o != int32(id) {
			out[o] = append(out[o], int32(id))
		}
	}
	return out
}

// An outliner is the state of outline.
type outliner struct {
	*graph
	further map[int32][]int32
	body    []*ir.Value
	with    map[*ir.Value]*ir.Value // what readers outside read instead
}

// put appends a step to the new body.
func (o *outliner) put(s step) {
	if s.members != nil {
		o.region(s.members)
		return
	}
	o.body = append(o.body, o.vals[s.id].v)
	for _, r := range o.further[s.id] {
		o.body = append(o.body, o.vals[r].v)
	}
}

// region makes the fused operator of a group.
func (o *outliner) region(members []int32) {
	root := o.group(members[0])
	b := &ir.Func{}
	var args []*ir.Value
	inner := map[*ir.Value]*ir.Value{} // what the body reads for a value from outside
	enter := func(a *ir.Value) *ir.Value {
		if a == nil || o.groupOf(o.number[a]) == root {
			return a
		}
		if inner[a] == nil {
			if small(a) {
				c := *a
				inner[a] = &c
				b.Body = append(b.Body, &c)
			} else {
				inner[a] = b.NewInput(a.Name, a.Type)
				args = append(args, a)
			}
		}
		return inner[a]
	}
	for _, id := range members {
		v := o.vals[id].v
		for i, a := range v.Args {
			v.Args[i] = enter(a)
		}
		b.Body = append(b.Body, v)
		for _, r := range o.further[id] {
			b.Body = append(b.Body, o.vals[r].v)
		}
	}
	o.call(root, b, args, o.results(members))
}

// results lists the values of the members that are read outside, in order.
func (o *outliner) results(members []int32) []*ir.Value {
	outs := &o.groups[o.group(members[0])].outs
	var list []*ir.Value
	for _, id := range members {
		for _, id := range append([]int32{id}, o.further[id]...) {
			if outs.count(id) > 0 {
				list = append(list, o.vals[id].v)
			}
		}
	}
	if len(list) == 0 { // nobody reads anything: dead, but a region has a result
		list = append(list, o.vals[members[len(members)-1]].v)
	}
	return list
}

// small reports whether a is a constant that the body holds itself.
func small(a *ir.Value) bool {
	return a.Op == ir.Const && a.Call().Attr("value").Tensor.Len() == 1
}

// call appends the fused operator with one value for each result: these are what
// the rest reads, and go by the names of what they stand for.
func (o *outliner) call(root int32, b *ir.Func, args, results []*ir.Value) {
	t := &o.groups[root].traits
	b.Results = results
	attrs := []ir.Lit{ir.StrLit(t.name()), ir.StrLit(o.unitOf(root).String())}
	v := &ir.Value{Op: ir.Fused, Args: args, Attrs: attrs, Bodies: []*ir.Func{b}, Type: results[0].Type}
	o.stand(v, results[0])
	for i, r := range results[1:] {
		p := &ir.Value{Op: ir.Result, Args: []*ir.Value{v}, Attrs: []ir.Lit{ir.IntLit(int64(i + 1)), ir.TypeLit(r.Type)}, Type: r.Type}
		o.stand(p, r)
	}
}

func (o *outliner) stand(v, of *ir.Value) {
	v.Name, v.Pos, v.Annots = of.Name, of.Pos, of.Annots
	o.with[of] = v
	o.body = append(o.body, v)
}

// unitOf is the unit that runs a group: the one that @unit asks for if that is the
// vector unit, which can do all; the cube if the group holds a product; else the
// rule's.
func (g *graph) unitOf(root int32) ir.Unit {
	t := &g.groups[root].traits
	switch {
	case annotation(t.annots, "unit") == ir.Vector.String():
		return ir.Vector
	case t.cubes > 0:
		return ir.Cube
	case t.rule != nil:
		return t.rule.Unit
	}
	return ir.Vector
}

// dropUnread removes constants of which only copies are read.
func (g *graph) dropUnread() {
	readers := g.f.Readers()
	g.f.Body = slices.DeleteFunc(g.f.Body, func(v *ir.Value) bool {
		id, old := g.number[v]
		return old && v.Op == ir.Const && small(v) && readers[v] == 0 && len(g.vals[id].readers) > 0
	})
}
