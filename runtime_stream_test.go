package npu_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/npulang/npu"
	"github.com/npulang/npu/golden/expect"
)

func TestEvents(t *testing.T) {
	ctx := context.Background()
	rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true})
	first, second := must(rt.NewStream()), must(rt.NewStream())
	e := must(rt.NewEvent())
	if !e.Query() || e.Synchronize(ctx) != nil || second.Wait(e) != nil {
		t.Error("an event that was never recorded is not passed")
	}
	a, b := vector(rt, 1, 2), vector(rt, 0, 0)
	release := first.Block()
	start := must(rt.NewEvent())
	if err := errors.Join(start.Record(first), first.Upload(a, npu.FromSlice([]int{2}, []float32{3, 4})), e.Record(first), second.Wait(e)); err != nil {
		t.Fatal(err)
	}
	if e.Query() {
		t.Error("passed before its stream got there")
	}
	l := must(second.Execute("neg", tensors{a}, tensors{b}))
	// Recorded again, behind a gate: the wait above keeps the first mark.
	releaseAgain := first.Block()
	if err := e.Record(first); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := second.Synchronize(late); !errors.Is(err, context.DeadlineExceeded) || l.Done() {
		t.Errorf("the stream did not wait: %v", err)
	}
	if _, err := l.Wait(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the launch did not wait: %v", err)
	}
	release()
	if err := second.Synchronize(ctx); err != nil {
		t.Fatal(err)
	}
	if got := values(t, rt, b); !slices.Equal(got, []float32{-3, -4}) {
		t.Errorf("computed too early: %v", got)
	}
	if e.Query() {
		t.Error("the second record counts as passed")
	}
	releaseAgain()
	if err := e.Synchronize(ctx); err != nil || !e.Query() {
		t.Fatal(err)
	}
	if d, err := npu.Elapsed(start, e); err != nil || d < 0 {
		t.Errorf("elapsed %v, %v", d, err)
	}
	if err := errors.Join(first.Close(), second.Close(), e.Close(), start.Close()); err != nil {
		t.Error(err)
	}
}

// TestStickyErrors follows an error of asynchronous work.
func TestStickyErrors(t *testing.T) {
	ctx := context.Background()
	rt := newRuntime(t, npu.RuntimeOptions{})
	s, other := must(rt.NewStream()), must(rt.NewStream())
	e := must(rt.NewEvent())
	release := s.Block()
	bad := must(s.Execute("Gather", broken(rt), nil))
	a := vector(rt, 1, 2)
	skipped := must(s.Execute("neg", tensors{a}, tensors{a}))
	if err := errors.Join(e.Record(s), other.Wait(e)); err != nil {
		t.Fatal(err)
	}
	behind := must(other.Execute("neg", tensors{a}, nil))
	release()
	var text strings.Builder
	show := func(what string, err error) { fmt.Fprintf(&text, "%s\n%s", what, shown(t, err)) }
	_, err := bad.Wait(ctx)
	show("the launch", err)
	_, err = skipped.Wait(ctx)
	show("work behind it", err)
	show("the stream", s.Synchronize(ctx))
	show("all streams", rt.Synchronize(ctx))
	show("its event", e.Synchronize(ctx))
	_, err = behind.Wait(ctx)
	show("work of a stream that waits for it", err)
	show("that stream", other.Synchronize(ctx))
	_, err = s.Execute("neg", tensors{a}, nil)
	show("more work", err)
	show("reset", s.Reset(ctx))
	if err := s.Synchronize(ctx); err != nil {
		t.Errorf("after Reset: %v", err)
	}
	if _, err := must(s.Execute("neg", tensors{a}, tensors{a})).Wait(ctx); err != nil {
		t.Errorf("after Reset: %v", err)
	}
	if got := values(t, rt, a); !slices.Equal(got, []float32{-1, -2}) {
		t.Errorf("skipped work has run: %v", got)
	}
	// A synchronous call's error is its own.
	_, err = rt.Execute("Gather", broken(rt), nil)
	show("a synchronous call", err)
	unblock := rt.DefaultStream().Block()
	done := make(chan error)
	go func() {
		_, err := rt.Execute("Gather", broken(rt), nil)
		done <- err
	}()
	unblock()
	show("one that was queued", <-done)
	if err := rt.DefaultStream().Synchronize(ctx); err != nil {
		t.Errorf("it sticks: %v", err)
	}
	expect.File(t, "testdata/runtime_sticky.txt", text.String())
}

