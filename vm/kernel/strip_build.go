package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A sheetBuilder makes a sheet of a body's operators.
type sheetBuilder struct {
	*accesses
	*strip.Builder
	vals   [][]strip.Value // by value and access
	views  []operand
	steps  [][]int // by view, along each axis, in bytes
	codes  []vec.Code
	within float64
}

// sheetOf makes the sheet of a body whose elements are those of a shape, or says why
// there is none. Of a heart's results it computes what follows.
func sheetOf(b *Body, level isa.Level, heart int, shape []int) (s *sheet, why string) {
	a := &accesses{body: b, heart: heart}
	if why := a.find(shape); why != "" {
		return nil, why
	}
	g := &sheetBuilder{accesses: a, Builder: strip.New(level), vals: make([][]strip.Value, len(a.need))}
	for v := range b.In {
		if why := g.input(v); why != "" {
			return nil, why
		}
	}
	for i := range b.Ops {
		if why := g.op(i); why != "" {
			return nil, why
		}
	}
	for i, v := range b.Out {
		if why := g.result(i, v); why != "" {
			return nil, why
		}
	}
	p, err := g.Compile()
	if err != nil {
		return nil, err.Error()
	}
	return g.sheet(p), ""
}

// input makes the operands of an input, one for each order in which it is read. A
// constant of one element is part of the program.
func (g *sheetBuilder) input(v int) (why string) {
	if len(g.need[v]) == 0 {
		return ""
	}
	t := g.body.In[v]
	e, ok := elemOf(t.DType)
	if !ok {
		return t.DType.String() + " operands"
	}
	if c := g.body.Value(v); c != nil && c.Len() == 1 {
		one := g.constant(c)
		for range g.need[v] {
			g.vals[v] = append(g.vals[v], one)
		}
		return ""
	}
	for _, acc := range g.need[v] {
		g.vals[v] = append(g.vals[v], g.Input(e))
		g.view(operand{kind: ofInput, index: v}, acc, e)
	}
	return ""
}

func (g *sheetBuilder) view(o operand, acc access, e strip.Elem) {
	steps := make([]int, len(acc))
	for i, s := range acc {
		steps[i] = s * e.Size()
	}
	g.views, g.steps = append(g.views, o), append(g.steps, steps)
}

// constant is a tensor of one element as a lane.
func (g *sheetBuilder) constant(t *tensor.T) strip.Value {
	switch {
	case t.DType.IsInt():
		return g.Int(int32(t.IntAt(0)))
	case t.DType == tensor.Bool:
		return g.Truth(t.BoolAt(0))
	}
	return g.Const(float32(t.FloatAt(0)))
}

// op computes an operator, once for each order in which its result is read.
func (g *sheetBuilder) op(i int) (why string) {
	o := &g.body.Ops[i]
	if i == g.heart {
		if len(g.need[o.First]) > 0 {
			e := strip.F32
			if o.Call.Out[0].DType == tensor.I32 {
				e = strip.I32
			}
			g.view(operand{kind: ofHeart}, g.need[o.First][0], e)
			g.vals[o.First] = []strip.Value{g.rounded(o.Call, g.Input(e))}
		}
		return ""
	}
	for _, acc := range g.need[o.First] {
		args := make([]strip.Value, len(o.Args))
		for j, arg := range o.Args {
			if args[j] = none; arg == Absent {
				continue
			}
			to, _, _ := through(g.body, o, j, acc, g.sizes)
			at := slices.IndexFunc(g.need[arg], func(a access) bool { return slices.Equal(a, to) })
			args[j] = g.vals[arg][at]
		}
		v, why := g.lower(o, args)
		if why != "" {
			return why
		}
		g.vals[o.First] = append(g.vals[o.First], v)
	}
	return ""
}

// none stands for an argument that is absent.
const none = strip.Value(-1)

// lower makes an operator's codes.
func (g *sheetBuilder) lower(o *Op, args []strip.Value) (v strip.Value, why string) {
	if o.Call == nil {
		return args[0], ""
	}
	f := loweringOf(o.Call)
	if f == nil {
		return 0, o.Call.Op.Name + " is not element-wise on " + dtypes(o.Call)
	}
	return g.rounded(o.Call, f(&lowerer{g, o.Call}, args)), ""
}

// rounded rounds a call's result to its type.
func (g *sheetBuilder) rounded(c *ir.Call, v strip.Value) strip.Value {
	d := c.Out[0].DType
	if code, ok := roundTo[d]; ok {
		v = g.Op(code, v)
		g.within = max(g.within, withinOf[d])
	}
	return v
}

// Op is that of the strip.Builder, whose codes are noted.
func (g *sheetBuilder) Op(code vec.Code, args ...strip.Value) strip.Value {
	g.codes = append(g.codes, code)
	g.within += vec.Within(code)
	return g.Builder.Op(code, args...)
}

func (g *sheetBuilder) result(i, v int) (why string) {
	d := g.body.Type(v).DType
	e, ok := elemOf(d)
	if !ok {
		return d.String() + " results"
	}
	dense := access(tensor.Strides(g.sizes))
	at := slices.IndexFunc(g.need[v], func(a access) bool { return slices.Equal(a, dense) })
	g.Result(g.vals[v][at], e)
	g.view(operand{kind: ofResult, index: i}, dense, e)
	return ""
}

// sheet puts the axes into the order of the heart's result and its groups; without a
// heart all are columns.
func (g *sheetBuilder) sheet(p *strip.Program) *sheet {
	s := &sheet{prog: p, codes: g.codes, within: g.within, views: g.views}
	for i, n := range g.sizes {
		a := axis{n, make([]int, len(g.views))}
		for v := range g.views {
			a.steps[v] = g.steps[v][i]
		}
		s.axes[colAxes] = append(s.axes[colAxes], a)
	}
	for _, v := range g.body.Out {
		n, _ := g.body.Type(v).Bytes().Const()
		s.bytes += int(min(n, 1<<40))
	}
	s.replaces = g.body.InPlace != Absent
	s.stream = s.bytes >= isa.StreamFrom() && !s.replaces
	return s
}

// elems are the types of elements that a lane holds.
var elems = map[tensor.DType]strip.Elem{
	tensor.F32: strip.F32, tensor.I32: strip.I32, tensor.Bool: strip.Bool, tensor.F16: strip.F16, tensor.BF16: strip.BF16,
	tensor.I8: strip.I8, tensor.U8: strip.U8,
}

func elemOf(d tensor.DType) (strip.Elem, bool) { e, ok := elems[d]; return e, ok }

// roundTo are the codes that round a result to its type, as every operator does.
var roundTo = map[tensor.DType]vec.Code{tensor.F16: vec.RoundF16, tensor.BF16: vec.RoundBF16}

// withinOf is a unit in the last place of a type, by which a result is off where one
// of its bits is decided by what a float of four bytes no longer has.
var withinOf = map[tensor.DType]float64{tensor.F16: 0x1p-10, tensor.BF16: 0x1p-7}

// dtypes names what a call computes with.
func dtypes(c *ir.Call) string {
	text := ""
	for _, t := range c.In {
		if d := t.DType.String(); !t.Absent() && text != d {
			text = join3(text, d)
		}
	}
	return text
}

func join3(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
