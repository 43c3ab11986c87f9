package fusion

import (
	"github.com/npulang/npu/ir"
)

// A graph is a function as groups of operators: at first each stands alone, and
// merging makes regions of them.
//
//	exp ── add ── relu        groups {exp} {add} {relu}
//	        └──── matmul  =>  merged {exp add relu} {matmul}
//
// Values are numbered: parameters first, then the body. A group goes by the
// number of one of its operators. Leaves (inputs, weights, constants) belong to no
// group, and a further result belongs to the group of its operator.
type graph struct {
	f      *ir.Func
	vals   []val
	number map[*ir.Value]int32
	groups []group
	parent []int32 // of a union-find over the numbers of operators
	order  order

	size  *sizes
	mark  []int64 // of a search: epoch and side
	epoch int64
}

// A val is a value.
type val struct {
	v       *ir.Value
	owner   int32 // the operator that makes it; none for a leaf
	kind    kind
	result  bool    // of the function
	head    bool    // it stands in front of a product of its group
	readers []int32 // operators that read it, one entry for each argument
	load    load    // what it takes of a kernel's memory
}

const none = int32(-1)

// A group is the state of one group, valid at its root.
type group struct {
	members      []int32 // operators
	preds, succs tally   // groups that it reads from, and that read it, with the number of reads
	ins          tally   // values from outside with the number of reads
	outs         tally   // values read outside, or results, with the number of reads
	load         [loads]int
	traits
}

// newGraph numbers the values of f and makes a group of every operator.
func newGraph(f *ir.Func, size *sizes) *graph {
	n := len(f.Params) + len(f.Body)
	g := &graph{
		f: f, vals: make([]val, 0, n), number: make(map[*ir.Value]int32, n),
		groups: make([]group, n), parent: make([]int32, n), mark: make([]int64, n), size: size,
	}
	for _, v := range f.Params {
		g.add(v, none)
	}
	for _, v := range f.Body {
		switch {
		case leaf(v):
			g.add(v, none)
		case v.Op.Flags&ir.Projection != 0:
			g.add(v, g.vals[g.number[v.Args[0]]].owner)
		default:
			g.add(v, int32(len(g.vals)))
		}
	}
	g.order.init(g)
	for id := range g.vals {
		g.connect(int32(id))
	}
	for _, v := range f.Results {
		id := g.number[v]
		g.vals[id].result = true
		if o := g.vals[id].owner; o != none {
			g.addOut(o, id, 1)
		}
	}
	g.leaveDead()
	return g
}

// leaveDead keeps operators that nobody reads out of growth.
func (g *graph) leaveDead() {
	for id := range g.vals {
		if g.vals[id].owner == int32(id) && g.vals[id].kind != view && g.groups[id].outs.size() == 0 {
			g.vals[id].kind = opaque
		}
	}
}

// leaf reports whether v is bound from outside, or a constant.
func leaf(v *ir.Value) bool { return v.Op.Flags&ir.Unbound != 0 || v.Op == ir.Const }

func (g *graph) add(v *ir.Value, owner int32) {
	id := int32(len(g.vals))
	g.number[v] = id
	g.parent[id] = id
	x := val{v: v, owner: owner, load: loadOf(v.Type)}
	if owner == id {
		x.kind = kindOf(v)
		g.groups[id].members = []int32{id}
		g.groups[id].traits = traitsOf(v, x.kind)
		g.groups[id].first, g.groups[id].last = id, id
	}
	g.vals = append(g.vals, x)
}

// connect enters what an operator reads.
func (g *graph) connect(id int32) {
	if g.vals[id].owner != id {
		return
	}
	for _, a := range g.vals[id].v.Args {
		if a == nil {
			continue
		}
		read := g.number[a]
		g.vals[read].readers = append(g.vals[read].readers, id)
		g.addIn(id, read, 1)
		if p := g.vals[read].owner; p != none {
			g.addOut(p, read, 1)
			g.groups[id].preds.change(p, 1)
			g.groups[p].succs.change(id, 1)
		}
	}
}

// group is the group to which an operator belongs.
func (g *graph) group(id int32) int32 {
	for g.parent[id] != id {
		g.parent[id] = g.parent[g.parent[id]]
		id = g.parent[id]
	}
	return id
}

// groupOf is the group that makes a value; none for a leaf.
func (g *graph) groupOf(value int32) int32 {
	if o := g.vals[value].owner; o != none {
		return g.group(o)
	}
	return none
}

// weight is what moving the group's entries costs.
func (s *group) weight() int {
	return len(s.members) + s.preds.size() + s.succs.size() + s.ins.size() + s.outs.size()
}

// union joins two groups, whatever their order: the smaller is moved into the
// larger, so that a value moves a logarithmic number of times.
func (g *graph) union(a, b int32) int32 {
	if g.groups[a].weight() < g.groups[b].weight() {
		a, b = b, a
	}
	into, from := &g.groups[a], &g.groups[b]
	g.moveReads(a, b)
	for _, e := range from.preds.list {
		if other := &g.groups[e.key]; e.key == a {
			into.succs.change(b, -e.count)
		} else {
			other.succs.change(b, -e.count)
			other.succs.change(a, e.count)
			into.preds.change(e.key, e.count)
		}
	}
	for _, e := range from.succs.list {
		if other := &g.groups[e.key]; e.key == a {
			into.preds.change(b, -e.count)
		} else {
			other.preds.change(b, -e.count)
			other.preds.change(a, e.count)
			into.succs.change(e.key, e.count)
		}
	}
	into.members = append(into.members, from.members...)
	g.parent[b] = a
	g.groups[b] = group{}
	return a
}

// moveReads brings the values that b reads and gives into a; those that go
// between the two are internal now.
func (g *graph) moveReads(a, b int32) {
	from := &g.groups[b]
	for _, e := range from.ins.list {
		if g.groupOf(e.key) == a {
			g.addOut(a, e.key, -e.count)
		} else {
			g.addIn(a, e.key, e.count)
		}
	}
	for _, e := range from.outs.list {
		inner := g.groups[a].ins.count(e.key)
		g.addIn(a, e.key, -inner)
		g.addOut(a, e.key, e.count-inner)
	}
}

// addIn counts n reads more, or less, of a value from outside.
func (g *graph) addIn(a, value int32, n int) {
	g.groups[a].load[g.vals[value].load] += g.groups[a].ins.change(value, n)
}

// addOut counts n reads more, or less, of a value that is read outside.
func (g *graph) addOut(a, value int32, n int) {
	g.groups[a].load[g.vals[value].load] += g.groups[a].outs.change(value, n)
}