// TestClose closes a runtime while its streams have work.
func TestClose(t *testing.T) {
	rt := must(npu.NewRuntime(npu.RuntimeOptions{}))
	s, waits := must(rt.NewStream()), must(rt.NewStream())
	big := must(rt.NewTensor(npu.F32, 3000, 3000)) // for minutes
	launch := must(s.Execute("matmul", tensors{big, big}, nil))
	e := must(rt.NewEvent())
	if err := errors.Join(e.Record(s), waits.Wait(e)); err != nil {
		t.Fatal(err)
	}
	behind := must(waits.Execute("neg", tensors{big}, nil))
	rt.Close()
	rt.Close()
	for _, l := range []*npu.Launch{launch, behind} {
		if _, err := l.Wait(context.Background()); err == nil || !strings.Contains(err.Error(), "[use-after-free]") {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := big.Free(); err != nil {
		t.Errorf("free after Close: %v", err)
	}
}

// TestFreeBehindWork frees tensors that queued work still uses.
func TestFreeBehindWork(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{Poison: true})
	s := must(rt.NewStream())
	used := func() int64 { return rt.MemoryPool().Info().Used }
	before := used()
	a, b := vector(rt, 1, 2), vector(rt, 0, 0)
	release := s.Block()
	l := must(s.Execute("neg", tensors{a}, tensors{b}))
	if err := a.Free(); err != nil || a.DataPtr() != nil {
		t.Fatal(err)
	}
	if n := used() - before; n != 128 {
		t.Errorf("%d bytes are used while the work waits", n)
	}
	release()
	must(l.Wait(context.Background()))
	if got := values(t, rt, b); !slices.Equal(got, []float32{-1, -2}) {
		t.Errorf("freed too early: %v", got)
	}
	if err := b.Free(); err != nil || used() != before {
		t.Errorf("%d bytes are left, %v", used()-before, err)
	}
}

// TestManyStreams has goroutines that share the runtime, the default stream and
// events.
func TestManyStreams(t *testing.T) {
	ctx := context.Background()
	rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true, Poison: true})
	shared := must(rt.NewEvent())
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			s := must(rt.NewStream())
			e := must(rt.NewEvent())
			x := vector(rt, float32(g), 1)
			for i := range 30 {
				y := must(s.Execute("add", tensors{x, x}, nil)).Outputs()[0]
				must(0, errors.Join(e.Record(s), shared.Record(s), s.Wait(shared), x.Free()))
				x = y
				if i%10 == 9 {
					must(0, e.Synchronize(ctx))
					x2 := must(rt.Execute("Mul", tensors{x, vector(rt, 0.0009765625, 0.0009765625)}, nil)).Outputs[0]
					must(0, x.Free())
					x = x2
				}
			}
			must(0, s.Close())
			if got := must(rt.Download(x)); npu.Of[float32](got)[0] != float32(g) {
				t.Errorf("goroutine %d got %v", g, got)
			}
			must(0, errors.Join(x.Free(), e.Close()))
		})
	}
	all.Wait()
}

// TestLongQueue submits more than a queue holds.
func TestLongQueue(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{})
	s, x, one := must(rt.NewStream()), vector(rt, 0), vector(rt, 1)
	for range 5000 {
		must(s.Execute("add", tensors{x, one}, tensors{x}))
	}
	must(0, rt.Synchronize(context.Background()))
	if got := values(t, rt, x); got[0] != 5000 {
		t.Errorf("%v of 5000", got)
	}
}
