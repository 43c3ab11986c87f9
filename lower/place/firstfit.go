package place

import (
	"cmp"
	"slices"
)

// A choice takes one of the gaps between what is placed: with the room of the best
// so far and of this one, whether this one is better.
type choice func(best, gap int64) bool

func lowest(best, _ int64) bool { return best < 0 }

func smallest(best, gap int64) bool { return best < 0 || gap < best }

// fitAmongPeers places the buffers in the given order, each in a gap that its
// placed peers leave, or on top of them. It takes as long as there are pairs of
// peers, sorted.
func (j *job) fitAmongPeers(order []int32, better choice) []int64 {
	at := make([]int64, len(j.of))
	for k := range at {
		at[k] = none
	}
	var taken []span
	for _, k := range order {
		taken = taken[:0]
		j.work += 2 * int64(len(j.peers[k])) // each is looked at and sorted
		for _, l := range j.peers[k] {
			if at[l] != none {
				taken = append(taken, span{at[l], at[l] + j.size[l]})
			}
		}
		slices.SortFunc(taken, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		at[k] = gapAmong(taken, j.size[k], better)
	}
	return at
}

// gapAmong finds room for size bytes between spans that ascend.
func gapAmong(taken []span, size int64, better choice) int64 {
	top, found, best := int64(0), int64(none), int64(none)
	for _, t := range taken {
		if gap := t.from - top; gap >= size && better(best, gap) {
			found, best = top, gap
		}
		top = max(top, t.to)
	}
	if found == none {
		return top
	}
	return found
}

// fitInTime places the buffers in the given order, each at the lowest offset that
// is free during its life. It is for problems with so many pairs that they are
// better not looked at one by one. It gives up, with nil, when too much work
// is behind.
func (j *job) fitInTime(order []int32) []int64 {
	at, taken := make([]int64, len(j.of)), newTimeline(len(j.load))
	for _, k := range order {
		at[k] = taken.gap(j.lo[k], j.hi[k], j.size[k])
		taken.take(j.lo[k], j.hi[k], span{at[k], at[k] + j.size[k]})
		if j.work+taken.work > tooMuch {
			j.work = tooMuch
			return nil
		}
	}
	j.work += taken.work
	return at
}
