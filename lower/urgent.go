package lower

import (
	"cmp"
	"slices"
)

// urgent is the order of the tasks by when each could begin at the earliest, the
// one with most behind it first: then nothing waits on a stream for what cannot
// begin yet, as it does in program order where a script finishes one branch before
// it comes to the next.
func (g *dag) urgent() []int {
	begin, tail := g.heads(), g.tails()
	order := make([]int, g.n)
	for t := range order {
		begin[t] -= g.ns[t]
		order[t] = t
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(begin[a], begin[b]), cmp.Compare(tail[b], tail[a]), a-b)
	})
	return order
}

// hurry puts the tasks in urgent order if the streams end earlier then.
func (a *assigner) hurry() {
	order := a.urgent()
	if slices.IsSorted(order) {
		return
	}
	q := &assigner{Plan: a.inOrder(order), limit: a.limit, row: a.row}
	q.plan()
	if q.span < a.span {
		a.permute(order)
		a.names, a.pinned, a.stream, a.count = q.names, q.pinned, q.stream, q.count
	}
}

// inOrder is a plan with the tasks in another order, as far as streams look at it.
func (a *assigner) inOrder(order []int) *Plan {
	place := make([]int, len(order)) // by task
	for k, t := range order {
		place[t] = k
	}
	q := &Plan{device: a.device, Tasks: make([]Task, len(order))}
	for k, t := range order {
		old := &a.Tasks[t]
		after := make([]int, len(old.After))
		for i, d := range old.After {
			after[i] = place[d]
		}
		slices.Sort(after)
		q.Tasks[k] = Task{After: after, Pin: old.Pin, ns: old.ns, occupies: old.occupies}
	}
	return q
}
