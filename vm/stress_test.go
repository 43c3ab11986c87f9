package vm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
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

// stressDevices are hosts on which streams pay always, where they are thought to,
// and a device whose units take turns.
var stressDevices = []*device.Device{eager, nil, device.Lookup("ascend910a")}

func stressOptions(r *rand.Rand) lower.Options {
	return lower.Options{
		Device:   stressDevices[r.IntN(len(stressDevices))],
		Streams:  1 + r.IntN(8),
		Strategy: strategies[r.IntN(len(strategies))],
		Memory:   memoryModes[r.IntN(len(memoryModes))],
		Align:    []int64{0, 32, 64, 512}[r.IntN(4)],
	}
}

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
	seen := census{}
	const least = 100 // graphs, however slow the machine
	end := time.Now().Add(moment())
	seed := uint64(0)
	for ; seed < least || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 21))
		f, in := stressGraph(t, r, seed)
		opts := stressOptions(r)
		n := r.IntN(len(workers))
		what := fmt.Sprintf("seed %d, %+v, %d workers", seed, opts, n)
		p := program(t, f, bindings(t, f, in), opts)
		seen.count(p)
		m := load(t, f, p, vm.Options{Workers: workers[n], Poison: true})
		m.Disturb(seed, 2+r.IntN(6))
		want, err := interpret(f, in)
		runThrice(t, what, f, m, in, want, err)
	}
	t.Logf("%d graphs: %v", seed, seen)
	for _, what := range censused {
		if seen[what] == 0 {
			t.Errorf("no graph has %s: %v", what, seen)
		}
	}
}

// runThrice compares runs with what they should give, and closes the machine.
func runThrice(t *testing.T, what string, f *ir.Func, m *vm.Machine, in, want []*tensor.T, wantErr error) {
	t.Helper()
	defer m.Close()
	for range 3 {
		got, err := m.Run(context.Background(), in)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s: the machine says %v instead of %v\n%s", what, err, wantErr, f)
		}
		if err == nil {
			sameOf(t, what, f, got, want)
		}
	}
}

// TestStressKernels does the same with generic and fast kernels, of every level: each
// task is held against its operators, and what runs give that are disturbed in any way
// are the bits of one that is not, on one stream and without help.
func TestStressKernels(t *testing.T) {
	var workers []*vm.Workers
	for n := range 5 {
		w := vm.NewWorkers(n)
		defer w.Close()
		workers = append(workers, w)
	}
	const least = 60 // graphs, however slow the machine
	end := time.Now().Add(moment())
	seed := uint64(0)
	kinds := map[string]int{}
	for ; seed < least || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 22))
		f, in := stressGraph(t, r, seed)
		levels := isa.Levels()
		use := kernel.Options{Kind: kernel.Fast, Level: levels[r.IntN(len(levels))], Packs: new(kernel.Packs)}
		opts := stressOptions(r)
		n := r.IntN(len(workers))
		what := fmt.Sprintf("seed %d, %+v, %d workers, %v", seed, opts, n, use.Level)
		env := bindings(t, f, in)
		calm := program(t, f, env, lower.Options{Streams: 1, Memory: lower.MemoryOff})
		p := program(t, f, env, opts)

		m := load(t, f, p, vm.Options{Workers: workers[n], Kernels: &use, Check: refuseDifference})
		m.Disturb(seed, 2+r.IntN(6))
		_, checked := m.Run(context.Background(), in)
		m.Close()
		m = load(t, f, calm, vm.Options{Workers: workers[0], Kernels: &use})
		want, wantErr := m.Run(context.Background(), in)
		for _, task := range m.Tasks() {
			kinds[task.Kernel]++
		}
		m.Close()
		if (checked != nil) != (wantErr != nil) {
			t.Fatalf("%s: a checked run says %v, another %v\n%s", what, checked, wantErr, f)
		}
		m = load(t, f, p, vm.Options{Workers: workers[n], Poison: true, Kernels: &use})
		m.Disturb(seed, 2+r.IntN(6))
		runThrice(t, what, f, m, in, want, wantErr)
	}
	t.Logf("%d graphs: %v", seed, kinds)
	for _, name := range []string{"strip/", "product/f32/", "reduce/f32/", "move/", "index/", "order/"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(k string) bool { return strings.HasPrefix(k, name) }) {
			t.Errorf("no graph has a task of %s: %v", name, kinds)
		}
	}
}

