package npu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A Stream is a queue of work on one device: what is submitted to it runs in
// order, one after the other, at the same time as what is on other streams. Only
// events order work of different streams, and Synchronize orders it against the
// caller. A stream takes a goroutine while it has work, and none otherwise.
//
// The first error of work that runs on a stream sticks: what follows on it is
// skipped, and submitting, Synchronize and streams that wait for its events give
// that error, until Reset.
type Stream struct {
	rt   *Runtime
	dev  *board
	name string
	slot int // in the clocks of CheckOrder

	mu     sync.Mutex
	room   sync.Cond // there is room in the queue, or the stream is closed
	quiet  sync.Cond // nobody runs the stream
	queue  []*job
	head   int  // of queue
	busy   bool // somebody runs the stream
	closed bool
	err    error // the first one of what ran here
	quit   chan struct{}

	// Of whoever runs the stream.
	stop   atomic.Bool
	budget ir.Budget
	exec   kernel.Exec
	in     []*tensor.T
	out    []*tensor.T
}

// maxQueued bounds a stream's queue; who submits more waits.
const maxQueued = 1024

// A job is one piece of work on a stream.
type job struct {
	what  string // for messages: the operator, Copy
	waits bool   // it waits for another stream, whose error it passes on
	site  *site
	do    func(*Stream) error
	hold  []*DeviceTensor
	mark  bool                          // taken by a stream that has failed too
	after func(err error, skipped bool) // in any case, when it is over
}

// NewStream makes a stream on the current device. A device has as many at a time
// as its row says.
func (rt *Runtime) NewStream() (*Stream, error) {
	if err := rt.check("NewStream"); err != nil {
		return nil, err
	}
	p := rt.here()
	rt.mu.Lock()
	if p.streams >= p.row.Streams {
		rt.mu.Unlock()
		return nil, at(faults("limit", "NewStream", "device %s allows %s at a time", p.row.Name, counted(p.row.Streams, "stream")))
	}
	p.streams++
	name := fmt.Sprintf("s%d", p.named)
	p.named++
	rt.mu.Unlock()
	return rt.addStream(p, name), nil
}

func (rt *Runtime) addStream(p *board, name string) *Stream {
	s := &Stream{rt: rt, dev: p, name: name, quit: make(chan struct{})}
	s.room.L, s.quiet.L = &s.mu, &s.mu
	s.slot = rt.order.newSlot()
	s.budget.Bytes = p.limit
	s.budget.Stop = s.askStop
	rt.mu.Lock()
	rt.streams = append(rt.streams, s)
	rt.mu.Unlock()
	if rt.closed.Load() {
		s.shut() // Close may not have seen it
	}
	return s
}

// DefaultStream is the stream of the current device on which Execute works. It is
// a stream like any other, but for that it can't be closed.
func (rt *Runtime) DefaultStream() *Stream { return rt.here().standard }

// Name is how messages call the stream: s0, s1, or default.
func (s *Stream) Name() string { return s.name }

// Device is the number of the device whose work this is.
func (s *Stream) Device() int { return s.dev.index }

// askStop ends long kernels when the stream is closed.
func (s *Stream) askStop() error {
	if s.stop.Load() {
		return errStreamClosed
	}
	return nil
}

var errStreamClosed = errors.New("the stream was closed")

// submit queues a job whose tensors are held already.
func (s *Stream) submit(j *job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue)-s.head >= maxQueued && !s.closed {
		s.room.Wait()
	}
	if err := s.refusal(); err != nil && !(j.mark && !s.closed) {
		return err
	}
	if s.head > maxQueued { // what is done is at the front
		s.queue = slices.Delete(s.queue, 0, s.head)
		s.head = 0
	}
	s.queue = append(s.queue, j)
	if !s.busy {
		s.busy = true
		go s.drain()
	}
	return nil
}

// refusal is why the stream takes no work; mu is held.
func (s *Stream) refusal() error {
	if s.closed {
		return faults("use-after-free", "stream "+s.name, "the stream is closed")
	}
	return s.err
}

// drain runs jobs until there are none.
func (s *Stream) drain() {
	for {
		s.mu.Lock()
		if s.head == len(s.queue) {
			s.queue, s.head = s.queue[:0], 0
			s.leave()
			s.mu.Unlock()
			return
		}
		j := s.queue[s.head]
		s.queue[s.head] = nil
		s.head++
		failed := s.err
		if s.closed {
			failed = faults("use-after-free", "stream "+s.name, "the stream was closed before this began")
		}
		s.room.Signal()
		s.mu.Unlock()
		s.perform(j, failed)
	}
}

// enter makes the caller the one that runs the stream, if nobody does.
func (s *Stream) enter() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(); err != nil {
		return false, err
	}
	if s.busy {
		return false, nil
	}
	s.busy = true
	return true, nil
}

