package place

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// problem draws a problem of up to n buffers: some empty, some without time to
// live, with conflicts or without.
func problem(t *rapid.T, n int) *Problem {
	p := &Problem{Align: rapid.SampledFrom([]int64{0, 1, 4, 64}).Draw(t, "align")}
	for range rapid.IntRange(0, n).Draw(t, "buffers") {
		at := rapid.Int64Range(-2, 12).Draw(t, "lower")
		p.Buffers = append(p.Buffers, Buffer{Size: rapid.Int64Range(0, 20).Draw(t, "size"),
			Lower: at, Upper: at + rapid.Int64Range(0, 6).Draw(t, "length")})
	}
	if rapid.Bool().Draw(t, "conflicts") {
		addConflicts(t, p)
	}
	return p
}

// addConflicts makes buffers whose ranges meet conflict, and some others.
func addConflicts(t *rapid.T, p *Problem) {
	p.Conflicts = make([][]int32, len(p.Buffers))
	for i, a := range p.Buffers {
		for j, b := range p.Buffers[:i] {
			if max(a.Lower, b.Lower) < min(a.Upper, b.Upper) || rapid.IntRange(0, 3).Draw(t, "conflict") == 0 {
				p.Conflicts[i] = append(p.Conflicts[i], int32(j))
				p.Conflicts[j] = append(p.Conflicts[j], int32(i))
			}
		}
	}
	for _, list := range p.Conflicts {
		slices.Sort(list)
	}
}

// overlaps looks at every pair, as the definition says.
func overlaps(p *Problem, plan *Plan) bool {
	for i, a := range p.Buffers {
		for j, b := range p.Buffers[:i] {
			conflict := a.Size > 0 && b.Size > 0 && max(a.Lower, b.Lower) < min(a.Upper, b.Upper)
			if p.Conflicts != nil {
				_, conflict = slices.BinarySearch(p.Conflicts[i], int32(j))
			}
			if conflict && max(plan.Offsets[i], plan.Offsets[j]) < min(plan.Offsets[i]+a.Size, plan.Offsets[j]+b.Size) {
				return true
			}
		}
	}
	return false
}

// TestMethods: every method makes a sound plan, and Solve takes the lowest.
func TestMethods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t, 30)
		best := Solve(p, Effort{})
		for _, listed := range []bool{true, false} {
			j := newJob(p)
			if !listed && p.Conflicts == nil {
				j.peers = nil
			}
			for _, m := range methods {
				plan := j.plan(p, result{at: m.run(j), method: m.name}, j.bound())
				if err := p.Check(plan); err != nil || overlaps(p, plan) {
					t.Fatalf("%s: %v; offsets %v", m.name, err, plan.Offsets)
				}
				if plan.Height < best.Height || plan.Height < plan.Bound || plan.Height > plan.Sum {
					t.Fatalf("%s: %d bytes; Solve: %d; bound %d, sum %d", m.name, plan.Height, best.Height, plan.Bound, plan.Sum)
				}
			}
		}
	})
}

// TestInTimeIsAmongPeers: both ways to the lowest free offset find the same.
func TestInTimeIsAmongPeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t, 60)
		p.Conflicts = nil
		j := newJob(p)
		order := rapid.Permutation(j.byStart()).Draw(t, "order")
		if a, b := j.fitAmongPeers(order, lowest), j.fitInTime(order); !slices.Equal(a, b) {
			t.Fatalf("among peers %v, in time %v", a, b)
		}
	})
}

// TestSearchFindsTheLowest compares with all plans that there are.
func TestSearchFindsTheLowest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t, 7)
		plan := Solve(p, Effort{Steps: 1 << 20})
		if err := p.Check(plan); err != nil || overlaps(p, plan) {
			t.Fatalf("%v; offsets %v", err, plan.Offsets)
		}
		if least := lowestOfAll(p); plan.Height != least || plan.Bound != least {
			t.Fatalf("%d bytes, bound %d; the lowest of all is %d", plan.Height, plan.Bound, least)
		}
	})
}

// lowestOfAll stacks the buffers in every order, each on the highest below it that
// it conflicts with: one of these plans is the lowest.
func lowestOfAll(p *Problem) int64 {
	q := &Problem{Buffers: slices.Clone(p.Buffers), Conflicts: p.Conflicts}
	best := int64(math.MaxInt64)
	for i := range q.Buffers {
		q.Buffers[i].Size = roundUp(q.Buffers[i].Size, max(p.Align, 1))
	}
	at := make([]int64, len(q.Buffers))
	var stack func(done []int, top int64)
	stack = func(done []int, top int64) {
		if top >= best {
			return
		}
		if len(done) == len(at) {
			best = top
			return
		}
		for i, b := range q.Buffers {
			if slices.Contains(done, i) {
				continue
			}
			at[i] = 0
			for _, k := range done {
				if pairConflicts(q, i, k) {
					at[i] = max(at[i], at[k]+q.Buffers[k].Size)
				}
			}
			stack(append(slices.Clip(done), i), max(top, at[i]+b.Size))
		}
	}
	stack(nil, 0)
	return best
}

