package place

import (
	"cmp"
	"slices"
)

// bestFit goes through time: a buffer is placed when it begins, in the smallest
// free block that it fits in. Without a single time order it goes by what is in
// conflict: then a block is what these leave free.
func (j *job) bestFit() []int64 {
	if j.explicit != nil {
		return j.fitAmongPeers(j.byStart(), smallest)
	}
	begins := j.byStart()
	ends := slices.Clone(begins)
	slices.SortStableFunc(ends, func(a, b int32) int { return cmp.Compare(j.hi[a], j.hi[b]) })
	at, free := make([]int64, len(j.of)), newArena()
	for _, k := range begins {
		for ; j.hi[ends[0]] <= j.lo[k]; ends = ends[1:] {
			free.give(at[ends[0]], j.size[ends[0]])
		}
		at[k] = free.take(j.size[k])
	}
	return at
}
