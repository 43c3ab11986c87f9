package place

import (
	"cmp"
	"fmt"
	"slices"
)

// A Buffer asks for Size bytes from time Lower up to, and without, Upper.
type Buffer struct {
	Size         int64
	Lower, Upper int64
}

// A Problem is what has to be laid out in one arena.
type Problem struct {
	Buffers []Buffer
	// Conflicts says, for each buffer, with which others it must not share memory,
	// ascending and both ways round. Nil: with those whose lives meet. With
	// Conflicts, Lower and Upper only give the order of program text.
	Conflicts [][]int32
	Align     int64 // every offset is a multiple of it; 0 means 1
	// Capacity is a height that is good enough: the search ends with the first plan
	// that is no higher. 0: none but the bound.
	Capacity int64
}

// A Plan says where each buffer lies.
type Plan struct {
	Offsets []int64
	Height  int64  // the end of the highest buffer
	Bound   int64  // no plan can be lower
	Sum     int64  // without any reuse
	Method  string // that found it: "by-size", ...
}

// Solve lays the buffers out by every method of the table and keeps the lowest
// plan.
func Solve(p *Problem, e Effort) *Plan {
	offsets, method := p.firstFit(), "by-size"
	if p.Conflicts == nil {
		offsets, method = p.bestFit(), "best-fit"
	}
	plan := &Plan{Offsets: offsets, Method: method, Bound: p.bound()}
	for i, b := range p.Buffers {
		plan.Height = max(plan.Height, offsets[i]+b.Size)
		plan.Sum += p.rounded(b.Size)
	}
	return plan
}

// Effort bounds the exact search.
type Effort struct {
	// Steps is how many placements the search may try; 0: it is not run. The plan
	// depends on nothing else, so that it is the same on every machine.
	Steps int64
}

// Check reports the first two buffers that share memory while both live, or a
// buffer that lies outside of [0, height).
func (p *Problem) Check(plan *Plan) error {
	for i, b := range p.Buffers {
		at := plan.Offsets[i]
		if at < 0 || at+b.Size > plan.Height || p.Align > 1 && at%p.Align != 0 {
			return fmt.Errorf("buffer %d lies at %d to %d in %d bytes", i, at, at+b.Size, plan.Height)
		}
		for j := range i {
			if p.conflict(i, j) && at < plan.Offsets[j]+p.Buffers[j].Size && plan.Offsets[j] < at+b.Size {
				return fmt.Errorf("buffers %d and %d overlap at %d", i, j, max(at, plan.Offsets[j]))
			}
		}
	}
	return nil
}

func (p *Problem) conflict(i, j int) bool {
	if p.Conflicts != nil {
		_, found := slices.BinarySearch(p.Conflicts[i], int32(j))
		return found
	}
	a, b := &p.Buffers[i], &p.Buffers[j]
	return a.Lower < b.Upper && b.Lower < a.Upper
}

func (p *Problem) rounded(n int64) int64 {
	a := max(p.Align, 1)
	return (n + a - 1) / a * a
}

// bound is the largest sum of sizes that are live at one time.
func (p *Problem) bound() int64 {
	type edge struct{ at, change int64 }
	var edges []edge
	for _, b := range p.Buffers {
		edges = append(edges, edge{b.Lower, p.rounded(b.Size)}, edge{b.Upper, -p.rounded(b.Size)})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.change, b.change)) })
	live, most := int64(0), int64(0)
	for _, e := range edges {
		live += e.change
		most = max(most, live)
	}
	return most
}

// firstFit places the buffers by size falling, each at the lowest free offset.
func (p *Problem) firstFit() []int64 {
	order := make([]int, len(p.Buffers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Buffers[b].Size, p.Buffers[a].Size) })
	offsets := make([]int64, len(p.Buffers))
	var placed []int
	for _, i := range order {
		var taken []int
		for _, j := range placed {
			if p.conflict(i, j) {
				taken = append(taken, j)
			}
		}
		slices.SortFunc(taken, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
		at := int64(0)
		for _, j := range taken {
			if offsets[j]-at >= p.Buffers[i].Size {
				break
			}
			at = max(at, p.rounded(offsets[j]+p.Buffers[j].Size))
		}
		offsets[i] = at
		placed = append(placed, i)
	}
	return offsets
}

// bestFit goes through time: a buffer is placed when it begins, in the smallest
// free block that it fits in.
func (p *Problem) bestFit() []int64 {
	starts, ends := make([]int, len(p.Buffers)), make([]int, len(p.Buffers))
	for i := range starts {
		starts[i], ends[i] = i, i
	}
	slices.SortStableFunc(starts, func(a, b int) int { return cmp.Compare(p.Buffers[a].Lower, p.Buffers[b].Lower) })
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(p.Buffers[a].Upper, p.Buffers[b].Upper) })
	offsets, free := make([]int64, len(p.Buffers)), newArena()
	for _, i := range starts {
		for ; p.Buffers[ends[0]].Upper <= p.Buffers[i].Lower; ends = ends[1:] {
			free.give(offsets[ends[0]], p.rounded(p.Buffers[ends[0]].Size))
		}
		offsets[i] = free.take(p.rounded(p.Buffers[i].Size))
	}
	return offsets
}
