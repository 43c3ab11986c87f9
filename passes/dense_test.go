package passes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Random functions of few operators, small shapes and the constants that rules
// ask for: here rules of algebra fire every other line, on what others have made.
func TestDenseAlgebra(t *testing.T) {
	fired := map[string]bool{}
	for seed := range uint64(800) {
		f, inputs := denseFunc(rand.New(rand.NewPCG(seed, 5)))
		want, err := (&ir.Interp{}).Run(f, inputs...)
		if err != nil {
			continue // a division by 0, of which the passes may make anything
		}
		before := f.String()
		report, err := Run(f, Options{Verify: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		got, err := (&ir.Interp{}).Run(f, inputs...)
		if err != nil {
			t.Fatalf("seed %d fails after the passes: %v\n%s", seed, err, before)
		}
		for i := range want {
			if d := rewrite.Differ(got[i], want[i], report.Within()); d != nil {
				t.Errorf("seed %d, result %d: %v\n%s\n%s", seed, i, d, before, f)
			}
		}
		for _, r := range report.Rewrites {
			fired[r.Rule] = true
		}
	}
	if len(fired) < 25 {
		t.Errorf("%d rules fire", len(fired))
	}
}

var (
	denseOps = []string{
		"add", "sub", "mul", "div", "rem", "pow", "neg", "abs", "square", "reciprocal", "sqrt", "exp",
		"maximum", "minimum", "relu", "relu6", "clip", "floor", "round", "sign", "copy", "cast", "expand",
		"equal", "not_equal", "less", "greater_equal", "logical_not", "logical_and", "where",
		"bit_and", "bit_xor", "bit_not", "shift_right", "matmul", "linear", "bias_add",
	}
	denseConsts = []float64{0, math.Copysign(0, -1), 1, -1, 2, 6, 8, 0.5, 3, math.Inf(1), math.NaN()}
	denseShapes = [][]int{{3}, {2, 3}, {1, 3}, {}, {3, 3}}
)

// A dense is a function that grows, in one dtype and bool.
type dense struct {
	r      *rand.Rand
	d      tensor.DType
	f      *ir.Frame
	pool   []*ir.Value
	inputs []*tensor.T
}

func denseFunc(r *rand.Rand) (*ir.Func, []*tensor.T) {
	g := &dense{r: r, d: tensor.DTypes[r.IntN(len(tensor.DTypes))], f: ir.NewFrame("dense")}
	for _, s := range denseShapes {
		g.input(ir.T(g.d, ir.Dims(s...)...))
	}
	g.input(ir.T(tensor.Bool, ir.N(3)))
	for range 14 {
		if r.IntN(2) == 0 {
			g.constant()
		}
		for tries := 0; tries < 6 && !g.call(); tries++ {
		}
	}
	for range 3 {
		g.f.Return(g.late(6))
	}
	return g.f.Func, g.inputs
}

func (g *dense) input(t ir.Type) {
	g.inputs = append(g.inputs, irtest.Tensor(g.r, t))
	g.pool = append(g.pool, g.f.Input("x", t))
}

// constant adds one number, or a tensor of it.
func (g *dense) constant() {
	d, shape, elems := g.d, []int{}, make([]float64, 1)
	if g.r.IntN(5) == 0 {
		d = tensor.Bool
	}
	if g.r.IntN(3) == 0 {
		shape, elems = []int{2, 3}, make([]float64, 6)
	}
	c := denseConsts[g.r.IntN(len(denseConsts))]
	for i := range elems {
		elems[i] = c
	}
	g.add(ir.Const, nil, []ir.Lit{ir.TensorLit(tensor.FromFloats(d, shape, elems))})
}

// call adds an operator, if the arguments that are drawn for it are legal.
func (g *dense) call() bool {
	op := ir.Lookup(denseOps[g.r.IntN(len(denseOps))])
	args, attrs := make([]*ir.Value, len(op.Args)), op.Defaults()
	for i := range args {
		args[i] = g.late([]int{4, len(g.pool)}[g.r.IntN(2)])
	}
	switch op {
	case ir.Cast:
		attrs[0] = ir.DTypeLit(tensor.DTypes[g.r.IntN(len(tensor.DTypes))])
	case ir.Expand:
		attrs[0] = ir.DimsLit(ir.N(2), ir.N(3))
	}
	return g.add(op, args, attrs)
}

func (g *dense) add(op *ir.Op, args []*ir.Value, attrs []ir.Lit) bool {
	out, err := g.f.Add(op, args, attrs)
	if err != nil {
		return false
	}
	g.pool = append(g.pool, out[0])
	return true
}

// late draws one of the last n values.
func (g *dense) late(n int) *ir.Value {
	return g.pool[len(g.pool)-1-g.r.IntN(min(n, len(g.pool)))]
}
