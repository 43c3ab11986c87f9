package npu

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/npulang/npu/vm"
)

// BenchOptions say what Bench measures, and for how long.
type BenchOptions struct {
	Options
	// Inputs are values of inputs as ReadInputs takes them; those that are left out
	// have their defaults, or are random, from Options.Seed.
	Inputs map[string]string
	// Runs is how many runs are measured; 0: until the median is stable, see
	// BenchReport, for Time at most, of which 0 stands for ten seconds. One run
	// is always measured.
	Runs int
	Time time.Duration
	// ByTask asks for a report of each task, too.
	ByTask bool
	// Progress, if not nil, is told what comes next.
	Progress func(what string)
}

// A BenchReport is what a program took. Times are those of a run with its results
// bound to memory (Program.Bind), milliseconds of the wall clock.
//
// Before anything is measured the program runs for a tenth of a second, at least
// once, so that memory is there and caches and clock are warm. Then it runs until
// half a second is over, it has run five times, and the median is stable: the
// interval that holds the true median with 95 % confidence, as the order of the
// samples gives it, is within 1 % of the median to both sides.
type BenchReport struct {
	Dims map[string]int64 `json:"dims"` // the sizes of symbolic dimensions

	MedianMs float64 `json:"median_ms"`
	P90Ms    float64 `json:"p90_ms"` // nine in ten runs took no longer
	P99Ms    float64 `json:"p99_ms"` // with less than a hundred runs, the slowest
	MinMs    float64 `json:"min_ms"`
	MeanMs   float64 `json:"mean_ms"`
	Runs     int     `json:"runs"`   // that were measured
	Stable   bool    `json:"stable"` // see above

	Flops      int64   `json:"flops"`       // of a run, as the IR counts them: a product and sum are two
	GFlops     float64 `json:"gflops"`      // a second, by the median
	PeakGFlops float64 `json:"peak_gflops"` // what Threads threads do in registers, f32, measured before and after
	PeakShare  float64 `json:"peak_share"`  // of the two
	// OwnPeakGFlops is PeakGFlops by the best instructions for Precision, and OwnPeakShare
	// the share of it; those of f32 where there are none.
	OwnPeakGFlops float64 `json:"precision_peak_gflops"`
	OwnPeakShare  float64 `json:"precision_peak_share"`

	ArenaBytes   int64 `json:"arena_bytes"`    // of the memory that a run shares out among its values
	PeakBytes    int64 `json:"peak_bytes"`     // the most that runs held: arena, copies, scratch memory
	WeightBytes  int64 `json:"weight_bytes"`   // of the parameters, in memory or mapped
	RSSBytes     int64 `json:"rss_bytes"`      // of the process, resident behind the last run
	PeakRSSBytes int64 `json:"peak_rss_bytes"` // the most so far
	AllocsPerRun int64 `json:"allocs_per_run"` // allocations of Go objects, rounded down
	AllocBytes   int64 `json:"alloc_bytes_per_run"`

	Threads   int    `json:"threads"`
	Precision string `json:"precision"` // what most of the work multiplies: f32, bf16, int8, ...
	Kernels   string `json:"kernels"`   // the fastest kind that tasks might have
	ISA       string `json:"isa"`       // of fast kernels

	CompileMs float64 `json:"compile_ms"` // from the source to an optimised graph with weights
	PlanMs    float64 `json:"plan_ms"`    // plan, bytecode, kernels, packed weights
	FirstMs   float64 `json:"first_ms"`   // the first run

	Tasks *KernelReport `json:"tasks,omitempty"` // with BenchOptions.ByTask

	Warnings Diagnostics        `json:"-"`
	Outputs  map[string]*Tensor `json:"-"` // of the last run
}

// benchTime is how long a program is measured where nothing is said.
const benchTime = 10 * time.Second

// Bench compiles a program and measures its runs. The error is that of Compile,
// ReadInputs or Run.
func Bench(ctx context.Context, src Source, opts BenchOptions) (*BenchReport, error) {
	ctx = endless(ctx)
	if err := opts.check(); err != nil {
		return nil, err
	}
	begin := time.Now()
	p, err := Compile(src, opts.Options)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r := &BenchReport{Warnings: p.Warnings(), CompileMs: ms(time.Since(begin))}
	inputs, err := p.benchInputs(opts)
	if err != nil {
		return nil, err
	}
	opts.tell("measuring")
	b := &benched{p: p, r: r}
	if err := b.measure(ctx, inputs, &opts); err != nil {
		return nil, err
	}
	return r, nil
}

