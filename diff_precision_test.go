package npu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// A productSketch draws the product of a random graph: what is multiplied, and with what.
type productSketch struct {
	f     *ir.Frame // of the graph, or of a body in it
	outer *ir.Frame // where weights stand
	r     *rand.Rand
}

// sketchSizes are sizes of rows, sums and columns: none, one, and edges of registers.
var sketchSizes = []int64{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65}

func (s *productSketch) size() int64 { return sketchSizes[s.r.IntN(len(sketchSizes))] }

// add calls an operator; nil: the call is not legal.
func (s *productSketch) add(op *ir.Op, args []*ir.Value, attrs []ir.Lit, bodies ...*ir.Frame) *ir.Value {
	if slices.Contains(args, nil) {
		return nil
	}
	var out []*ir.Value
	var err error
	if bodies == nil {
		out, err = s.f.Add(op, args, attrs)
	} else {
		out, err = s.f.AddRegion(op, args, attrs, bodies...)
	}
	if err != nil {
		return nil
	}
	return out[0]
}

// weight is a constant; one in eight has a column of zeros, one in eight a number that
// is none.
func (s *productSketch) weight(shape ...int64) *ir.Value {
	dims := make([]int, len(shape))
	for i, d := range shape {
		dims[i] = int(d)
	}
	t := tensor.New(tensor.F32, dims...)
	odd := s.r.IntN(8)
	for i := range t.Len() {
		t.SetFloat(i, s.r.NormFloat64())
		if odd == 0 && i%dims[len(dims)-1] == 0 {
			t.SetFloat(i, 0)
		}
	}
	if odd == 1 && t.Len() > 0 {
		t.SetFloat(s.r.IntN(t.Len()), []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, 1e-42}[s.r.IntN(5)])
	}
	out, err := s.outer.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(t)})
	if err != nil {
		return nil
	}
	return out[0]
}

// product multiplies x, whose last axis has k elements, by a weight, by what is made of
// one, or by something that is computed.
func (s *productSketch) product(x *ir.Value, k, n int64) *ir.Value {
	switch s.r.IntN(6) {
	case 0:
		return s.add(ir.Linear, []*ir.Value{x, s.weight(n, k), s.weight(n)}, nil)
	case 1:
		return s.add(ir.Linear, []*ir.Value{x, s.weight(n, k)}, nil)
	case 2:
		w := s.add(ir.Lookup("tanh"), []*ir.Value{s.weight(k, n)}, nil)
		return s.add(ir.MatMul, []*ir.Value{x, w}, nil)
	case 3: // by its own rows
		sum := s.add(ir.Lookup("sigmoid"), []*ir.Value{x}, nil)
		return s.add(ir.Linear, []*ir.Value{x, sum}, nil)
	}
	return s.add(ir.MatMul, []*ir.Value{x, s.weight(k, n)}, nil)
}

// layer is a product with what may stand around it.
func (s *productSketch) layer(x *ir.Value, k, n int64) *ir.Value {
	y := s.product(x, k, n)
	for range s.r.IntN(3) {
		op := []string{"relu", "gelu", "tanh", "neg", "softmax", "abs"}[s.r.IntN(6)]
		y = s.add(ir.Lookup(op), []*ir.Value{y}, nil)
	}
	return y
}

// within puts a layer into a loop that carries its result, or into a branch.
func (s *productSketch) within(x, cond *ir.Value, k int64) *ir.Value {
	body := func(counter bool, params ...*ir.Value) *ir.Frame {
		inner := &productSketch{s.f.Body(), s.outer, s.r}
		if counter {
			inner.f.Input("t", ir.T(tensor.I64))
		}
		v := x
		for _, p := range params {
			v = inner.f.Input("h", p.Type)
		}
		made := inner.layer(v, k, k)
		if made == nil || !made.Type.Equal(x.Type) {
			made = inner.add(ir.Lookup("tanh"), []*ir.Value{v}, nil)
		}
		inner.f.Return(made)
		return inner.f
	}
	if s.r.IntN(2) == 0 {
		return s.add(ir.If, []*ir.Value{cond}, ir.If.Defaults(), body(false), body(false))
	}
	attrs := ir.Loop.Defaults()
	for i, a := range ir.Loop.Attrs {
		switch a.Name {
		case "to":
			attrs[i] = ir.DimLit(ir.N(s.r.Int64N(4)))
		case "carry":
			attrs[i] = ir.IntLit(1)
		}
	}
	return s.add(ir.Loop, []*ir.Value{x}, attrs, body(true, x))
}

// productIdiom is some layers, in loops and branches too.
func productIdiom(r *rand.Rand) (*ir.Func, map[string]*tensor.T) {
	f := ir.NewFrame("products")
	s := &productSketch{f, f, r}
	k := s.size()
	shape := []ir.Dim{ir.N(s.size()), ir.N(k)}
	if r.IntN(4) == 0 {
		shape = append([]ir.Dim{ir.N(r.Int64N(3))}, shape...)
	}
	x := f.Input("x", ir.T(tensor.F32, shape...))
	cond := f.Input("cond", ir.T(tensor.Bool))
	for range 1 + r.IntN(3) {
		n := s.size()
		y := s.layer(x, k, n)
		if r.IntN(2) == 0 {
			n, y = k, s.within(x, cond, k)
		}
		if y == nil {
			break
		}
		x, k = y, n
		if d, ok := y.Type.Shape[y.Type.Rank()-1].Const(); ok {
			k = d
		}
	}
	f.Return(x)
	made := f.Finish()
	if ir.Verify(made) != nil {
		return nil, nil
	}
	return made, nil
}

// TestDifferentialPrecision: random graphs whose products are computed in shorter
// dtypes give by the machine what the interpreter makes of the converted graph, to the
// bit, and by fast and generic kernels, in any plan, what their operators' evaluations
// allow.
func TestDifferentialPrecision(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	for _, p := range PrecisionsAll[1:] {
		followed, inner := 0, 0
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 31))
			c := &trialCase{opts: Options{Level: []Level{O0, O1, O2, O2, O2}[r.IntN(5)], Verify: true, Precision: p}}
			randomPlan(rand.New(rand.NewPCG(seed, 32)), &c.opts)
			c.f, c.inputs = irtest.FuncOf(r, int(seed)%8, productIdiom)
			if c.f == nil || !modest(c.f, nil) {
				continue
			}
			c.number()
			products, err := c.checkConverted()
			if err != nil {
				t.Fatalf("%s, seed %d: %v\noptions: %s\n%s", p, seed, err, c.described(), c.f)
			}
			for _, s := range products {
				if s.From != s.To {
					followed++
					if s.Inner {
						inner++
					}
				}
			}
		}
		if followed == 0 || inner == 0 {
			t.Errorf("%s: %d products were converted, %d of them in loops and branches", p, followed, inner)
		}
		t.Logf("%s: %d products were converted, %d of them in loops and branches", p, followed, inner)
	}
}

// checkConverted compares what machine and kernels make of the converted graph with what
// the interpreter does.
func (c *trialCase) checkConverted() ([]ProductStatus, error) {
	p, err := c.program(c.opts)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.compare(p.fn, c.inputs); err != nil {
		return nil, err
	}
	plan := c.opts
	randomPlan(rand.New(rand.NewPCG(uint64(len(c.f.Body)), 33)), &plan)
	return p.record.Products, p.checkOtherKernels(c.inputs, plan)
}
