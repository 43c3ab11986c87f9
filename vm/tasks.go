package vm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A Task tells of an instruction that does work, or has bodies that do.
type Task struct {
	Name  string   // "t3"; of the second task of its body "t3.loop.t1"; of the first copy to where a loop carries a value "t3.first0"
	Ops   []string // names of operators; of a copy "copy", of what a round collects "row", of control flow "if" or "loop"
	Value string   // of the first result, as listings call it
	Loc   diag.Loc
	Types string // of arguments and results: "f32[1,784] -> f32[1,10]"; empty where there are bodies

	Kernel string // empty: none, as with copies and where the bodies below run instead
	Kind   kernel.Kind
	Why    string           // what each kernel before said; of a region that no kernel runs as one, what all said
	Task   *kernel.Prepared // what the kernel has made ready; nil: none
	Parts  int              // into how many it is divided where executors have time; 0: none
	DType  string           // of the results of the operator that has most flops; empty where there are bodies

	Flops, Bytes int64 // of one time; bytes are those of arguments and results
	Written      int64 // of them, the bytes of results

	// What Watch counted.
	Times int64
	Took  time.Duration // together
	Least time.Duration // of one time
}

// A watch counts how often each step of a machine ran, and how long that took.
type watch struct{ steps []counter }

type counter struct{ times, nanos, least atomic.Int64 }

// add counts one time.
func (c *counter) add(took time.Duration) {
	nanos := max(int64(took), 1) // a clock may be coarse
	c.times.Add(1)
	c.nanos.Add(nanos)
	for {
		least := c.least.Load()
		if least != 0 && least <= nanos || c.least.CompareAndSwap(least, nanos) {
			return
		}
	}
}

// Watch begins to count anew how often each task runs and how long it takes, in
// runs that begin from now on; without on, it ends that. Runs take longer by some
// hundred nanoseconds a task meanwhile.
func (m *Machine) Watch(on bool) {
	if !on {
		m.watch.Store(nil)
		return
	}
	m.watch.Store(&watch{make([]counter, m.size)})
}

// watched runs one instruction by the clock.
func (s *stream) watched(st *step) error {
	begin := time.Now()
	err := s.step(st)
	s.f.watch.steps[st.number].add(time.Since(begin))
	return err
}

// Arena is how many bytes of memory a run shares out among its values.
func (m *Machine) Arena() int64 { return m.arena }

// Streams is how many streams the program has.
func (m *Machine) Streams() int { return len(m.code[0]) }

// Tasks lists what the machine does, in the order of the plan: bodies follow what
// runs them.
func (m *Machine) Tasks() []Task {
	l := lister{m: m, w: m.watch.Load()}
	var steps []*step
	for _, stream := range m.code[0] {
		for i := range stream {
			steps = append(steps, &stream[i])
		}
	}
	slices.SortStableFunc(steps, func(a, b *step) int { return cmp.Compare(a.Task, b.Task) })
	l.code("", steps)
	return l.tasks
}

// A lister lists the tasks of a machine.
type lister struct {
	m     *Machine
	w     *watch // nil: nothing was counted
	tasks []Task
}

// code lists a piece of code, the names of its tasks behind a prefix. What a loop
// carries is copied by the loop's task, before it: t1.first0, t1.first1, then t1.
func (l *lister) code(prefix string, steps []*step) {
	firsts := 0
	for i, st := range steps {
		name := fmt.Sprintf("%st%d", prefix, st.Task)
		if i > 0 && steps[i-1].Task != st.Task {
			firsts = 0
		}
		if st.Op == bytecode.Copy && slices.ContainsFunc(steps[i:], func(o *step) bool { return o.Op == bytecode.Loop && o.Task == st.Task }) {
			name = fmt.Sprintf("%s.first%d", name, firsts)
			firsts++
		}
		l.add(name, st)
	}
}

