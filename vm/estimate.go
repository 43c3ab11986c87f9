package vm

import (
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/vm/kernel"
)

const (
	// handover is how many nanoseconds of work it takes about to give a stream to
	// another executor. One that has done as much since it last told others of what
	// there is to do tells them again.
	handover = 2000
	// leastPart is how many nanoseconds a part of a task takes at least. To begin a
	// task by parts and to wait for the last of them costs some three to seven hundred, if
	// the workers are awake.
	leastPart = 1500
	// partWork is how many nanoseconds a part takes at least where an executor has
	// more than one, of which it gets partsEach at most: so that one that comes late, is
	// slow, or loses its processor to somebody else, leaves of its share to the others,
	// and is not waited for long at the end.
	partWork  = 25_000
	partsEach = 64
	// maxWork bounds the estimate of a step; loops end when they want.
	maxWork = kernel.MaxWork
)

// estimate says of each step how long it takes, and divides those that are worth
// it. Bodies come behind the code that runs them, so that theirs are known first.
func (m *Machine) estimate() {
	bodies := make([]int64, len(m.code))
	known := map[*kernel.Prepared]int{} // steps with one task have as many parts
	for f := len(m.code) - 1; f >= 0; f-- {
		for _, steps := range m.code[f] {
			for i := range steps {
				st := &steps[i]
				st.work = m.work(st, bodies)
				bodies[f] = min(bodies[f]+st.work, maxWork)
				if st.task != nil {
					st.parts = m.partsOf(st, known)
				}
			}
		}
	}
}

// work estimates a step's nanoseconds. Loops that end by their condition count as
// long.
func (m *Machine) work(st *step, bodies []int64) int64 {
	switch {
	case st.task != nil:
		return min(st.task.Work, maxWork)
	case st.Op == bytecode.Loop:
		if st.To == bytecode.Unbounded {
			return maxWork
		}
		return times(bodies[st.Bodies[0]], st.Rounds())
	case len(st.Bodies) > 0:
		return bodies[st.Bodies[0]]
	case st.Op == bytecode.Copy && !st.renames:
		return m.program.Buffers[st.Out[0]].Size / 4
	}
	return 0
}

// times multiplies, up to maxWork.
func times(work, rounds int64) int64 {
	if work == 0 || rounds <= 0 {
		return 0
	}
	if rounds > maxWork/work {
		return maxWork
	}
	return work * rounds
}

// partsOf divides a task that is large enough; 0 if it is not, or can't be.
func (m *Machine) partsOf(st *step, known map[*kernel.Prepared]int) int {
	executors := m.workers.Count() + 1
	want := wanted(st.work, executors)
	if want < 2 || !m.maySplit(st) {
		return 0
	}
	parts, ok := known[st.task]
	if !ok {
		if parts = st.task.Share(executors, want); parts < 2 {
			parts = 0
		}
		known[st.task] = parts
	}
	return parts
}

// wanted is how many parts a task should have that takes so many nanoseconds: one
// for each of the executors that it is worth to ask, or the same number of them for
// all, if none takes less than partWork.
func wanted(work int64, executors int) int {
	if executors < 2 {
		return 0
	}
	each := min(max(work/(partWork*int64(executors)), 1), partsEach)
	return int(min(work/leastPart, each*int64(executors), maxParts/2))
}

// maySplit reports whether nothing is lost when a task fails half way. Then the
// whole is run again, whose arguments must be as they were: what replaces one of
// them must not fail, as only evaluations of integers do.
func (m *Machine) maySplit(st *step) bool {
	return st.call == nil || m.program.Kernels[st.Index].InPlace == bytecode.Absent || st.call.Out[0].DType.IsFloat()
}
