package lower

import (
	"slices"
	"testing"
)

// TestOrders: every way to order tasks keeps what they need, and what is counted
// as the peak of an order is what lives at once, counted task by task.
func TestOrders(t *testing.T) {
	lower := 0
	for seed := range uint64(60) {
		p := randomPlan(t, seed)
		r := newReorderer(p)
		written := r.peak(r.asWritten())
		for _, order := range orders {
			tasks := order(r)
			at := make([]int, len(tasks))
			for i, task := range tasks {
				at[task] = i
			}
			if sorted := slices.Sorted(slices.Values(tasks)); !slices.Equal(sorted, r.asWritten()) {
				t.Fatalf("seed %d: %v is no order of %d tasks", seed, tasks, len(p.Tasks))
			}
			for i := range p.Tasks {
				for _, d := range p.Tasks[i].After {
					if at[d] > at[i] {
						t.Fatalf("seed %d: t%d runs before t%d, which it needs", seed, i, d)
					}
				}
			}
			peak := r.peak(tasks)
			if want := peakByHand(p, tasks); peak != want {
				t.Fatalf("seed %d: a peak of %d, want %d", seed, peak, want)
			}
			if peak < written {
				lower++
			}
		}
	}
	if lower < 10 {
		t.Errorf("only %d orders are better than the one that was written", lower)
	}
}

// peakByHand sums, at each task of an order, the buffers that are written by then
// and still used.
func peakByHand(p *Plan, order []int) (most int64) {
	at := make([]int, len(order))
	for i, task := range order {
		at[task] = i
	}
	first, last := map[int]int{}, map[int]int{}
	p.eachUse(func(b, task int) {
		if p.Buffers[b].Space != Arena {
			return
		}
		if old, ok := first[b]; !ok || at[task] < old {
			first[b] = at[task]
		}
		last[b] = max(last[b], at[task])
	})
	for i := range order {
		sum := int64(0)
		for b := range first {
			if first[b] <= i && i <= last[b] {
				sum += roundUp(p.Buffers[b].Size, p.Align)
			}
		}
		most = max(most, sum)
	}
	return most
}