// add lists an instruction and the bodies that it runs.
func (l *lister) add(name string, st *step) {
	t := Task{Name: name, Loc: st.Pos}
	if !l.describe(&t, st) {
		return
	}
	if len(st.Out) > 0 {
		t.Value = l.m.program.Buffers[st.Out[0]].Name
	} else if len(st.out) > 0 {
		t.Value = l.m.program.Buffers[st.out[0]].Name
	}
	if l.w != nil {
		c := &l.w.steps[st.number]
		t.Times, t.Took, t.Least = c.times.Load(), time.Duration(c.nanos.Load()), time.Duration(c.least.Load())
	}
	l.tasks = append(l.tasks, t)
	if st.task != nil {
		return
	}
	for _, body := range st.Bodies {
		if body == bytecode.NoBody {
			continue
		}
		var steps []*step
		for i := range l.m.code[body][0] {
			steps = append(steps, &l.m.code[body][0][i])
		}
		l.code(fmt.Sprintf("%s.%s.", name, l.m.program.Functions[body].Name), steps)
	}
}

// describe says what an instruction does; it reports whether that is work.
func (l *lister) describe(t *Task, st *step) bool {
	switch st.Op {
	case bytecode.Exec, bytecode.Call:
		l.operators(t, st)
	case bytecode.Copy, bytecode.Row:
		if st.renames {
			return false
		}
		size := l.m.program.Buffers[st.In[0]].Size
		t.Ops, t.Bytes, t.Written = []string{st.Op.String()}, 2*size, size
		t.Types = l.types(st.In[:1], nil)
	case bytecode.Branch:
		t.Ops = []string{"if"}
	case bytecode.Loop:
		t.Ops = []string{"loop"}
	default:
		return false
	}
	return true
}

// operators describes a task of one operator, or a region.
func (l *lister) operators(t *Task, st *step) {
	most := int64(-1)
	for _, c := range l.calls(st) {
		t.Ops = append(t.Ops, c.Op.Name)
		if st.task == nil {
			continue // those below have it
		}
		flops := c.Cost().Flops
		if t.Flops += flops; flops > most {
			most, t.DType = flops, multiplied(c).String()
		}
	}
	if st.task == nil {
		t.Why = l.refused(st)
		return
	}
	t.Kernel, t.Kind, t.Why, t.Task, t.Parts = st.task.Name, st.task.Kind, st.task.Why, st.task, st.parts
	t.Types = l.types(st.in, st.out)
	read := l.size(st.in)
	t.Written = l.size(st.out)
	if st.call != nil { // it may read less than its arguments are
		cost := st.call.Cost()
		read, t.Written = cost.In, cost.Out
	}
	if l.size(st.out) == 0 {
		t.Flops, read, t.Written = 0, 0, 0 // nothing is read for results without elements
	}
	t.Bytes = read + t.Written
}

// size is that of some buffers, in bytes.
func (l *lister) size(buffers []int) (bytes int64) {
	for _, b := range buffers {
		bytes += l.m.program.Buffers[b].Size
	}
	return bytes
}

// multiplied is the dtype that an operator computes with: that of what a product
// multiplies, else that of the result.
func multiplied(c *ir.Call) tensor.DType {
	if c.Op.Class == ir.Contract {
		return c.In[0].DType
	}
	return c.Out[0].DType
}

// calls are the operators of a task in their order; bodies inside are theirs.
func (l *lister) calls(st *step) (list []*ir.Call) {
	if st.call != nil {
		return []*ir.Call{st.call}
	}
	for _, body := range st.Bodies {
		steps := l.m.code[body][0]
		for i := range steps {
			if steps[i].Op == bytecode.Exec {
				list = append(list, steps[i].call)
			}
		}
	}
	return list
}

// refused says why a region is not one kernel's.
func (l *lister) refused(st *step) string {
	f := &l.m.program.Functions[st.Bodies[0]]
	body, _, ok := bodyOf(l.m.program, l.m.calls, l.m.weights, f)
	if !ok {
		return "the region has no form that a kernel could take"
	}
	if why := kernel.Refusals(body, l.m.kernels); why != "" {
		return why
	}
	return "no kernel that may be chosen runs several operators"
}

// types prints the types of arguments and results.
func (l *lister) types(in, out []int) string {
	text := func(list []int) string {
		words := make([]string, len(list))
		for i, b := range list {
			words[i] = l.m.program.Buffers[b].Type.String()
		}
		return strings.Join(words, " ")
	}
	if out == nil {
		return text(in)
	}
	return text(in) + " -> " + text(out)
}
