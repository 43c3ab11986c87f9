package irtest

import (
	"math/rand/v2"
	"strconv"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// maxElements bounds the tensors of a function: operators that enlarge, one
// after the other, would soon fill the memory.
const maxElements = 4096

// Func makes a random legal function with about size values that are computed,
// and inputs with which it runs. Few functions, one in fifty, end with an error.
func Func(r *rand.Rand, size int) (*ir.Func, []*tensor.T) {
	m := newMaker(r)
	// Samples that do not fit are dropped; most do.
	for tries := 0; m.added < size && tries < 4*size+20; tries++ {
		m.step()
	}
	m.results()
	return m.f, m.inputs
}

// A maker is a function that grows.
type maker struct {
	r       *rand.Rand
	f       *ir.Func
	ops     []*ir.Op
	inputs  []*tensor.T
	known   map[*ir.Value]*tensor.T // what each value is for these inputs; nil once an error is let in
	pool    []*ir.Value
	byType  map[string][]*ir.Value
	added   int
	mayFail bool
}

func newMaker(r *rand.Rand) *maker {
	m := &maker{r: r, f: &ir.Func{Name: "random"}, known: map[*ir.Value]*tensor.T{}, byType: map[string][]*ir.Value{}}
	m.mayFail = r.IntN(50) == 0
	for _, op := range ir.Ops() {
		if op.Sample != nil && op.Eval != nil && op.Flags&(ir.Impure|ir.Unbound) == 0 {
			m.ops = append(m.ops, op)
		}
	}
	return m
}

// step adds one random call, if it is legal and runs.
func (m *maker) step() {
	op := m.ops[m.r.IntN(len(m.ops))]
	c := op.Sample(m.r)
	c.Op = op
	if c.Attrs == nil {
		c.Attrs = op.Defaults()
	}
	args := make([]*ir.Value, len(c.In))
	if m.r.IntN(2) == 0 {
		m.rewire(&c, args)
	}
	if ir.InferCall(&c) != nil || !small(c.Out) {
		return
	}
	values := make([]*tensor.T, len(args))
	for i := range args {
		values[i] = m.argument(&c, i, args)
	}
	out, err := ir.Evaluate(&c, values...)
	if err != nil && !m.mayFail {
		return // the leaves made for it stay; they are unused inputs
	}
	vs, err := m.f.Add(op, args, c.Attrs, c.Bodies...)
	if err != nil {
		panic("irtest: a call that was legal is not: " + err.Error())
	}
	m.added++
	for i, v := range vs {
		if i < len(out) {
			m.add(v, out[i])
		}
	}
}

// rewire puts values that exist for arguments of other types, where that is
// legal: it connects what samples alone would leave apart.
func (m *maker) rewire(c *ir.Call, args []*ir.Value) {
	if len(m.pool) == 0 || len(c.In) == 0 {
		return
	}
	for range 4 {
		v := m.pool[m.r.IntN(len(m.pool))]
		i := m.r.IntN(len(c.In))
		if c.In[i].Absent() || known(c, i) {
			continue
		}
		try := *c
		try.In = append([]ir.Type{}, c.In...)
		for j, t := range c.In {
			if t.Equal(c.In[i]) && !known(c, j) {
				try.In[j] = v.Type
			}
		}
		if ir.InferCall(&try) == nil && small(try.Out) {
			c.In = try.In
			args[i] = v
			return
		}
	}
}

func known(c *ir.Call, i int) bool { return i < len(c.Known) && c.Known[i] != nil }

// argument finds or makes argument i.
func (m *maker) argument(c *ir.Call, i int, args []*ir.Value) *tensor.T {
	t := c.In[i]
	switch {
	case t.Absent():
		return nil
	case args[i] != nil:
		return m.known[args[i]]
	case known(c, i):
		args[i] = m.leaf(c.Known[i])
	default:
		same := m.byType[t.String()]
		if len(same) == 0 || m.r.IntN(5) == 0 {
			args[i] = m.leaf(Tensor(m.r, t))
		} else {
			args[i] = same[m.r.IntN(len(same))]
		}
	}
	return m.known[args[i]]
}

// leaf makes an input or a constant that holds t.
func (m *maker) leaf(t *tensor.T) *ir.Value {
	if m.r.IntN(3) == 0 {
		out, err := m.f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(t)})
		if err != nil {
			panic("irtest: constant: " + err.Error())
		}
		m.add(out[0], t)
		return out[0]
	}
	v := m.f.NewInput("x"+strconv.Itoa(len(m.inputs)), ir.TypeOf(t))
	m.inputs = append(m.inputs, t)
	m.add(v, t)
	return v
}

// names are given to some values; repeats and odd ones among them.
var names = []string{"h", "h", "h.1", "net.fc1", "0", "two words", "π", "return", `"`}

func (m *maker) add(v *ir.Value, t *tensor.T) {
	if v.Name == "" && m.r.IntN(3) == 0 {
		v.Name = names[m.r.IntN(len(names))]
	}
	m.known[v] = t
	m.pool = append(m.pool, v)
	key := v.Type.String()
	m.byType[key] = append(m.byType[key], v)
}

// results takes some values, mostly late ones; one may be there twice.
func (m *maker) results() {
	if len(m.pool) == 0 {
		m.leaf(Tensor(m.r, ir.T(tensor.F32, ir.N(2))))
	}
	for range 1 + m.r.IntN(4) {
		n := len(m.pool)
		if m.r.IntN(3) > 0 {
			n = max(1, n/4)
		}
		m.f.Results = append(m.f.Results, m.pool[len(m.pool)-1-m.r.IntN(n)])
	}
}

// small reports whether all of the types are within maxElements.
func small(ts []ir.Type) bool {
	for _, t := range ts {
		if n, ok := t.Elements().Const(); !ok || n > maxElements {
			return false
		}
	}
	return true
}
