package passes

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A mover makes random functions of moves, of what moves pass, and of products:
// chains of them, which samples of all operators seldom make.
type mover struct {
	r    *rand.Rand
	f    *ir.Func
	pool []*ir.Value
}

// moverOps are what a function is made of; those that stand here twice are
// drawn twice as often. Arguments are drawn from the pool, attributes to fit.
var moverOps = []struct {
	op    string
	attrs func(m *mover, x *ir.Value, set func(string, ir.Lit))
}{
	{"transpose", (*mover).perm}, {"transpose", (*mover).perm}, {"transpose", nil},
	{"reshape", (*mover).shape}, {"reshape", (*mover).shape}, {"flatten", nil}, {"squeeze", nil}, {"unsqueeze", (*mover).newAxis},
	{"slice", (*mover).cuts}, {"slice", (*mover).cuts}, {"flip", (*mover).someAxes}, {"roll", (*mover).roll},
	{"concat", (*mover).axis}, {"concat", (*mover).axis}, {"stack", (*mover).axis}, {"split", (*mover).parts}, {"chunk", (*mover).chunks},
	{"pad", (*mover).pads}, {"expand", (*mover).lead}, {"tile", (*mover).once}, {"repeat", (*mover).times},
	{"relu", nil}, {"neg", nil}, {"add", nil}, {"add", nil}, {"mul", nil}, {"maximum", nil}, {"bias_add", nil}, {"cast", (*mover).dtype},
	{"softmax", (*mover).axis}, {"layernorm", nil}, {"cumsum", (*mover).axis},
	{"sum", (*mover).someAxes}, {"max", (*mover).someAxes}, {"argmax", (*mover).axis},
	{"matmul", nil}, {"matmul", nil}, {"linear", nil},
}

func (m *mover) perm(x *ir.Value, set func(string, ir.Lit)) {
	set("perm", ints(m.r.Perm(x.Type.Rank())))
}

// shape parts the elements anew: two axes joined, or a half taken off.
func (m *mover) shape(x *ir.Value, set func(string, ir.Lit)) {
	var shape []ir.Dim
	for _, d := range x.Type.Shape {
		n, known := d.Const()
		switch {
		case known && n%2 == 0 && m.r.IntN(2) == 0:
			shape = append(shape, ir.N(2), ir.N(n/2))
		case len(shape) > 0 && m.r.IntN(2) == 0:
			shape[len(shape)-1] = shape[len(shape)-1].Mul(d)
		default:
			shape = append(shape, d)
		}
	}
	set("dims", ir.DimsLit(shape...))
}

func (m *mover) newAxis(x *ir.Value, set func(string, ir.Lit)) {
	set("axis", ir.IntsLit(int64(m.r.IntN(x.Type.Rank()+1))))
}

func (m *mover) axis(x *ir.Value, set func(string, ir.Lit)) {
	set("axis", ir.IntLit(int64(m.r.IntN(x.Type.Rank()+1)-1)))
}

func (m *mover) someAxes(x *ir.Value, set func(string, ir.Lit)) {
	rank := x.Type.Rank()
	set("axis", ints(m.r.Perm(rank)[:min(rank, m.r.IntN(3))]))
}

func (m *mover) cuts(x *ir.Value, set func(string, ir.Lit)) {
	axes := m.r.Perm(x.Type.Rank())[:1]
	d := x.Type.Shape[axes[0]]
	n, known := d.Const()
	steps := []int64{1, 1, 1, 2, -1, -2}
	if !known {
		n, steps = 3, steps[:4]
	}
	n = max(n, 1)
	start, end := ir.N(m.r.Int64N(n)), ir.N(1+m.r.Int64N(n))
	switch m.r.IntN(4) {
	case 0:
		end = d
	case 1:
		start, end = ir.N(-1-m.r.Int64N(n)), ir.N(farAway)
	}
	set("starts", ir.DimsLit(start))
	set("ends", ir.DimsLit(end))
	set("axes", ints(axes))
	set("steps", ir.IntsLit(steps[m.r.IntN(len(steps))]))
}

func (m *mover) roll(x *ir.Value, set func(string, ir.Lit)) {
	set("shift", ir.DimsLit(ir.N(m.r.Int64N(3)-1)))
	m.someAxes(x, set)
}

