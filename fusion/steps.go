package fusion

import (
	"container/heap"
	"slices"

	"github.com/npulang/npu/ir"
)

// A step is an operator, a leaf of the body, or the members of a region, in the
// order of a new body.
type step struct {
	id      int32 // of the operator, of the last one in a region
	members []int32
}

// A sorter brings steps into an order.
type sorter struct {
	*graph
	unit    []int32 // of an operator: the step that it is in
	members map[int32][]int32
	wait    []int // of a step: how many others it still waits for
	next    [][]int32
	open    openSteps
}

// steps puts regions and single operators in an order that is close to the old
// one: of those that wait for nothing the first.
func (g *graph) steps(regions map[int32]bool) []step {
	n := len(g.vals)
	s := &sorter{graph: g, unit: make([]int32, n), members: map[int32][]int32{}, wait: make([]int, n), next: make([][]int32, n)}
	for id := range g.vals {
		s.unit[id] = int32(id)
	}
	for root := range regions {
		ops := slices.Sorted(slices.Values(g.groups[root].members))
		last := ops[len(ops)-1]
		s.members[last] = ops
		for _, id := range ops {
			s.unit[id] = last
		}
	}
	for id := range g.vals {
		if g.vals[id].owner == int32(id) {
			s.depend(int32(id))
		}
	}
	return s.sort()
}

// depend lets an operator wait for what it reads.
func (s *sorter) depend(id int32) {
	u := s.unit[id]
	for _, a := range s.vals[id].v.Args {
		if made := s.ownerOf(a); made != none && s.unit[made] != u {
			s.wait[u]++
			s.next[s.unit[made]] = append(s.next[s.unit[made]], u)
		}
	}
}

func (s *sorter) sort() []step {
	for id := range s.vals {
		if s.vals[id].v.Op != ir.Input && s.begins(int32(id)) {
			s.open = append(s.open, int32(id))
		}
	}
	heap.Init(&s.open)
	var out []step
	for len(s.open) > 0 {
		u := heap.Pop(&s.open).(int32)
		out = append(out, step{u, s.members[u]})
		for _, n := range s.next[u] {
			if s.wait[n]--; s.wait[n] == 0 {
				heap.Push(&s.open, n)
			}
		}
	}
	return out
}

// begins reports whether a value is a step that waits for nothing.
func (s *sorter) begins(id int32) bool {
	owner := s.vals[id].owner
	return owner == none || owner == id && s.unit[id] == id && s.wait[id] == 0
}

// openSteps is a heap of steps by their place in the old body.
type openSteps []int32

func (h openSteps) Len() int           { return len(h) }
func (h openSteps) Less(i, j int) bool { return h[i] < h[j] }
func (h openSteps) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *openSteps) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *openSteps) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
