package vm

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestSharesOfRuns: so many runs that ask for help have the processors among them,
// each its caller and as many workers as the others.
func TestSharesOfRuns(t *testing.T) {
	for _, c := range []struct{ procs, runs, want int }{
		{2, 0, 1}, {2, 1, 1}, {2, 2, 0}, {2, 5, 0},
		{8, 1, 7}, {8, 2, 3}, {8, 3, 2}, {8, 4, 1}, {8, 7, 1}, {8, 8, 0}, {8, 50, 0},
		{64, 3, 21}, {1, 1, 0},
	} {
		s := newStaff(c.procs)
		s.runs.Store(int32(c.runs))
		if got := s.share(); got != c.want {
			t.Errorf("%d processors, %d runs: each has %d workers, want %d", c.procs, c.runs, got, c.want)
		}
	}
}

// TestWantedParts: small tasks have a part for each executor that it pays to ask, large
// ones the same number for all.
func TestWantedParts(t *testing.T) {
	for _, c := range []struct {
		micros    int64
		executors int
		want      int
	}{
		{1, 2, 0}, {2, 2, 1}, {3, 2, 2}, {49, 2, 2}, {99, 2, 2}, {100, 2, 4}, {1000, 2, 40}, {1e6, 2, 128},
		{3, 64, 2}, {30, 64, 20}, {1000, 64, 64}, {1e9, 64, 4096}, {1e9, 1, 0}, {1e9, 1 << 20, maxParts / 2},
	} {
		if got := wanted(c.micros*1000, c.executors); got != c.want {
			t.Errorf("%d microseconds, %d executors: %d parts, want %d", c.micros, c.executors, got, c.want)
		}
	}
}

// counted is the Runner of a task that counts how often each of its parts runs, and
// by whom.
type counted struct {
	times []atomic.Int32
	done  func(part int)
}

func (counted) Parts(want int) int { return want }

func (c *counted) Run(_ *kernel.Exec, part, _ int, _, _ []*tensor.T) error {
	c.times[part].Add(1)
	if c.done != nil {
		c.done(part)
	}
	return nil
}

