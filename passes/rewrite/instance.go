package rewrite

import (
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// An Instance is a small graph that a rule matches at its one result: what a script
// would compute if it wrote down the pattern with inputs for the names.
//
//	exp(x * x)  =>  func @before(%x: f32[3,2]) -> f32[3,2] {
//	                  %0 = mul %x, %x : f32[3,2]
//	                  %1 = exp %0 : f32[3,2]
//	                  return %1
//	                }
type Instance struct {
	Func  *ir.Func
	rule  *Rule
	match *Match // in Func as it was drawn
}

// Instances draws graphs that the rule matches, of many dtypes, ranks and
// broadcasts, with and without optional parts, symbols and constants. There are
// at most n of them, the same ones at each call; none if the rule asks for what
// cannot be drawn.
func (r *Rule) Instances(n int) []*Instance {
	var out []*Instance
	forms := r.Forms()
	samples := n * samplesPerCase
	for i := 0; i < n*draftsPerInstance && len(out) < n && samples > 0; i++ {
		s := instanceStyle(r, i)
		s.samples = &samples
		if e := r.instance(forms[i%len(forms)], s); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// draftsPerInstance is how many drafts are made for one instance that comes about.
const draftsPerInstance = 8

// instanceSeed is that of all instances.
const instanceSeed = 1

// instanceDTypes are those of the instances, in turn.
var instanceDTypes = []tensor.DType{tensor.F32, tensor.F16, tensor.I32, tensor.F64, tensor.F32, tensor.U8, tensor.BF16, tensor.I64, tensor.Bool}

// instanceStyle is the style of instance i: names are inputs, but for every fourth
// one, in which some that are not read first are constants.
func instanceStyle(r *Rule, i int) *style {
	s := &style{
		Rand: rand.New(rand.NewPCG(instanceSeed, uint64(i))), rank: mostRank, numbers: r.numbers(),
		dtype: instanceDTypes[i%len(instanceDTypes)], sizes: []int64{2, 3, 4, 5},
		oneConstIn: never, firstFree: true, symbolic: i%3 == 2,
	}
	if i%4 == 3 {
		s.oneConstIn = 2
	}
	s.hint(r.hints())
	return s
}

// instance drafts one graph; nil: it has not come about, or is degenerate, or the
// rule's tests turn it down.
func (r *Rule) instance(p *Pattern, s *style) *Instance {
	f, _ := draftOf(p, s)
	if f == nil {
		return nil
	}
	f.Results = f.Results[:1]
	if s.symbolic {
		if g := symbols(f, s); g != nil {
			f = g
		}
	}
	if slices.ContainsFunc(f.Params, func(v *ir.Value) bool { return slices.ContainsFunc(v.Type.Shape, empty) }) {
		return nil
	}
	m := r.Find(f.Results[0], NewUses(f))
	if m == nil {
		return nil
	}
	return &Instance{f, r, m}
}

// Like reports whether two instances were written alike: with the same operators
// of the same pattern, and names of the same kinds of dtypes.
func (e *Instance) Like(o *Instance) bool {
	return e.match.pattern == o.match.pattern && e.match.kinds() == o.match.kinds() && slices.Equal(e.match.Ops(), o.match.Ops())
}

// As writes the instance down again, by a form in the pattern's place; nil: the form
// is no legal call of such operands.
func (e *Instance) As(p *Pattern) *ir.Func {
	b, m := &Builder{}, *e.match
	m.bound = slices.Clone(m.bound)
	for _, v := range e.Func.Params {
		m.rebind(v, b.made.NewInput(v.Name, v.Type))
	}
	for id := range m.bound {
		if v := m.bound[id].value; v != nil && v.Op == ir.Const {
			m.bound[id].value = b.With(ir.Const, nil, v.Attrs)
		}
	}
	root := b.replace(p.root, &m)
	if b.failed || !root.Type.Equal(m.Root.Type) {
		return nil
	}
	b.made.Name, b.made.Results = e.Func.Name, []*ir.Value{root}
	return &b.made
}

// rebind lets a name stand for another value.
func (m *Match) rebind(from, to *ir.Value) {
	for id := range m.bound {
		if m.bound[id].value == from {
			m.bound[id].value = to
		}
	}
}

// Plain reports whether no operand of the instance has an axis of size 1, which
// makes of a transpose a reshape, and of a sum nothing.
func (e *Instance) Plain() bool {
	for _, b := range e.match.bound {
		if b.value != nil && slices.ContainsFunc(b.value.Type.Shape, func(d ir.Dim) bool { return d.Is(1) }) {
			return false
		}
	}
	return true
}

// Same reports whether two functions compute their first results by the same
// operators, of inputs of the same names.
func Same(f, g *ir.Func) bool {
	budget := 4 * maxNodes
	return sameValue(f.Results[0], g.Results[0], &budget)
}

func sameValue(a, b *ir.Value, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	if a == nil || b == nil {
		return a == b
	}
	if x, y := Splat(a), Splat(b); x != nil && y != nil {
		return x.DType == y.DType && tensor.BitEqual(x, y) // of whatever shape: the reader's type tells
	}
	if a.Op != b.Op || len(a.Args) != len(b.Args) || !a.Type.Equal(b.Type) || len(a.Bodies)+len(b.Bodies) > 0 {
		return false
	}
	if a.Op == ir.Input {
		return a.Name == b.Name
	}
	for i := range a.Attrs {
		rank := countedAxes(a, a.Op.Attrs[i].Axis)
		if l, m := fromFront(a.Attrs[i], rank), fromFront(b.Attrs[i], rank); !l.Equal(m) && !sameLit(l, m) {
			return false
		}
	}
	for i := range a.Args {
		if !sameValue(a.Args[i], b.Args[i], budget) {
			return false
		}
	}
	return true
}

func empty(d ir.Dim) bool { return d.Is(0) }
