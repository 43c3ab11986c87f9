package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A draft is a pattern on its way to a graph.
//
//	matmul(a, b) + c  =>  func @before(%a: f32[2,3], %b: f32[3,5], %c: f32[5]) -> f32[2,5]
//
// Operators are drafted before the names beside them. A call is drawn from the
// samples of its operator until one fits what is there already: the sizes of a
// sample are replaced by those that stand in their places, so that matmul after
// f32[2,7] takes f32[7,4] though the sample was f32[2,3] and f32[3,4].
type draft struct {
	*style
	f      *ir.Func
	names  []string    // by id: the pattern's, and further ones
	values []*ir.Value // of the names of tensors, by id
	gone   map[int]bool
	lits   []bound // of the names of attributes, by id
	known  map[string]*tensor.T
}

// draftOf makes a graph of a pattern, and of the inputs that cannot hold just any
// values a tensor with possible ones; nil: it has not come about this time.
func draftOf(p *Pattern, s *style) (*ir.Func, map[string]*tensor.T) {
	d := &draft{
		style: s, f: &ir.Func{Name: "before"}, names: p.Names(), known: map[string]*tensor.T{}, gone: map[int]bool{},
		values: make([]*ir.Value, len(p.names)), lits: make([]bound, len(p.names)),
	}
	root := d.operand(p.root)
	if root.v == nil || root.v.Op == ir.Input {
		return nil, nil
	}
	d.f.Results = []*ir.Value{root.v}
	tidy(d.f)
	if len(d.f.Params) > 0 && s.chance(8) {
		// A value that is read elsewhere too.
		d.f.Results = append(d.f.Results, d.f.Params[s.IntN(len(d.f.Params))])
	}
	return d.f, d.known
}

// tidy takes out what attempts that came to nothing have left behind.
func tidy(f *ir.Func) {
	prune(f)
	read := f.Readers()
	f.Params = slices.DeleteFunc(f.Params, func(v *ir.Value) bool { return read[v] == 0 })
}

// An operand is the argument of a call: a value, or one to be made when its type
// is known.
type operand struct {
	v    *ir.Value
	open *node // a name or a number; both nil: the argument is absent
	bad  bool
}

func (d *draft) operand(n *node) operand {
	switch {
	case n == nil:
		return operand{}
	case n.kind == numberNode:
		return operand{open: n}
	case n.kind == nameNode && d.values[n.id] != nil:
		return operand{v: d.values[n.id]}
	case n.kind == nameNode && n.maybe && d.absent(n.id):
		return operand{}
	case n.kind == nameNode:
		return d.name(n)
	case n.optional && d.chance(2):
		return d.operand(n.args[0])
	}
	var v *ir.Value
	if n.open {
		v = d.grow(n.op, growDepth)
	} else {
		v = d.call(n)
	}
	return operand{v: v, bad: v == nil}
}

// name leaves a name open, or now and then lets it stand for what an operator
// computes: guards in Go may look at that.
func (d *draft) name(n *node) operand {
	if d.growing && d.chance(4) {
		if v := d.growAny(growDepth); v != nil {
			d.values[n.id] = v
			return operand{v: v}
		}
	}
	return operand{open: n}
}

// absent decides, once for each name, whether an optional argument is there.
func (d *draft) absent(id int) bool {
	if _, decided := d.gone[id]; !decided {
		d.gone[id] = d.chance(2)
	}
	return d.gone[id]
}

// call drafts an operator and what it reads; nil: no sample fits.
func (d *draft) call(n *node) *ir.Value {
	if n.op.Sample == nil {
		return nil
	}
	args := make([]operand, len(n.args))
	for _, operators := range []bool{true, false} {
		for i, a := range n.args {
			if (a != nil && a.kind == opNode) != operators {
				continue
			}
			if args[i] = d.operand(a); args[i].bad {
				return nil
			}
		}
	}
	for i, a := range args {
		// An operator drafted later may have given a name its value.
		if a.open != nil && a.open.kind == nameNode && d.values[a.open.id] != nil {
			args[i] = operand{v: d.values[a.open.id]}
		}
	}
	return d.draw(n, args)
}

// draw draws samples of an operator until one fits its operands.
func (d *draft) draw(n *node, args []operand) *ir.Value {
	for i := 0; i < triesPerCall && *d.samples > 0; i++ {
		*d.samples--
		if c := d.sample(n, args); c != nil {
			return d.commit(n, c, args)
		}
	}
	return nil
}

// triesPerCall is how many samples are drawn for one call. One in five has the
// rank that is wanted.
const triesPerCall = 40

// sample draws a call and fits it to the operands; nil: it is not legal.
func (d *draft) sample(n *node, args []operand) *sampled {
	c := n.op.Sample(d.Rand)
	c.Op = n.op
	if c.Attrs == nil {
		c.Attrs = n.op.Defaults()
	}
	fit(&c, len(args))
	for i, a := range args { // most samples end here
		if a.v != nil && (c.In[i].Absent() || c.In[i].Rank() != a.v.Type.Rank()) {
			return nil
		}
	}
	m := d.mapping()
	for i, a := range args {
		if a.v != nil && !m.learn(c.In[i], a.v.Type) {
			return nil
		}
	}
	m.prefer(c.In, n.op)
	s := &sampled{known: c.Known, call: ir.Call{Op: n.op, In: make([]ir.Type, len(args)), Attrs: d.attrs(n, c.Attrs, m)}}
	for i, a := range args {
		switch {
		case a.v != nil:
			s.call.In[i] = a.v.Type
		case a.open != nil:
			if s.call.In[i] = d.openType(a.open, m.typ(c.In[i])); s.call.In[i].Absent() {
				return nil
			}
		}
	}
	d.alike(args, s.call.In)
	if !d.fits(&s.call) {
		return nil
	}
	return s
}

