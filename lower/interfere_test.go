package lower

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lower/place"
)

// spread is a device for which every stream pays, so that random graphs have many.
func spread() *device.Device {
	d := *device.Lookup("cpu")
	d.Workers, d.LaunchNs, d.SyncNs = 64, 0, 0
	return &d
}

// TestInterference compares the pairs that must be kept apart, and the longer lives
// that stand for them in large plans, with the question itself asked of all pairs.
func TestInterference(t *testing.T) {
	several, pairs, free := 0, 0, 0
	for seed := range uint64(80) {
		p := randomPlan(t, seed)
		if len(p.Streams) < 2 {
			continue
		}
		several++
		u, slots := p.users(), p.slots()
		problem := &place.Problem{}
		for i := range slots {
			problem.Buffers = append(problem.Buffers, slots[i].life(p))
		}
		p.interfere(problem, slots, u)
		c := p.clocks()
		for i := range slots {
			until := lastToKnow(p, c, &slots[i], u)
			for j := range slots {
				if i == j {
					continue
				}
				want := !p.done(c, u, &slots[i], &slots[j]) && !p.done(c, u, &slots[j], &slots[i])
				_, got := slices.BinarySearch(problem.Conflicts[i], int32(j))
				if got != want {
					t.Fatalf("seed %d: slots %d and %d conflict: %v, want %v", seed, i, j, got, want)
				}
				if want && slots[i].first <= slots[j].first && slots[j].first > until {
					t.Fatalf("seed %d: slot %d is taken to be free at t%d, where slot %d conflicts", seed, i, slots[j].first, j)
				}
				pairs++
				if !want {
					free++
				}
			}
		}
	}
	if several < 20 || free < 100 || free == pairs {
		t.Errorf("%d plans with several streams, %d of %d pairs share memory", several, free, pairs)
	}
}

func randomPlan(t *testing.T, seed uint64) *Plan {
	t.Helper()
	f, in := irtest.Func(rand.New(rand.NewPCG(seed, 9)), 40)
	types := make([]ir.Type, len(in))
	for i := range in {
		types[i] = ir.TypeOf(in[i])
	}
	env, err := ir.BindSymbols(f, types)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Lower(f, env, Options{Device: spread(), Streams: 6})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// done reports whether all users of a slot are done before any task begins that
// writes another: the definition.
func (p *Plan) done(c *clocks, u *users, a, b *slot) bool {
	first := b.buffers[0]
	for _, buf := range a.buffers {
		for _, user := range u.of(buf) {
			for t := range p.Tasks {
				writes := slices.ContainsFunc(p.Tasks[t].made(), func(o int) bool { return p.Root(o) == first })
				if writes && !c.before(int(user), t) {
					return false
				}
			}
		}
	}
	return true
}

// lastToKnow is what a large plan takes for the end of a slot's life.
func lastToKnow(p *Plan, c *clocks, s *slot, u *users) int { return c.unknown(c.reach(s, u)) }
