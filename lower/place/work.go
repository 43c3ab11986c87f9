package place

import "time"

// looksPerStep is how many looks the search has for each step of its effort. The
// hardest of the public problems, with 409 buffers, takes 9,400 a placement.
const looksPerStep = 12_000

// What putting a buffer into the queue of its part, and asking whether it is in the
// way of one that waits, cost beside a look at one section, which takes about a
// nanosecond.
const (
	looksToQueue = 16
	looksToMeet  = 2
)

// Work is what a search has done, and what ends it. One placement takes a
// microsecond among twenty buffers and two milliseconds among four thousand, so
// that placements alone would not bound the time. Both are counted, and no clock is
// asked, unless that is wanted: the plan is the same on every machine.
type work struct {
	placed int64 // placements tried
	looks  int64 // at sections and buffers, for all of them

	until time.Time       // zero: no bound in time
	stop  <-chan struct{} // nil: nobody can stop it
	over  bool            // the time is up, or it was stopped
}

func newWork(e Effort) work {
	w := work{stop: e.Stop}
	if e.Time > 0 {
		w.until = time.Now().Add(e.Time)
	}
	return w
}

// spent is the work done, in steps of an effort.
func (w *work) spent() int64 { return max(w.placed, w.looks/looksPerStep) }

// late reports, every sixteen placements, whether the search is to end now.
func (w *work) late() bool {
	if w.over || w.placed%16 != 0 {
		return w.over
	}
	select {
	case <-w.stop:
		w.over = true
	default:
		w.over = !w.until.IsZero() && time.Now().After(w.until)
	}
	return w.over
}
