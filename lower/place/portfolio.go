package place

import (
	"cmp"
	"slices"
)

// A method lays a job out; nil means that it would take too long.
type method struct {
	name string
	run  func(*job) []int64
}

// methods are the fast ways to a plan, in the order in which they are tried. The
// first is what a plain allocator would do; breadth and size are the greedy
// orders of Pisarchyk and Lee ("Efficient Memory Management for Deep Neural Net
// Inference", 2020). No order is best for all, so that it pays to try several.
var methods = []method{
	{"best-fit", (*job).bestFit},
	{"by-size", inOrder(bySize)},
	{"by-class", inOrder(byClass)},
	{"by-breadth", inOrder(byBreadth, bySize)},
	{"by-area", inOrder(byArea)},
	{"by-length", inOrder(byLength, bySize)},
	{"by-breadth-length", inOrder(byBreadth, byLength)},
}

// What the methods may do, in looks at a pair or a range, of which a second has
// some fifty million: no method is begun when enough is behind, and one that looks
// at times is broken off when it is too much.
const (
	enough  = 20_000_000
	tooMuch = 45_000_000
)

// portfolio runs the methods, up to the first plan that is no higher than target.
// Of large problems it runs the first methods only; the very first always ends.
func (j *job) portfolio(target int64) (best result) {
	top := int64(unbounded)
	for _, m := range methods {
		at := m.run(j)
		if at == nil {
			break
		}
		if h := j.height(at); h < top {
			best, top = result{at: at, method: m.name}, h
		}
		if top <= target || j.work > enough {
			break
		}
	}
	return best
}

// A criterion is what an order goes by: the larger comes first.
type criterion func(j *job) []int64

func bySize(j *job) []int64   { return j.size }
func byLength(j *job) []int64 { return j.length }

// byBreadth is how much is live at the fullest time of each buffer's life.
func byBreadth(j *job) []int64 {
	full := newPeaks(j.load)
	out := make([]int64, len(j.of))
	for k := range out {
		out[k] = full.most(j.lo[k], j.hi[k])
	}
	return out
}

// byArea is the place in order of size times length, since the product itself may
// be more than an int64.
func byArea(j *job) []int64 {
	out := make([]int64, len(j.of))
	order := make([]int32, len(j.of))
	area := func(k int32) float64 { return float64(j.size[k]) * float64(j.length[k]) }
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(area(a), area(b)) })
	for i, k := range order {
		out[k] = int64(i)
		if i > 0 && area(k) == area(order[i-1]) {
			out[k] = out[order[i-1]]
		}
	}
	return out
}

// byClass puts sizes into classes, four to each power of two, so that buffers of
// about one size lie one after the other in the same places.
func byClass(j *job) []int64 {
	out := make([]int64, len(j.of))
	for k, size := range j.size {
		step := int64(1)
		for size/step >= 8 {
			step *= 2
		}
		out[k] = roundUp(size, step)
	}
	return out
}

// inOrder places the buffers one by one, each at the lowest offset that is free
// for its whole life: first what the criteria put first, of equals what begins
// first.
func inOrder(criteria ...criterion) func(*job) []int64 {
	return func(j *job) []int64 {
		keys := make([][]int64, len(criteria))
		for i, c := range criteria {
			keys[i] = c(j)
		}
		order := j.byStart()
		slices.SortStableFunc(order, func(a, b int32) int {
			for _, k := range keys {
				if k[a] != k[b] {
					return cmp.Compare(k[b], k[a])
				}
			}
			return 0
		})
		if j.peers != nil {
			return j.fitAmongPeers(order, lowest)
		}
		return j.fitInTime(order)
	}
}
