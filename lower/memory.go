package lower

import (
	"slices"

	"github.com/npulang/npu/lower/place"
)

// placeBuffers gives every arena buffer an offset. On one stream, a place is free
// behind the last task that reads what lies there. On several, it is used again
// only where the clocks say that all who used it are done.
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

// placeInOrder places buffers whose lives are ranges of the one program order.
func (p *Plan) placeInOrder(own []int) {
	problem := &place.Problem{Align: p.Align}
	for _, i := range own {
		problem.Buffers = append(problem.Buffers, p.lifeOf(i))
	}
	p.solve(own, problem)
}

// lifeOf is what the placer has to know of a buffer.
func (p *Plan) lifeOf(i int) place.Buffer {
	b := &p.Buffers[i]
	return place.Buffer{Size: roundUp(b.Size, p.Align), Lower: int64(b.First), Upper: int64(b.Last) + 1}
}

func (p *Plan) solve(own []int, problem *place.Problem) {
	plan := place.Solve(problem, place.Effort{})
	p.Arena = plan.Height
	for k, i := range own {
		p.Buffers[i].Offset = plan.Offsets[k]
	}
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
		problem.Buffers = append(problem.Buffers, p.lifeOf(i))
		for l, j := range own {
			if k != l && !free(i, j) && !free(j, i) {
				problem.Conflicts[k] = append(problem.Conflicts[k], int32(l))
			}
		}
	}
	p.solve(own, problem)
}

// noteReuse remembers who lay in a buffer's place before.
func (p *Plan) noteReuse(own []int) {
	buffers, offsets := make([]place.Buffer, len(own)), make([]int64, len(own))
	for k, i := range own {
		b := &p.Buffers[i]
		buffers[k], offsets[k] = place.Buffer{Size: b.Size, Lower: int64(b.First)}, b.Offset
	}
	for k, old := range place.Before(buffers, offsets) {
		if old >= 0 {
			p.Buffers[own[k]].Reuses = own[old]
		}
	}
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }
