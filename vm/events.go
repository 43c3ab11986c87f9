package vm

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Events order the streams of one run. An event has been posted in the run of
// number n when it holds n, so that a new run has nothing to reset.
type events struct {
	posted  []atomic.Uint64
	run     uint64 // the number of the run under way
	stopped atomic.Bool

	waiters atomic.Int32
	mu      sync.Mutex
	wake    sync.Cond
}

// spins is how often a stream looks for an event before it goes to sleep: about
// as long as waking it would take.
const spins = 64

func (e *events) init(n int) {
	e.posted = make([]atomic.Uint64, n)
	e.wake.L = &e.mu
}

// begin starts the next run.
func (e *events) begin() {
	e.run++
	e.stopped.Store(false)
}

// post posts event i. A waiter counts itself before it looks, and the poster
// counts waiters after it posts, so that one of the two sees the other.
func (e *events) post(i int) {
	e.posted[i].Store(e.run)
	if e.waiters.Load() > 0 {
		e.mu.Lock()
		e.wake.Broadcast()
		e.mu.Unlock()
	}
}

// pending reports whether a wait for event i would have to sleep.
func (e *events) pending(i int) bool {
	return e.posted[i].Load() != e.run && !e.stopped.Load()
}

// wait returns when event i has been posted or the run is stopped.
func (e *events) wait(i int) {
	for range spins {
		if !e.pending(i) {
			return
		}
		runtime.Gosched()
	}
	e.waiters.Add(1)
	e.mu.Lock()
	for e.pending(i) {
		e.wake.Wait()
	}
	e.mu.Unlock()
	e.waiters.Add(-1)
}

// stop ends all waits of the run.
func (e *events) stop() {
	e.mu.Lock()
	e.stopped.Store(true)
	e.wake.Broadcast()
	e.mu.Unlock()
}
