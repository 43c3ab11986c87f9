package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// abreast is a program of one task a stream, which have nothing to do with each
// other; each makes an output.
func abreast(streams int) *bytecode.Program {
	p := chain(1, 1)
	p.Outputs, p.Arena = nil, 0
	typ := p.Buffers[0].Type
	p.Buffers = p.Buffers[:1]
	p.Functions[0].Streams = nil
	for i := range streams {
		p.Buffers = append(p.Buffers, bytecode.Buffer{Space: bytecode.OutputSpace, Slot: i, Size: 4, Type: typ, Base: -1, Name: fmt.Sprintf("%%y%d", i)})
		p.Outputs = append(p.Outputs, bytecode.Port{Name: fmt.Sprintf("y%d", i), Buffer: i + 1})
		p.Functions[0].Streams = append(p.Functions[0].Streams, bytecode.Stream{Name: fmt.Sprintf("s%d", i), Code: []bytecode.Instr{
			{Op: bytecode.Exec, Out: []int{i + 1}, In: []int{0}, Task: i}, {Op: bytecode.End},
		}})
	}
	return p
}

var scalarInput = []*tensor.T{tensor.FromSlice([]int{1}, []float32{1})}

// TestWorkersTakeStreams: tasks of as many streams as there are executors are
// under way at once.
func TestWorkersTakeStreams(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("there are no workers on one processor")
	}
	w := NewWorkers(3)
	defer w.Close()
	m := loaded(t, abreast(4), Options{Workers: w})
	m.Together()
	var met sync.WaitGroup
	met.Add(4)
	useKernel(m, "neg", func(*ir.Call, []*tensor.T, []*tensor.T) error {
		met.Done()
		met.Wait() // for ever, if they came one after the other
		return nil
	})
	for range 3 {
		if _, err := m.Run(context.Background(), scalarInput); err != nil {
			t.Fatal(err)
		}
		met.Add(4)
	}
}

// TestDismissedStayAwake: a worker that was on its way from the question whether to go
// on to sleep, while all were dismissed, ends.
func TestDismissedStayAwake(t *testing.T) {
	s := newStaff(2)
	k := &worker{staff: s}
	k.init()
	s.dismiss()
	awake := make(chan struct{})
	go func() {
		k.sleepAt(s.version.Load())
		close(awake)
	}()
	select {
	case <-awake:
	case <-time.After(10 * time.Second):
		t.Error("a dismissed worker sleeps for ever")
		k.wake()
	}
}

// TestStreamsWithoutWorkers: any number of streams runs on the caller alone.
func TestStreamsWithoutWorkers(t *testing.T) {
	for _, streams := range []int{1, 2, 7, bytecode.MaxStreams} {
		w := NewWorkers(0)
		m, err := Load(chain(1000, streams), nil, Options{Workers: w})
		if err != nil {
			t.Fatal(err)
		}
		m.Together()
		before := runtime.NumGoroutine()
		out, err := m.Run(context.Background(), scalarInput)
		if err != nil || out[0].FloatAt(0) != 1 {
			t.Errorf("%d streams: %v, %v", streams, out, err)
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d streams: %d goroutines, %d before", streams, n, before)
		}
		m.Close()
		w.Close()
	}
}

// TestWorkersClose: no worker outlives Close, whether it slept or worked; runs
// under way, and later ones, go on without.
func TestWorkersClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := NewWorkers(4)
	m := loaded(t, chain(300, 8), Options{Workers: w})
	m.Together()
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			for range 200 {
				if _, err := m.Run(context.Background(), scalarInput); err != nil {
					t.Error(err)
				}
			}
		})
	}
	time.Sleep(time.Millisecond)
	w.Close()
	w.Close()
	runs.Wait()
	if _, err := m.Run(context.Background(), scalarInput); err != nil {
		t.Error(err)
	}
	m.Close()
}

