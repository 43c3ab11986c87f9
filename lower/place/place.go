package place

import "time"

// A Buffer asks for Size bytes from time Lower up to, and without, Upper.
type Buffer struct {
	Size         int64
	Lower, Upper int64
}

// A Problem is what has to be laid out in one arena. The sizes, each rounded up to
// a multiple of Align, must have a sum that is an int64.
type Problem struct {
	Buffers []Buffer
	// Conflicts says, for each buffer, with which others it must not share memory,
	// ascending and both ways round. Nil: with those whose lives meet. With
	// Conflicts, Lower and Upper are the range in program order; buffers whose
	// ranges meet are always in conflict, others may be.
	Conflicts [][]int32
	Align     int64 // every offset is a multiple of it; 0 means 1
	// Capacity is a height that is good enough: the search ends with the first plan
	// that is no higher, and spends most of its effort on that. 0: none but the bound.
	Capacity int64
}

// A Plan says where each buffer lies. Sizes count rounded up to the alignment in
// all its numbers. An empty buffer, and one without time to live, lies at 0.
type Plan struct {
	Offsets []int64
	Height  int64  // the end of the highest buffer
	Bound   int64  // no plan can be lower
	Sum     int64  // without any reuse
	Method  string // that found it: "by-size", ...
	Steps   int64  // placements that the search tried
	Cut     bool   // the search was ended by the effort's Time or Stop
}

// Effort bounds the exact search. Its zero value is none.
type Effort struct {
	// Steps is how many placements the search may try; 0: it is not run. Among
	// hundreds of buffers and more, where one takes long, it tries fewer: a step
	// stands for some ten microseconds at most. The plan depends on nothing else, so
	// that it is the same on every machine.
	Steps int64
	// Time ends the search before its steps are used up, as Stop does when it is
	// closed; the plan is the lowest up to then. 0 and nil: nothing does. Such a plan
	// depends on the machine: this is for planning by hand.
	Time time.Duration
	Stop <-chan struct{}
}

// Solve lays the buffers out by every method of the table and keeps the lowest
// plan, of equals the first; then it searches, as far as the effort goes, for one
// that is lower. It ends with the first plan that meets the capacity or the bound.
func Solve(p *Problem, e Effort) *Plan {
	j := newJob(p)
	bound := j.bound()
	target := max(bound, p.Capacity/j.unit)
	r := j.portfolio(target)
	if j.height(r.at) > target && e.Steps > 0 {
		bound = j.improve(&r, target, p.Capacity > 0, e)
	}
	return j.plan(p, r, bound)
}

// A result is where a method puts the buffers of a job.
type result struct {
	at     []int64
	method string
	steps  int64
	cut    bool
}

// plan tells a result in the problem's own terms.
func (j *job) plan(p *Problem, r result, bound int64) *Plan {
	plan := &Plan{Offsets: make([]int64, len(p.Buffers)), Method: r.method, Steps: r.steps, Cut: r.cut,
		Height: j.height(r.at) * j.unit, Bound: bound * j.unit}
	for k, i := range j.of {
		plan.Offsets[i] = r.at[k] * j.unit
	}
	for _, b := range p.Buffers {
		size := roundUp(b.Size, j.unit)
		plan.Sum += size
		plan.Height = max(plan.Height, size)
		plan.Bound = max(plan.Bound, size)
	}
	return plan
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
