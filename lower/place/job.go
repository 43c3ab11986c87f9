package place

import (
	"cmp"
	"math"
	"slices"
)

// A job is a problem in the form that the methods work on: without buffers that
// take no room or no time, sizes in units of the alignment, and times numbered.
// A section is the time from one buffer's start to the next start; what is live
// somewhere in it is live at its begin, so that sections are all that matters.
type job struct {
	unit     int64
	of       []int32 // which buffer of the problem it is
	size     []int64
	length   []int64   // of its life
	lo, hi   []int32   // the sections of its life, without hi
	load     []int64   // by section: the sum of what is live
	explicit [][]int32 // the problem's conflicts, if it has them
	work     int64     // of the methods so far, in looks at a pair or a range
	peers    [][]int32 // whom each must not overlap, ascending; nil if these are too many to list
}

// maxPeers is how many pairs are listed for one buffer on average. With more, the
// methods find what is in the way by time.
const maxPeers = 256

func newJob(p *Problem) *job {
	j := &job{unit: max(p.Align, 1)}
	number := make([]int32, len(p.Buffers))
	for i, b := range p.Buffers {
		number[i] = none
		if b.Size > 0 && (b.Lower < b.Upper || p.Conflicts != nil) {
			number[i] = int32(len(j.of))
			j.of = append(j.of, int32(i))
			j.size = append(j.size, roundUp(b.Size, j.unit)/j.unit)
			j.length = append(j.length, max(b.Upper-b.Lower, 0))
		}
	}
	j.number(p)
	j.weigh()
	if p.Conflicts != nil {
		j.explicit = j.translate(p.Conflicts, number)
		j.peers = j.explicit
	} else if j.pairs() <= int64(maxPeers)*int64(len(j.of)) {
		j.peers = j.meetings()
	}
	return j
}

const none = -1

// number turns times into sections.
func (j *job) number(p *Problem) {
	starts := make([]int64, len(j.of))
	for k, i := range j.of {
		starts[k] = p.Buffers[i].Lower
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	section := func(t int64) int32 {
		s, _ := slices.BinarySearch(starts, t)
		return int32(s)
	}
	j.lo, j.hi = make([]int32, len(j.of)), make([]int32, len(j.of))
	for k, i := range j.of {
		j.lo[k] = section(p.Buffers[i].Lower)
		j.hi[k] = max(j.lo[k], section(p.Buffers[i].Upper))
	}
	j.load = make([]int64, len(starts))
}

// weigh sums what is live in each section.
func (j *job) weigh() {
	change := make([]int64, len(j.load)+1)
	for k, size := range j.size {
		if j.lo[k] < j.hi[k] {
			change[j.lo[k]] += size
			change[j.hi[k]] -= size
		}
	}
	live := int64(0)
	for s := range j.load {
		live += change[s]
		j.load[s] = live
	}
}

// pairs counts the buffers that are live when another begins, for all others.
func (j *job) pairs() (n int64) {
	begins, ends := make([]int64, len(j.load)+1), make([]int64, len(j.load)+1)
	for k := range j.of {
		begins[j.lo[k]]++
		ends[j.hi[k]]++
	}
	live := int64(0)
	for s := range j.load {
		live -= ends[s]
		n += begins[s]*live + begins[s]*(begins[s]-1)/2
		live += begins[s]
	}
	return n
}

// meetings lists for each buffer the others whose lives meet its own.
func (j *job) meetings() [][]int32 {
	peers := make([][]int32, len(j.of))
	var live []int32
	for _, k := range j.byStart() {
		live = slices.DeleteFunc(live, func(l int32) bool { return j.hi[l] <= j.lo[k] })
		for _, l := range live {
			peers[k] = append(peers[k], l)
			peers[l] = append(peers[l], k)
		}
		live = append(live, k)
	}
	for _, list := range peers {
		slices.Sort(list)
	}
	return peers
}

// byStart lists the buffers in the order in which they begin.
func (j *job) byStart() []int32 {
	order := make([]int32, len(j.of))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(j.lo[a], j.lo[b]) })
	return order
}

// translate renames the buffers of the problem's conflicts.
func (j *job) translate(conflicts [][]int32, number []int32) [][]int32 {
	peers := make([][]int32, len(j.of))
	for k, i := range j.of {
		for _, l := range conflicts[i] {
			if number[l] != none {
				peers[k] = append(peers[k], number[l])
			}
		}
	}
	return peers
}

// bound is what no plan can be lower than: the largest sum of what is live at one
// time, and the largest buffer.
func (j *job) bound() (most int64) {
	for _, load := range j.load {
		most = max(most, load)
	}
	for _, size := range j.size {
		most = max(most, size)
	}
	return most
}

// height is the end of the highest buffer.
func (j *job) height(at []int64) (top int64) {
	for k, size := range j.size {
		top = max(top, at[k]+size)
	}
	return top
}

// unbounded is a height that every plan keeps.
const unbounded = math.MaxInt64
