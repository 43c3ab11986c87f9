package lower

import (
	"cmp"
	"math"
	"slices"

	"github.com/npulang/npu/lower/place"
)

// placeBuffers gives every arena buffer an offset. On one stream, tasks are
// visited in program order; results and frames are placed as they are made, in
// the free block that fits best, and freed behind the last task that reads them.
// On several, a place is used again only where the clocks say that all who used
// it are done.
// Sizes count rounded up to the alignment, also in the plan's numbers, so that
// MaxLive is what no arena could be smaller than.
func (p *Plan) placeBuffers() {
	own := p.ownBuffers()
	p.measure(own)
	if len(p.Streams) > 1 {
		p.placeByClocks(own)
	} else {
		p.placeInOrder(own)
	}
	p.noteReuse(own)
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Base >= 0 {
			b.Offset = p.Buffers[b.Base].Offset
		}
	}
}

// ownBuffers lists the buffers that need a place in the arena.
func (p *Plan) ownBuffers() (own []int) {
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space == Arena && b.Base < 0 {
			b.Last = min(b.Last, len(p.Tasks))
			own = append(own, i)
		}
	}
	return own
}

// measure sums the sizes, of all and of those that live at one time when tasks
// run in program order.
func (p *Plan) measure(own []int) {
	change := make([]int64, len(p.Tasks)+3)
	for _, i := range own {
		b := &p.Buffers[i]
		size := roundUp(b.Size, p.Align)
		p.Sum += size
		change[b.First+1] += size
		change[b.Last+2] -= size
	}
	live := int64(0)
	for _, c := range change {
		live += c
		p.MaxLive = max(p.MaxLive, live)
	}
}

func (p *Plan) placeInOrder(own []int) {
	starts := make([][]int, len(p.Tasks)+2) // by first task, shifted by one for buffers that precede all tasks
	stops := make([][]int, len(p.Tasks)+2)
	for _, i := range own {
		b := &p.Buffers[i]
		starts[b.First+1] = append(starts[b.First+1], i)
		stops[b.Last+1] = append(stops[b.Last+1], i)
	}
	a := newArena()
	for t := range starts {
		for _, i := range starts[t] {
			p.Buffers[i].Offset = a.take(roundUp(p.Buffers[i].Size, p.Align))
		}
		for _, i := range stops[t] {
			a.give(p.Buffers[i].Offset, roundUp(p.Buffers[i].Size, p.Align))
		}
	}
	p.Arena = a.end
}

// placeByClocks places buffers that conflict unless one's users are all done
// before the other's first.
func (p *Plan) placeByClocks(own []int) {
	users := make([][]int, len(p.Buffers))
	for i := range p.Tasks {
		for _, b := range p.Tasks[i].In {
			if b >= 0 {
				users[p.root(b)] = append(users[p.root(b)], i)
			}
		}
		for _, b := range p.Tasks[i].writes() {
			users[p.root(b)] = append(users[p.root(b)], i)
		}
	}
	c := p.clocks()
	free := func(a, b int) bool { // a's place may be b's
		first := p.Buffers[b].First
		return !slices.ContainsFunc(users[a], func(u int) bool { return !c.before(u, first) })
	}
	problem := &place.Problem{Align: p.Align, Conflicts: make([][]int32, len(own))}
	for k, i := range own {
		b := &p.Buffers[i]
		problem.Buffers = append(problem.Buffers, place.Buffer{Size: roundUp(b.Size, p.Align), Lower: int64(b.First), Upper: int64(b.Last) + 1})
		for l, j := range own {
			if k != l && !free(i, j) && !free(j, i) {
				problem.Conflicts[k] = append(problem.Conflicts[k], int32(l))
			}
		}
	}
	plan := place.Solve(problem, place.Effort{})
	p.Arena = plan.Height
	for k, i := range own {
		p.Buffers[i].Offset = plan.Offsets[k]
	}
}

// noteReuse remembers who lay in a buffer's place before.
func (p *Plan) noteReuse(own []int) {
	tenants := newTenancy()
	order := slices.Clone(own)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.Buffers[i].First, p.Buffers[j].First) })
	for _, i := range order {
		b := &p.Buffers[i]
		if b.Size == 0 {
			continue
		}
		if old := tenants.move(b.Offset, b.Offset+b.Size, i); len(old) > 0 {
			b.Reuses = old[0]
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
