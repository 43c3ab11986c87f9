package fusion

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lower"
)

// Where memory has priority the plan of a fused function never needs more at once
// than that of the function as it was, but for gaps inside a region's frame.
func TestSaveMemory(t *testing.T) {
	given, needed := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 5))
		make := dense
		if seed%4 == 0 {
			make = irtest.Func
		}
		f, _ := make(r, 30)
		before := f.String()
		free, _ := f.Clone()
		want := maxLive(t, f)
		u, _ := fuse(t, f, Options{SaveMemory: true})
		got := maxLive(t, f)
		if got > want {
			t.Errorf("seed %d: needs %d, not %d\n%s\n%s", seed, got, want, before, f)
		}
		fuse(t, free, Options{})
		if maxLive(t, free) > want {
			needed++
		}
		for _, s := range u.Status() {
			for _, r := range s.Refused {
				if r.Code == "raises-peak" {
					given++
				}
			}
		}
	}
	if given < 10 || needed < 5 {
		t.Errorf("%d regions are given up, and in %d functions there was a need", given, needed)
	}
}

func maxLive(t *testing.T, f *ir.Func) int64 {
	t.Helper()
	p, err := lower.Lower(f, ir.Env{}, lower.Options{Streams: 1, Align: 1, Memory: lower.MemoryConservative})
	if err != nil {
		t.Fatal(err)
	}
	return p.MaxLive - gaps(p)
}

// gaps is the most that a region's frame is larger than what is live in it.
func gaps(p *lower.Plan) int64 {
	most := int64(0)
	for _, task := range p.Tasks {
		if task.Region == nil {
			continue
		}
		for _, body := range task.Region.Bodies {
			most = max(most, body.Arena-body.MaxLive)
		}
	}
	return most
}
