package vm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// chain is a program of n tasks, each of which reads the result of the one
// before, on streams in turn: with more than one, every task waits for another
// stream.
func chain(n, streams int) *bytecode.Program {
	typ := bytecode.Type{DType: tensor.F32, Shape: []int{1}}
	p := &bytecode.Program{
		Name: "chain", Arena: int64(64 * (n + 1)), Align: 64,
		Kernels: []bytecode.Kernel{{Op: "neg", Unit: "vector", In: []bytecode.Type{typ}, Out: []bytecode.Type{typ}, InPlace: bytecode.Absent}},
		Buffers: []bytecode.Buffer{
			{Space: bytecode.InputSpace, Size: 4, Type: typ, Base: -1, Name: "%x"},
			{Space: bytecode.OutputSpace, Size: 4, Type: typ, Base: -1, Name: "%y"},
		},
		Inputs:    []bytecode.Port{{Name: "x", Buffer: 0}},
		Outputs:   []bytecode.Port{{Name: "y", Buffer: 1}},
		Functions: []bytecode.Function{{Name: "chain", Frame: -1, Streams: make([]bytecode.Stream, streams)}},
	}
	code := p.Functions[0].Streams
	last := 0
	for i := range n {
		s := &code[i%streams]
		if i > 0 && streams > 1 {
			s.Code = append(s.Code, bytecode.Instr{Op: bytecode.Wait, Index: i - 1})
		}
		to := 1
		if i < n-1 {
			to = len(p.Buffers)
			p.Buffers = append(p.Buffers, bytecode.Buffer{Space: bytecode.ArenaSpace, Offset: int64(64 * i), Size: 4, Type: typ, Base: -1, Name: fmt.Sprintf("%%%d", i)})
		}
		s.Code = append(s.Code, bytecode.Instr{Op: bytecode.Exec, Out: []int{to}, In: []int{last}, Task: i})
		if last = to; i < n-1 && streams > 1 {
			s.Code = append(s.Code, bytecode.Instr{Op: bytecode.Post, Index: i})
			p.Events++
		}
	}
	for i := range code {
		code[i].Name = fmt.Sprintf("s%d", i)
		code[i].Code = append(code[i].Code, bytecode.Instr{Op: bytecode.End})
	}
	return p
}

// loaded is a machine of a program whose kernels do nothing.
func loaded(t testing.TB, p *bytecode.Program, opts Options) *Machine {
	t.Helper()
	if opts.Kernels == nil {
		opts.Kernels = new(kernel.Options) // the reference, whose bits the interpreter gives
	}
	m, err := Load(p, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	useKernel(m, "neg", func(*ir.Call, []*tensor.T, []*tensor.T) error { return nil })
	return m
}

// BenchmarkDispatch measures the machine's own cost of a task, with kernels that
// do nothing: on one stream, and where every task waits for another stream, on
// one executor and on as many as there may be, with work that is given away at
// every step.
func BenchmarkDispatch(b *testing.B) {
	const n = 1000
	for _, c := range []struct {
		name    string
		streams int
		spread  bool
	}{{"one stream", 1, false}, {"two streams", 2, false}, {"two streams, spread", 2, true}, {"eight streams, spread", 8, true}} {
		b.Run(c.name, func(b *testing.B) {
			m := loaded(b, chain(n, c.streams), Options{})
			if c.spread {
				m.Together()
			}
			benchmarkRuns(b, m, context.Background(), n)
		})
	}
}

// BenchmarkShortRun measures a run of three tasks that do nothing.
func BenchmarkShortRun(b *testing.B) {
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		streams int
	}{{"plain", context.Background(), 1}, {"cancellable", cancellable, 1}, {"three streams", context.Background(), 3}} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkRuns(b, loaded(b, chain(3, c.streams), Options{}), c.ctx, 3)
		})
	}
}

func benchmarkRuns(b *testing.B, m *Machine, ctx context.Context, tasks int) {
	in := []*tensor.T{tensor.New(tensor.F32, 1)}
	out := []*tensor.T{tensor.New(tensor.F32, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.RunInto(ctx, in, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tasks), "ns/task")
}

// BenchmarkForkJoin measures what it costs to do a task in parts: of tasks in two
// parts that do nothing, and in one.
func BenchmarkForkJoin(b *testing.B) {
	const n = 1000
	for _, parts := range []int{0, 2, 8} {
		b.Run(fmt.Sprintf("%dparts", parts), func(b *testing.B) {
			w := NewWorkers(1)
			defer w.Close()
			m := loaded(b, chain(n, 1), Options{Workers: w})
			for i := range m.code[0][0] {
				st := &m.code[0][0][i]
				st.parts, st.work = parts, wakeWork
				if st.task != nil {
					st.task = &kernel.Prepared{Name: "nothing", Runner: nothing{}}
				}
			}
			benchmarkRuns(b, m, context.Background(), n)
		})
	}
}

// nothing is the Runner of a task that does nothing.
type nothing struct{}

func (nothing) Parts(want int) int { return want }

func (nothing) Run(*kernel.Exec, int, int, []*tensor.T, []*tensor.T) error { return nil }

// BenchmarkParts measures tasks on one executor and on all that there may be.
func BenchmarkParts(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"matmul", "func @f(%x: f32[N,N]) -> f32[N,N] {\n  %y = matmul %x, %x : f32[N,N]\n  return %y\n}"},
		{"softmax", "func @f(%x: f32[N,N]) -> f32[N,N] {\n  %y = softmax %x : f32[N,N]\n  return %y\n}"},
		{"gelu", "func @f(%x: f32[N,N]) -> f32[N,N] {\n  %y = gelu %x : f32[N,N]\n  return %y\n}"},
		{"add", "func @f(%x: f32[N,N]) -> f32[N,N] {\n  %y = add %x, %x : f32[N,N]\n  return %y\n}"},
	} {
		for _, n := range []int{32, 64, 128, 256} {
			for _, workers := range []int{0, -1} {
				w := NewWorkers(workers)
				m := machine(b, strings.ReplaceAll(c.text, "N", fmt.Sprint(n)), Options{Workers: w})
				parts := max(1, m.code[0][0][0].parts)
				x := []*tensor.T{tensor.New(tensor.F32, n, n)}
				out := []*tensor.T{tensor.New(tensor.F32, n, n)}
				b.Run(fmt.Sprintf("%s/%d/%dworkers/%dparts", c.name, n, w.Count(), parts), func(b *testing.B) {
					for b.Loop() {
						if err := m.RunInto(context.Background(), x, out); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(m.code[0][0][0].work), "estimate-ns")
				})
				w.Close()
			}
		}
	}
}
