package vm

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Workers are goroutines that help runs along: with streams beside the one
// that the caller of a run advances, and with parts of large tasks. Machines may
// share them. They start when there is work for them, sleep when there is none,
// and end with Close. A nil *Workers has none.
type Workers struct {
	most int

	version  atomic.Uint32 // counts offers, so that one who looks for work sees a new one
	spinning atomic.Int32  // workers that look for work
	sleeping atomic.Int32  // workers that sleep
	started  atomic.Int32  // workers that there are

	mu     sync.Mutex
	offers []*frame  // runs that have, or may yet have, work to give away
	idle   []*worker // asleep, or about to be
	closed bool
	all    sync.WaitGroup
}

// NewWorkers makes at most n workers; a negative n stands for one less than
// the processors that Go uses, since the caller of a run works too. Where there
// is only one, and in a browser, there are none: all work is the caller's.
func NewWorkers(n int) *Workers {
	procs := runtime.GOMAXPROCS(0)
	switch {
	case procs == 1 || runtime.GOOS == "js" || runtime.GOOS == "wasip1":
		n = 0
	case n < 0:
		n = procs - 1
	}
	return &Workers{most: n}
}

// Count is the number of workers that there may be.
func (w *Workers) Count() int {
	if w == nil {
		return 0
	}
	return w.most
}

// Close ends the workers and returns when they have. Runs under way, and later
// ones, go on without them. Close may be called twice.
func (w *Workers) Close() {
	if w != nil {
		w.dismiss()
		w.all.Wait()
	}
}

// EndWith lets workers end when the owner is collected, so that one that
// nobody closes leaves none behind.
func EndWith[T any](owner *T, w *Workers) { runtime.AddCleanup(owner, (*Workers).dismiss, w) }

// dismiss tells the workers to end.
func (w *Workers) dismiss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, k := range w.idle {
		k.wake()
	}
	w.version.Add(1)
}

// offer says that a run has work for n others now. It costs the run little,
// unless workers sleep.
func (w *Workers) offer(f *frame, n int) {
	if !f.offered.Load() {
		w.list(f)
	}
	w.version.Add(1)
	// Those who spin see the version.
	for n -= int(w.spinning.Load()); n > 0 && w.resting(); n-- {
		w.rouse()
	}
}

// resting reports whether a worker sleeps, or has not been started yet.
func (w *Workers) resting() bool {
	return w.sleeping.Load() > 0 || int(w.started.Load()) < w.most
}

// haveTime reports whether there seems to be a worker without work.
func (w *Workers) haveTime() bool {
	return w != nil && (w.spinning.Load() > 0 || w.resting())
}

// list adds a run to those that are helped.
func (w *Workers) list(f *frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && !f.offered.Load() {
		f.offered.Store(true)
		w.offers = append(w.offers, f)
	}
}

// rouse wakes a worker, or starts one if all are awake.
func (w *Workers) rouse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for n := len(w.idle); n > 0; n-- {
		k := w.idle[n-1]
		w.idle = w.idle[:n-1]
		if k.wake() {
			return
		}
	}
	if int(w.started.Load()) < w.most {
		w.started.Add(1)
		k := &worker{w: w}
		k.init()
		w.all.Go(k.live)
	}
}

// withdraw takes a run off the list; those who help it already may still do so.
func (w *Workers) withdraw(f *frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.offers, f); i >= 0 {
		w.offers = slices.Delete(w.offers, i, i+1)
	}
}

// A worker is one of the goroutines.
type worker struct {
	parker
	w    *Workers
	hand hand
}

// live helps runs until the workers are closed.
func (k *worker) live() {
	w := k.w
	for {
		seen := w.version.Load()
		f, closed := w.join(seen)
		switch {
		case closed:
			return
		case f != nil:
			f.help(&k.hand)
			f.inside.Add(-1)
			k.hand.clear()
		default:
			k.rest(seen)
		}
	}
}

// join finds a run that has work and counts the worker inside. It begins at
// another run each time, so that none waits for ever.
func (w *Workers) join(from uint32) (f *frame, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, true
	}
	for i := range w.offers {
		if f := w.offers[(int(from)+i)%len(w.offers)]; f.hasWork() {
			f.inside.Add(1)
			return f, false
		}
	}
	return nil, false
}

// rest returns when there has been an offer since seen was the version.
func (k *worker) rest(seen uint32) {
	w := k.w
	w.spinning.Add(1)
	found := spin(func() bool { return w.version.Load() != seen })
	w.spinning.Add(-1)
	if found {
		return
	}
	k.about()
	w.mu.Lock()
	w.idle = append(w.idle, k)
	w.mu.Unlock()
	w.sleeping.Add(1)
	// An offer since the spin may have counted on it.
	if w.version.Load() != seen {
		k.stay()
	} else {
		k.sleep(nil)
	}
	w.sleeping.Add(-1)
	w.mu.Lock()
	if i := slices.Index(w.idle, k); i >= 0 {
		w.idle = slices.Delete(w.idle, i, i+1)
	}
	w.mu.Unlock()
}
