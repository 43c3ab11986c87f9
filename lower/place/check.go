package place

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Check reports two buffers that share memory while both live, or a buffer that
// lies outside of [0, height) or not on the alignment. It goes through time with
// what is live in order of offset: n log n; with Conflicts, it looks at each.
func (p *Problem) Check(plan *Plan) error {
	if len(plan.Offsets) != len(p.Buffers) {
		return fmt.Errorf("%d offsets for %d buffers", len(plan.Offsets), len(p.Buffers))
	}
	for i, b := range p.Buffers {
		at := plan.Offsets[i]
		switch {
		case at < 0 || at > plan.Height-b.Size:
			return fmt.Errorf("buffer %d of %d bytes lies at %d, outside of %d bytes", i, b.Size, at, plan.Height)
		case p.Align > 1 && at%p.Align != 0:
			return fmt.Errorf("buffer %d lies at %d, which is no multiple of %d", i, at, p.Align)
		}
	}
	if p.Conflicts != nil {
		return p.checkConflicts(plan)
	}
	return p.checkTimes(plan)
}

func (p *Problem) checkConflicts(plan *Plan) error {
	for i, others := range p.Conflicts {
		for _, j := range others {
			a, b := plan.Offsets[i], plan.Offsets[j]
			if max(a, b) < min(a+p.Buffers[i].Size, b+p.Buffers[j].Size) {
				return overlap(i, int(j), max(a, b))
			}
		}
	}
	return nil
}

func overlap(i, j int, at int64) error {
	return fmt.Errorf("buffers %d and %d overlap at %d", min(i, j), max(i, j), at)
}

// checkTimes sweeps over the times at which something begins or ends. What is
// live does not overlap, so that a buffer which begins need only be compared with
// its neighbours.
func (p *Problem) checkTimes(plan *Plan) error {
	begins := p.lasting()
	ends := slices.Clone(begins)
	slices.SortStableFunc(begins, func(a, b int) int { return cmp.Compare(p.Buffers[a].Lower, p.Buffers[b].Lower) })
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(p.Buffers[a].Upper, p.Buffers[b].Upper) })
	live := newOrdered[int]()
	for _, i := range begins {
		b := &p.Buffers[i]
		for ; p.Buffers[ends[0]].Upper <= b.Lower; ends = ends[1:] {
			live.remove(key{plan.Offsets[ends[0]], int64(ends[0])})
		}
		at := plan.Offsets[i]
		if k, j, ok := live.below(key{at, math.MaxInt64}); ok && k[0]+p.Buffers[j].Size > at {
			return overlap(i, j, at)
		}
		if k, j, ok := live.ceil(key{at, math.MinInt64}); ok && k[0] < at+b.Size {
			return overlap(i, j, k[0])
		}
		live.insert(key{at, int64(i)}, i)
	}
	return nil
}

// lasting lists the buffers that take room and time.
func (p *Problem) lasting() (list []int) {
	for i, b := range p.Buffers {
		if b.Size > 0 && b.Lower < b.Upper {
			list = append(list, i)
		}
	}
	return list
}