// A sampled call is legal, and has the types of what is to be made.
type sampled struct {
	call  ir.Call
	known []*tensor.T
}

// fit gives a sample as many arguments as are wanted: further ones are as the
// last.
func fit(c *ir.Call, n int) {
	for len(c.In) < n {
		last := ir.Type{}
		if len(c.In) > 0 {
			last = c.In[len(c.In)-1]
		}
		c.In = append(c.In, last)
	}
	c.In = c.In[:n:n]
	for len(c.Known) < n {
		c.Known = append(c.Known, nil)
	}
}

// alike gives a name that stands twice in one call one type.
func (d *draft) alike(args []operand, in []ir.Type) {
	for i, a := range args {
		for j, b := range args[:i] {
			if a.open != nil && b.open != nil && a.open.kind == nameNode && b.open.kind == nameNode && a.open.id == b.open.id {
				in[i] = in[j]
			}
		}
	}
}

// fits reports whether a call is legal, and small enough to be run often.
func (d *draft) fits(c *ir.Call) bool { return ir.InferCall(c) == nil && modest(c, d.rank) }

const (
	mostElements = 512     // of one tensor
	mostFlops    = 100_000 // of one call
)

// modest bounds the types of a call without symbols, and its work.
func modest(c *ir.Call, rank int) bool {
	for _, ts := range [][]ir.Type{c.In, c.Out} {
		for _, t := range ts {
			if n, ok := t.Elements().Const(); !ok || n > mostElements || t.Rank() > rank {
				return false
			}
		}
	}
	return c.Cost().Flops <= mostFlops
}

// openType is the type of an operand that the sample gives a type; the zero Type:
// it cannot have one.
func (d *draft) openType(n *node, t ir.Type) ir.Type {
	if n.kind != numberNode || t.Absent() {
		return t
	}
	if !d.chance(3) {
		t.Shape = nil
	}
	if _, ok := n.number.tensor(t.DType); !ok {
		return ir.Type{}
	}
	return t
}

// attrs fills in the attributes: as the pattern says, as a name was bound before,
// or as the sample has them.
func (d *draft) attrs(n *node, sampled []ir.Lit, m *mapping) []ir.Lit {
	out := make([]ir.Lit, len(n.attrs))
	for i, a := range n.attrs {
		switch kind := n.op.Attrs[i].Kind; {
		case !a.named:
			out[i] = a.lit
		case d.lits[a.id].set:
			out[i] = convert(d.lits[a.id].lit, kind)
		default:
			out[i] = m.lit(sampled[i], kind)
		}
	}
	return out
}

// commit adds a sampled call to the graph, with the inputs and constants that it
// reads.
func (d *draft) commit(n *node, s *sampled, args []operand) *ir.Value {
	values := make([]*ir.Value, len(args))
	for i, a := range args {
		if values[i] = a.v; a.open != nil {
			values[i] = d.make(a.open, s.call.In[i], s.known[i], i == 0)
		}
	}
	out, err := d.f.Add(n.op, values, s.call.Attrs)
	if err != nil {
		return nil
	}
	for i, a := range n.attrs {
		if a.named && !d.lits[a.id].set {
			l := fromFront(out[0].Attrs[i], countedAxes(out[0], n.op.Attrs[i].Axis))
			d.lits[a.id] = bound{owner: out[0], lit: l, set: true}
		}
	}
	return out[0]
}

// make makes what a name or a number stands for, as the first operand of a call
// or another.
func (d *draft) make(n *node, t ir.Type, known *tensor.T, first bool) *ir.Value {
	if n.kind == numberNode {
		elem, _ := n.number.tensor(t.DType)
		return d.constant(spread(elem, t.Ints()))
	}
	if v := d.values[n.id]; v != nil {
		return v
	}
	name := d.names[n.id]
	if known != nil && known.Len() > 0 {
		d.known[name] = known
	}
	if d.chance(d.oneConstIn) && !(d.firstFree && first) {
		d.values[n.id] = d.constant(d.constTensor(t, known))
		d.values[n.id].Name = name
	} else {
		d.values[n.id] = d.f.NewInput(name, t)
	}
	return d.values[n.id]
}

func (d *draft) constant(t *tensor.T) *ir.Value {
	out, err := d.f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(t)})
	if err != nil {
		panic("rewrite: a constant is not legal: " + err.Error())
	}
	return out[0]
}

// spread makes a tensor of one element.
func spread(elem *tensor.T, shape []int) *tensor.T {
	t := tensor.New(elem.DType, shape...)
	if n := len(elem.Data); n > 0 {
		copy(t.Data, slices.Repeat(elem.Data, len(t.Data)/n))
	}
	return t
}
