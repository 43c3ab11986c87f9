package lower

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// A shape makes graphs of tasks: what each reads.
type shape struct {
	name  string
	needs func(r *rand.Rand, i, n int) []int
}

var shapes = []shape{
	{"chain", func(_ *rand.Rand, i, _ int) []int { return []int{i - 1} }},
	{"fan", func(_ *rand.Rand, i, n int) []int {
		if i == n-1 {
			return upTo(n - 1)
		}
		return []int{0}
	}},
	{"alone", func(*rand.Rand, int, int) []int { return nil }},
	{"two chains", func(_ *rand.Rand, i, _ int) []int { return []int{i - 2} }},
	{"tree", func(_ *rand.Rand, i, _ int) []int { return []int{(i - 1) / 2} }},
	{"near", func(r *rand.Rand, i, _ int) []int { return []int{i - 1 - r.IntN(min(i, 4)), i - 1 - r.IntN(min(i, 8))} }},
	{"far", func(r *rand.Rand, i, _ int) []int { return []int{r.IntN(i), r.IntN(i), r.IntN(i)} }},
	{"layers", func(r *rand.Rand, i, _ int) []int {
		if i < 10 {
			return nil
		}
		return []int{i/10*10 - 1 - r.IntN(10), i/10*10 - 1 - r.IntN(10)}
	}},
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// graph makes a plan of n tasks without memory, on random units, with random
// times.
func (s shape) graph(r *rand.Rand, n int, dev *device.Device) *Plan {
	p := &Plan{Name: s.name, device: dev, Tasks: make([]Task, n)}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Post, t.Unit, t.ns = -1, ir.Unit(r.IntN(2)), int64(1000+r.IntN(9000))
		if r.IntN(4) == 0 {
			t.ns *= 20
		}
		t.occupies = t.units()
		if i > 0 {
			t.After = slices.DeleteFunc(s.needs(r, i, n), func(d int) bool { return d < 0 })
		}
		slices.Sort(t.After)
		t.After = slices.Compact(t.After)
	}
	return p
}

var devices = []*device.Device{device.Lookup("cpu"), device.Lookup("ascend910b3")}

// each calls f with graphs of all shapes, options and devices.
func each(t *testing.T, n int, seeds uint64, f func(*testing.T, *Plan, *Options)) {
	for _, s := range shapes {
		for _, dev := range devices {
			for _, row := range strategists {
				for _, streams := range []int{0, 1, 2, 3, 5, 17, 64} {
					o := Options{Device: dev, Strategy: row.name, Streams: streams}.complete()
					name := fmt.Sprintf("%s/%s/%s/%d", s.name, dev.Name, row.name, streams)
					for seed := range seeds {
						r := rand.New(rand.NewPCG(seed, uint64(streams)))
						p := s.graph(r, 1+r.IntN(n), dev)
						if seed%3 == 2 {
							pinSome(r, p, o.streams())
						}
						t.Run(name, func(t *testing.T) { f(t, p, &o) })
					}
				}
			}
		}
	}
}

// pinSome gives tasks to at most as many streams with names as there may be.
func pinSome(r *rand.Rand, p *Plan, most int) {
	names := 1 + r.IntN(most)
	for i := range p.Tasks {
		if r.IntN(3) == 0 {
			p.Tasks[i].Pin = fmt.Sprintf("s%d", 2*r.IntN(names)) // names that are like those given by itself
		}
	}
}

// TestStreams checks what holds for every assignment.
func TestStreams(t *testing.T) {
	each(t, 60, 6, func(t *testing.T, p *Plan, o *Options) {
		p.assignStreams(o)
		checkStreams(t, p, o)
		checkSpan(t, p, o)
	})
}

// checkStreams: every task is on one stream, in order; there are not too many,
// none is empty, names differ, and pins are followed.
func checkStreams(t *testing.T, p *Plan, o *Options) {
	t.Helper()
	if len(p.Streams) > o.streams() {
		t.Errorf("%d streams, at most %d", len(p.Streams), o.streams())
	}
	names, firsts, count := map[string]bool{}, []int{}, 0
	for k, s := range p.Streams {
		if names[s.Name] || len(s.Tasks) == 0 || !slices.IsSorted(s.Tasks) {
			t.Fatalf("stream %q of %v", s.Name, s.Tasks)
		}
		names[s.Name] = true
		firsts = append(firsts, s.Tasks[0])
		count += len(s.Tasks)
		for _, i := range s.Tasks {
			if pin := p.Tasks[i].Pin; p.Tasks[i].Stream != k || pin != "" && pin != s.Name && o.streams() > 1 {
				t.Errorf("t%d, for stream %q, is on %d %q", i, pin, k, s.Name)
			}
		}
	}
	if count != len(p.Tasks) || !slices.IsSorted(firsts) {
		t.Errorf("%d of %d tasks on streams that begin with %v", count, len(p.Tasks), firsts)
	}
}