func pairConflicts(p *Problem, i, j int) bool {
	a, b := p.Buffers[i], p.Buffers[j]
	if p.Conflicts != nil {
		return slices.Contains(p.Conflicts[i], int32(j))
	}
	return a.Size > 0 && b.Size > 0 && max(a.Lower, b.Lower) < min(a.Upper, b.Upper)
}

// TestSearchIsSound: plans of middling problems hold, whatever the effort, are no
// worse than those without, and the same every time.
func TestSearchIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t, 40)
		e := Effort{Steps: rapid.Int64Range(1, 3000).Draw(t, "steps")}
		plain, plan, again := Solve(p, Effort{}), Solve(p, e), Solve(p, e)
		if err := p.Check(plan); err != nil || overlaps(p, plan) {
			t.Fatalf("%v; offsets %v", err, plan.Offsets)
		}
		if plan.Height > plain.Height || plan.Height < plan.Bound || plan.Bound < plain.Bound || plan.Steps > e.Steps {
			t.Fatalf("%d bytes, bound %d, in %d of %d steps; without search %d bytes, bound %d",
				plan.Height, plan.Bound, plan.Steps, e.Steps, plain.Height, plain.Bound)
		}
		if !slices.Equal(plan.Offsets, again.Offsets) || plan.Method != again.Method {
			t.Fatalf("%v, then %v", plan.Offsets, again.Offsets)
		}
	})
}

// TestStepsAreAtMost: of a search that finds plan after plan, the last has no more steps than
// are left.
func TestStepsAreAtMost(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) *Problem { return problem(t, 40) })
	for _, seed := range []int{0, 8992, 10207, 11950, 14029, 16531, 16710, 17676, 19345} {
		p := draw.Example(seed)
		for _, steps := range []int64{1, 10, 100, 1000, 1500, 2000, 5000} {
			if plan := Solve(p, Effort{Steps: steps}); plan.Steps > steps {
				t.Errorf("problem %d: %d of %d steps", seed, plan.Steps, steps)
			}
		}
	}
}

// TestCheck compares with a look at every pair, on offsets that may be wrong.
func TestCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem(t, 12)
		plan := Solve(p, Effort{})
		if len(plan.Offsets) > 0 {
			i := rapid.IntRange(0, len(plan.Offsets)-1).Draw(t, "moved")
			at := rapid.Int64Range(-1, plan.Height).Draw(t, "to")
			plan.Offsets[i] = at
			size := p.Buffers[i].Size
			wrong := at < 0 || at+size > plan.Height || p.Align > 1 && at%p.Align != 0 || overlaps(p, plan)
			if err := p.Check(plan); (err != nil) != wrong {
				t.Fatalf("buffer %d moved to %d: %v, want an error: %v", i, at, err, wrong)
			}
		}
	})
}

func TestCheckNamesTheParties(t *testing.T) {
	p := &Problem{Align: 4, Buffers: []Buffer{{8, 0, 2}, {8, 1, 3}, {8, 2, 4}}}
	for _, c := range []struct {
		offsets []int64
		want    string
	}{
		{[]int64{0, 8, 0}, ""},
		{[]int64{0, 4, 16}, "buffers 0 and 1 overlap at 4"},
		{[]int64{0, 8, 12}, "buffers 1 and 2 overlap at 12"},
		{[]int64{0, 9, 0}, "buffer 1 lies at 9, which is no multiple of 4"},
		{[]int64{0, 8, 20}, "buffer 2 of 8 bytes lies at 20, outside of 24 bytes"},
		{[]int64{-4, 8, 0}, "buffer 0 of 8 bytes lies at -4, outside of 24 bytes"},
		{[]int64{0, 8}, "2 offsets for 3 buffers"},
	} {
		got := ""
		if err := p.Check(&Plan{Offsets: c.offsets, Height: 24}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.offsets, got, c.want)
		}
	}
}

// TestCapacityIsEnough: the search ends where it has what was asked for.
func TestCapacityIsEnough(t *testing.T) {
	p := &Problem{Buffers: []Buffer{{4, 0, 3}, {4, 3, 9}, {4, 0, 9}, {4, 9, 21}, {4, 0, 21}}, Capacity: 100}
	if plan := Solve(p, Effort{Steps: 1000}); plan.Steps != 0 || plan.Method != "best-fit" || plan.Height > 100 {
		t.Errorf("%+v", plan)
	}
}

// TestLargeConflictsAreNotSearched: effort does not make a matrix of all pairs.
func TestLargeConflictsAreNotSearched(t *testing.T) {
	p := &Problem{Conflicts: make([][]int32, 100_000)}
	for i := range p.Conflicts {
		p.Buffers = append(p.Buffers, Buffer{int64(1 + i%7), int64(i), int64(i + 2)})
		if i > 0 {
			p.Conflicts[i] = append(p.Conflicts[i], int32(i-1))
		}
		if i+1 < len(p.Conflicts) {
			p.Conflicts[i] = append(p.Conflicts[i], int32(i+1))
		}
	}
	plan := Solve(p, Effort{Steps: 1 << 20})
	if err := p.Check(plan); err != nil || plan.Steps != 0 {
		t.Errorf("%v, %d steps", err, plan.Steps)
	}
}