// TestCollectedMachineLeavesNoWorkers: a machine that nobody closes takes its
// workers along.
func TestCollectedMachineLeavesNoWorkers(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	func() {
		m, err := Load(chain(300, 8), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m.Together()
		for range 20 {
			if _, err := m.Run(context.Background(), scalarInput); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// large is a program of one task that is worth doing in parts.
const large = `func @large(%x: f32[256,256]) -> f32[256,256] {
  %y = matmul %x, %x : f32[256,256] @3:5
  return %y
}`

// TestPartsByWorkers: a large task is done by several executors, and the result
// does not depend on how many there are.
func TestPartsByWorkers(t *testing.T) {
	x := tensor.New(tensor.F32, 256, 256)
	for i := range x.Len() {
		x.SetFloat(i, float64(i*7919%1009)/64-7)
	}
	var want *tensor.T
	for n := range 5 {
		w := NewWorkers(n)
		m := machine(t, large, Options{Workers: w})
		st := &m.code[0][0][0]
		if (st.parts > 0) != (w.Count() > 0) {
			t.Errorf("%d workers: the task has %d parts", n, st.parts)
		}
		for range 3 {
			out, err := m.Run(context.Background(), []*tensor.T{x})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = out[0]
			}
			if !tensor.BitEqual(out[0], want) {
				t.Errorf("%d workers: %v", n, tensor.Compare(out[0], want, 0))
			}
		}
		m.Close()
		w.Close()
	}
}

// TestSmallTasksStayWhole: what takes less than two parts should is not split.
func TestSmallTasksStayWhole(t *testing.T) {
	m := machine(t, meeting, Options{Workers: NewWorkers(8)})
	for _, steps := range m.code[0] {
		for _, st := range steps {
			if st.parts > 0 {
				t.Errorf("%s of %v is split", st.call.Op.Name, st.call.In)
			}
		}
	}
}

// TestPartThatFails: the error of a task does not tell that it was done in
// parts, whatever happened in one of them.
func TestPartThatFails(t *testing.T) {
	w := NewWorkers(2)
	defer w.Close()
	m := machine(t, large, Options{Workers: w})
	st := &m.code[0][0][0]
	var panics atomic.Bool
	useKernel(m, "matmul", func(c *ir.Call, _, _ []*tensor.T) error {
		if panics.Load() {
			panic("rows " + c.Out[0].String())
		}
		return ir.Errorf("out-of-range", "rows %s", c.Out[0])
	})
	st.parts = 8
	x := []*tensor.T{tensor.New(tensor.F32, 256, 256)}
	for _, p := range []bool{false, true, false} {
		panics.Store(p)
		_, err := m.Run(context.Background(), x)
		var e *Error
		if !errors.As(err, &e) || e.Op != "matmul" || e.Pos.Line != 3 || !strings.Contains(err.Error(), "rows f32[256,256]") {
			t.Errorf("panics %v: got %v", p, err)
		}
	}
}

// TestPoison: after a run under Options.Poison nothing of it is left in the
// arena, and a kernel that reads a place before it is written sees NaN.
func TestPoison(t *testing.T) {
	m := machine(t, meeting, Options{Poison: true, Memory: &Memory{Runs: 1}})
	saw := false
	useKernel(m, "abs", func(_ *ir.Call, out, in []*tensor.T) error {
		saw = bytes.Count(out[0].Data, []byte{poison}) == len(out[0].Data) || &out[0].Data[0] == &in[0].Data[0]
		for i := range in[0].Len() {
			out[0].SetFloat(i, -in[0].FloatAt(i))
		}
		return nil
	})
	for range 2 {
		if _, err := m.Run(context.Background(), meetInputs(0)); err != nil {
			t.Fatal(err)
		}
		if !saw {
			t.Error("memory that holds nothing is not poisoned")
		}
		arena := m.memory.idle[0].data[:m.program.Arena]
		for _, b := range m.program.Buffers {
			if b.Space == bytecode.ArenaSpace && bytes.Count(arena[b.Offset:b.Offset+b.Size], []byte{poison}) != int(b.Size) {
				t.Errorf("%s is still in the arena", b.Name)
			}
		}
	}
}

// TestMemoryInfo follows the figures of a memory through a run.
func TestMemoryInfo(t *testing.T) {
	y := &Memory{Limit: 1 << 20, Runs: 2}
	m := machine(t, square(8), Options{Memory: y})
	var during MemoryInfo
	useKernel(m, "neg", func(_ *ir.Call, out, in []*tensor.T) error {
		during = y.Info()
		copy(out[0].Data, in[0].Data)
		return nil
	})
	x := []*tensor.T{tensor.New(tensor.F32, 8, 8)}
	if _, err := m.Run(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	after := y.Info()
	show := func(i MemoryInfo) string {
		return fmt.Sprintf("used %d kept %d peak %d running %d arenas %d", i.Used, i.Kept, i.Peak, i.Running, i.Arenas.Blocks)
	}
	if got, want := show(during), "used 512 kept 0 peak 512 running 1 arenas 1"; got != want {
		t.Errorf("in the run: %s, want %s", got, want)
	}
	if got, want := show(after), "used 0 kept 256 peak 512 running 0 arenas 1"; got != want {
		t.Errorf("after the run: %s, want %s", got, want)
	}
	m.Close()
	if i := y.Info(); i.Kept != 0 || i.Arenas.Blocks != 0 || i.Arenas.Total != 0 {
		t.Errorf("when the machine is closed: %+v", i)
	}
}

// TestArenasServeAll: machines of one memory use each other's arenas.
func TestArenasServeAll(t *testing.T) {
	y := &Memory{Runs: 1}
	var machines []*Machine
	for n := 12; n > 2; n-- {
		machines = append(machines, machine(t, square(n), Options{Memory: y}))
	}
	for range 3 {
		for i, m := range machines {
			x := tensor.New(tensor.F32, 12-i, 12-i)
			x.SetFloat(1, 5)
			out, err := m.Run(context.Background(), []*tensor.T{x})
			if err != nil || out[0].FloatAt(12-i) != -5 {
				t.Fatalf("%d x %[1]d: %v, %v", 12-i, out, err)
			}
		}
	}
	if n := y.Info().Arenas.Allocations; n != 1 {
		t.Errorf("%d arenas were made, where one serves all", n)
	}
}

// TestTakenBack: a stream that was set aside, went on with another executor and
// was set aside again further on, is taken back by the first, who must not take its
// wait for the one that he has seen the end of.
func TestTakenBack(t *testing.T) {
	m := machine(t, meeting, Options{Workers: NewWorkers(0)})
	useKernel(m, "abs", func(_ *ir.Call, out, in []*tensor.T) error { // which would hide a sign
		copy(out[0].Data, in[0].Data)
		return nil
	})
	m.choose = func(c *crew) int { // the last stream first, which waits at once
		set := c.ready.Load()
		if set == 0 {
			return -1
		}
		last := bits.Len64(set) - 1
		c.ready.And(^(1 << last))
		return last
	}
	again := false
	m.aside = func(s *stream) {
		m.aside = nil
		other := new(hand)
		for !again {
			next := &s.f.streams[s.f.take()]
			again = next == s
			next.advance(other)
		}
	}
	out, err := m.Run(context.Background(), meetInputs(1))
	if err != nil || !again {
		t.Fatalf("%v; the stream went on with another: %v", err, again)
	}
	if want := []float32{-4, -5, -6}; !slices.Equal(tensor.Of[float32](out[1]), want) {
		t.Errorf("got %v, want %v", tensor.Of[float32](out[1]), want)
	}
}

// TestLargeCopies: a result that is an input, or another shape of one, is copied by
// several executors where there are any, and only if it is large.
func TestLargeCopies(t *testing.T) {
	const text = `func @f(%x: f32[600,700], %y: f32[9]) -> (f32[420000], f32[9]) {
  %a = reshape %x {dims=[420000]} : f32[420000]
  return %a, %y
}
`
	w := NewWorkers(1)
	defer w.Close()
	best := kernel.Best()
	m := machine(t, text, Options{Workers: w, Kernels: &best})
	split := map[bool]int{}
	for _, st := range m.code[0][0] {
		if st.Op == bytecode.Copy {
			split[st.parts > 0]++
		}
	}
	if split[true] != min(1, w.Count()) || split[true]+split[false] != 2 {
		t.Errorf("%d copies in parts, %d others, want one of each, with one processor none in parts", split[true], split[false])
	}
	x, y := tensor.New(tensor.F32, 600, 700), tensor.New(tensor.F32, 9)
	for i := range x.Len() {
		x.SetFloat(i, float64(i))
	}
	y.SetFloat(8, 1)
	out, err := m.Run(context.Background(), []*tensor.T{x, y})
	if err != nil {
		t.Fatal(err)
	}
	if !tensor.BitEqual(out[0], x.Reshape(420000)) || !tensor.BitEqual(out[1], y) {
		t.Error("the copies differ")
	}
}