func (m *mover) parts(x *ir.Value, set func(string, ir.Lit)) {
	set("parts", ir.IntLit(1+m.r.Int64N(2)))
	m.axis(x, set)
}

func (m *mover) chunks(x *ir.Value, set func(string, ir.Lit)) {
	set("n", ir.IntLit(1+m.r.Int64N(3)))
	m.axis(x, set)
}

func (m *mover) pads(x *ir.Value, set func(string, ir.Lit)) {
	var pairs []ir.Dim
	for range 2 * x.Type.Rank() {
		pairs = append(pairs, ir.N(max(0, m.r.Int64N(4)-2)))
	}
	if pairs == nil || m.r.IntN(3) == 0 {
		pairs = []ir.Dim{ir.N(m.r.Int64N(2))}
	}
	set("pairs", ir.DimsLit(pairs...))
	set("mode", ir.StrLit([]string{"constant", "constant", "edge", "wrap", "reflect", "symmetric"}[m.r.IntN(6)]))
}

func (m *mover) lead(x *ir.Value, set func(string, ir.Lit)) {
	shape := append([]ir.Dim{ir.N(1 + m.r.Int64N(2))}, x.Type.Shape...)
	for i, d := range shape {
		if d.Is(1) && m.r.IntN(2) == 0 {
			shape[i] = ir.N(1 + m.r.Int64N(3))
		}
	}
	set("dims", ir.DimsLit(shape...))
}

func (m *mover) once(_ *ir.Value, set func(string, ir.Lit)) {
	set("reps", ir.DimsLit(ir.N(1), ir.N(1+m.r.Int64N(2))))
}

func (m *mover) times(x *ir.Value, set func(string, ir.Lit)) {
	set("n", ir.DimLit(ir.N(1+m.r.Int64N(2))))
	m.axis(x, set)
}

func (m *mover) dtype(_ *ir.Value, set func(string, ir.Lit)) {
	set("dtype", ir.DTypeLit([]tensor.DType{tensor.F32, tensor.F16, tensor.I8}[m.r.IntN(3)]))
}

// step adds one call, if what was drawn is legal.
func (m *mover) step() {
	row := moverOps[m.r.IntN(len(moverOps))]
	op := ir.Lookup(row.op)
	x := m.value()
	attrs := op.Defaults()
	if x.Type.Rank() == 0 {
		return
	}
	if row.attrs != nil {
		row.attrs(m, x, func(name string, l ir.Lit) {
			for i := range op.Attrs {
				if op.Attrs[i].Name == name {
					attrs[i] = l
				}
			}
		})
	}
	args := []*ir.Value{x}
	for i := 1; i < len(op.Args) || i == 1 && op.Args[0] == "xs..."; i++ {
		if _, optional, _ := ir.ArgKind(op.Args[min(i, len(op.Args)-1)]); optional {
			break
		}
		args = append(args, m.value())
	}
	if n, known := x.Type.Elements().Const(); known && n > 4096 {
		return
	}
	if op == ir.MatMul && m.r.IntN(3) == 0 {
		m.turn(args)
	}
	if at := m.r.IntN(len(m.pool)); op == ir.Concat && at > 0 && m.r.IntN(2) == 0 {
		args = m.pool[at-1 : at+1] // the parts of a split, perhaps
	}
	out, err := m.f.Add(op, args, attrs)
	if err != nil {
		return
	}
	m.pool = append(m.pool, out...)
}

// turn puts transposes in the place of arguments.
func (m *mover) turn(args []*ir.Value) {
	for i, a := range args {
		if out, err := m.f.Add(ir.Transpose, []*ir.Value{a}, nil); err == nil {
			args[i] = out[0]
		}
	}
}

// value prefers what was made last, so that chains arise.
func (m *mover) value() *ir.Value {
	n := len(m.pool)
	return m.pool[n-1-min(m.r.IntN(n), m.r.IntN(n), m.r.IntN(n))]
}

