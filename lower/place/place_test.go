package place_test

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu/lower/place"
)

// problems reads the public benchmark problems.
func problems(tb testing.TB) map[string]*place.Problem {
	tb.Helper()
	files, err := filepath.Glob("../../../shared/minimalloc/?.*.csv")
	if err != nil || len(files) == 0 {
		tb.Skip("the problems of ../shared/minimalloc are not here")
	}
	out := map[string]*place.Problem{}
	for _, file := range files {
		out[filepath.Base(file)[:1]] = readProblem(tb, file)
	}
	return out
}

func readProblem(tb testing.TB, file string) *place.Problem {
	tb.Helper()
	f, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	p := &place.Problem{Capacity: 1 << 20}
	lines := bufio.NewScanner(f)
	for lines.Scan(); lines.Scan(); {
		var id int
		var b place.Buffer
		if _, err := fmt.Sscanf(strings.ReplaceAll(lines.Text(), ",", " "), "%d %d %d %d", &id, &b.Lower, &b.Upper, &b.Size); err != nil {
			tb.Fatal(file, err)
		}
		p.Buffers = append(p.Buffers, b)
	}
	return p
}

// TestPublicProblems: each of them fits in a MiB, which fast methods miss by 18 to
// 41 %.
func TestPublicProblems(t *testing.T) {
	for name, p := range problems(t) {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains("ABCEGIK", name) {
				t.Skip("takes a second or more, with the race detector half a minute")
			}
			plan := place.Solve(p, place.Effort{Steps: 1 << 20})
			if err := p.Check(plan); err != nil {
				t.Fatal(err)
			}
			if plan.Height > p.Capacity || plan.Method != "search" {
				t.Errorf("%d bytes by %s in %d steps, want at most %d", plan.Height, plan.Method, plan.Steps, p.Capacity)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for name, p := range problems(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				place.Solve(p, place.Effort{Steps: 1 << 20})
			}
		})
	}
}

// shapes are large problems of 60,000 buffers.
var shapes = []struct {
	name string
	life func(r *rand.Rand, i int64) (lower, upper int64)
}{
	{"chain", func(_ *rand.Rand, i int64) (int64, int64) { return i, i + 2 }},
	{"together", func(*rand.Rand, int64) (int64, int64) { return 0, 1 }},
	{"live-50", around(50)},
	{"live-500", around(500)},
	{"live-2000", around(2000)},
	{"mixed", func(r *rand.Rand, i int64) (int64, int64) {
		if r.IntN(20) > 0 {
			return i, i + 1 + r.Int64N(10)
		}
		return i, i + 1 + r.Int64N(20000)
	}},
}

// around makes lives of which so many are live at a time.
func around(live int64) func(r *rand.Rand, i int64) (int64, int64) {
	return func(r *rand.Rand, i int64) (int64, int64) { return i, i + 1 + r.Int64N(2*live) }
}

func large(life func(*rand.Rand, int64) (int64, int64), n int64) *place.Problem {
	r := rand.New(rand.NewPCG(7, 9))
	p := &place.Problem{Align: 64}
	for i := range n {
		lower, upper := life(r, i)
		p.Buffers = append(p.Buffers, place.Buffer{Size: 1 + int64(math.Exp(r.Float64()*14)), Lower: lower, Upper: upper})
	}
	return p
}

// TestEffortIsWork: where a placement is costly, it counts as several steps.
func TestEffortIsWork(t *testing.T) {
	const steps = 2000
	p := large(around(500), 1500)
	plan := place.Solve(p, place.Effort{Steps: steps})
	if err := p.Check(plan); err != nil {
		t.Fatal(err)
	}
	if plan.Steps < 1 || plan.Steps > steps/2 || plan.Cut {
		t.Errorf("%d placements among %d buffers for %d steps (cut: %v)", plan.Steps, len(p.Buffers), steps, plan.Cut)
	}
}

// TestStop: a search that is stopped keeps the lowest plan up to then.
func TestStop(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	p := large(around(500), 1500)
	plan, fast := place.Solve(p, place.Effort{Steps: 1 << 40, Stop: stop}), place.Solve(p, place.Effort{})
	if err := p.Check(plan); err != nil {
		t.Fatal(err)
	}
	if !plan.Cut || plan.Height != fast.Height {
		t.Errorf("height %d (cut: %v), want %d of the fast methods", plan.Height, plan.Cut, fast.Height)
	}
}

// BenchmarkGreedy runs the whole table of fast methods.
func BenchmarkGreedy(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			p := large(s.life, 60_000)
			for b.Loop() {
				plan := place.Solve(p, place.Effort{})
				b.ReportMetric(float64(plan.Height)/float64(plan.Bound), "height/bound")
			}
		})
	}
}

// TestLargeProblems checks plans that are made without looking at pairs.
func TestLargeProblems(t *testing.T) {
	for _, s := range shapes {
		p := large(s.life, 5_000)
		plan := place.Solve(p, place.Effort{})
		if err := p.Check(plan); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if float64(plan.Height) > 1.5*float64(plan.Bound) {
			t.Errorf("%s: %d bytes, with a bound of %d", s.name, plan.Height, plan.Bound)
		}
	}
}
