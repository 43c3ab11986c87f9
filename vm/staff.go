package vm

import (
	"sync"
	"sync/atomic"
)

// A staff is a number of goroutines that help runs, and the board on which runs
// ask for help. Runs share it: where r runs are on the board and there are p
// processors, each has its caller and an r-th of the p-r others.
type staff struct {
	procs int // how many executors there should be at a time, callers and workers

	version  atomic.Uint32 // counts offers, so that one who looks for work sees a new one
	spinning atomic.Int32  // workers that look for work
	sleeping atomic.Int32  // workers that sleep
	started  atomic.Int32  // workers that there are
	most     atomic.Int32  // workers that there may be
	runs     atomic.Int32  // runs on the board
	closed   atomic.Bool

	board [boardSize]atomic.Pointer[frame]

	mu   sync.Mutex
	idle []*worker // asleep, or about to be
	all  sync.WaitGroup
}

// boardSize is how many runs may ask for help at a time. Where there are as many as
// processors, none has any.
const boardSize = 64

func newStaff(procs int) *staff { return &staff{procs: procs} }

// allow lets there be n workers, if there are not allowed more already.
func (s *staff) allow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most.Store(max(s.most.Load(), int32(n)))
}

// dismiss tells the workers to end.
func (s *staff) dismiss() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	for _, k := range s.idle {
		k.wake()
	}
	s.version.Add(1)
}

// isCrowded reports whether there is no place on the board, or no processor for
// another run.
func (s *staff) isCrowded() bool { return int(s.runs.Load()) >= min(s.procs, boardSize) }

// list puts a run on the board, if there is room; nil if there is none.
func (s *staff) list(f *frame) *staff {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := f.listed.Load(); on != nil {
		return on
	}
	if s.closed.Load() || s.isCrowded() {
		return nil
	}
	for i := range s.board {
		if s.board[i].Load() == nil {
			s.runs.Add(1)
			s.board[i].Store(f)
			f.place = i
			f.listed.Store(s)
			return s
		}
	}
	return nil
}

// withdraw takes a run off the board; those who help it already may still do so.
func (s *staff) withdraw(f *frame) {
	f.listed.Store(nil)
	s.board[f.place].Store(nil)
	s.runs.Add(-1)
}

// share is how many workers a run may have.
func (s *staff) share() int {
	runs := max(1, int(s.runs.Load()))
	if spare := s.procs - runs; spare > 0 {
		return (spare + runs - 1) / runs
	}
	return 0
}

// resting reports whether a worker sleeps, or has not been started yet.
func (s *staff) resting() bool {
	return s.sleeping.Load() > 0 || s.started.Load() < s.most.Load()
}

// call says that there is work for n workers. Those who look for work see it; if
// they are fewer and rouse is set, others are woken.
func (s *staff) call(n int, rouse bool) {
	s.version.Add(1)
	if !rouse {
		return
	}
	for n -= int(s.spinning.Load()); n > 0 && s.resting(); n-- {
		s.rouse()
	}
}

// rouse wakes a worker, or starts one if all are awake.
func (s *staff) rouse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return
	}
	for n := len(s.idle); n > 0; n-- {
		k := s.idle[n-1]
		s.idle = s.idle[:n-1]
		if k.wake() {
			return
		}
	}
	if n := s.started.Load(); n < s.most.Load() {
		s.started.Add(1)
		k := &worker{staff: s}
		k.hand.index = int(n) + 1
		k.init()
		s.all.Go(k.live)
	}
}

// join finds a run for a worker and lets it in: one that has work if there is one,
// else one that may have some soon. It begins at another place each time, so that no
// run waits for ever.
func (s *staff) join(from uint32) *frame {
	if s.runs.Load() == 0 {
		return nil
	}
	for _, withWork := range []bool{true, false} {
		for i := range s.board {
			at := &s.board[(int(from)+i)%boardSize]
			if f := at.Load(); f != nil && (!withWork || f.hasWork()) && f.enter(s, at) {
				return f
			}
		}
	}
	return nil
}

// hasWork reports whether a run has work for one more worker.
func (s *staff) hasWork() bool {
	for i := range s.board {
		if f := s.board[i].Load(); f != nil && f.hasWork() && !f.full(s) {
			return true
		}
	}
	return false
}
