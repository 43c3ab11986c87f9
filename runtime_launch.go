package npu

import (
	"context"
	"time"
)

// A Launch is an operator that was submitted to a stream.
type Launch struct {
	w     *work
	clock clock
	done  chan struct{} // closed when it is over
	err   error         // then
	took  time.Duration // then: since it was submitted
}

// submit hands the work to its stream. An error of what sticks is the stream's
// too; of what does not, the Launch's alone.
func (w *work) submit(sticks bool) (*Launch, error) {
	w.s.rt.order.note(w.s, w.what, w.inputs, w.outputs)
	l := &Launch{w: w, done: make(chan struct{}), clock: w.s.rt.order.now(w.s)}
	j := &job{what: w.what, site: here()}
	j.do = func(s *Stream) error {
		err := w.run(s)
		if err != nil && !sticks {
			l.err = s.wrap(j, err)
			return nil
		}
		return err
	}
	since := time.Now()
	j.after = func(err error, wasSkipped bool) {
		switch {
		case wasSkipped:
			l.err = skipped(w.what, err)
		case err != nil:
			l.err = err
		}
		w.release(l.err != nil && !sticks)
		l.took = time.Since(since)
		close(l.done)
	}
	if err := w.s.submit(j); err != nil {
		w.release(true)
		return nil, located(err)
	}
	w.times.Submitted = time.Since(w.start)
	return l, nil
}

// Outputs are the tensors that the operator computes.
func (l *Launch) Outputs() []*DeviceTensor { return l.w.outputs }

// Done reports whether the operator has been executed, or skipped.
func (l *Launch) Done() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Wait waits for the operator. The error is its own, that of the stream if it was
// skipped, or that of the context, which ends the waiting and not the work.
func (l *Launch) Wait(ctx context.Context) (Execution, error) {
	ctx = endless(ctx)
	select {
	case <-l.done:
	case <-ctx.Done():
		return Execution{}, ctx.Err()
	}
	if l.err != nil {
		return Execution{}, l.err
	}
	l.w.s.rt.order.seen(l.clock)
	e := l.w.execution()
	e.Times.Returned = l.took
	return e, nil
}
