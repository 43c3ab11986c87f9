package vm

import (
	"math/bits"
	"sync/atomic"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A job is a task of one stream whose parts several executors compute. The
// stream's own executor begins it, takes parts like the others, and waits for the
// last one: at most as long as one part takes.
type job struct {
	// open has the number of the job above and how many parts nobody has taken
	// yet below. The number keeps an executor that was slow from taking a part of
	// the next job for one of the last.
	open   atomic.Uint64
	rest   atomic.Int32 // parts that are not done
	failed atomic.Bool
	owner  parker

	task    *kernel.Prepared
	parts   int
	budget  *ir.Budget
	out, in []*tensor.T
}

// A hand is what an executor works with.
type hand struct{ exec kernel.Exec }

// clear lets go of what belongs to the last run.
func (h *hand) clear() { h.exec.Clear() }

const countBits = 32

// begin opens the next job.
func (j *job) begin(st *step, budget *ir.Budget, out, in []*tensor.T) {
	j.task, j.parts, j.budget, j.out, j.in = st.task, st.parts, budget, out, in
	n := st.parts
	j.failed.Store(false)
	j.rest.Store(int32(n))
	j.open.Store((j.open.Load()>>countBits+1)<<countBits | uint64(n))
}

// claim takes a part. Once it has, the job can't end before the part does.
func (j *job) claim() (part int, ok bool) {
	for {
		word := j.open.Load()
		n := uint32(word)
		if n == 0 {
			return 0, false
		}
		if j.open.CompareAndSwap(word, word-1) {
			return int(n - 1), true
		}
	}
}

// do computes a part that was claimed.
func (j *job) do(part int, h *hand) {
	if !j.failed.Load() && !j.compute(part, h) {
		j.failed.Store(true)
	}
	if j.rest.Add(-1) == 0 {
		j.owner.wake()
	}
}

// compute reports whether the part went well. What went wrong the owner finds
// out: it runs the whole task again, whose error then does not depend on parts.
func (j *job) compute(part int, h *hand) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	h.exec.Budget = j.budget
	return j.task.Do(&h.exec, part, j.parts, j.out, j.in) == nil
}

// claim takes a part of the stream's job. With the last one nobody has to look
// for more: the job can't end before, nor the next one begin.
func (s *stream) claim() (part int, ok bool) {
	part, ok = s.job.claim()
	if ok && part == 0 {
		s.f.jobs.And(^s.bit)
	}
	return part, ok
}

// share computes a task by parts; it reports whether that went well.
func (s *stream) share(st *step, out, in []*tensor.T) bool {
	j, f := &s.job, s.f
	f.jobs.Or(s.bit)
	j.begin(st, &f.budget, out, in)
	f.offer(st.parts - 1)
	for part, ok := s.claim(); ok; part, ok = s.claim() {
		j.do(part, s.hand)
	}
	j.await()
	return !j.failed.Load()
}

// await returns when all parts are done.
func (j *job) await() {
	done := func() bool { return j.rest.Load() == 0 }
	for !spin(done) {
		j.owner.about()
		if done() {
			j.owner.stay()
			return
		}
		j.owner.sleep(nil)
	}
}

// helpJobs takes a part of some stream's task; it reports whether there was one.
func (f *frame) helpJobs(h *hand) bool {
	for set := f.jobs.Load(); set != 0; set &= set - 1 {
		s := &f.streams[bits.TrailingZeros64(set)]
		if part, ok := s.claim(); ok {
			s.job.do(part, h)
			return true
		}
	}
	return false
}