// spanOn is the makespan with a number of streams.
func spanOn(p *Plan, stream []int32, count int) int64 {
	return newSimulator(p.dag(nil), p.device).run(stream, count)
}

// checkSpan: without pins, no plan takes longer than one stream, and none could do
// with a stream less. With one stream for everything a chain costs nothing.
func checkSpan(t *testing.T, p *Plan, o *Options) {
	t.Helper()
	if slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Pin != "" }) {
		return
	}
	stream := make([]int32, len(p.Tasks))
	one := spanOn(p, stream, 1)
	for i := range p.Tasks {
		stream[i] = int32(p.Tasks[i].Stream)
	}
	count := len(p.Streams)
	span := spanOn(p, stream, count)
	if span > one {
		t.Errorf("%d streams take %d ns, one takes %d", count, span, one)
	}
	for y := range count {
		for x := range y {
			if got := spanOn(p, joined(stream, int32(x), int32(y)), count-1); got < span {
				t.Errorf("%d ns with %d streams, %d with %q and %q in one", span, count, got, p.Streams[x].Name, p.Streams[y].Name)
			}
		}
	}
}

// TestChainStaysOnOneStream: a task that is all that another is for, and whose
// only need that is, follows it on its stream.
func TestChainStaysOnOneStream(t *testing.T) {
	each(t, 60, 3, func(t *testing.T, p *Plan, o *Options) {
		p.assignStreams(o)
		g := p.dag(nil)
		for i := range int32(g.n) {
			if rs := g.readers(i); len(rs) == 1 && len(g.reads(rs[0])) == 1 {
				a, b := &p.Tasks[i], &p.Tasks[rs[0]]
				if a.Pin == b.Pin && a.Stream != b.Stream {
					t.Errorf("t%d is on stream %d, t%d on %d", i, a.Stream, rs[0], b.Stream)
				}
			}
		}
	})
}

// TestOnePlan: the same graph has the same streams and events.
func TestOnePlan(t *testing.T) {
	text := func(p *Plan) string { return fmt.Sprint(p.Streams, p.Events, p.Tasks) }
	each(t, 60, 1, func(t *testing.T, p *Plan, o *Options) {
		q := *p
		q.Tasks = slices.Clone(p.Tasks)
		for i := range q.Tasks {
			q.Tasks[i].After = slices.Clone(q.Tasks[i].After)
		}
		p.assignStreams(o)
		p.placeEvents()
		q.assignStreams(o)
		q.placeEvents()
		if text(p) != text(&q) {
			t.Errorf("two plans:\n%s\n%s", text(p), text(&q))
		}
	})
}

// TestCover compares the number of paths with what trying all paths finds, and
// checks that they are paths.
func TestCover(t *testing.T) {
	for _, s := range shapes {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := s.graph(r, 1+r.IntN(12), devices[0])
			g := p.dag(nil)
			next := g.cover()
			before := make([]int, g.n)
			paths := g.n
			for i, n := range next {
				if n < 0 {
					continue
				}
				paths--
				before[n]++
				if !slices.Contains(g.readers(int32(i)), n) || before[n] > 1 {
					t.Fatalf("%s %d: t%d is followed by t%d: %v", s.name, seed, i, n, next)
				}
			}
			if want := g.n - largest(g, 0, make([]bool, g.n)); paths != want {
				t.Errorf("%s %d: %d paths, %d are enough", s.name, seed, paths, want)
			}
		}
	}
}

// largest is the size of the largest matching of tasks from t on with readers that
// are not taken, by trying all.
func largest(g *dag, t int, taken []bool) int {
	if t == g.n {
		return 0
	}
	best := largest(g, t+1, taken)
	for _, r := range g.readers(int32(t)) {
		if !taken[r] {
			taken[r] = true
			best = max(best, 1+largest(g, t+1, taken))
			taken[r] = false
		}
	}
	return best
}

