package fusion

import (
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes"
)

// many is the size of the large graphs of benchmarks; tests take a fifth.
const many = 100_000

// graphs of many operators, and how many regions they become.
var graphs = []struct {
	name string
	make func(many int) *ir.Func
	most int // values in the body afterwards, of a hundred operators
}{
	{"chain", func(many int) *ir.Func { return build(func(b *builder) { b.chain(b.x, many) }) }, 0},
	{"independent", func(many int) *ir.Func {
		return build(func(b *builder) {
			for range many {
				b.result(b.add(ir.Exp, b.x))
			}
		})
	}, 100},
	{"apart", func(many int) *ir.Func { // each reads what it shares with nobody
		return build(func(b *builder) {
			for range many / 2 {
				b.result(b.add(ir.Exp, b.f.NewInput("", b.x.Type)))
			}
		})
	}, 100},
	{"hub", func(many int) *ir.Func { // one value that all read, with one of their own
		return build(func(b *builder) {
			h := b.add(ir.Exp, b.x)
			for range many / 3 {
				b.result(b.add(ir.Mul, h, b.add(ir.Neg, b.f.NewInput("", b.x.Type))))
			}
		})
	}, 100},
	{"layers", func(many int) *ir.Func { // wide: chains side by side, listed across
		return build(func(b *builder) {
			vs := make([]*ir.Value, 1000)
			for i := range vs {
				vs[i] = b.f.NewInput("", b.x.Type)
			}
			for range many / len(vs) {
				for i := range vs {
					vs[i] = b.add(ir.Exp, vs[i])
				}
			}
			for _, v := range vs {
				b.result(v)
			}
		})
	}, 5},
	{"residual", func(many int) *ir.Func {
		return build(func(b *builder) {
			w := b.f.NewInput("w", b.x.Type)
			v := b.x
			for range many / 8 {
				n := b.add(ir.Softmax, v)
				h := b.add(ir.Relu, b.add(ir.MatMul, n, w))
				v = b.add(ir.Add, v, b.add(ir.Exp, b.add(ir.MatMul, h, w)))
				v = b.add(ir.Mul, v, b.add(ir.Sum, v))
			}
			b.result(v)
		})
	}, 100},
	{"ladder", func(many int) *ir.Func { // each reads the two before it
		return build(func(b *builder) {
			u, v := b.x, b.add(ir.Exp, b.x)
			for range many {
				u, v = v, b.add(ir.Add, u, v)
			}
			b.result(v)
		})
	}, 0},
	{"scalars", func(many int) *ir.Func { // a chain with an input at each step
		return build(func(b *builder) {
			v := b.x
			for range many / 2 {
				v = b.add(ir.Mul, v, b.f.NewInput("", ir.T(tensor.F32)))
			}
			b.result(v)
		})
	}, 100},
}

// A builder makes a function of 4 x 4 tensors.
type builder struct {
	f *ir.Func
	x *ir.Value
}

func build(fill func(*builder)) *ir.Func {
	b := &builder{f: &ir.Func{Name: "large"}}
	b.x = b.f.NewInput("x", ir.T(tensor.F32, ir.N(4), ir.N(4)))
	fill(b)
	return b.f
}

func (b *builder) add(op *ir.Op, args ...*ir.Value) *ir.Value {
	v, err := b.f.Add(op, args, nil)
	if err != nil {
		panic(err)
	}
	return v[0]
}

func (b *builder) chain(v *ir.Value, n int) {
	for i := range n {
		v = b.add([]*ir.Op{ir.Exp, ir.Neg, ir.Relu}[i%3], v)
	}
	b.result(v)
}

func (b *builder) result(v *ir.Value) { b.f.Results = append(b.f.Results, v) }

// run fuses f and tells how long it took.
func run(tb testing.TB, f *ir.Func, o Options) (*Fuser, time.Duration) {
	u, errs := New(o)
	if err := errs.Err(); err != nil {
		tb.Fatal(err)
	}
	start := time.Now()
	if _, err := passes.Run(f, passes.Options{Passes: []string{"fuse"}, Fuse: u.Fuse}); err != nil {
		tb.Fatal(err)
	}
	return u, time.Since(start)
}

// Large graphs of every shape take time in proportion. The bound is far above
// what they take, for machines that are busy.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("a second for each graph")
	}
	for _, g := range graphs {
		t.Run(g.name, func(t *testing.T) {
			f := g.make(many / 5)
			u, took := run(t, f, Options{})
			t.Logf("%v, %d values left", took.Round(time.Millisecond), len(f.Body))
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if most := max(many/5/100*g.most, 1); len(f.Body) > most {
				t.Errorf("%d values are left, at most %d expected", len(f.Body), most)
			}
			for _, s := range u.Status() {
				if len(s.Refused) > keepRefusals*len(Reasons) {
					t.Errorf("%s has %d refusals", s.Rule, len(s.Refused))
				}
			}
		})
	}
}

func BenchmarkFuse(b *testing.B) {
	for _, g := range graphs {
		b.Run(g.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				f := g.make(many)
				b.StartTimer()
				run(b, f, Options{})
			}
		})
	}
}
