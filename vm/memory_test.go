package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// square is a program whose arena is n x n floats, and its output as large.
func square(n int) string {
	return strings.ReplaceAll(`func @square(%x: f32[N,N]) -> f32[N,N] {
  %a = neg %x : f32[N,N]
  %b = transpose %a {perm=[1,0]} : f32[N,N]
  return %b
}`, "N", fmt.Sprint(n))
}

// idleMemory checks that a memory in rest holds nothing but arenas, within its
// bounds.
func idleMemory(t *testing.T, y *Memory) {
	t.Helper()
	keptMemory(t, y)
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.used != 0 || y.running != 0 || len(y.queue) != 0 {
		t.Errorf("at rest: %d used by %d runs, %d waiting", y.used, y.running, len(y.queue))
	}
}

// keptMemory checks the bounds of what is kept.
func keptMemory(t *testing.T, y *Memory) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	var kept, largest int64
	for _, a := range y.idle {
		kept += a.size()
		largest = max(largest, a.size())
	}
	if kept != y.kept || kept > y.limit() || kept > max(maxKept, largest) || len(y.idle) > maxIdle {
		t.Errorf("%d (%d) bytes kept in %d arenas", y.kept, kept, len(y.idle))
	}
}

// trace writes what happens to a memory as text: runs that begin, wait and end.
type trace struct {
	y    *Memory
	text strings.Builder
}

func (tr *trace) state(what string) {
	tr.y.mu.Lock()
	defer tr.y.mu.Unlock()
	var idle []string
	for _, a := range tr.y.idle {
		idle = append(idle, fmt.Sprintf("%s:%d", a.last.m.program.Name, a.size()))
	}
	fmt.Fprintf(&tr.text, "%-18s used %3d  running %d  waiting %d  kept %v\n", what, tr.y.used, tr.y.running, len(tr.y.queue), idle)
}

func TestMemoryAccounts(t *testing.T) {
	y := &Memory{Limit: 100, Runs: 3}
	a, b := fakeMachine("a", 30, y), fakeMachine("b", 40, y)
	tr := &trace{y: y}
	take := func(m *Machine) *frame {
		got, err := y.take(context.Background(), m, m.arena, false)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.ready(&got)
		if err != nil {
			t.Fatal(err)
		}
		f.ticket, f.hand = got, got.hand
		tr.state(fmt.Sprintf("%s takes %d", m.program.Name, m.arena))
		return f
	}
	give := func(f *frame) {
		y.give(&f.ticket, f)
		tr.state(f.m.program.Name + " ends")
	}
	a1, a2 := take(a), take(a)
	b1 := take(b)
	give(a1)
	give(b1)
	b1 = take(b) // the frame that was kept
	give(a2)
	if _, err := y.grow(&b1.ticket, 50); err != nil { // arenas of a make room
		t.Error(err)
	}
	tr.state("b grows by 50")
	if _, err := y.grow(&b1.ticket, 61); err == nil || !strings.Contains(err.Error(), "needs 101 bytes, 61 of them for work on the way, and the limit is 100") {
		t.Errorf("got %v", err)
	}
	give(b1)
	b1 = take(b) // and what it took beside
	waits := make(chan *frame)
	go func() { waits <- take(a) }()
	for y.waiting() == 0 {
		runtime.Gosched()
	}
	tr.state("a waits")
	y.give(&b1.ticket, b1)
	give(<-waits)
	y.forget(a)
	tr.state("a is closed")
	want := `a takes 30         used  30  running 1  waiting 0  kept []
a takes 30         used  60  running 2  waiting 0  kept []
b takes 40         used 100  running 3  waiting 0  kept []
a ends             used  70  running 2  waiting 0  kept [a:30]
b ends             used  30  running 1  waiting 0  kept [a:30 b:40]
b takes 40         used  70  running 2  waiting 0  kept [a:30]
a ends             used  40  running 1  waiting 0  kept [a:30 a:30]
b grows by 50      used  90  running 1  waiting 0  kept []
b ends             used   0  running 0  waiting 0  kept [b:40]
b takes 40         used  90  running 1  waiting 0  kept []
a waits            used  90  running 1  waiting 1  kept []
a takes 30         used  40  running 1  waiting 0  kept []
a ends             used   0  running 0  waiting 0  kept [a:40]
a is closed        used   0  running 0  waiting 0  kept []
`
	if got := tr.text.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func (y *Memory) waiting() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.queue)
}

func fakeMachine(name string, arena int64, y *Memory) *Machine {
	m := &Machine{memory: y, arena: arena, program: &bytecode.Program{Name: name, Arena: arena, Functions: make([]bytecode.Function, 1)}}
	m.users.init()
	return m
}

