package vm

import (
	"math/bits"
	"sync/atomic"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A job is a task of one stream whose parts several executors compute. Each of
// them has a range of parts of its own, the same in each run, so that the weights
// that a part reads stay in the caches of its processor; it takes those first, from the
// start or in every other run from the end, then what others leave of theirs, from the
// other side. The stream's own executor begins the job and waits for the last part: about
// as long as one part takes.
type job struct {
	_ line
	// open has the number of the job above, of its parts below, and in the last bit
	// whether they are taken from the end; spent is the number of the last job of which
	// nobody has a part left to take.
	open   atomic.Uint64
	spent  atomic.Uint32
	rest   atomic.Int32 // parts that are not done
	failed atomic.Bool
	_      line

	task    *kernel.Prepared
	parts   int
	budget  *ir.Budget
	out, in []*tensor.T
	ranges  []claims // by executor
	owner   parker
}

// A line keeps what executors write apart from what others look at, so that they
// don't take it from each other's caches. Processors fetch lines of 64 bytes in pairs.
type line [128]byte

// claims are what is left of the parts of one executor. The word has the number of
// the job above, then the first part and the end, 16 bits each. One that has the
// number of an earlier job stands for all of them, so that nobody has to write
// down those of the next: who was slow, and looks for parts of an earlier job,
// finds none, since that job did not end before all its words said so.
type claims struct {
	word atomic.Uint64
	_    line
}

// maxParts is how many parts a word of claims can tell apart.
const maxParts = 1<<16 - 1

// sweep is every how many jobs all words are written anew, so that no number comes
// round again while a word has it from long ago.
const sweep = 1 << 20

// take takes parts of a range from lo to hi of a job, from its start or its end. As long as many
// are left they are several, which are often computed together in less time, and in the end one,
// which is not waited for long.
func (c *claims) take(job uint32, lo, hi int, first bool) (t taken) {
	for {
		from, to := lo, hi
		word := c.word.Load()
		switch number := uint32(word >> 32); {
		case number == job:
			from, to = int(word>>16&maxParts), int(word&maxParts)
		case int32(number-job) > 0:
			return taken{}
		}
		if from >= to {
			return taken{}
		}
		n := max(1, (to-from)/takeShare)
		if first {
			t, from = taken{from, from + n}, from+n
		} else {
			t, to = taken{to - n, to}, to-n
		}
		if c.word.CompareAndSwap(word, claimed(job, from, to)) {
			return t
		}
	}
}

// takeShare is what share of the parts that are left of a range are taken at a time.
const takeShare = 4

// taken are the parts from one on to before another that an executor has taken.
type taken struct{ from, to int }

func (t taken) len() int { return t.to - t.from }

func claimed(job uint32, lo, hi int) uint64 { return uint64(job)<<32 | uint64(lo)<<16 | uint64(hi) }

// A hand is what an executor works with.
type hand struct {
	exec  kernel.Exec
	index int // among executors; 0 is a caller
}

// clear lets go of what belongs to the last run.
func (h *hand) clear() { h.exec.Clear() }

// init makes a job for at most so many executors.
func (j *job) init(executors int) {
	j.ranges = make([]claims, executors)
	j.owner.init()
}

// begin opens the next job.
func (j *job) begin(st *step, budget *ir.Budget, out, in []*tensor.T, backwards bool) {
	number := uint32(j.open.Load()>>32) + 1
	if number%sweep == 0 {
		for i := range j.ranges {
			j.ranges[i].word.Store(claimed(number-1, 0, 0))
		}
	}
	j.task, j.parts, j.budget, j.out, j.in = st.task, st.parts, budget, out, in
	if j.failed.Load() {
		j.failed.Store(false)
	}
	j.rest.Store(int32(st.parts))
	j.open.Store(opened(number, st.parts, backwards))
}

func opened(job uint32, parts int, backwards bool) uint64 {
	word := uint64(job)<<32 | uint64(parts)<<1
	if backwards {
		word |= 1
	}
	return word
}

// has reports whether there may be parts to take.
func (j *job) has() bool { return uint32(j.open.Load()>>32) != j.spent.Load() }

// help computes parts of the job until none is left; it reports whether there was
// one.
func (j *job) help(h *hand) bool {
	word := j.open.Load()
	number, parts, backwards := uint32(word>>32), int(uint32(word)>>1), word&1 == 1
	h.exec.Backwards = backwards
	done := int32(0)
	for t := j.claim(number, parts, h, backwards); t.len() > 0; t = j.claim(number, parts, h, backwards) {
		// The job can't end before the parts are counted, nor can the next one begin.
		h.exec.Again = done > 0
		if !j.failed.Load() && !j.compute(t, h) {
			j.failed.Store(true)
		}
		done += int32(t.len())
	}
	h.exec.Again = false
	if done > 0 && j.rest.Add(-done) == 0 {
		j.owner.wake()
	}
	return done > 0
}

// claim takes parts of a job; none if none is left.
func (j *job) claim(number uint32, parts int, h *hand, backwards bool) taken {
	n := min(len(j.ranges), parts)
	for i := range n {
		e := (h.index + i) % n
		if t := j.ranges[e].take(number, e*parts/n, (e+1)*parts/n, (i == 0) != backwards); t.len() > 0 {
			return t
		}
	}
	// One that is slow must not take back what is known of a later job.
	if known := j.spent.Load(); int32(number-known) > 0 {
		j.spent.CompareAndSwap(known, number)
	}
	return taken{}
}

// compute reports whether parts that were claimed went well. What went wrong the
// owner finds out: it runs the whole task again, whose error then does not depend on
// parts.
func (j *job) compute(t taken, h *hand) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	h.exec.Budget = j.budget
	return j.task.DoRange(&h.exec, t.from, t.to, j.parts, j.out, j.in) == nil
}

// await returns when all parts are done.
func (j *job) await() {
	done := func() bool { return j.rest.Load() == 0 }
	for !spin(spinTime, done) {
		j.owner.about()
		if done() {
			j.owner.stay()
			return
		}
		j.owner.sleep(nil)
	}
}

// share computes a task by parts; it reports whether that went well.
func (s *stream) share(st *step, out, in []*tensor.T) bool {
	j, f := &s.job, s.f
	j.begin(st, &f.budget, out, in, s.backwards())
	if f.jobs.Load()&s.bit == 0 {
		f.jobs.Or(s.bit)
	}
	f.offerParts(st.parts-1, st.work >= wakeWork)
	j.help(s.hand)
	j.await()
	return !j.failed.Load()
}

// hasJob reports whether some stream's task has parts to take.
func (f *frame) hasJob() bool {
	for set := f.jobs.Load(); set != 0; set &= set - 1 {
		if f.streams[bits.TrailingZeros64(set)].job.has() {
			return true
		}
	}
	return false
}

// helpJobs takes parts of some stream's task; it reports whether there were any.
func (f *frame) helpJobs(h *hand) bool {
	for set := f.jobs.Load(); set != 0; set &= set - 1 {
		if f.streams[bits.TrailingZeros64(set)].job.help(h) {
			return true
		}
	}
	return false
}
