package lower

import (
	"math"
	"slices"
)

// placeBuffers gives every arena buffer an offset. Tasks are visited in
// program order; results and frames are placed as they are made, in the free
// block that fits best, and freed behind the last task that reads them.
// Sizes count rounded up to the alignment, also in the plan's numbers, so that
// MaxLive is what no arena could be smaller than.
func (p *Plan) placeBuffers() {
	end := len(p.Tasks)
	starts := make([][]int, end+2) // by first task, shifted by one for buffers that precede all tasks
	stops := make([][]int, end+2)
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space != Arena || b.Base >= 0 {
			continue
		}
		b.Last = min(b.Last, end)
		starts[b.First+1] = append(starts[b.First+1], i)
		stops[b.Last+1] = append(stops[b.Last+1], i)
	}
	a := newArena()
	live := int64(0)
	for t := range starts {
		for _, i := range starts[t] {
			size := roundUp(p.Buffers[i].Size, p.Align)
			p.Buffers[i].Offset = a.take(size)
			p.Sum += size
			live += size
		}
		p.MaxLive = max(p.MaxLive, live)
		for _, i := range stops[t] {
			size := roundUp(p.Buffers[i].Size, p.Align)
			a.give(p.Buffers[i].Offset, size)
			live -= size
		}
	}
	p.Arena = a.end
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Base >= 0 {
			b.Offset = p.Buffers[b.Base].Offset
		}
	}
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }

// An arena hands out ranges of [0, end) and takes them back. Free neighbours
// are always joined, so that the blocks' ends identify them.
type arena struct {
	end      int64
	bySize   *ordered[struct{}] // key: size, offset
	byStart  map[int64]int64    // offset of a free block: its size
	byFinish map[int64]int64    // end of a free block: its offset
}

func newArena() *arena {
	return &arena{bySize: newOrdered[struct{}](), byStart: map[int64]int64{}, byFinish: map[int64]int64{}}
}

// take returns the offset of size bytes: in the smallest block that fits, of
// equals the lowest; else at the end, beginning with a free block that lies
// there.
func (a *arena) take(size int64) int64 {
	if size == 0 {
		return 0
	}
	if k, _, ok := a.bySize.ceil(key{size, math.MinInt64}); ok {
		at := k[1]
		a.drop(at, k[0])
		a.add(at+size, k[0]-size)
		return at
	}
	at := a.end
	if start, ok := a.byFinish[a.end]; ok {
		a.drop(start, a.end-start)
		at = start
	}
	a.end = at + size
	return at
}

// give frees a range and joins it with free neighbours.
func (a *arena) give(at, size int64) {
	if size == 0 {
		return
	}
	if start, ok := a.byFinish[at]; ok {
		a.drop(start, at-start)
		at, size = start, size+at-start
	}
	if next, ok := a.byStart[at+size]; ok {
		a.drop(at+size, next)
		size += next
	}
	a.add(at, size)
}

func (a *arena) add(at, size int64) {
	if size > 0 {
		a.bySize.insert(key{size, at}, struct{}{})
		a.byStart[at] = size
		a.byFinish[at+size] = at
	}
}

func (a *arena) drop(at, size int64) {
	a.bySize.remove(key{size, at})
	delete(a.byStart, at)
	delete(a.byFinish, at+size)
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
