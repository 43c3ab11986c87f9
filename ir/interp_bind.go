package ir

import "github.com/npulang/npu/ir/tensor"

// A boundFunc is a function made ready to run, once or for every round of a
// loop: symbols are numbers, values are slots, and each step knows which slots
// nothing reads any more.
type boundFunc struct {
	steps   []step
	slots   int // parameters come first
	results []int
	budget  *Budget
}

// A step computes one value.
type step struct {
	v     *Value
	call  *Call
	args  []int // slots; -1: absent
	out   []int // slots of the results; -1: nothing reads it
	dead  []int // slots that are read here for the last time
	bytes int64 // of the results
}

// bind makes f ready. The error is a *RunError.
func bind(f *Func, env Env, budget *Budget) (*boundFunc, error) {
	b := &boundFunc{budget: budget, steps: make([]step, 0, len(f.Body))}
	slot := make(map[*Value]int, len(f.Params)+len(f.Body))
	at := make(map[*Value]int) // step of a value with further results
	for _, v := range f.Params {
		slot[v] = b.newSlot()
	}
	for _, v := range f.Body {
		slot[v] = b.newSlot()
		if owner, i := projected(v); owner != nil {
			s := &b.steps[at[owner]]
			s.out[i] = slot[v]
			continue
		}
		s, err := bindStep(v, env, budget)
		if err != nil {
			return nil, &RunError{v.Op.Name, v, v.Pos, err}
		}
		s.args, s.out[0] = slotsOf(v.Args, slot), slot[v]
		if len(s.out) > 1 {
			at[v] = len(b.steps)
		}
		b.steps = append(b.steps, s)
	}
	b.results = slotsOf(f.Results, slot)
	b.findDead()
	return b, nil
}

func (b *boundFunc) newSlot() int {
	b.slots++
	return b.slots - 1
}

func slotsOf(vs []*Value, slot map[*Value]int) []int {
	out := make([]int, len(vs))
	for i, v := range vs {
		out[i] = -1
		if v != nil {
			out[i] = slot[v]
		}
	}
	return out
}

func bindStep(v *Value, env Env, budget *Budget) (step, error) {
	c := v.Call()
	if err := inferSafely(c); err != nil {
		return step{}, err
	}
	bound, err := c.Bind(env)
	if err != nil {
		if _, ok := err.(*Error); !ok {
			err = Errorf("dimension-mismatch", "%s", err)
		}
		return step{}, err
	}
	bound.Budget = budget
	s := step{v: v, call: bound, out: make([]int, len(bound.Out))}
	for i := range s.out {
		s.out[i] = -1
	}
	if v.Op == Param || v.Op == Const {
		return s, nil // the program holds its memory
	}
	for _, t := range bound.Out {
		n, _ := t.Bytes().Const()
		s.bytes += n
	}
	return s, nil
}

// findDead notes, from the end on, where each slot is read last. A result that
// nothing reads dies where it is made.
func (b *boundFunc) findDead() {
	read := make([]bool, b.slots)
	for _, s := range b.results {
		read[s] = true
	}
	for i := len(b.steps) - 1; i >= 0; i-- {
		s := &b.steps[i]
		for _, slots := range [][]int{s.args, s.out} {
			for _, slot := range slots {
				if slot >= 0 && !read[slot] {
					read[slot] = true
					s.dead = append(s.dead, slot)
				}
			}
		}
	}
}

// run computes the results. Only the outer function of a program is traced and
// has weights; for the body of a region in is nil.
func (b *boundFunc) run(in *Interp, inputs []*tensor.T) ([]*tensor.T, error) {
	r := &running{boundFunc: b, in: in, values: make([]*tensor.T, b.slots), bytes: make([]int64, b.slots)}
	copy(r.values, inputs)
	defer func() { b.budget.Give(r.held) }()
	for i := range b.steps {
		s := &b.steps[i]
		if err := r.step(s); err != nil {
			if _, nested := err.(*RunError); nested {
				return nil, err // said by the region inside, nearer to the cause
			}
			return nil, &RunError{s.v.Op.Name, s.v, s.v.Pos, err}
		}
	}
	return pick(r.values, b.results), nil
}

// A running is the state of one run.
type running struct {
	*boundFunc
	in     *Interp
	values []*tensor.T
	bytes  []int64 // taken from the budget for each slot
	held   int64   // taken in all
}

func (r *running) step(s *step) error {
	if err := r.budget.stop(); err != nil {
		return err
	}
	if err := r.budget.Take(s.bytes); err != nil {
		return err
	}
	r.held += s.bytes
	out, err := r.compute(s)
	if err != nil {
		return err
	}
	if r.in != nil && r.in.Trace != nil {
		r.in.Trace(s.v, out)
	}
	kept := int64(0)
	for i, slot := range s.out {
		if slot < 0 {
			continue
		}
		r.values[slot] = out[i]
		if s.bytes > 0 {
			r.bytes[slot] = int64(len(out[i].Data))
			kept += r.bytes[slot]
		}
	}
	r.release(s.bytes - kept)
	for _, slot := range s.dead {
		r.values[slot] = nil
		r.release(r.bytes[slot])
		r.bytes[slot] = 0
	}
	return nil
}

func (r *running) release(n int64) {
	r.held -= n
	r.budget.Give(n)
}

func (r *running) compute(s *step) ([]*tensor.T, error) {
	if s.v.Op != Param {
		return Evaluate(s.call, pick(r.values, s.args)...)
	}
	if r.in == nil || r.in.Param == nil {
		return nil, Errorf("missing-weight", "the weight %s has no values", s.v.Key())
	}
	t, err := r.in.Param(s.v)
	if err != nil {
		return nil, err
	}
	if want := s.call.Out[0]; t == nil || !TypeOf(t).Equal(want) {
		return nil, Errorf("bad-weight", "the weight %s is not of the type %s", s.v.Key(), want)
	}
	return []*tensor.T{t}, nil
}

// pick lists the tensors in some slots; nil for an absent one.
func pick(values []*tensor.T, slots []int) []*tensor.T {
	out := make([]*tensor.T, len(slots))
	for i, s := range slots {
		if s >= 0 {
			out[i] = values[s]
		}
	}
	return out
}
