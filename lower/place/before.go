package place

import (
	"cmp"
	"slices"
)

// Before says for each buffer which one lay in its place before, in order of
// Lower: of several the first of the list, -1 if none did. Empty buffers lie
// nowhere. n log n.
func Before(buffers []Buffer, offsets []int64) []int {
	before, order := make([]int, len(buffers)), make([]int, len(buffers))
	for i := range order {
		before[i], order[i] = -1, i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(buffers[i].Lower, buffers[j].Lower) })
	tenants := newTenancy()
	for _, i := range order {
		if size := buffers[i].Size; size > 0 {
			if old := tenants.move(offsets[i], offsets[i]+size, i); len(old) > 0 {
				before[i] = old[0]
			}
		}
	}
	return before
}

// A tenancy remembers which buffer last lay in each range of the arena.
type tenancy struct {
	ranges *ordered[tenant] // key: start
}

type tenant struct {
	end    int64
	buffer int
}

func newTenancy() *tenancy { return &tenancy{newOrdered[tenant]()} }

// move puts a buffer at [lo, hi) and returns those that lay there, by offset.
// What is left of them at both sides stays theirs. Every call adds at most two
// ranges more than it takes away, so that all calls together are n log n.
func (t *tenancy) move(lo, hi int64, buffer int) (before []int) {
	if k, v, ok := t.ranges.below(key{lo}); ok && v.end > lo {
		t.cut(k[0], v, lo, hi)
		before = append(before, v.buffer)
	}
	for {
		k, v, ok := t.ranges.ceil(key{lo})
		if !ok || k[0] >= hi {
			break
		}
		t.cut(k[0], v, lo, hi)
		before = append(before, v.buffer)
	}
	t.ranges.insert(key{lo}, tenant{hi, buffer})
	slices.Sort(before)
	return slices.Compact(before)
}

// cut takes [lo, hi) out of a range.
func (t *tenancy) cut(start int64, v tenant, lo, hi int64) {
	t.ranges.remove(key{start})
	if start < lo {
		t.ranges.insert(key{start}, tenant{lo, v.buffer})
	}
	if v.end > hi {
		t.ranges.insert(key{hi}, tenant{v.end, v.buffer})
	}
}
