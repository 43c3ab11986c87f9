package vm

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// wakeWork is how many nanoseconds of work that could be done in parts makes it
	// worth to wake a worker, which takes the one who does it some microseconds. It
	// may come in one task or in several, also of several runs, within wakeTime.
	wakeWork = 40_000
	wakeTime = time.Millisecond
)

// offerParts looks for others who compute parts of a task: the caller, if it sleeps,
// and workers, up to n of them. Those inside look for themselves; others are told,
// and woken if rouse is set.
func (f *frame) offerParts(n int, rouse bool) {
	if f.caller.wake() {
		n--
	}
	f.ask(min(n-int(f.inside.Load()), f.room()), rouse)
}

// offerStream looks for somebody who takes a stream that is ready. Those inside may
// all be at work.
func (f *frame) offerStream() {
	f.given.Add(1)
	if !f.caller.wake() {
		f.ask(min(1, f.room()), true)
	}
}

// ask asks for n more workers.
func (f *frame) ask(n int, rouse bool) {
	if n > 0 {
		f.listed.Load().call(n, rouse)
	}
}

// room is how many more workers the run may have.
func (f *frame) room() int {
	s := f.staff()
	if s == nil {
		return 0
	}
	return min(s.share(), f.m.workers.most) - int(f.inside.Load())
}

// staff are the workers that the run may ask; nil if there are none, or others
// use all processors.
func (f *frame) staff() *staff {
	if s := f.listed.Load(); s != nil {
		return s
	}
	if s := f.m.workers.who(); s != nil && !s.isCrowded() {
		return s.list(f)
	}
	return nil
}

// hasHelp reports whether somebody seems to have time for a part of a task that
// takes so many nanoseconds. Where all sleep, tasks are done whole until there has
// been so much work that it is worth to wake somebody.
func (s *stream) hasHelp(work int64) bool {
	f := s.f
	if f.inside.Load() > 0 || f.caller.asleep.Load() {
		return true
	}
	who := f.staff()
	switch {
	case who == nil || who.share() == 0:
		return false
	case who.spinning.Load() > 0 || work >= wakeWork:
		return true
	case s.missed.add(work):
		f.offerParts(1, true)
	}
	return false
}

// A missed counts work that nobody helped with.
type missed struct {
	since time.Time
	work  int64
}

// add reports whether there was enough of it lately; then it begins anew.
func (m *missed) add(work int64) bool {
	now := time.Now()
	if now.Sub(m.since) > wakeTime {
		m.since, m.work = now, 0
	}
	if m.work += work; m.work < wakeWork {
		return false
	}
	m.work = 0
	return true
}

// full reports whether a run may have no more workers of a staff.
func (f *frame) full(s *staff) bool {
	w := f.m.workers
	return int(f.inside.Load()) >= s.share() || int(w.serving.Load()) >= w.most
}

// admits reports whether a run may have as many workers as are inside.
func (f *frame) admits(s *staff) bool { return int(f.inside.Load()) <= s.share() }

// enter lets a worker in that has found the run at a place of the board, unless it
// has enough of them.
func (f *frame) enter(s *staff, at *atomic.Pointer[frame]) bool {
	if f.full(s) {
		return false
	}
	w := f.m.workers
	// Counted inside, the worker may look whether the run is still there: its caller
	// looks the other way round.
	f.inside.Add(1)
	if w.serving.Add(1); int(w.serving.Load()) <= w.most && at.Load() == f && f.left.Load() > 0 && f.admits(s) {
		return true
	}
	f.leave()
	return false
}

// leave lets a worker out, who then must not touch the run any more.
func (f *frame) leave() {
	f.m.workers.serving.Add(-1)
	f.inside.Add(-1)
}

// withdraw ends the help for a run, and returns when all workers have left.
func (f *frame) withdraw() {
	s := f.listed.Load()
	if s == nil {
		return
	}
	s.withdraw(f)
	for !look(func() bool { return f.inside.Load() == 0 }) {
		runtime.Gosched()
	}
}
