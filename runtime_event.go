package npu

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// An Event is a mark that streams pass. Recording it again moves it: waits that
// were submitted before keep the mark that they were given. An event that was
// never recorded counts as passed.
type Event struct {
	rt     *Runtime
	dev    *board
	closed atomic.Bool
	mu     sync.Mutex
	last   *record
}

// A record is one mark in one stream.
type record struct {
	stream *Stream
	clock  clock         // what had been submitted before it, for CheckOrder
	done   chan struct{} // closed when the stream has passed it
	when   time.Time     // then
	err    error         // of the stream, then
}

// NewEvent makes an event on the current device. A device has as many at a time
// as its row says; Close gives one back.
func (rt *Runtime) NewEvent() (*Event, error) {
	if err := rt.check("NewEvent"); err != nil {
		return nil, err
	}
	p := rt.here()
	if p.events.Add(1) > int64(p.row.Events) {
		p.events.Add(-1)
		return nil, at(faults("limit", "NewEvent", "device %s allows %s at a time", p.row.Name, counted(p.row.Events, "event")))
	}
	return &Event{rt: rt, dev: p}, nil
}

// Close gives the event back. Waits for it that were submitted stay valid.
func (e *Event) Close() error {
	if e.closed.Swap(true) {
		return at(faults("use-after-free", "event", "the event is closed twice"))
	}
	e.dev.events.Add(-1)
	return nil
}

func (e *Event) check(what string) error {
	if e == nil {
		return at(faults("wrong-arguments", what, "the event is nil"))
	}
	if err := e.rt.check(what); err != nil {
		return err
	}
	if e.closed.Load() {
		return at(faults("use-after-free", what, "the event is closed"))
	}
	return nil
}

// checkStream refuses a stream that the event can't be on.
func (e *Event) checkStream(what string, s *Stream) error {
	switch {
	case s == nil:
		return at(faults("wrong-arguments", what, "the stream is nil"))
	case s.rt != e.rt:
		return at(faults("wrong-arguments", what, "the stream belongs to another runtime"))
	}
	return nil
}

// Record puts the event behind all that was submitted to the stream so far.
func (e *Event) Record(s *Stream) error {
	if err := e.check("Record"); err != nil {
		return err
	}
	if err := e.checkStream("Record", s); err != nil {
		return err
	}
	r, err := s.mark()
	if err != nil {
		return at(asDiagnostics(err))
	}
	e.mu.Lock()
	e.last = r
	e.mu.Unlock()
	return nil
}

// mark submits a record. It is passed even where the stream has failed, so that
// nobody waits for ever.
func (s *Stream) mark() (*record, error) {
	r := &record{stream: s, done: make(chan struct{})}
	j := &job{what: "Record", mark: true, do: func(*Stream) error { return nil }}
	j.after = func(err error, _ bool) {
		r.when, r.err = time.Now(), err
		close(r.done)
	}
	r.clock = s.rt.order.now(s)
	if err := s.submit(j); err != nil {
		return nil, err
	}
	return r, nil
}

// latest is the record that counts, or nil.
func (e *Event) latest() *record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// Wait lets the stream wait, before what is submitted to it from now on, until
// the event is passed: the mark that was recorded last before this call. Where
// the event's stream has failed, the waiting one fails too. Streams of different
// devices may wait for each other.
func (e *Event) Wait(s *Stream) error { return s.Wait(e) }

// Wait is Event.Wait.
func (s *Stream) Wait(e *Event) error {
	if err := e.check("Wait"); err != nil {
		return err
	}
	if err := e.checkStream("Wait", s); err != nil {
		return err
	}
	r := e.latest()
	if r == nil || r.stream == s {
		return located(s.failure())
	}
	err := s.submit(&job{what: "Wait", waits: true, site: here(), do: func(s *Stream) error {
		select {
		case <-r.done:
			return r.err
		case <-s.quit:
			return errStreamClosed
		}
	}})
	if err != nil {
		return located(err)
	}
	s.rt.order.join(s, r.clock)
	return nil
}

// Query reports whether the event is passed, without waiting.
func (e *Event) Query() bool {
	r := e.latest()
	if r == nil {
		return true
	}
	select {
	case <-r.done:
		e.rt.order.seen(r.clock)
		return true
	default:
		return false
	}
}

// Synchronize waits until the event is passed. The error is that of its stream,
// or of the context.
func (e *Event) Synchronize(ctx context.Context) error {
	if err := e.check("Synchronize"); err != nil {
		return err
	}
	r := e.latest()
	if r == nil {
		return nil
	}
	return r.wait(ctx, e.rt)
}

// wait returns when the record is passed.
func (r *record) wait(ctx context.Context, rt *Runtime) error {
	ctx = endless(ctx)
	select {
	case <-r.done:
		rt.order.seen(r.clock)
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Elapsed is the time between two events. Both must have been recorded and
// passed; streams of one runtime have one clock.
func Elapsed(start, end *Event) (time.Duration, error) {
	var when [2]time.Time
	for i, e := range []*Event{start, end} {
		if err := e.check("Elapsed"); err != nil {
			return 0, err
		}
		r, name := e.latest(), [...]string{"start", "end"}[i]
		if r == nil {
			return 0, at(faults("wrong-arguments", "Elapsed", "%s was never recorded", name))
		}
		select {
		case <-r.done:
			when[i] = r.when
		default:
			ds := faults("wrong-arguments", "Elapsed", "%s is not passed yet", name)
			ds[0].Helps = []string{"synchronize with the event, or with its stream"}
			return 0, at(ds)
		}
	}
	return when[1].Sub(when[0]), nil
}