// check refuses what can't be measured.
func (o *BenchOptions) check() error {
	switch {
	case o.Runs < 0:
		return planError("%d runs are asked for; at least one is measured", o.Runs)
	case o.Time < 0:
		return planError("the time limit is %v; it can't be negative", o.Time)
	}
	if o.Time == 0 {
		o.Time = benchTime
	}
	return nil
}

func (o *BenchOptions) tell(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

// benchInputs are the inputs that are given, and random ones for those that have no
// default.
func (p *Program) benchInputs(opts BenchOptions) (map[string]*Tensor, error) {
	given := map[string]string{}
	for _, port := range p.Inputs() {
		if !port.Optional {
			given[port.Name] = "random"
		}
	}
	for name, value := range opts.Inputs {
		given[name] = value
	}
	return p.ReadInputs(given, InputOptions{Seed: opts.Seed, Dims: opts.Dims})
}

// A benched program is on its way to a report.
type benched struct {
	p       *Program
	r       *BenchReport
	bound   *IOBinding
	machine *vm.Machine
	samples []float64 // seconds
}

// measure fills the report.
func (b *benched) measure(ctx context.Context, inputs map[string]*Tensor, opts *BenchOptions) (err error) {
	if err := b.bind(inputs); err != nil {
		return err
	}
	if err := b.warm(ctx); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	threads := threadsOf(opts.Threads)
	b.r.measurePeaks(threads)
	if err := b.sample(ctx, opts); err != nil {
		return err
	}
	b.r.measurePeaks(threads)
	b.summarise()
	if err := b.allocations(ctx); err != nil {
		return err
	}
	b.r.Threads, b.r.Kernels, b.r.ISA = threads, b.p.kernels().Kind.String(), b.p.kernels().Level.String()
	b.r.Outputs = b.bound.Outputs()
	b.memory()
	if opts.ByTask {
		b.r.Tasks, err = b.p.explain(ctx, b.bound)
	}
	return err
}

// bind makes the plan.
func (b *benched) bind(inputs map[string]*Tensor) (err error) {
	begin := time.Now()
	if b.bound, err = b.p.Bind(inputs, nil); err != nil {
		return err
	}
	b.machine, b.r.Dims = b.bound.plan.machine, maps.Clone(b.bound.plan.env)
	b.r.PlanMs = ms(time.Since(begin))
	return nil
}

// warmTime is how long a program runs before it is measured.
const warmTime = 100 * time.Millisecond

// warm runs the program until it is warm.
func (b *benched) warm(ctx context.Context) error {
	begin := time.Now()
	for time.Since(begin) < warmTime {
		took, err := b.run(ctx)
		if err != nil {
			return err
		}
		if b.r.FirstMs == 0 {
			b.r.FirstMs = ms(took)
		}
	}
	return nil
}

// count finds the flops of a run, and the dtype of most of them, by what tasks ran
// how often: only that tells of loops.
func (b *benched) count(ctx context.Context) error {
	b.machine.Watch(true)
	defer b.machine.Watch(false)
	if err := b.bound.Run(ctx); err != nil {
		return err
	}
	var most int64
	work := map[string]int64{}
	for _, t := range b.machine.Tasks() {
		b.r.Flops += t.Flops * t.Times
		work[t.DType] += max(t.Flops, 1) * t.Times
		if t.DType != "" && work[t.DType] > most {
			most, b.r.Precision = work[t.DType], precisionNamed(t.DType)
		}
	}
	return nil
}

const (
	// fewRuns and shortTime are what a measurement has at least.
	fewRuns   = 5
	shortTime = 500 * time.Millisecond
	// stableShare is how near the median the ends of its interval are at last.
	stableShare = 0.01
	// lookAgain is by how much the number of samples grows between two looks at
	// whether they are stable, since each look sorts them.
	lookAgain = 1.2
)

// sample runs the program until enough is known.
func (b *benched) sample(ctx context.Context, opts *BenchOptions) error {
	for begin, look := time.Now(), fewRuns; ; {
		one, err := b.run(ctx)
		if err != nil {
			return err
		}
		b.samples = append(b.samples, one.Seconds())
		n, took := len(b.samples), time.Since(begin)
		switch {
		case opts.Runs > 0:
			if n >= opts.Runs {
				return nil
			}
		case took >= opts.Time:
			return nil
		case n >= look && took >= shortTime:
			if stable(b.samples) {
				return nil
			}
			look = int(math.Ceil(lookAgain * float64(n)))
		}
	}
}

const (
	// allocTime is about how long allocations are counted.
	allocTime = 200 * time.Millisecond
	// allocTries is how often, since the rest of the process allocates, too.
	allocTries = 3
)

// allocations counts those of a run: the least of several tries.
func (b *benched) allocations(ctx context.Context) error {
	runs := int(min(max(allocTime.Seconds()*1e3/b.r.MedianMs, 1), 1000))
	b.r.AllocsPerRun, b.r.AllocBytes = math.MaxInt64, math.MaxInt64
	var before, after runtime.MemStats
	for try := 0; try < allocTries && b.r.AllocsPerRun > 0; try++ {
		runtime.ReadMemStats(&before)
		for range runs {
			if err := b.bound.Run(ctx); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		b.r.AllocsPerRun = min(b.r.AllocsPerRun, int64(after.Mallocs-before.Mallocs)/int64(runs))
		b.r.AllocBytes = min(b.r.AllocBytes, int64(after.TotalAlloc-before.TotalAlloc)/int64(runs))
	}
	return nil
}

// summarise makes numbers of the samples.
func (b *benched) summarise() {
	r, v := b.r, slices.Clone(b.samples)
	r.Stable = len(v) >= fewRuns && stable(v)
	slices.Sort(v)
	sum := 0.0
	for _, s := range v {
		sum += s
	}
	r.Runs = len(v)
	r.MedianMs, r.P90Ms, r.P99Ms = 1e3*quantile(v, 0.5), 1e3*quantile(v, 0.9), 1e3*quantile(v, 0.99)
	r.MinMs, r.MeanMs = 1e3*v[0], 1e3*sum/float64(len(v))
	r.GFlops = rate(float64(r.Flops), r.MedianMs)
	r.PeakShare, r.OwnPeakShare = r.GFlops/r.PeakGFlops, r.GFlops/r.OwnPeakGFlops
}

// rate is 10^9 units a second.
func rate(units, ms float64) float64 { return units / 1e6 / max(ms, 1e-9) }

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// memory tells what the program and the process hold.
func (b *benched) memory() {
	r := b.r
	r.ArenaBytes = b.machine.Arena()
	r.PeakBytes = b.p.MemoryInfo().Peak
	for _, w := range b.p.weights {
		r.WeightBytes += int64(len(w.Data))
	}
	r.RSSBytes, r.PeakRSSBytes = residentBytes()
}

// peakWords tell what OwnPeakGFlops is of.
func (r *BenchReport) peakWords() string {
	words := counted(r.Threads, "thread") + ", " + r.ISA
	if peaks[r.Precision] != nil {
		words += ", " + r.Precision
	}
	return words
}

// Text prints the report in a few lines.
func (r *BenchReport) Text() string {
	how := "stable"
	if !r.Stable {
		how = "not stable yet"
	}
	text := align("ll", func(row func(...string)) {
		if len(r.Dims) > 0 {
			row("sizes", strings.TrimSpace(envKey(r.Dims)))
		}
		row("time", fmt.Sprintf("%.4f ms median, %.4f ms p90, %.4f ms p99, %.4f ms least of %s, %s", r.MedianMs, r.P90Ms, r.P99Ms, r.MinMs, counted(r.Runs, "run"), how))
		row("work", fmt.Sprintf("%.4g MFLOP a run, %.4g GFLOP/s, %s of %.4g GFLOP/s (%s)", float64(r.Flops)/1e6, r.GFlops, shareText(r.OwnPeakShare), r.OwnPeakGFlops, r.peakWords()))
		row("memory", fmt.Sprintf("arena %s, at most %s in runs, weights %s, resident %s, at most %s", sizeText(r.ArenaBytes), sizeText(r.PeakBytes), sizeText(r.WeightBytes), sizeText(r.RSSBytes), sizeText(r.PeakRSSBytes)))
		row("allocations", fmt.Sprintf("%d a run, %d bytes", r.AllocsPerRun, r.AllocBytes))
		row("before", fmt.Sprintf("%.1f ms compiling, %.1f ms planning and packing, %.4f ms the first run", r.CompileMs, r.PlanMs, r.FirstMs))
		row("kernels", fmt.Sprintf("%s, %s", r.Kernels, r.Precision))
	})
	if r.Tasks != nil {
		text += "\n" + r.Tasks.Text()
	}
	return text
}

// sizeUnits are what amounts of memory are counted in, from the first that fits.
var sizeUnits = []struct {
	name string
	size float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// sizeText is an amount of memory in three digits or more.
func sizeText(n int64) string {
	for _, u := range sizeUnits {
		if float64(n) >= u.size {
			return fmt.Sprintf("%.2f %s", float64(n)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
