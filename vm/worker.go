package vm

import "slices"

// A worker is one of the goroutines of a staff.
type worker struct {
	parker
	staff *staff
	hand  hand
}

// live helps runs until the workers are dismissed.
func (k *worker) live() {
	s := k.staff
	for !s.closed.Load() {
		seen := s.version.Load()
		f := s.join(seen)
		if f == nil {
			k.rest(seen)
			continue
		}
		idle := f.serve(k)
		seen = s.version.Load()
		f.leave()
		k.hand.clear()
		if idle {
			k.sleepAt(seen)
		}
	}
}

// rest returns when there has been an offer since seen was the version.
func (k *worker) rest(seen uint32) {
	s := k.staff
	if !s.spin(func() bool { return s.version.Load() != seen }) {
		k.sleepAt(seen)
	}
}

// spin is the spin of a worker, who counts as one that looks for work.
func (s *staff) spin(reason func() bool) bool {
	s.spinning.Add(1)
	defer s.spinning.Add(-1)
	return spin(spinTime, reason)
}

// sleepAt sleeps until somebody wakes the worker, unless there has been an offer
// since seen was the version, or a run still has work that the worker was inside
// of and that counted on it, or the workers were dismissed, which may have been
// before seen was read.
func (k *worker) sleepAt(seen uint32) {
	s := k.staff
	k.about()
	s.mu.Lock()
	s.idle = append(s.idle, k)
	s.mu.Unlock()
	s.sleeping.Add(1)
	if s.closed.Load() || s.version.Load() != seen || s.hasWork() {
		k.stay()
	} else {
		k.sleep(nil)
	}
	s.sleeping.Add(-1)
	s.mu.Lock()
	if i := slices.Index(s.idle, k); i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	s.mu.Unlock()
}

// serve does what there is to do for a run, and waits for more, until the run is
// over or others ask for help. It reports whether there was nothing to do for long.
func (f *frame) serve(k *worker) (idle bool) {
	s := k.staff
	seen := s.version.Load()
	for {
		given := f.given.Load()
		f.help(&k.hand)
		if !f.admits(s) { // the worker itself counts
			return false
		}
		found := s.spin(func() bool {
			return f.hasJob() || f.given.Load() != given || f.left.Load() == 0 || s.version.Load() != seen
		})
		switch {
		case !found:
			return true
		case f.left.Load() == 0 || s.version.Load() != seen:
			return false
		}
	}
}