// refuseDifference ends a checked run with what is off by more than a kernel promises.
func refuseDifference(d vm.Difference) error {
	if d.Difference() != nil {
		return d
	}
	return nil
}

// A census counts programs by what they have.
type census map[string]int

// censused are the ways in which memory and order can be got wrong.
var censused = []string{"streams", "events", "views", "parts in place", "arguments replaced", "regions", "loops", "branches", "rows", "several results"}

func (c census) count(p *bytecode.Program) {
	has := map[string]bool{"streams": len(p.Functions[0].Streams) > 1, "events": p.Events > 0}
	for _, b := range p.Buffers {
		has["views"] = has["views"] || b.Base >= 0
	}
	for _, f := range p.Functions {
		for _, s := range f.Streams {
			for i := range s.Code {
				noteInstr(has, p, &s.Code[i])
			}
		}
	}
	for what, yes := range has {
		if yes {
			c[what]++
		}
	}
}

var opcodeKinds = map[bytecode.Opcode]string{bytecode.Call: "regions", bytecode.Loop: "loops", bytecode.Branch: "branches", bytecode.Row: "rows"}

func noteInstr(has map[string]bool, p *bytecode.Program, in *bytecode.Instr) {
	if kind, ok := opcodeKinds[in.Op]; ok {
		has[kind] = true
	}
	if in.Op != bytecode.Exec {
		return
	}
	has["several results"] = has["several results"] || len(in.Out) > 1
	has["arguments replaced"] = has["arguments replaced"] || p.Kernels[in.Index].InPlace != bytecode.Absent
	has["parts in place"] = has["parts in place"] || p.Buffers[in.Out[0]].Base >= 0
}

// stressGraph makes a graph of every operator, or of few that nest and meet; one
// in three is optimised, so that regions are fused.
func stressGraph(t *testing.T, r *rand.Rand, seed uint64) (*ir.Func, []*tensor.T) {
	var f *ir.Func
	var in []*tensor.T
	if seed%2 == 0 {
		f, in = irtest.Func(r, 1+r.IntN(60))
	} else {
		f = randomFunc(seed, 5+r.IntN(80))
		for _, v := range f.Params {
			in = append(in, randomTensor(r, v.Type))
		}
	}
	if seed%3 == 0 {
		f = fused(t, f)
	}
	return f, in
}

// fused is an optimised copy of a function.
func fused(t *testing.T, f *ir.Func) *ir.Func {
	t.Helper()
	f, _ = f.Clone()
	fuser, ds := fusion.New(fusion.Options{Mode: fusion.All})
	if err := ds.Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := passes.Run(f, passes.Options{Level: passes.O2, Fuse: fuser.Fuse}); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return f
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
		if !tensor.BitEqual(oneNaN(got[i]), oneNaN(want[i])) {
			t.Fatalf("%s: result %d differs: %v\n%s", what, i, tensor.Compare(got[i], want[i], 0), f)
		}
	}
}

// oneNaN is a tensor whose NaN have the same bits: which of several a sum keeps is not
// said, and differs from one kernel for rows to the next.
func oneNaN(t *tensor.T) *tensor.T {
	if !t.DType.IsFloat() {
		return t
	}
	t = t.Clone()
	for i := range t.Len() {
		if x := t.FloatAt(i); x != x {
			t.SetFloat(i, math.NaN())
		}
	}
	return t
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