// exit ends what enter began. Work that came meanwhile gets a goroutine.
func (s *Stream) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head < len(s.queue) {
		go s.drain()
		return
	}
	s.leave()
}

// leave ends being busy; mu is held.
func (s *Stream) leave() {
	s.busy = false
	s.quiet.Broadcast()
}

// perform runs a job, or skips it.
func (s *Stream) perform(j *job, failed error) {
	err := failed
	if failed == nil {
		if err = s.protect(j.do); err != nil {
			err = s.wrap(j, err)
			s.fail(err)
		}
	}
	for _, t := range j.hold {
		t.drop()
	}
	if j.after != nil {
		j.after(err, failed != nil)
	}
}

// protect turns a panic into an error.
func (s *Stream) protect(do func(*Stream) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = ir.Errorf("internal", "panic: %v", p)
		}
	}()
	return do(s)
}

// fail keeps the stream's first error.
func (s *Stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// wrap says what failed, where it was submitted, and on which stream.
func (s *Stream) wrap(j *job, err error) error {
	d := *AsDiagnostic(err)
	if errors.Is(err, errStreamClosed) {
		d = Diagnostic{Code: "use-after-free", Message: "the stream was closed meanwhile"}
	}
	if d.Subject == "" {
		d.Subject = j.what
	}
	if d.Loc.Line == 0 {
		d.Loc = j.site.loc()
	}
	note := "on stream %s of device %s"
	if j.waits {
		note = "stream %s of device %s waited for an event behind it"
	}
	d.Notes = append(slices.Clone(d.Notes), fmt.Sprintf(note, s.name, s.dev.row.Name))
	return Diagnostics{&d}
}

// skipped is the error of work behind what has failed.
func skipped(what string, err error) error {
	d := *AsDiagnostic(err)
	d.Notes = append(slices.Clone(d.Notes), what+" was skipped for it")
	return Diagnostics{&d}
}

// Synchronize waits until all is done that was submitted before. It returns the
// stream's error, which names the operation and the line that submitted it, or
// that of the context.
func (s *Stream) Synchronize(ctx context.Context) error {
	if s.isQuiet() {
		s.rt.order.seen(s.rt.order.now(s))
		return located(s.failure())
	}
	r, err := s.mark()
	if err != nil {
		return located(err)
	}
	return r.wait(ctx, s.rt)
}

// Synchronize waits until all is done that was submitted to any stream before. It
// returns the first error of a stream, the default streams' first, or that of the
// context.
func (rt *Runtime) Synchronize(ctx context.Context) error {
	if err := rt.check("Synchronize"); err != nil {
		return err
	}
	rt.mu.Lock()
	streams := slices.Clone(rt.streams)
	rt.mu.Unlock()
	var first error
	for _, s := range streams {
		err := s.Synchronize(ctx)
		if s.isClosed() {
			continue // meanwhile: its work is done
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (s *Stream) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// isQuiet reports whether nothing runs and nothing is queued.
func (s *Stream) isQuiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy
}

func (s *Stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal()
}

// Reset waits until all is done or skipped that was submitted before, and takes
// the stream's error away, which it returns. The stream can be used again.
func (s *Stream) Reset(ctx context.Context) error {
	ctx = endless(ctx)
	err := s.Synchronize(ctx)
	if err != nil && err == ctx.Err() {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		err, s.err = s.err, nil
	}
	return err
}

// Close waits until all is done that was submitted, and ends the stream; its
// error is that of Synchronize. Later calls fail, a second Close too.
func (s *Stream) Close() error {
	if s == s.dev.standard {
		return at(faults("wrong-arguments", "stream "+s.name, "the default stream can't be closed"))
	}
	s.mu.Lock()
	err := s.refusal()
	if s.closed {
		s.mu.Unlock()
		return at(asDiagnostics(err))
	}
	for s.busy {
		s.quiet.Wait()
	}
	again := s.closed
	s.closed = true
	if err = s.err; again {
		err = s.refusal()
	}
	s.room.Broadcast()
	s.mu.Unlock()
	if !again {
		s.rt.forget(s)
	}
	return err
}

func (rt *Runtime) forget(s *Stream) {
	rt.order.freeSlot(s)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if i := slices.Index(rt.streams, s); i >= 0 {
		rt.streams = slices.Delete(rt.streams, i, i+1)
		s.dev.streams--
	}
}

// shut closes the stream at once: what runs is stopped, what is queued is
// skipped.
func (s *Stream) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.quit)
	}
	s.stop.Store(true)
	s.room.Broadcast()
}

// rest waits until nobody runs the stream.
func (s *Stream) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		s.quiet.Wait()
	}
}
