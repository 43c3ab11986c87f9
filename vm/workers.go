package vm

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers help runs along: with streams beside the one that the caller of a run
// advances, and with parts of large tasks. They say how many goroutines may help
// the runs of the machines that have them, all together. The goroutines start when
// there is work for them, sleep when there is none, and end when the last Workers
// that have used them are closed. A nil *Workers has none.
type Workers struct {
	most    int
	serving atomic.Int32          // how many are at work on runs of these machines
	staff   atomic.Pointer[staff] // of whom; nil before they are needed, and when closed

	mu     sync.Mutex
	own    bool // nobody else has the staff
	closed bool
}

// NewWorkers makes n workers that belong to nobody else; a negative n stands for
// one less than the processors that Go uses, since the caller of a run works too.
// Where there is only one, and in a browser, there are none: all work is the
// caller's.
func NewWorkers(n int) *Workers { return &Workers{most: usable(n, n), own: true} }

// SharedWorkers are at most n of the process's workers, of which there are one less
// than processors; a negative n stands for all. They help whoever shares them in
// turns, and those who share them have as many executors together as there are
// processors.
func SharedWorkers(n int) *Workers {
	return &Workers{most: usable(n, runtime.GOMAXPROCS(0)-1)}
}

// usable is the number of workers where n are wanted, at most so many.
func usable(n, most int) int {
	procs := runtime.GOMAXPROCS(0)
	switch {
	case procs == 1 || runtime.GOOS == "js" || runtime.GOOS == "wasip1":
		return 0
	case n < 0:
		return procs - 1
	}
	return min(n, most)
}

// Count is the number of workers that there may be.
func (w *Workers) Count() int {
	if w == nil {
		return 0
	}
	return w.most
}

// Close lets go of the workers, and returns when those have ended that nobody else
// may want. Runs under way, and later ones, go on without. Close may be called
// twice.
func (w *Workers) Close() {
	if w != nil {
		if s := w.dismiss(); s != nil {
			s.all.Wait()
		}
	}
}

// EndWith lets workers end when the owner is collected, so that one that
// nobody closes leaves none behind.
func EndWith[T any](owner *T, w *Workers) {
	runtime.AddCleanup(owner, func(w *Workers) { w.dismiss() }, w)
}

// dismiss lets go of the workers, and returns those that were told to end.
func (w *Workers) dismiss() *staff {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.staff.Swap(nil)
	w.closed = true
	if s == nil || !w.own && !house.leave(s) {
		return nil
	}
	s.dismiss()
	return s
}

// who are the goroutines; nil if there are none or they are closed.
func (w *Workers) who() *staff {
	if w == nil || w.most == 0 {
		return nil
	}
	if s := w.staff.Load(); s != nil {
		return s
	}
	return w.engage()
}

// engage finds the goroutines.
func (w *Workers) engage() *staff {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.staff.Load(); s != nil || w.closed {
		return s
	}
	var s *staff
	if w.own {
		s = newStaff(w.most + 1)
	} else {
		s = house.enter()
	}
	s.allow(w.most)
	w.staff.Store(s)
	return s
}

// A registry has the goroutines of the process while somebody uses them.
type registry struct {
	mu    sync.Mutex
	staff *staff
	users int
}

// house is the one registry: how many processors there are to share is known of the
// process as a whole only.
var house registry

// enter counts one more who uses the goroutines.
func (r *registry) enter() *staff {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.staff == nil {
		r.staff = newStaff(runtime.GOMAXPROCS(0))
	}
	r.users++
	return r.staff
}

// leave counts one less; it reports whether that was the last one, behind whom
// others get new goroutines.
func (r *registry) leave(s *staff) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users > 0 {
		return false
	}
	r.staff = nil
	return true
}
