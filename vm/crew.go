package vm

import (
	"math/bits"
	"sync/atomic"

	"github.com/npulang/npu/codegen/bytecode"
)

// A crew is the state of one run that its executors share: the caller of the
// run, and workers that help. An executor takes a stream that can go on, advances
// it until it would wait for an event, sets it aside and takes another. So nobody
// waits for an event, and any number of streams runs on any number of executors.
// Sets of streams are words with a bit for each, of which there are at most 64.
type crew struct {
	posted []atomic.Uint64 // by event: the number of the run that posted it last, so that nothing is reset
	run    uint64          // the number of the run under way

	_       line
	ready   atomic.Uint64 // the streams that can go on and that nobody has
	parked  atomic.Uint64 // those that wait for an event
	jobs    atomic.Uint64 // those that have had a task done in parts
	left    atomic.Int32  // how many streams have not ended
	given   atomic.Uint32 // counts how often others were told of streams
	stopped atomic.Bool
	_       line

	listed atomic.Pointer[staff] // on whose board the run is; nil: nobody knows of it
	place  int                   // there
	inside atomic.Int32          // how many workers are at work on it
	caller parker
}

func (c *crew) init(events int) {
	c.posted = make([]atomic.Uint64, events)
	c.caller.init()
}

// begin starts the next run.
func (c *crew) begin(streams int) {
	c.run++
	c.stopped.Store(false)
	c.left.Store(int32(streams))
	if c.jobs.Load() != 0 {
		c.jobs.Store(0)
	}
	c.ready.Store(1<<streams - 1)
}

// take takes a stream that can go on; -1 if there is none.
func (c *crew) take() int {
	for {
		set := c.ready.Load()
		if set == 0 {
			return -1
		}
		if c.ready.CompareAndSwap(set, set&(set-1)) {
			return bits.TrailingZeros64(set)
		}
	}
}

// hasWork reports whether there is something that another executor could do.
func (f *frame) hasWork() bool { return f.ready.Load() != 0 || f.hasJob() }

// isPosted reports whether event i has been posted in this run.
func (c *crew) isPosted(i int) bool { return c.posted[i].Load() == c.run }

// post posts event i, and makes the streams ready that wait for it. The
// executor itself takes them when it has nothing else to do, if nobody has before.
func (f *frame) post(i int) {
	f.posted[i].Store(f.run)
	for set := f.parked.Load(); set != 0; set &= set - 1 {
		s := bits.TrailingZeros64(set)
		if int(f.streams[s].awaits.Load()) == i {
			f.release(1 << s)
		}
	}
}

// release makes a stream ready that is set aside. One that has been taken up
// again and waits for another event finds out by itself.
func (f *frame) release(bit uint64) {
	if f.parked.And(^bit)&bit != 0 {
		f.ready.Or(bit)
	}
}

// park sets a stream aside until event i is posted. It reports whether the
// executor has the stream after all: as it was, or taken back from where another
// has brought it and set it aside again. If not, another may have it already. The
// stream is set aside before the event is looked at, and an event is posted before
// the streams set aside are, so that one of the two sees the other.
func (f *frame) park(s *stream, i int) bool {
	s.awaits.Store(int32(i))
	f.parked.Or(s.bit)
	if f.m.aside != nil {
		f.m.aside(s)
	}
	return (f.isPosted(i) || f.stopped.Load()) && f.parked.And(^s.bit)&s.bit != 0
}

// stop records an error and stops all streams before their next task. Of
// several errors that of the earliest task counts; a cancelled context, which
// is no task, comes before all.
func (f *frame) stop(task int, err error) {
	f.failure.set(task, err)
	f.stopped.Store(true)
	f.ready.Or(f.parked.Swap(0))
}

// execute runs all streams to their end.
func (f *frame) execute() {
	f.help(f.hand)
	for f.left.Load() > 0 {
		f.await()
		f.help(f.hand)
	}
	f.withdraw()
}

// help does what there is to do: streams first, then parts of others' tasks. Only where
// the stream's next task is done by parts as well, those that are there come before it,
// since each is done sooner if all work at it.
func (f *frame) help(h *hand) {
	for {
		if i := f.takeStream(); i >= 0 {
			if s := &f.streams[i]; s.divides() {
				f.helpJobs(h)
			}
			f.streams[i].advance(h)
		} else if !f.helpJobs(h) {
			return
		}
	}
}

// takeStream is take, or what a test wants instead.
func (f *frame) takeStream() int {
	if f.m.choose != nil {
		return f.m.choose(&f.crew)
	}
	return f.take()
}

// await lets the caller wait until there is something to do or all is done. That
// the context is done is a reason once: behind it, the workers end what they have.
func (f *frame) await() {
	wanted := func() bool {
		return f.left.Load() == 0 || f.hasWork() || !f.stopped.Load() && f.halted()
	}
	if spin(spinTime, wanted) {
		return
	}
	f.caller.about()
	if wanted() {
		f.caller.stay()
		return
	}
	if f.stopped.Load() {
		f.caller.sleep(nil)
		return
	}
	f.caller.sleep(f.done)
	f.halted()
}

// ended counts a stream that has.
func (f *frame) ended() {
	if f.left.Add(-1) == 0 {
		f.caller.wake()
	}
}

// halted reports whether the run is to stop. It looks whether the context is
// done, which costs less than being told.
func (f *frame) halted() bool {
	if f.stopped.Load() {
		return true
	}
	if f.done == nil {
		return false
	}
	select {
	case <-f.done:
		f.stop(-1, f.ctx.Err())
		return true
	default:
		return false
	}
}

// divides reports whether the next task of a stream is done by parts.
func (s *stream) divides() bool {
	for _, st := range s.code[s.next:] {
		if st.Op != bytecode.Wait {
			return st.parts > 1
		}
	}
	return false
}
