package passes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A law is a small graph on which a rule works, for any dtype that its operators
// take.
type law struct {
	rule  string
	graph func(g *lawGraph) *ir.Value
}

// laws has the algebra of single operators. The general check of rules draws a
// few values at random; here every number of a narrow dtype has its turn.
var laws = []law{
	{"make-square", func(g *lawGraph) *ir.Value { return g.op("mul", g.x, g.x) }},
	{"make-square", func(g *lawGraph) *ir.Value { return g.op("pow", g.x, g.n(2)) }},
	{"make-reciprocal", func(g *lawGraph) *ir.Value { return g.op("div", g.n(1), g.x) }},
	{"multiply-by-inverse", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(8)) }},
	{"multiply-by-inverse", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(-math.Ldexp(1, -14))) }},
	{"multiply-by-inverse", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(math.Ldexp(1, 15))) }},
	{"make-sub", func(g *lawGraph) *ir.Value { return g.op("add", g.x, g.op("neg", g.y)) }},
	{"make-sub", func(g *lawGraph) *ir.Value { return g.op("add", g.op("neg", g.x), g.y) }},
	{"make-add", func(g *lawGraph) *ir.Value { return g.op("sub", g.x, g.op("neg", g.y)) }},
	{"make-neg", func(g *lawGraph) *ir.Value { return g.op("mul", g.x, g.n(-1)) }},
	{"make-neg", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(-1)) }},
	{"make-neg", func(g *lawGraph) *ir.Value { return g.op("sub", g.n(math.Copysign(0, -1)), g.x) }},
	{"make-neg", func(g *lawGraph) *ir.Value { return g.op("sub", g.n(0), g.x) }},
	{"make-relu", func(g *lawGraph) *ir.Value { return g.op("clip", g.x, g.n(0)) }},
	{"make-relu", func(g *lawGraph) *ir.Value { return g.op("where", g.op("less", g.x, g.n(0)), g.n(0), g.x) }},
	{"make-relu", func(g *lawGraph) *ir.Value { return g.op("maximum", g.x, g.n(0)) }},
	{"make-relu6", func(g *lawGraph) *ir.Value { return g.op("clip", g.x, g.n(0), g.n(6)) }},
	{"make-relu6", func(g *lawGraph) *ir.Value { return g.op("minimum", g.op("relu", g.x), g.n(6)) }},
	{"make-relu6", func(g *lawGraph) *ir.Value { return g.op("relu6", g.op("relu", g.x)) }},
	{"make-clip", func(g *lawGraph) *ir.Value { return g.op("minimum", g.op("maximum", g.x, g.n(-2)), g.n(3)) }},
	{"make-clip", func(g *lawGraph) *ir.Value { return g.op("maximum", g.op("minimum", g.x, g.n(0)), g.n(-3)) }},
	{"make-clip", func(g *lawGraph) *ir.Value {
		return g.op("minimum", g.op("maximum", g.x, g.n(math.Copysign(0, -1))), g.n(3))
	}},
	{"make-clip", func(g *lawGraph) *ir.Value { return g.op("minimum", g.op("relu", g.x), g.n(5)) }},
	{"make-clip", func(g *lawGraph) *ir.Value { return g.op("minimum", g.op("relu", g.x), g.n(-5)) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("mul", g.x, g.n(1)) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(1)) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("sub", g.x, g.n(0)) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("add", g.x, g.n(math.Copysign(0, -1))) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("add", g.x, g.n(0)) }},
	{"drop-neutral", func(g *lawGraph) *ir.Value { return g.op("pow", g.x, g.n(1)) }},
	{"make-zero", func(g *lawGraph) *ir.Value { return g.op("mul", g.x, g.n(0)) }},
	{"make-zero", func(g *lawGraph) *ir.Value { return g.op("rem", g.x, g.n(1)) }},
	{"make-zero", func(g *lawGraph) *ir.Value { return g.op("less", g.x, g.x) }},
	{"make-zero", func(g *lawGraph) *ir.Value { return g.op("less", g.x, g.n(0)) }},
	{"make-one", func(g *lawGraph) *ir.Value { return g.op("pow", g.x, g.n(0)) }},
	{"make-one", func(g *lawGraph) *ir.Value { return g.op("greater_equal", g.x, g.n(0)) }},
	{"make-is-nan", func(g *lawGraph) *ir.Value { return g.op("not_equal", g.x, g.x) }},
	{"drop-pair", func(g *lawGraph) *ir.Value { return g.op("neg", g.op("neg", g.x)) }},
	{"drop-repeat", func(g *lawGraph) *ir.Value { return g.op("sign", g.op("sign", g.x)) }},
	{"drop-repeat", func(g *lawGraph) *ir.Value { return g.op("clip", g.op("clip", g.x, g.y), g.y) }},
	{"drop-repeat", func(g *lawGraph) *ir.Value { return g.op("maximum", g.op("maximum", g.x, g.y), g.y) }},
	{"drop-same", func(g *lawGraph) *ir.Value { return g.op("minimum", g.x, g.x) }},
	{"drop-rounding", func(g *lawGraph) *ir.Value { return g.op("floor", g.op("ceil", g.x)) }},
	{"drop-rounding", func(g *lawGraph) *ir.Value { return g.op("round", g.op("trunc", g.x)) }},
	{"drop-relu", func(g *lawGraph) *ir.Value { return g.op("relu", g.op("exp", g.x)) }},
	{"drop-relu", func(g *lawGraph) *ir.Value { return g.op("relu", g.op("softplus", g.x)) }},
	{"drop-relu", func(g *lawGraph) *ir.Value { return g.op("relu", g.op("sqrt", g.x)) }},
	{"drop-relu", func(g *lawGraph) *ir.Value { return g.op("relu", g.op("abs", g.x)) }},
	{"drop-relu", func(g *lawGraph) *ir.Value { return g.op("relu", g.op("square", g.x)) }},
	{"drop-sign", func(g *lawGraph) *ir.Value { return g.op("cos", g.op("neg", g.x)) }},
	{"drop-sign", func(g *lawGraph) *ir.Value { return g.op("cosh", g.op("neg", g.x)) }},
	{"drop-sign", func(g *lawGraph) *ir.Value { return g.op("square", g.op("abs", g.x)) }},
	{"merge-constants", func(g *lawGraph) *ir.Value { return g.op("add", g.op("add", g.x, g.n(100)), g.n(100)) }},
	{"merge-constants", func(g *lawGraph) *ir.Value { return g.op("mul", g.op("mul", g.x, g.n(7)), g.n(11)) }},
	{"merge-constants", func(g *lawGraph) *ir.Value {
		return g.op("maximum", g.op("maximum", g.x, g.n(0)), g.n(math.Copysign(0, -1)))
	}},
	{"make-shift", func(g *lawGraph) *ir.Value { return g.op("div", g.x, g.n(16)) }},
	{"make-shift", func(g *lawGraph) *ir.Value { return g.op("rem", g.x, g.n(64)) }},
	{"negate-comparison", func(g *lawGraph) *ir.Value { return g.op("logical_not", g.op("equal", g.x, g.y)) }},
	{"negate-comparison", func(g *lawGraph) *ir.Value { return g.op("logical_not", g.op("less", g.x, g.y)) }},
	{"turn-constants", func(g *lawGraph) *ir.Value { return g.op("less", g.n(1), g.x) }},
	{"turn-constants", func(g *lawGraph) *ir.Value { return g.op("minimum", g.n(0), g.x) }},
}

