package place

import (
	"math/rand/v2"
	"testing"
)

// TestCapacityHasTheSteps: where a capacity is given, most of the effort goes into
// meeting it, since a plan above it is of little use. This one needs about 14,400
// steps, which is more than half of what there is.
func TestCapacityHasTheSteps(t *testing.T) {
	p := &Problem{Buffers: packing(rand.New(rand.NewPCG(2, 1)), 60)}
	for _, c := range []struct{ capacity, height int64 }{{0, 65}, {64, 64}} {
		p.Capacity = c.capacity
		if plan := Solve(p, Effort{Steps: 18_000}); plan.Height != c.height {
			t.Errorf("capacity %d: a height of %d in %d steps, want %d", c.capacity, plan.Height, plan.Steps, c.height)
		}
	}
}
