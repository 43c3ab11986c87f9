package vm

import (
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/kernel"
)

const (
	// handover is how many nanoseconds of work it takes about to give a stream to
	// another executor. One that has done as much since it last told others of what
	// there is to do tells them again.
	handover = 2000
	// partWork is how many nanoseconds a part of a task takes at least. To take a
	// part costs some tens, and a worker that sleeps comes some microseconds late.
	partWork = 20_000
	// partsEach is how many parts an executor gets at most, so that one that comes
	// late, or is slow, leaves its share to the others.
	partsEach = 4
	// maxWork bounds the estimate of a step; loops end when they want.
	maxWork = 1 << 40
)

// estimate says of each step how long it takes, and splits those that are worth
// it. Bodies come behind the code that runs them, so that theirs are known first.
func (m *Machine) estimate() {
	bodies := make([]int64, len(m.code))
	splits := map[*ir.Call]*kernel.Split{} // steps with one call share one
	for f := len(m.code) - 1; f >= 0; f-- {
		for _, steps := range m.code[f] {
			for i := range steps {
				st := &steps[i]
				st.work = m.work(st, bodies)
				bodies[f] = min(bodies[f]+st.work, maxWork)
				if st.call != nil {
					st.split = m.splitOf(st, splits)
				}
			}
		}
	}
}

// A rate says how many eighths of a nanosecond a kernel takes for a flop, and
// for a byte that it reads or writes.
type rate struct{ flop, byte int64 }

// rates are those of the reference kernels by the class of operators, measured
// on a processor of 2023 (BenchmarkParts): elements are widened and rounded at 3 ns
// each, products add up at 0.4 ns a flop, functions of one element take 4 ns and
// more. They decide only about what is given away, never about results.
var rates = map[ir.Class]rate{
	ir.Contract: {4, 2},
	ir.Move:     {0, 2},
}

// usual is the rate of the other classes.
var usual = rate{32, 6}

// costOf estimates the nanoseconds of a call.
func costOf(c *ir.Call) int64 {
	r, ok := rates[c.Op.Class]
	if !ok {
		r = usual
	}
	cost := c.Cost()
	return (min(cost.Flops, maxWork)*r.flop + (min(cost.In, maxWork)+min(cost.Out, maxWork))*r.byte) / 8
}

// work estimates a step's nanoseconds. Loops that end by their condition count as
// long.
func (m *Machine) work(st *step, bodies []int64) int64 {
	switch {
	case st.Op == bytecode.Loop:
		if st.To == bytecode.Unbounded {
			return maxWork
		}
		return times(bodies[st.Bodies[0]], st.Rounds())
	case len(st.Bodies) > 0:
		return bodies[st.Bodies[0]]
	case st.call != nil:
		return min(costOf(st.call), maxWork)
	case st.Op == bytecode.Copy:
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

// splitOf splits a task that is large enough; nil if it is not, or can't be.
func (m *Machine) splitOf(st *step, known map[*ir.Call]*kernel.Split) *kernel.Split {
	most := partsEach * (m.workers.Count() + 1)
	parts := int(min(st.work/partWork, int64(most)))
	if m.workers.Count() == 0 || parts < 2 || !m.maySplit(st) {
		return nil
	}
	split, ok := known[st.call]
	if !ok {
		split = st.kernel.SplitOf(st.call, parts)
		known[st.call] = split
	}
	return split
}

// maySplit reports whether nothing is lost when a task fails half way. Then the
// whole is run again, whose arguments must be as they were: what replaces one of
// them must not fail, as only evaluations of integers do.
func (m *Machine) maySplit(st *step) bool {
	return m.program.Kernels[st.Index].InPlace == bytecode.Absent || st.call.Out[0].DType.IsFloat()
}
