package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
)

// fifty is a residual network of 50 tasks.
func fifty(tb testing.TB) *ir.Func {
	var b strings.Builder
	b.WriteString("func @net(%h0: f32[B,64]) -> f32[B,64] {\n  %w = param : f32[64,64]\n")
	for i := range 10 {
		fmt.Fprintf(&b, `  %%a%[1]d = matmul %%h%[1]d, %%w : f32[B,64]
  %%b%[1]d = relu %%a%[1]d : f32[B,64]
  %%c%[1]d = matmul %%b%[1]d, %%w : f32[B,64]
  %%d%[1]d = softmax %%c%[1]d : f32[B,64]
  %%h%[2]d = add %%d%[1]d, %%h%[1]d : f32[B,64]
`, i, i+1)
	}
	b.WriteString("  return %h10\n}")
	return irtest.Parse(tb, b.String())
}

// BenchmarkLower plans 50 tasks for one binding of a symbol.
func BenchmarkLower(b *testing.B) {
	f := fifty(b)
	for _, mode := range []lower.MemoryMode{lower.MemoryOff, lower.MemoryNormal, lower.MemoryAggressive} {
		for _, streams := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/streams=%d", mode, streams), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := lower.Lower(f, ir.Env{"B": 32}, lower.Options{Memory: mode, Streams: streams}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// large are graphs of n tasks: one behind the other, all from one value, and
// layers of which each reads two of the one before.
var large = map[string]func(f *ir.Func, n int) *ir.Value{
	"chain": func(f *ir.Func, n int) *ir.Value {
		v := f.Params[0]
		for i := range n {
			v = unary(f, []string{"softmax", "exp"}[i%2], v)
		}
		return v
	},
	"fan": func(f *ir.Func, n int) *ir.Value {
		var list []*ir.Value
		for range n / 2 {
			list = append(list, unary(f, "softmax", f.Params[0]))
		}
		for len(list) > 1 {
			list = append(list[2:], must(f.Add(ir.Lookup("add"), list[:2], nil)))
		}
		return list[0]
	},
	"grid": func(f *ir.Func, n int) *ir.Value {
		row := []*ir.Value{}
		for range 32 {
			row = append(row, unary(f, "softmax", f.Params[0]))
		}
		for range n/32 - 1 {
			next := make([]*ir.Value, len(row))
			for i := range row {
				next[i] = must(f.Add(ir.Lookup("maximum"), []*ir.Value{row[i], row[(i+1)%len(row)]}, nil))
			}
			row = next
		}
		sum := row[0]
		for _, v := range row[1:] {
			sum = must(f.Add(ir.Lookup("add"), []*ir.Value{sum, v}, nil))
		}
		return sum
	},
}

func unary(f *ir.Func, op string, v *ir.Value) *ir.Value {
	return must(f.Add(ir.Lookup(op), []*ir.Value{v}, nil))
}

func must(vs []*ir.Value, err error) *ir.Value {
	if err != nil {
		panic(err)
	}
	return vs[0]
}

// BenchmarkLowerLarge plans graphs of 100,000 tasks.
func BenchmarkLowerLarge(b *testing.B) {
	for name, build := range large {
		f := &ir.Func{Name: name}
		f.NewInput("x", ir.T(tensor.F32, ir.N(100)))
		f.Results = []*ir.Value{build(f, 100_000)}
		for _, mode := range []lower.MemoryMode{lower.MemoryNormal, lower.MemoryAggressive} {
			for _, streams := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/%s/streams=%d", name, mode, streams), func(b *testing.B) {
					for b.Loop() {
						if _, err := lower.Lower(f, nil, lower.Options{Memory: mode, Streams: streams}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