// TestPartsRunOnce: executors who come and go in any order take each part of each
// of many jobs once, also where the words of claims are written anew.
func TestPartsRunOnce(t *testing.T) {
	for _, c := range []struct{ executors, parts int }{{1, 1}, {2, 2}, {2, 7}, {3, 2}, {4, 4}, {4, 9}, {8, 64}} {
		var j job
		j.init(c.executors)
		j.open.Store(uint64(sweep-500) << 32)
		j.spent.Store(sweep - 500)
		task := &counted{times: make([]atomic.Int32, c.parts)}
		st := &step{task: &kernel.Prepared{Runner: task}, parts: c.parts}
		var over atomic.Bool
		var others sync.WaitGroup
		for e := 1; e < c.executors; e++ {
			others.Go(func() {
				h := hand{index: e}
				for !over.Load() {
					if j.has() {
						j.help(&h)
					}
					if e%2 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		h := new(hand)
		const jobs = 2000
		for n := range jobs {
			j.begin(st, nil, nil, nil, n%2 == 1)
			j.help(h)
			j.await()
			for p := range task.times {
				if got := task.times[p].Load(); got != int32(n+1) {
					t.Fatalf("%d executors, %d parts: part %d ran %d times in %d jobs", c.executors, c.parts, p, got, n+1)
				}
			}
			if j.has() {
				t.Fatal("a job that has ended has parts")
			}
		}
		over.Store(true)
		others.Wait()
	}
}

// TestExecutorsKeepTheirParts: each takes its own range first, from its beginning,
// and then what others leave, from their end; backwards it is the other way round.
func TestExecutorsKeepTheirParts(t *testing.T) {
	const parts = 8
	for index, want := range [][2][]int{
		{{0, 1, 3, 2, 5, 4, 7, 6}, {1, 0, 2, 3, 4, 5, 6, 7}},
		{{2, 3, 5, 4, 7, 6, 1, 0}, {3, 2, 4, 5, 6, 7, 0, 1}},
		{{4, 5, 7, 6, 1, 0, 3, 2}, {5, 4, 6, 7, 0, 1, 2, 3}},
		{{6, 7, 1, 0, 3, 2, 5, 4}, {7, 6, 0, 1, 2, 3, 4, 5}},
	} {
		var j job
		j.init(4)
		var order []int
		task := &counted{times: make([]atomic.Int32, parts), done: func(p int) { order = append(order, p) }}
		for run := range 4 {
			order = nil
			h := &hand{index: index}
			j.begin(&step{task: &kernel.Prepared{Runner: task}, parts: parts}, nil, nil, nil, run%2 == 1)
			j.help(h)
			if want := want[run%2]; !slices.Equal(order, want) || h.exec.Backwards != (run%2 == 1) {
				t.Errorf("executor %d takes %v, want %v; backwards: %v", index, order, want, h.exec.Backwards)
			}
		}
	}
}

// TestRunsGoBackwardsInTurns: a task is told so, whether it is done by parts or whole.
func TestRunsGoBackwardsInTurns(t *testing.T) {
	w := NewWorkers(1)
	defer w.Close()
	for _, parts := range []int{0, 4} {
		m := divided(t, w, parts, nil)
		var back, all atomic.Int32
		m.code[0][0][0].task.Runner = runner(func(x *kernel.Exec) {
			all.Add(1)
			if x.Backwards {
				back.Add(1)
			}
		})
		for run := range 6 {
			back.Store(0)
			all.Store(0)
			runOnce(t, m)
			if want := int32(run+1) % 2 * all.Load(); back.Load() != want {
				t.Errorf("run %d: %d of %d parts went backwards, want %d", run, back.Load(), all.Load(), want)
			}
		}
	}
}

// A runner computes nothing in any number of parts.
type runner func(x *kernel.Exec)

func (runner) Parts(want int) int { return want }

func (r runner) Run(x *kernel.Exec, _, _ int, _, _ []*tensor.T) error {
	r(x)
	return nil
}

// TestSeveralAtATime: of many parts several are taken at a time, of few one.
func TestSeveralAtATime(t *testing.T) {
	for _, c := range []struct {
		first bool
		want  []taken
	}{
		{true, []taken{{10, 14}, {14, 17}, {17, 19}, {19, 20}, {20, 21}, {21, 22}, {22, 23}, {23, 24}, {24, 25}, {25, 26}, {}}},
		{false, []taken{{22, 26}, {19, 22}, {17, 19}, {16, 17}, {15, 16}, {14, 15}, {13, 14}, {12, 13}, {11, 12}, {10, 11}, {}}},
	} {
		var of claims
		for _, want := range c.want {
			if got := of.take(1, 10, 26, c.first); got != want {
				t.Fatalf("takes %v, want %v", got, want)
			}
		}
	}
}

// divided is a machine of one task in so many parts, which count as long ones.
func divided(t *testing.T, w *Workers, parts int, done func(part int)) *Machine {
	m := loaded(t, chain(1, 1), Options{Workers: w})
	st := &m.code[0][0][0]
	st.parts, st.work = parts, 10*wakeWork
	st.task = &kernel.Prepared{Name: "counted", Runner: &counted{make([]atomic.Int32, parts), done}}
	return m
}

// eventually waits for something that must come, and says what if it does not.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func runOnce(t *testing.T, m *Machine) {
	t.Helper()
	if _, err := m.Run(context.Background(), scalarInput); err != nil {
		t.Fatal(err)
	}
}

// TestWorkersAtRest: behind a run all workers sleep, none of them looks for work, and
// nobody wakes them.
func TestWorkersAtRest(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("there are no workers on one processor")
	}
	w := NewWorkers(3)
	defer w.Close()
	m := divided(t, w, 8, func(int) { time.Sleep(100 * time.Microsecond) })
	for range 3 {
		for range 20 {
			runOnce(t, m)
		}
		s := w.staff.Load()
		if s == nil || s.started.Load() == 0 {
			t.Fatal("no worker has been started")
		}
		eventually(t, "workers don't come to rest", func() bool {
			return s.sleeping.Load() == s.started.Load() && s.spinning.Load() == 0
		})
		seen := s.version.Load()
		time.Sleep(2 * time.Millisecond)
		if s.version.Load() != seen || s.sleeping.Load() != s.started.Load() || s.runs.Load() != 0 || w.serving.Load() != 0 {
			t.Errorf("at rest: %d of %d sleep, %d runs, %d at work", s.sleeping.Load(), s.started.Load(), s.runs.Load(), w.serving.Load())
		}
	}
}

// TestSharedWorkers: those who share the process's workers have the same ones;
// when one of them is closed, the others' go on, and when all are, none is left.
func TestSharedWorkers(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("there are no workers on one processor")
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, b := SharedWorkers(-1), SharedWorkers(1)
	if a.Count() != runtime.GOMAXPROCS(0)-1 || b.Count() != 1 || SharedWorkers(1<<20).Count() != a.Count() {
		t.Errorf("%d, %d and %d workers", a.Count(), b.Count(), SharedWorkers(1<<20).Count())
	}
	defer a.Close()
	defer b.Close()
	var by sync.WaitGroup
	meet := func(int) { by.Done(); by.Wait() } // for ever, if one executor came to both parts
	ma, mb := divided(t, a, 2, meet), divided(t, b, 2, meet)
	run := func(m *Machine) {
		t.Helper()
		by.Add(2)
		runOnce(t, m)
	}
	run(ma)
	run(mb)
	if a.staff.Load() != b.staff.Load() {
		t.Error("they have different workers")
	}
	a.Close()
	run(mb)
	b.Close()
	c := SharedWorkers(1)
	defer c.Close()
	run(divided(t, c, 2, meet))
}

// TestThreadsBoundWorkers: the runs of all machines that have the same Workers are
// helped by no more than there are of them, also where the process has others.
func TestThreadsBoundWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	all, one := SharedWorkers(-1), SharedWorkers(1)
	defer all.Close()
	defer one.Close()
	busy := divided(t, all, 64, func(int) { time.Sleep(50 * time.Microsecond) })
	runOnce(t, busy) // now there are workers enough
	var now, most atomic.Int32
	count := func(int) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(20 * time.Microsecond)
		now.Add(-1)
	}
	var callers sync.WaitGroup
	for range 2 {
		m := divided(t, one, 64, count)
		callers.Go(func() {
			for range 20 {
				if _, err := m.Run(context.Background(), scalarInput); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if n := most.Load(); n > 3 {
		t.Errorf("two callers and one worker computed %d parts at a time", n)
	}
	if n := one.serving.Load(); n != 0 {
		t.Errorf("%d workers are at work behind the runs", n)
	}
}

// TestManyRunsNeedNoWorkers: as many callers as there are processors have no help,
// and their runs end.
func TestManyRunsNeedNoWorkers(t *testing.T) {
	w := NewWorkers(3)
	defer w.Close()
	m := divided(t, w, 4, func(int) { time.Sleep(10 * time.Microsecond) })
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 50 {
				if _, err := m.Run(context.Background(), scalarInput); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if s := w.staff.Load(); s != nil && (s.runs.Load() != 0 || w.serving.Load() != 0) {
		t.Errorf("behind all runs: %d on the board, %d workers at work", s.runs.Load(), w.serving.Load())
	}
}

// TestFullRunsAskNobody: work of a run that may have no more workers keeps none of the
// others awake.
func TestFullRunsAskNobody(t *testing.T) {
	for _, c := range []struct {
		most, inside, serving int
		want                  bool
	}{
		{8, 0, 0, true}, {8, 2, 2, true}, {8, 3, 3, false}, // of four processors three are others'
		{1, 0, 0, true}, {1, 1, 1, false}, {1, 0, 1, false}, // a worker may be at another run
	} {
		s, f := newStaff(4), &frame{m: &Machine{workers: &Workers{most: c.most}}}
		s.list(f)
		f.inside.Store(int32(c.inside))
		f.m.workers.serving.Store(int32(c.serving))
		if s.hasWork() {
			t.Errorf("%+v: there is work before a stream is ready", c)
		}
		f.ready.Store(1)
		if got := s.hasWork(); got != c.want {
			t.Errorf("%+v: there is work for one more: %v", c, got)
		}
	}
}

// TestLateKnowledge: who finds out late that an earlier job has no parts left does not
// bring them back into question for a later one.
func TestLateKnowledge(t *testing.T) {
	var j job
	j.init(1)
	st := &step{task: &kernel.Prepared{Runner: &counted{times: make([]atomic.Int32, 1)}}, parts: 1}
	for range 3 {
		j.begin(st, nil, nil, nil, false)
		j.help(new(hand))
	}
	if part := j.claim(2, 1, new(hand), false); part.len() > 0 || j.has() {
		t.Errorf("parts %v of an earlier job; the last one has parts: %v", part, j.has())
	}
}
