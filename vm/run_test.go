package vm

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// meeting is a program in which two streams wait for each other many times.
const meeting = `func @meet in "mlp.npu" (%x: f32[2,3], %i: i64[]) -> (y: f32[2,3], row: f32[3]) {
  %0 = neg %x : f32[2,3] !stream(vector0)
  %1 = transpose %0 {perm=[1,0]} : f32[3,2] !stream(dma0)
  %2 = neg %1 : f32[3,2] !stream(vector0) @5:3
  %3 = transpose %2 {perm=[1,0]} : f32[2,3] !stream(dma0)
  %4 = abs %3 : f32[2,3] !stream(vector0)
  %5 = transpose %4 {perm=[1,0]} : f32[3,2] !stream(dma0)
  %6 = neg %5 : f32[3,2] !stream(vector0)
  %7 = transpose %6 {perm=[1,0]} : f32[2,3] !stream(dma0)
  %y = neg %7 : f32[2,3] !stream(vector0)
  %row = gather %7, %i {axis=0} : f32[3] !stream(dma0) @9:7
  return %y, %row
}`

// endless never stops by itself.
const endless = `func @endless(%x: f32[]) -> f32[] {
  %y = loop %x {carry=1} : f32[] body(%t: i64[], %x: f32[]) {
    %n = neg %x : f32[]
    yield %n
  } cond(%x: f32[]) {
    %yes = const true : bool[]
    yield %yes
  }
  return %y
}`

