package irtest

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// An Idiom makes a small function whose operators belong together, such as the
// parts of a layer norm, with possible values for inputs that cannot hold just
// any, by name. All sizes are numbers. It is nil if none has come about.
type Idiom func(r *rand.Rand) (f *ir.Func, known map[string]*tensor.T)

// FuncOf is Func with idioms among its calls: their inputs are values that are
// there, where the types allow it, and what they compute is read by others.
func FuncOf(r *rand.Rand, size int, idioms ...Idiom) (*ir.Func, []*tensor.T) {
	m := newMaker(r)
	for tries := 0; m.added < size && tries < 4*size+20; tries++ {
		if r.IntN(3) > 0 {
			m.idiom(idioms[r.IntN(len(idioms))])
		} else {
			m.step()
		}
	}
	m.results()
	return m.f, m.inputs
}

// Inputs makes values for the inputs of a function whose sizes are numbers.
func Inputs(r *rand.Rand, f *ir.Func, known map[string]*tensor.T) []*tensor.T {
	var inputs []*tensor.T
	for _, p := range f.Params {
		inputs = append(inputs, Input(r, p.Name, p.Type, known))
	}
	return inputs
}

// Input makes the value of one input: the known one, if it has the type.
func Input(r *rand.Rand, name string, t ir.Type, known map[string]*tensor.T) *tensor.T {
	if k := known[name]; k != nil && ir.TypeOf(k).Equal(t) {
		return k
	}
	return Tensor(r, t)
}

// idiom adds the calls of an idiom, if they run.
func (m *maker) idiom(make Idiom) {
	f, known := make(m.r)
	if f == nil || !fits(f) {
		return
	}
	f, _ = f.Clone() // its regions become part of the function
	with := map[*ir.Value]*ir.Value{}
	var in []*tensor.T
	for _, p := range f.Params {
		with[p] = m.inputFor(p, known)
		in = append(in, m.known[with[p]])
	}
	out := map[*ir.Value][]*tensor.T{}
	run := ir.Interp{Trace: func(v *ir.Value, ts []*tensor.T) { out[v] = ts }}
	if _, err := run.Run(f, in...); err != nil && !m.mayFail {
		return // the leaves made for it stay; they are unused inputs
	}
	results := map[*ir.Value]bool{}
	for _, v := range f.Results {
		results[v] = true
	}
	for _, v := range f.Body {
		if v.Op.Flags&ir.Projection == 0 {
			m.splice(v, f.Body, with, out[v], results)
		}
	}
}

// inputFor finds or makes what an idiom reads as its input p.
func (m *maker) inputFor(p *ir.Value, known map[string]*tensor.T) *ir.Value {
	same := m.byType[p.Type.String()]
	if known[p.Name] == nil && len(same) > 0 && m.r.IntN(3) > 0 {
		return same[len(same)-1-m.r.IntN(min(len(same), 4))]
	}
	if known[p.Name] == nil && m.r.IntN(3) > 0 {
		if v := m.adapted(p.Type); v != nil {
			return v
		}
	}
	return m.leaf(Input(m.r, p.Name, p.Type, known))
}

// adapted makes a value of that type of one that is there; nil: none is large
// enough.
//
//	%x : f32[3,4]  =>  %0 = cast %x {dtype=f16}, %1 = reshape %0 {dims=[12]},
//	                   %2 = slice %1 {starts=[0], ends=[10]}, %3 = reshape %2 {dims=[2,5]} : f16[2,5]
func (m *maker) adapted(t ir.Type) *ir.Value {
	if len(m.pool) == 0 {
		return nil
	}
	v := m.pool[len(m.pool)-1-m.r.IntN(min(len(m.pool), 6))]
	n, _ := v.Type.Elements().Const()
	wanted, _ := t.Elements().Const()
	if n < wanted {
		return nil
	}
	if v.Type.DType != t.DType {
		v = m.call(ir.Cast, v, ir.DTypeLit(t.DType))
	}
	if v.Type.Equal(t) {
		return v
	}
	if n > wanted {
		v = m.call(ir.Reshape, v, ir.DimsLit(ir.N(n)))
		v = m.call(ir.Slice, v, ir.DimsLit(ir.N(0)), ir.DimsLit(ir.N(wanted)))
	}
	return m.call(ir.Reshape, v, ir.DimsLit(t.Shape...))
}

// call adds a call that is legal and does not fail.
func (m *maker) call(op *ir.Op, x *ir.Value, attrs ...ir.Lit) *ir.Value {
	all := op.Defaults()
	copy(all, attrs)
	made, err := m.f.Add(op, []*ir.Value{x}, all)
	if err != nil {
		panic("irtest: a call is not legal: " + err.Error())
	}
	if m.known[x] == nil {
		return made[0] // an error was let in
	}
	c := made[0].Call()
	if err = ir.InferCall(c); err != nil {
		panic("irtest: a call is not legal: " + err.Error())
	}
	out, err := ir.Evaluate(c, m.known[x])
	if err != nil {
		panic("irtest: a call fails: " + err.Error())
	}
	m.known[made[0]] = out[0]
	return made[0]
}

// splice adds a call of an idiom with the values that project from it. Results of
// the idiom are there for others to read; what is inside, only now and then.
func (m *maker) splice(v *ir.Value, body []*ir.Value, with map[*ir.Value]*ir.Value, out []*tensor.T, results map[*ir.Value]bool) {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = with[a]
	}
	made, err := m.f.Add(v.Op, args, v.Attrs, v.Bodies...)
	if err != nil {
		panic("irtest: a call of an idiom is not legal: " + err.Error())
	}
	made[0].Annots = v.Annots
	m.added++
	of := func(p *ir.Value) bool { return p == v || p.Op.Flags&ir.Projection != 0 && p.Args[0] == v }
	for _, p := range body {
		if !of(p) {
			continue
		}
		i := 0
		if p != v {
			i = p.Index()
		}
		with[p] = made[i]
		if i < len(out) && (results[p] || m.r.IntN(10) == 0) {
			m.add(made[i], out[i])
		}
	}
}

// fits reports whether the sizes of an idiom are small numbers.
func fits(f *ir.Func) bool {
	for _, vs := range [][]*ir.Value{f.Params, f.Body} {
		for _, v := range vs {
			if !small([]ir.Type{v.Type}) || v.Op.Flags&(ir.Impure|ir.Unbound) != 0 && v.Op != ir.Input {
				return false
			}
		}
	}
	return len(f.Asserts) == 0
}