// moves makes a function with symbols and the sizes that they stand for. Asserts
// stay out of it: those of a reshape would hold for few sizes.
func moves(r *rand.Rand, size int) (f *ir.Func, inputs []*tensor.T) {
	m := &mover{r: r, f: &ir.Func{Name: "moves"}}
	s, env := ir.Sym("S"), ir.Env{"S": r.Int64N(4)}
	types := []ir.Type{
		ir.T(tensor.F32, s), ir.T(tensor.F32, ir.Dims(2, 3)...), ir.T(tensor.F32, ir.Dims(3, 2)...), ir.T(tensor.F32, ir.Dims(4)...),
		ir.T(tensor.F32, ir.N(2), s, ir.N(4)), ir.T(tensor.F32, ir.N(4), s), ir.T(tensor.F32, ir.Dims(2, 1, 4)...), ir.T(tensor.F32, ir.Dims(4, 4)...),
	}
	for i, t := range types {
		v := m.f.NewInput(string(rune('a'+i)), t)
		bound, _ := t.Bind(env)
		inputs = append(inputs, irtest.Tensor(r, bound))
		m.pool = append(m.pool, v)
	}
	c, _ := m.f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(irtest.Tensor(r, ir.T(tensor.F32, ir.Dims(4)...)))})
	m.pool = append(m.pool, c[0])
	for range 4 * size {
		m.step()
	}
	for range 5 {
		m.f.Results = append(m.f.Results, m.value())
	}
	return m.f, inputs
}

// Rules about moves are exact, for every size of the symbols; each of them fires
// somewhere.
func TestMoves(t *testing.T) {
	fired := map[string]int{}
	n := 1000
	if testing.Short() {
		n = 300
	}
	for seed := range uint64(n) {
		f, inputs := moves(rand.New(rand.NewPCG(seed, 3)), 12)
		before := f.String()
		want, wantErr := (&ir.Interp{}).Run(f, inputs...)
		report, err := Run(f, Options{Verify: true, Passes: []string{"simplify", "sink-transposes", "merge-products", "join-products", "drop-dead"}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		for _, r := range report.Rewrites {
			fired[r.Rule]++
		}
		if wantErr != nil {
			continue
		}
		got, err := (&ir.Interp{}).Run(f, inputs...)
		if err != nil {
			t.Fatalf("seed %d: fails after the passes: %v\n%s\n%s", seed, err, before, f)
		}
		for i := range want {
			if d := rewrite.Differ(got[i], want[i], 0); d != nil {
				t.Fatalf("seed %d: result %d differs: %v\n%s\n%s", seed, i, d, before, f)
			}
		}
	}
	for _, table := range [][]*rewrite.Rule{shapeRules(), sliceRules(), transposeRules()} {
		for _, r := range table {
			if fired[r.Name] == 0 {
				t.Errorf("%s fired in none of %d functions", r.Name, n)
			}
		}
	}
	t.Log(fired)
}

// Long chains of moves, and many slices of many parts, take moments: what is
// merged step by step must not be copied at each. The bound is generous for a
// busy machine.
func TestManyMoves(t *testing.T) {
	const n = 10_000
	chain := func(size int64, op *ir.Op, attrs ...ir.Lit) *ir.Func {
		f := &ir.Func{Name: "chain"}
		x := f.NewInput("x", ir.T(tensor.F32, ir.N(size)))
		v := x
		for range n {
			args := []*ir.Value{v}
			if op == ir.Concat {
				args = append(args, x)
			}
			v = addTo(f, op, args, attrs)
		}
		f.Results = []*ir.Value{v}
		return f
	}
	parts := &ir.Func{Name: "parts"}
	c := addTo(parts, ir.Concat, slices.Repeat([]*ir.Value{parts.NewInput("x", ir.T(tensor.F32, ir.N(2)))}, n), ir.Concat.Defaults())
	for i := range n {
		parts.Results = append(parts.Results, columnsOf(parts, c, i, i+2))
	}
	for _, f := range []*ir.Func{
		chain(1, ir.Concat, ir.IntLit(0)),
		chain(n+1, ir.Slice, ir.DimsLit(ir.N(1)), ir.DimsLit(ir.N(farAway)), ir.None, ir.None),
		parts,
	} {
		start := time.Now()
		if _, err := Run(f, Options{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s of %d operators: %v", f.Name, n, took)
		}
	}
}