func machine(t testing.TB, text string, opts Options) *Machine {
	t.Helper()
	fs, errs := ir.ParseFuncs(diag.NewSource("mlp.npu", text))
	if errs.Err() != nil {
		t.Fatal(errs.Err())
	}
	plan, err := lower.Lower(fs[0], nil, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Kernels == nil {
		opts.Kernels = new(kernel.Options) // the reference, whose bits the interpreter gives
	}
	m, err := Load(p, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func meetInputs(row int64) []*tensor.T {
	return []*tensor.T{tensor.FromSlice([]int{2, 3}, []float32{1, 2, 3, 4, 5, 6}), tensor.Scalar(row)}
}

// TestNoContext: a nil context is one that never ends.
func TestNoContext(t *testing.T) {
	m := machine(t, meeting, Options{})
	var none context.Context
	if _, err := m.Run(none, meetInputs(1)); err != nil {
		t.Error(err)
	}
}

// A stub is a test's own kernel.
type stub struct {
	call *ir.Call
	run  func(c *ir.Call, out, in []*tensor.T) error
}

func (stub) Parts(want int) int { return want }

func (s stub) Run(x *kernel.Exec, _, _ int, out, in []*tensor.T) error {
	c := *s.call
	c.Budget, c.Into = x.Budget, out
	return s.run(&c, out, in)
}

// useKernel lets every exec of an operator run by a kernel of the test's own.
func useKernel(m *Machine, op string, run func(c *ir.Call, out, in []*tensor.T) error) {
	for _, f := range m.code {
		for _, s := range f {
			for i := range s {
				if s[i].call != nil && s[i].call.Op.Name == op {
					s[i].task = &kernel.Prepared{Name: "test", Runner: stub{s[i].call, run}}
				}
			}
		}
	}
}

func TestRunError(t *testing.T) {
	m := machine(t, meeting, Options{})
	_, err := m.Run(context.Background(), meetInputs(7))
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Op != "gather" || e.Value != "%row" || e.Pos.Line != 9 || e.Pos.Col != 7 || e.Stream != "dma0" {
		t.Errorf("got %+v", e)
	}
	var cause *ir.Error
	if !errors.As(err, &cause) || cause.Code != "index-out-of-range" {
		t.Errorf("the cause is %v", e.Err)
	}
	if !strings.HasPrefix(err.Error(), "mlp.npu:9:7: gather: ") {
		t.Errorf("the message is %q", err)
	}
	// The machine goes on as if nothing had been.
	if out, err := m.Run(context.Background(), meetInputs(1)); err != nil || out[1].FloatAt(0) != -4 {
		t.Errorf("the next run gives %v, %v", out, err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	m := machine(t, meeting, Options{})
	panics := atomic.Bool{}
	panics.Store(true)
	useKernel(m, "abs", func(_ *ir.Call, out, in []*tensor.T) error {
		if panics.Load() {
			panic("a kernel's mistake")
		}
		copy(out[0].Data, in[0].Data)
		return nil
	})
	_, err := m.Run(context.Background(), meetInputs(0))
	var e *Error
	if !errors.As(err, &e) || e.Op != "abs" || e.Value != "%4" || e.Task != 4 || e.Stream == "" {
		t.Fatalf("got %v", err)
	}
	var cause *ir.Error
	if !errors.As(err, &cause) || cause.Code != "internal" || !strings.Contains(cause.Msg, "a kernel's mistake") {
		t.Errorf("the cause is %v", e.Err)
	}
	panics.Store(false)
	if _, err := m.Run(context.Background(), meetInputs(0)); err != nil {
		t.Errorf("the next run fails: %v", err)
	}
}

func TestCancellation(t *testing.T) {
	m := machine(t, endless, Options{Memory: &Memory{Runs: 1}})
	in := []*tensor.T{tensor.Scalar(float32(1))}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := m.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Run(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that was cancelled before: %v", err)
	}
}

// A stream that sleeps for an event wakes when another fails.
func TestErrorWakesWaiters(t *testing.T) {
	m := machine(t, meeting, Options{})
	m.handover = 0
	useKernel(m, "abs", func(*ir.Call, []*tensor.T, []*tensor.T) error {
		time.Sleep(2 * time.Millisecond) // the other stream is asleep by now
		return ir.Errorf("out-of-range", "no")
	})
	for range 5 {
		if _, err := m.Run(context.Background(), meetInputs(0)); err == nil || !strings.Contains(err.Error(), "abs: no") {
			t.Fatalf("got %v", err)
		}
	}
}

func TestConcurrentRuns(t *testing.T) {
	m := machine(t, meeting, Options{Memory: &Memory{Runs: 3}})
	m.handover = 0
	var all sync.WaitGroup
	for g := range 12 {
		all.Go(func() {
			for k := range 200 {
				ctx, cancel := context.WithCancel(context.Background())
				if (g+k)%17 == 0 {
					go cancel()
				}
				out, err := m.Run(ctx, meetInputs(int64(k%2)))
				cancel()
				if errors.Is(err, context.Canceled) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if got, want := out[0].FloatAt(5), 6.0; got != want {
					t.Errorf("got %v, want %v", got, want)
				}
				if got, want := out[1].FloatAt(0), []float64{-1, -4}[k%2]; got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	all.Wait()
	if n := max(len(m.memory.idle), len(m.frames)); n > 3 {
		t.Errorf("%d frames for three runs at once", n)
	}
}

func TestClose(t *testing.T) {
	m := machine(t, meeting, Options{Memory: &Memory{Runs: 1}})
	started, finish := make(chan struct{}), make(chan struct{})
	useKernel(m, "abs", func(_ *ir.Call, out, in []*tensor.T) error {
		close(started)
		<-finish
		copy(out[0].Data, in[0].Data)
		return nil
	})
	var runs sync.WaitGroup
	runs.Go(func() {
		if _, err := m.Run(context.Background(), meetInputs(0)); err != nil {
			t.Errorf("the run under way fails: %v", err)
		}
	})
	<-started
	runs.Go(func() { // waits for the only frame
		if _, err := m.Run(context.Background(), meetInputs(0)); err == nil {
			t.Error("a run behind Close succeeds")
		}
	})
	closed := make(chan struct{})
	go func() { m.Close(); close(closed) }()
	time.Sleep(2 * time.Millisecond)
	select {
	case <-closed:
		t.Error("Close did not wait for the run under way")
	default:
	}
	close(finish)
	<-closed
	runs.Wait()
	if _, err := m.Run(context.Background(), meetInputs(0)); !errors.Is(err, errClosed) {
		t.Errorf("a run after Close: %v", err)
	}
	if len(m.memory.idle) > 0 || m.memory.kept != 0 || m.memory.used != 0 {
		t.Error("Close keeps memory")
	}
}

func TestBadInputs(t *testing.T) {
	m := machine(t, meeting, Options{})
	good := meetInputs(0)
	for _, c := range []struct {
		in   []*tensor.T
		want string
	}{
		{good[:1], "meet takes 2 inputs, got 1"},
		{[]*tensor.T{nil, good[1]}, "input x is missing"},
		{[]*tensor.T{tensor.New(tensor.F32, 3, 2), good[1]}, "input x is f32[3,2], but must be f32[2,3]"},
		{[]*tensor.T{tensor.New(tensor.F64, 2, 3), good[1]}, "input x is f64[2,3], but must be f32[2,3]"},
		{[]*tensor.T{{DType: tensor.F32, Shape: []int{2, 3}, Data: make([]byte, 8)}, good[1]}, "input x is f32[2,3], but has 8 bytes"},
		{[]*tensor.T{{DType: tensor.F32, Shape: []int{-2, 3}}, good[1]}, "input x is f32[-2,3], but must be f32[2,3]"},
	} {
		_, err := m.Run(context.Background(), c.in)
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Code != "bad-input" || d.Message != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// An input at an odd address is read all the same.
func TestUnalignedInput(t *testing.T) {
	m := machine(t, meeting, Options{})
	in := meetInputs(0)
	data := append(make([]byte, 1), in[0].Data...)
	in[0] = &tensor.T{DType: tensor.F32, Shape: []int{2, 3}, Data: data[1:]}
	if out, err := m.Run(context.Background(), in); err != nil || out[1].FloatAt(2) != -3 {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestMemoryLimit(t *testing.T) {
	m := machine(t, meeting, Options{})
	_, err := Load(m.program, nil, Options{Memory: &Memory{Limit: m.perRun - 1}})
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Code != "limit" {
		t.Fatalf("got %v", err)
	}
}

func TestWeights(t *testing.T) {
	text := `func @f(%x: f32[2]) -> f32[2] {
  %w = param {key="fc.weight"} : f32[2]
  %y = add %x, %w : f32[2]
  return %y
}`
	fs, errs := ir.ParseFuncs(diag.NewSource("f.ir", text))
	if errs.Err() != nil {
		t.Fatal(errs.Err())
	}
	plan, err := lower.Lower(fs[0], nil, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	missing := errors.New("no such tensor")
	for _, c := range []struct {
		weights func(string) (*tensor.T, error)
		want    string
	}{
		{nil, "there are no weights"},
		{func(string) (*tensor.T, error) { return nil, nil }, "has no values"},
		{func(string) (*tensor.T, error) { return nil, missing }, "no such tensor"},
		{func(string) (*tensor.T, error) { return tensor.New(tensor.F32, 3), nil }, "the weight is f32[3], but the program expects f32[2]"},
	} {
		if _, err := Load(p, c.weights, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	asked := ""
	m, err := Load(p, func(name string) (*tensor.T, error) {
		asked = name
		return tensor.FromSlice([]int{2}, []float32{10, 20}), nil
	}, Options{})
	if err != nil || asked != "fc.weight" {
		t.Fatalf("asked for %q, %v", asked, err)
	}
	out, err := m.Run(context.Background(), []*tensor.T{tensor.FromSlice([]int{2}, []float32{1, 2})})
	if err != nil || out[0].FloatAt(1) != 22 {
		t.Errorf("got %v, %v", out, err)
	}
}

// Outputs belong to the caller: a later run does not touch them.
func TestOutputsAreFresh(t *testing.T) {
	m := machine(t, meeting, Options{Memory: &Memory{Runs: 1}})
	first, err := m.Run(context.Background(), meetInputs(0))
	if err != nil {
		t.Fatal(err)
	}
	keep := first[0].Clone()
	in := meetInputs(0)
	in[0].SetFloat(0, 100)
	if _, err := m.Run(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if !tensor.BitEqual(first[0], keep) {
		t.Error("a later run changed the first one's output")
	}
}

// A failure in a body names the task that runs the body, and what failed in it.
func TestErrorInBody(t *testing.T) {
	m := machine(t, `func @f in "loop.npu" (%x: f32[4,2], %h: f32[2]) -> f32[2] {
  %n = neg %h : f32[2]
  %y = loop %n, %x {from=3, to=9, carry=1} : f32[2] body(%t: i64[], %h: f32[2], %x: f32[4,2]) {
    %row = gather %x, %t {axis=0} : f32[2] @4:9
    %s = add %h, %row : f32[2]
    yield %s
  }
  return %y
}`, Options{})
	_, err := m.Run(context.Background(), []*tensor.T{tensor.New(tensor.F32, 4, 2), tensor.New(tensor.F32, 2)})
	var e *Error
	if !errors.As(err, &e) || e.Task != 1 || e.Op != "gather" || e.Value != "%row" || e.Pos.Line != 4 {
		t.Errorf("got %v", err)
	}
}