// TestSimulation holds the simulator against schedules that are plain to see.
func TestSimulation(t *testing.T) {
	npu := *device.Lookup("ascend910a")
	npu.SyncNs = 10
	cpu := *device.Lookup("cpu")
	cpu.SyncNs, cpu.Workers = 10, 2
	cube, vector, both := unitSet(1<<ir.Cube), unitSet(1<<ir.Vector), unitSet(1<<ir.Cube|1<<ir.Vector)
	task := func(ns int64, on unitSet, after ...int) Task { return Task{ns: ns, occupies: on, After: after} }
	for _, c := range []struct {
		name   string
		dev    *device.Device
		tasks  []Task
		stream []int32
		start  []int64
		span   int64
	}{
		{"one after the other", &npu, []Task{task(100, cube), task(50, vector)}, []int32{0, 0}, []int64{0, 100}, 150},
		{"units side by side", &npu, []Task{task(100, cube), task(50, vector)}, []int32{0, 1}, []int64{0, 10}, 100},
		{"a unit is taken in turns", &npu, []Task{task(100, cube), task(50, cube)}, []int32{0, 1}, []int64{0, 100}, 150},
		{"a mixed task waits for both", &npu, []Task{task(100, cube), task(50, vector), task(5, both)}, []int32{0, 1, 2}, []int64{0, 10, 100}, 105},
		{"sync", &npu, []Task{task(100, cube), task(50, vector, 0)}, []int32{0, 1}, []int64{0, 110}, 160},
		{"who can begin first goes first", &npu, []Task{task(100, cube), task(50, vector, 0), task(30, vector)}, []int32{0, 1, 2}, []int64{0, 110, 10}, 160},
		{"two workers", &cpu, []Task{task(100, cube), task(50, cube), task(70, cube)}, []int32{0, 1, 2}, []int64{0, 10, 60}, 130},
	} {
		p := &Plan{device: c.dev, Tasks: c.tasks}
		s := newSimulator(p.dag(nil), c.dev)
		if span := s.run(c.stream, len(c.stream)); span != c.span || !slices.Equal(s.start, c.start) {
			t.Errorf("%s: begin at %v, end at %d; want %v, %d", c.name, s.start, span, c.start, c.span)
		}
	}
}

// TestLargeGraphs plans graphs that a search in pairs would not come to the end of.
func TestLargeGraphs(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	for _, s := range shapes {
		for _, streams := range []int{0, 64} {
			p := s.graph(rand.New(rand.NewPCG(1, 2)), n, devices[0])
			o := Options{Device: devices[0], Streams: streams}.complete()
			p.assignStreams(&o)
			p.placeEvents()
			checkStreams(t, p, &o)
		}
	}
}

func BenchmarkStreams(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{50, 100_000} {
			for _, streams := range []int{0, 64} {
				b.Run(fmt.Sprintf("%s/%d/%d", s.name, n, streams), func(b *testing.B) {
					p := s.graph(rand.New(rand.NewPCG(1, 2)), n, devices[0])
					o := Options{Device: devices[0], Streams: streams}.complete()
					for b.Loop() {
						q := *p
						q.Tasks = slices.Clone(p.Tasks) // balanced leaves their order
						q.assignStreams(&o)
						q.placeEvents()
					}
				})
			}
		}
	}
}

// TestUrgentOrder: what can begin at once does not wait behind what cannot.
func TestUrgentOrder(t *testing.T) {
	dev := device.Lookup("cpu")
	task := func(ns int64, after ...int) Task {
		return Task{ns: ns, occupies: 1 << ir.Vector, After: after, Post: -1}
	}
	for _, c := range []struct {
		strategy Strategy
		want     int64
	}{{Balanced, 200_000 + 1000}, {Latency, 150_000 + 1000}} {
		p := &Plan{device: dev, Tasks: []Task{task(100_000), task(50_000, 0), task(50_000, 0), task(50_000)}}
		o := Options{Strategy: c.strategy, Streams: 2}.complete()
		p.assignStreams(&o)
		if got := p.schedule().makespan; got > c.want {
			t.Errorf("%s: %d ns, want at most %d", c.strategy, got, c.want)
		}
	}
}
