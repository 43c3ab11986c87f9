package place

import (
	"math/rand/v2"
	"testing"
)

// packing cuts a rectangle of 60 by 64 into n buffers, whose lowest plan is 64 high.
func packing(r *rand.Rand, n int) []Buffer {
	list := []Buffer{{Size: 64, Lower: 0, Upper: 60}}
	for len(list) < n {
		i := r.IntN(len(list))
		b, rest := &list[i], list[i]
		switch length := b.Upper - b.Lower; {
		case r.IntN(2) == 0 && length > 1:
			b.Upper = b.Lower + 1 + r.Int64N(length-1)
			rest.Lower = b.Upper
		case b.Size > 1:
			b.Size = 1 + r.Int64N(b.Size-1)
			rest.Size -= b.Size
		default:
			continue
		}
		list = append(list, rest)
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// TestHardPartComesFirst: what the parts after it do not need goes to the first.
func TestHardPartComesFirst(t *testing.T) {
	p := &Problem{Buffers: packing(rand.New(rand.NewPCG(2, 1)), 60)}
	for i := range int64(20) {
		p.Buffers = append(p.Buffers, Buffer{Size: 64, Lower: 60 + i, Upper: 61 + i})
	}
	steps := int64(1 << 16)
	plan := Solve(p, Effort{Steps: steps})
	if err := p.Check(plan); err != nil || plan.Height != 64 {
		t.Errorf("%v, a height of %d, want 64, in %d steps", err, plan.Height, plan.Steps)
	}
	if share := steps / 21; plan.Steps < 2*share {
		t.Errorf("%d steps: the part is not hard, of which this is a test", plan.Steps)
	}
}
