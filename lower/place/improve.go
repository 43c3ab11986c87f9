package place

import "slices"

// mostSearched is the most buffers of a part that the search takes on: it keeps a
// list of them for each step of its path.
const mostSearched = 4096

// firstTry is how many placements a ranking gets in the first round, or twice as many as
// there are buffers if that is more.
const firstTry = 1024

// improve searches for a plan that is no higher than target, else for one as low
// as the effort allows. It returns the bound, which rises by what is proved to be
// impossible. Parts share the steps evenly; what some leave goes to the others, so
// that one hard part has nearly all, wherever it stands. What is wanted is a plan of
// the target's height, and any above it is little use.
func (j *job) improve(r *result, target int64, wanted bool, e Effort) (bound int64) {
	bound = j.bound()
	if j.explicit != nil && len(j.of) > mostSearched {
		return bound // all is one part, and the matrix of conflicts would be large
	}
	s := newSearch(j, newWork(e))
	open := j.descents(s, r.at, bound)
	for before := int64(-1); len(open) > 0 && s.spent() > before && s.spent() < e.Steps && !s.late(); {
		before = s.spent()
		for i, d := range open {
			d.run(max(target, bound), (e.Steps-s.spent())/int64(len(open)-i), wanted)
			bound = max(bound, d.proved)
			if d.better {
				r.method = "search"
			}
		}
		open = slices.DeleteFunc(open, func(d *descent) bool { return d.best <= max(target, bound) })
	}
	r.steps, r.cut = s.placed, s.over
	return bound
}

// descents are the parts that the search takes on.
func (j *job) descents(s *search, at []int64, bound int64) (all []*descent) {
	for _, list := range j.parts() {
		if len(list) <= mostSearched {
			all = append(all, &descent{s: s, list: list, at: at, proved: bound, best: j.heightOf(list, at)})
		}
	}
	return all
}

// parts are the buffers that have to do with each other, one part after the other
// in time: between two of them nothing is live.
func (j *job) parts() (parts [][]int32) {
	order := j.byStart()
	from, reach := 0, int32(0)
	for i, k := range order {
		if i > from && j.lo[k] >= reach && j.explicit == nil {
			parts, from = append(parts, order[from:i]), i
		}
		reach = max(reach, j.hi[k])
	}
	return append(parts, order[from:])
}

func (j *job) heightOf(list []int32, at []int64) (top int64) {
	for _, k := range list {
		top = max(top, at[k]+j.size[k])
	}
	return top
}

// A descent makes the plan of one part lower.
type descent struct {
	s      *search
	list   []int32
	at     []int64 // the best plan, of all buffers
	best   int64   // its height, of the list
	proved int64   // no plan is lower
	better bool
}

// run tries the goal first, with half of the steps, or seven in eight if it is what
// is wanted. After that it halves the range between what is impossible, or seems
// so, and what is known to be possible.
func (d *descent) run(goal, steps int64, wanted bool) {
	end := d.s.spent() + steps
	share := (steps + 1) / 2
	if wanted {
		share = steps - steps/8
	}
	low := goal // not known to be out of reach
	for try := goal; low < d.best && d.s.spent() < end; try = low + (d.best-low)/2 {
		switch d.attempt(try, min(share, end-d.s.spent())) {
		case found:
			continue
		case impossible:
			d.proved = max(d.proved, try+1)
		case gaveUp:
			if d.s.late() {
				return
			}
		}
		low = try + 1
		share = (end - d.s.spent() + 1) / 2
	}
}

// attempt searches for a plan no higher than limit, by every ranking in turn and
// in rounds of more and more placements. In most rounds the rankings are blurred: what
// one order does not lead to in many, another of its kind often does in few.
func (d *descent) attempt(limit, steps int64) outcome {
	s := d.s
	end := s.spent() + steps
	first := max(firstTry, 2*int64(len(d.list)))
	for round := 0; ; round++ {
		for _, keys := range rankings {
			if s.spent() >= end {
				return gaveUp
			}
			s.use(keys, round)
			switch o := s.run(d.list, limit, first<<(round/len(blurs)), end); {
			case o == found:
				d.accept()
				return found
			case o == impossible || s.late():
				return o
			}
		}
	}
}

// accept takes over what the search has found.
func (d *descent) accept() {
	for _, k := range d.list {
		d.at[k] = d.s.at[k]
	}
	d.best, d.better = d.s.job.heightOf(d.list, d.at), true
}