// The arenas of many machines stay within the bound, the last one whatever its
// size.
func TestKeptArenas(t *testing.T) {
	y := &Memory{Runs: 9}
	var under [8]*frame
	for i := range 2 * maxIdle {
		size := int64(maxKept / 8)
		if i%40 == 0 {
			size = 2 * maxKept
		}
		m := fakeMachine(fmt.Sprint(i), size, y)
		got, err := y.take(context.Background(), m, size, false)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.ready(&got)
		if err != nil {
			t.Fatal(err)
		}
		f.ticket, f.hand = got, got.hand
		// Several are under way, so that arenas are made and not only used again.
		if f, under[i%8] = under[i%8], f; f == nil {
			continue
		}
		m = f.m
		size = f.arena.size()
		y.give(&f.ticket, f)
		keptMemory(t, y)
		if last := y.idle[len(y.idle)-1]; last.last.m != m {
			t.Errorf("the arena of %d bytes that was used last is gone", size)
		}
	}
	for _, f := range under {
		y.give(&f.ticket, f)
	}
	idleMemory(t, y)
}

// Scratch memory of kernels counts: sort needs some beside its result.
func TestScratchMemory(t *testing.T) {
	text := `func @f(%x: f32[1000]) -> f32[1000] {
  %y = sort %x {axis=0} : f32[1000]
  return %y
}`
	in := []*tensor.T{tensor.New(tensor.F32, 1000)}
	for _, c := range []struct {
		limit int64
		want  string
	}{
		{3999, "a run needs 4000 bytes, and the limit is 3999"},
		{4000, "a run needs 20000 bytes, 16000 of them for work on the way, and the limit is 4000"},
		{19999, "a run needs 20000 bytes, 16000 of them for work on the way, and the limit is 19999"},
		{20000, ""},
	} {
		y := &Memory{Limit: c.limit}
		m, err := Load(machine(t, text, Options{}).program, nil, Options{Memory: y, Kernels: new(kernel.Options)})
		if err == nil {
			_, err = m.Run(context.Background(), in)
		}
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("limit %d: got %v, want %q", c.limit, err, c.want)
		}
		if err != nil && c.want != "" && !strings.Contains(err.Error(), "[limit]") && !isLimitDiagnostic(err) {
			t.Errorf("limit %d: the code of %v", c.limit, err)
		}
		idleMemory(t, y)
	}
}

func isLimitDiagnostic(err error) bool {
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.Code == "limit"
}

// Two runs that meet in the middle and want more than is left for both: each
// has its turn, alone, and neither fails.
func TestCrowdedRunsGoAlone(t *testing.T) {
	y := &Memory{Limit: 200, Runs: 2}
	var met sync.WaitGroup
	met.Add(2)
	var tries atomic.Int32
	take := func(c *ir.Call, out, in []*tensor.T) error {
		err := c.Budget.Take(150)
		if tries.Add(1) <= 2 {
			met.Done()
			met.Wait()
		}
		if err != nil {
			return err
		}
		defer c.Budget.Give(150)
		copy(out[0].Data, in[0].Data)
		return nil
	}
	var runs sync.WaitGroup
	for n := range 2 {
		m := machine(t, fmt.Sprintf("func @f(%%x: f32[%d]) -> f32[%[1]d] {\n  %%y = neg %%x : f32[%[1]d]\n  return %%y\n}", n+1), Options{Memory: y})
		useKernel(m, "neg", take)
		runs.Go(func() {
			if _, err := m.Run(context.Background(), []*tensor.T{tensor.New(tensor.F32, n+1)}); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if n := tries.Load(); n != 3 {
		t.Errorf("%d tries, not two that meet and one more", n)
	}
	idleMemory(t, y)
}

// A kernel that runs for long asks whether to stop: of its own run only.
func TestLongKernelStops(t *testing.T) {
	const n = 1 << 11 // 17 Gflop, many seconds
	m := machine(t, fmt.Sprintf("func @f(%%x: f32[%d,%[1]d]) -> f32[%[1]d,%[1]d] {\n  %%y = matmul %%x, %%x : f32[%[1]d,%[1]d]\n  return %%y\n}", n), Options{})
	in := []*tensor.T{tensor.New(tensor.F32, n, n)}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := m.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the kernel went on for %v", took)
	}
}

// TestUnusedArena: a run that was given an arena and ended before it began leaves it
// to nobody in particular; it goes with the last machine.
func TestUnusedArena(t *testing.T) {
	y := &Memory{}
	a, b := machine(t, square(4), Options{Memory: y}), machine(t, square(3), Options{Memory: y})
	if _, err := a.Run(t.Context(), []*tensor.T{tensor.New(tensor.F32, 4, 4)}); err != nil {
		t.Fatal(err)
	}
	ticket, err := y.take(t.Context(), b, b.perRun, false)
	if err != nil || ticket.arena == nil {
		t.Fatalf("the run has no arena: %v", err)
	}
	y.give(&ticket, nil)
	for range 2 {
		a.Close() // twice counts once
	}
	if len(y.idle) != 1 {
		t.Errorf("%d arenas are kept", len(y.idle))
	}
	if b.Close(); len(y.idle) != 0 || y.Info().Kept != 0 {
		t.Errorf("%d arenas of closed machines are kept", len(y.idle))
	}
}

// TestHammer lets many goroutines use many machines of one small memory, with
// runs that are cancelled at any moment and machines that are closed under way.
func TestHammer(t *testing.T) {
	length := 3 * time.Second
	if testing.Short() {
		length = 300 * time.Millisecond
	}
	y := &Memory{Limit: 40_000, Runs: 4}
	var machines [12]atomic.Pointer[Machine]
	for i := range machines {
		m := machine(t, square(i+2), Options{Memory: y})
		m.handover *= int64(i % 2)
		machines[i].Store(m)
	}
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for g := range 32 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 5))
			for time.Now().Before(end) {
				i := r.IntN(len(machines))
				m := machines[i].Load()
				if r.IntN(50) == 0 {
					again, err := Load(m.program, nil, Options{Memory: y})
					if err != nil {
						t.Error(err)
					}
					machines[i].Swap(again).Close()
				}
				hammerOnce(t, m, i+2, r)
			}
		})
	}
	all.Wait()
	for i := range machines {
		machines[i].Load().Close()
	}
	idleMemory(t, y)
	if len(y.idle) != 0 {
		t.Errorf("%d frames of closed machines", len(y.idle))
	}
}

