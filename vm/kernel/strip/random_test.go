package strip_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// some are codes for random programs: of one to three values, cheap and dear ones.
var some = []vec.Code{vec.Neg, vec.Abs, vec.Exp, vec.Tanh, vec.Relu, vec.Sqrt, vec.Add, vec.Sub, vec.Mul, vec.Div, vec.Max, vec.Min, vec.Leaky, vec.ClipLo, vec.Pow,
	vec.SubFrom, vec.DivInto, vec.Less, vec.GreaterEqual, vec.Equal, vec.Where, vec.HardSigmoid, vec.Threshold, vec.CopySign}

// A step is an operator of a random program; its arguments are values before it.
type step struct {
	code vec.Code
	args []int
}

// values are those of random programs: operands, constants, steps.
const (
	operands  = 4
	constants = 3
)

// random makes steps; where takes the result of a comparison.
func random(r *rand.Rand, n int) (steps []step) {
	var bools []int
	var floats []int
	for i := range operands + constants {
		floats = append(floats, i)
	}
	for range n {
		code := some[r.IntN(len(some))]
		s := step{code: code}
		for range code.Args() + 1 {
			s.args = append(s.args, floats[len(floats)-1-r.IntN(min(len(floats), 6))])
		}
		if code == vec.Where {
			if len(bools) == 0 {
				continue
			}
			s.args[0] = bools[r.IntN(len(bools))]
		}
		steps = append(steps, s)
		at := operands + constants + len(steps) - 1
		if code == vec.Less || code == vec.GreaterEqual || code == vec.Equal {
			bools = append(bools, at)
		} else {
			floats = append(floats, at)
		}
	}
	return steps
}

// program builds the steps, all or one, with results.
func program(t *testing.T, level isa.Level, steps []step, results []int) *strip.Program {
	t.Helper()
	b := strip.New(level)
	var vals []strip.Value
	for range operands {
		vals = append(vals, b.Input(strip.F32))
	}
	for i := range constants {
		vals = append(vals, b.Const(float32(i)-0.5))
	}
	for _, s := range steps {
		var args []strip.Value
		for _, a := range s.args {
			args = append(args, vals[a])
		}
		vals = append(vals, b.Op(s.code, args...))
	}
	for _, v := range results {
		b.Result(vals[v], strip.F32)
	}
	p, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRandom computes random programs at once and operator by operator: not a bit
// may differ but those of NaN, whatever is kept where on the way, and wherever results lie.
func TestRandom(t *testing.T) {
	const cols = 133
	for _, level := range isa.Levels() {
		var s strip.Scratch
		for seed := range 300 {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			steps := random(r, 1+r.IntN(30))
			if len(steps) == 0 {
				continue
			}
			var in [][]float32
			for range operands {
				x := make([]float32, cols)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				in = append(in, x)
			}
			want := alone(level, &s, steps, in)
			results := []int{operands + constants + len(steps) - 1}
			for range r.IntN(3) {
				results = append(results, r.IntN(operands+constants+len(steps)))
			}
			p := program(t, level, steps, results)
			var views []strip.View
			for _, x := range in {
				views = append(views, strip.Matrix(x, cols))
			}
			out := [][]float32{in[0]} // the first in place
			for range results[1:] {
				out = append(out, make([]float32, cols))
			}
			for _, o := range out {
				views = append(views, strip.Matrix(o, cols))
			}
			p.Box(&s, views, 1, cols)
			for i, v := range results {
				for j, got := range out[i] {
					if w := want[v][j]; math.Float32bits(got) != math.Float32bits(w) && (got == got || w == w) {
						t.Fatalf("%v, seed %d: result %d, value %d [%d] is %v, want %v, of %v", level, seed, i, v, j, got, want[v][j], steps)
					}
				}
			}
		}
	}
}

// alone computes each step by a program of its own, and gives all values.
func alone(level isa.Level, s *strip.Scratch, steps []step, in [][]float32) (all [][]float32) {
	cols := len(in[0])
	for _, x := range in {
		all = append(all, append([]float32{}, x...))
	}
	for i := range constants {
		x := make([]float32, cols)
		for j := range x {
			x[j] = float32(i) - 0.5
		}
		all = append(all, x)
	}
	for _, st := range steps {
		b := strip.New(level)
		var args []strip.Value
		var views []strip.View
		for _, a := range st.args {
			args = append(args, b.Input(strip.F32))
			views = append(views, strip.Matrix(all[a], cols))
		}
		b.Result(b.Op(st.code, args...), strip.F32)
		p, err := b.Compile()
		if err != nil {
			panic(err)
		}
		out := make([]float32, cols)
		p.Box(s, append(views, strip.Matrix(out, cols)), 1, cols)
		all = append(all, out)
	}
	return all
}