// TestLaws: each rule fires in its laws for some dtype, and not a bit differs then.
func TestLaws(t *testing.T) {
	for i, l := range laws {
		fired := 0
		for _, d := range tensor.DTypes {
			g := newLawGraph(d)
			out := l.graph(g)
			if out == nil {
				continue
			}
			g.f.Return(out)
			fired += g.check(t, l.rule)
		}
		if fired == 0 {
			t.Errorf("law %d: %s fires for no dtype", i, l.rule)
		}
	}
}

// A lawGraph is the graph of a law in one dtype. After a call that is not legal
// it makes nothing more.
type lawGraph struct {
	f      *ir.Frame
	d      tensor.DType
	x, y   *ir.Value
	inputs []*tensor.T
}

func newLawGraph(d tensor.DType) *lawGraph {
	x, y := numbers(d)
	g := &lawGraph{f: ir.NewFrame("law"), d: d, inputs: []*tensor.T{x, y}}
	g.x, g.y = g.f.Input("x", ir.TypeOf(x)), g.f.Input("y", ir.TypeOf(y))
	return g
}

func (g *lawGraph) op(name string, args ...*ir.Value) *ir.Value {
	op := ir.Lookup(name)
	for _, a := range args {
		if a == nil {
			return nil
		}
	}
	out, err := g.f.Add(op, args, op.Defaults())
	if err != nil {
		return nil
	}
	return out[0]
}

// n is a number as a constant; nil if the dtype has no such number.
func (g *lawGraph) n(x float64) *ir.Value {
	t := tensor.FromFloats(g.d, nil, []float64{x})
	if g.d == tensor.Bool || t.FloatAt(0) != x || math.Signbit(t.FloatAt(0)) != math.Signbit(x) {
		return nil
	}
	out, _ := g.f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(t)})
	return out[0]
}

// check runs the graph before and after the rule, if that fires, and reports how
// often it has fired.
func (g *lawGraph) check(t *testing.T, rule string) int {
	t.Helper()
	after, _ := g.f.Func.Clone()
	report, err := Run(after, Options{Passes: []string{"simplify"}, Verify: true, Enabled: func(r string) bool { return r == rule }})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Rewrites) == 0 {
		return 0
	}
	want, err := (&ir.Interp{}).Run(g.f.Func, g.inputs...)
	if err != nil {
		return 0
	}
	got, err := (&ir.Interp{}).Run(after, g.inputs...)
	if err == nil {
		err = rewrite.Differ(got[0], want[0], 0)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", rule, err, g.f.Func)
	}
	return len(report.Rewrites)
}

// numbers are every number of a dtype of one or two bytes, and some thousand of
// another, small and large; and the same in another order.
func numbers(d tensor.DType) (x, y *tensor.T) {
	r := rand.New(rand.NewPCG(1, 2))
	size, n := d.Size(), 1<<13
	switch {
	case d == tensor.Bool:
		n = 2
	case size <= 2:
		n = 1 << (8 * size)
	}
	x, y = tensor.New(d, n), tensor.New(d, n)
	for i := range n {
		bits := uint64(i)
		if size > 2 {
			bits = r.Uint64() >> r.IntN(64) << r.IntN(8*size) // few digits, at any height
			if r.IntN(2) == 0 {
				bits = -bits
			}
		}
		for k := range size {
			x.Data[i*size+k] = byte(bits >> (8 * k))
		}
	}
	for i, j := range r.Perm(n) {
		copy(y.Data[i*size:(i+1)*size], x.Data[j*size:(j+1)*size])
	}
	return x, y
}
