package vm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

var stress = flag.Duration("stress", 0, "how long each of the stress tests goes on; 0: a moment")

// moment is how long a stress test goes on if nobody says.
func moment() time.Duration {
	switch {
	case *stress > 0:
		return *stress
	case testing.Short():
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

// memoryModes are all ways to use memory again.
var memoryModes = []lower.MemoryMode{lower.MemoryOff, lower.MemoryConservative, lower.MemoryNormal, lower.MemoryAggressive}

// TestStressGraphs runs random graphs on up to eight streams and four workers,
// in parts and in any order, with memory poisoned that holds nothing, and compares
// with the interpreter, bit for bit.
func TestStressGraphs(t *testing.T) {
	var workers []*vm.Workers
	for n := range 5 {
		w := vm.NewWorkers(n)
		defer w.Close()
		workers = append(workers, w)
	}
	end := time.Now().Add(moment())
	for seed := uint64(0); time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 21))
		f, in := stressGraph(r, seed)
		want, wantErr := interpret(f, in)
		opts := lower.Options{
			Streams: 1 + r.IntN(8), Strategy: strategies[r.IntN(len(strategies))], Memory: memoryModes[r.IntN(len(memoryModes))],
		}
		n := r.IntN(len(workers))
		what := fmt.Sprintf("seed %d, %+v, %d workers", seed, opts, n)
		p := program(t, f, bindings(t, f, in), opts)
		m := load(t, f, p, vm.Options{Workers: workers[n], Poison: true})
		m.Disturb(seed, 2+r.IntN(6))
		for range 3 {
			got, err := m.Run(context.Background(), in)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%s: the machine says %v, the interpreter %v\n%s", what, err, wantErr, f)
			}
			if err == nil {
				sameOf(t, what, f, got, want)
			}
		}
		m.Close()
	}
}

// stressGraph makes a graph of one of two kinds: of every operator, or of few
// that nest and meet.
func stressGraph(r *rand.Rand, seed uint64) (*ir.Func, []*tensor.T) {
	if seed%2 == 0 {
		return irtest.Func(r, 1+r.IntN(60))
	}
	f := randomFunc(seed, 5+r.IntN(80))
	var in []*tensor.T
	for _, v := range f.Params {
		in = append(in, randomTensor(r, v.Type))
	}
	return f, in
}

func interpret(f *ir.Func, in []*tensor.T) ([]*tensor.T, error) {
	interp := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) { return weightOf(v.Type), nil }}
	return interp.Run(f, in...)
}

func bindings(t testing.TB, f *ir.Func, in []*tensor.T) ir.Env {
	t.Helper()
	types := make([]ir.Type, len(in))
	for i, x := range in {
		types[i] = ir.TypeOf(x)
	}
	env, err := ir.BindSymbols(f, types)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func sameOf(t *testing.T, what string, f *ir.Func, got, want []*tensor.T) {
	t.Helper()
	for i := range want {
		if !tensor.BitEqual(got[i], want[i]) {
			t.Fatalf("%s: result %d differs: %v\n%s", what, i, tensor.Compare(got[i], want[i], 0), f)
		}
	}
}

// TestStressCallers lets 32 goroutines run one machine, with contexts that are
// cancelled at any moment.
func TestStressCallers(t *testing.T) {
	f := randomFunc(3, 60)
	in := inputsOf(t, f, nil, 5)
	want, err := interpret(f, in)
	if err != nil {
		t.Fatal(err)
	}
	w := vm.NewWorkers(3)
	defer w.Close()
	m := load(t, f, program(t, f, nil, lower.Options{Streams: 4}), vm.Options{Workers: w, Poison: true})
	m.Disturb(1, 3)
	end := time.Now().Add(moment())
	var all sync.WaitGroup
	for g := range 32 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 8))
			out := outputsLike(want)
			for time.Now().Before(end) {
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(3) == 0 {
					time.AfterFunc(time.Duration(r.IntN(200))*time.Microsecond, cancel)
				}
				err := m.RunInto(ctx, in, out)
				cancel()
				if err == nil {
					sameOf(t, "callers", f, out, want)
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func outputsLike(ts []*tensor.T) []*tensor.T {
	var out []*tensor.T
	for _, t := range ts {
		out = append(out, tensor.New(t.DType, t.Shape...))
	}
	return out
}