func hammerOnce(t *testing.T, m *Machine, n int, r *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.IntN(3) == 0 {
		time.AfterFunc(time.Duration(r.IntN(50))*time.Microsecond, cancel)
	}
	x := tensor.New(tensor.F32, n, n)
	for i := range x.Len() {
		x.SetFloat(i, float64(r.IntN(100)))
	}
	out, err := m.Run(ctx, []*tensor.T{x})
	if errors.Is(err, context.Canceled) || errors.Is(err, errClosed) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	for i := range n {
		for j := range n {
			if got, want := out[0].FloatAt(i*n+j), -x.FloatAt(j*n+i); got != want {
				t.Errorf("%d x %d: got %v, want %v", n, n, got, want)
				return
			}
		}
	}
}

// heap is what the program holds once the garbage is gone.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what the first has found finalisers for
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// Ten thousand runs, failing and cancelled ones among them, leave nothing.
func TestRunsLeaveNothing(t *testing.T) {
	m := machine(t, meeting, Options{})
	m.handover = 0
	run := func(n int) {
		for i := range n {
			ctx, cancel := context.WithCancel(context.Background())
			if i%7 == 0 {
				cancel()
			}
			_, err := m.Run(ctx, meetInputs(int64(i%3))) // row 2 is out of range
			cancel()
			if (err != nil) != (i%7 == 0 || i%3 == 2) {
				t.Fatalf("run %d: %v", i, err)
			}
		}
	}
	run(500)
	before, goroutines := heap(), runtime.NumGoroutine()
	run(10_000)
	after := heap()
	if after > before+64<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	idleMemory(t, m.memory)
}

// Streams that take turns give what streams side by side give, failures too.
func TestTakingTurns(t *testing.T) {
	for _, handover := range []int64{0, handover} {
		m := machine(t, meeting, Options{})
		m.handover = handover
		out, err := m.Run(context.Background(), meetInputs(1))
		if err != nil || !bytes.Equal(out[1].Data, tensor.FromSlice([]int{3}, []float32{-4, -5, -6}).Data) {
			t.Errorf("handover %v: %v, %v", handover, out, err)
		}
		if _, err := m.Run(context.Background(), meetInputs(2)); err == nil || !strings.Contains(err.Error(), "gather") {
			t.Errorf("handover %v: %v", handover, err)
		}
		useKernel(m, "abs", func(*ir.Call, []*tensor.T, []*tensor.T) error { panic("no") })
		if _, err := m.Run(context.Background(), meetInputs(1)); err == nil || !strings.Contains(err.Error(), "panic: no") {
			t.Errorf("handover %v: %v", handover, err)
		}
	}
}
