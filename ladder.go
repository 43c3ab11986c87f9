package npu

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A LadderStep is a program with so much of what makes it fast. Each step has all of
// the one before.
type LadderStep struct {
	Step string `json:"step"` // its name
	What string `json:"what"` // what it adds

	Dims map[string]int64 `json:"dims"` // the sizes of symbolic dimensions

	MedianMs float64 `json:"median_ms"`
	MinMs    float64 `json:"min_ms"`
	Runs     int     `json:"runs"` // that were measured
	Faster   float64 `json:"faster"`
	// Ratio is the time by that of the step before, 1 for the first: the median of the
	// rounds' ratios, which lies between RatioLow and RatioHigh with 95 % confidence
	// where there are six rounds or more. What disturbs the machine for longer than a
	// round is not in it.
	Ratio     float64 `json:"ratio"`
	RatioLow  float64 `json:"ratio_low"`
	RatioHigh float64 `json:"ratio_high"`
	// ArenaBytes is the memory that a run shares out among its values, PeakBytes the
	// most that runs held: arena, copies of inputs, scratch memory. Less is PeakBytes
	// over that of the first step.
	ArenaBytes int64   `json:"arena_bytes"`
	PeakBytes  int64   `json:"peak_bytes"`
	Less       float64 `json:"memory_share"`

	GFlops      float64 `json:"gflops"`      // by the flops of the last step
	PeakGFlops  float64 `json:"peak_gflops"` // of the threads of the step, f32
	Utilisation float64 `json:"utilisation"` // share of the two
	Threads     int     `json:"threads"`
	Streams     int     `json:"streams"`
	Tasks       int     `json:"tasks"`
	Kernels     string  `json:"kernels"`
}

// A rung is a step of the ladder: what it takes away from the options of the last.
type rung struct {
	name, what string
	fresh      bool // the arena of each run is made anew
	less       []func(*Options)
}

// The things that steps do without.
var (
	withoutReuse    = func(o *Options) { o.MemoryMode = MemoryOff }
	withoutParallel = func(o *Options) { o.Streams, o.Threads = 1, 1 }
	withoutMapping  = func(o *Options) {
		o.Level, o.Kernels, o.Fusion, o.Switches = O0, KernelsGeneric, FuseNone, nil
	}
)

// ladder lists the steps, the slowest first.
var ladder = []rung{
	{"none", "generic kernels, no fusion, memory taken for every value of every run, one stream, one thread", true, []func(*Options){withoutReuse, withoutParallel, withoutMapping}},
	{"pool", "memory stays between runs", false, []func(*Options){withoutReuse, withoutParallel, withoutMapping}},
	{"reuse", "values share memory within a run", false, []func(*Options){withoutParallel, withoutMapping}},
	{"parallel", "streams and threads", false, []func(*Options){withoutMapping}},
	{"hardware", "optimised graph, fused regions, fast kernels", false, nil},
}

const (
	// ladderTime is for how long rounds begin where nothing is said.
	ladderTime = 60 * time.Second
	// ladderRounds is how many rounds there are at most, and turnTime how long a step
	// has its turn; one run is the least.
	ladderRounds = 15
	turnTime     = 200 * time.Millisecond
	// warmEnough is a first run that counts: what a longer one does not have warm in
	// the beginning is no matter.
	warmEnough = 2 * time.Second
)

// BenchLadder compiles a program several times, with more and more of what makes it
// fast, and measures the steps in turns: rounds, in each of which every step runs for
// a fifth of a second, at least once, from the first to the last and back in turns, until
// Time is over or there have been fifteen. Runs, if not 0, is the number of rounds. The
// weights that are not given are made up.
func BenchLadder(ctx context.Context, src Source, opts BenchOptions) ([]LadderStep, error) {
	ctx = endless(ctx)
	if opts.Time == 0 {
		opts.Time = ladderTime
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	t, err := newTrial(src, TrialOptions{Options: opts.Options, Inputs: opts.Inputs})
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.c.text.file != nil {
		return nil, Diagnostics{{Code: "wrong-arguments", Subject: t.c.text.name, Message: "a compiled program is optimised already, and the ladder begins without that",
			Helps: []string{"measure the script or the IR text that it was built from"}}}
	}
	l := &climb{t: t, ctx: ctx}
	defer l.close()
	for i := range ladder {
		opts.tell("preparing step " + ladder[i].name)
		if err := l.add(&ladder[i], opts.Options); err != nil {
			return nil, err
		}
	}
	if err := l.measure(&opts); err != nil {
		return nil, runError(err)
	}
	return l.summary()
}

// A climb is a ladder that is being measured.
type climb struct {
	t      *trial
	ctx    context.Context
	steps  []*benched
	rounds [][]float64 // by step: the median of each round, seconds
}

func (l *climb) close() {
	for _, b := range l.steps {
		b.p.Close()
	}
}

// add compiles a step, with the weights and inputs of all.
func (l *climb) add(r *rung, opts Options) error {
	c := *l.t.c
	opts.MaxMemory = l.t.base.opts.MaxMemory
	for _, without := range r.less {
		without(&opts)
	}
	c.opts = opts
	o, err := c.optimise(l.t.graph.Func)
	if err != nil {
		return err
	}
	p := l.t.base.of(o)
	p.opts = opts
	p.plans.memory.Fresh = r.fresh
	inputs := map[string]*Tensor{}
	for i, v := range p.fn.Params {
		inputs[v.Name] = l.t.args[i]
	}
	b := &benched{p: p, r: new(BenchReport)}
	l.steps = append(l.steps, b)
	return b.bind(inputs)
}

// measure runs the steps in turns.
func (l *climb) measure(opts *BenchOptions) error {
	l.rounds = make([][]float64, len(l.steps))
	for i, b := range l.steps {
		opts.tell("warming step " + ladder[i].name)
		took, err := b.run(l.ctx)
		if err != nil {
			return err
		}
		if took >= warmEnough {
			b.samples = append(b.samples, took.Seconds())
		}
	}
	last := l.steps[len(l.steps)-1]
	if err := last.count(l.ctx); err != nil {
		return err
	}
	rounds := opts.Runs
	if rounds == 0 {
		rounds = ladderRounds
	}
	begin := time.Now()
	for i := range rounds {
		if i > 0 && opts.Runs == 0 && time.Since(begin) >= opts.Time {
			break
		}
		opts.tell(fmt.Sprintf("round %d", i+1))
		if err := l.round(i%2 == 1); err != nil {
			return err
		}
	}
	return nil
}

// round gives each step its turn.
func (l *climb) round(back bool) error {
	for i := range l.steps {
		if back {
			i = len(l.steps) - 1 - i
		}
		b := l.steps[i]
		from := len(b.samples)
		if err := b.turn(l.ctx); err != nil {
			return err
		}
		l.rounds[i] = append(l.rounds[i], medianOf(b.samples[from:]))
	}
	return nil
}

// ratio is the time of a step by that of the one before, with the bounds of its median.
func (l *climb) ratio(step int) (ratio, low, high float64) {
	if step == 0 {
		return 1, 1, 1
	}
	var ratios []float64
	for i, t := range l.rounds[step] {
		ratios = append(ratios, t/l.rounds[step-1][i])
	}
	slices.Sort(ratios)
	low, high = medianInterval(ratios)
	return quantile(ratios, 0.5), low, high
}

// turn runs a step for its time. What steps before have left to the garbage
// collector is not its own.
func (b *benched) turn(ctx context.Context) error {
	runtime.GC()
	for begin := time.Now(); ; {
		took, err := b.run(ctx)
		if err != nil {
			return err
		}
		b.samples = append(b.samples, took.Seconds())
		if time.Since(begin) >= turnTime {
			return nil
		}
	}
}

// run is one run and what it took.
func (b *benched) run(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := b.bound.Run(ctx)
	return time.Since(start), err
}

// summary makes the rows of what was measured.
func (l *climb) summary() ([]LadderStep, error) {
	most := map[int]float64{} // peaks by threads
	flops := l.steps[len(l.steps)-1].r.Flops
	var rows []LadderStep
	for i, b := range l.steps {
		ratio, low, high := l.ratio(i)
		slices.Sort(b.samples)
		s := LadderStep{
			Step: ladder[i].name, What: ladder[i].what, Dims: b.r.Dims, MedianMs: 1e3 * quantile(b.samples, 0.5), MinMs: 1e3 * b.samples[0], Runs: len(b.samples),
			ArenaBytes: b.machine.Arena(), PeakBytes: b.p.MemoryInfo().Peak,
			Threads: threadsOf(b.p.opts.Threads), Streams: b.machine.Streams(), Tasks: len(b.machine.Tasks()), Kernels: b.p.kernels().Kind.String(),
		}
		if most[s.Threads] == 0 {
			most[s.Threads] = peakOf(isa.Best(), s.Threads, F32.String())
		}
		s.Ratio, s.RatioLow, s.RatioHigh = ratio, low, high
		s.GFlops, s.PeakGFlops = rate(float64(flops), s.MedianMs), most[s.Threads]
		s.Utilisation = s.GFlops / s.PeakGFlops
		rows = append(rows, s)
		rows[i].Faster = rows[0].MedianMs / s.MedianMs
		rows[i].Less = float64(s.PeakBytes) / float64(max(rows[0].PeakBytes, 1))
	}
	return rows, nil
}

// LadderText prints a ladder as a table.
func LadderText(steps []LadderStep) string {
	head := ""
	if len(steps) > 0 && len(steps[0].Dims) > 0 {
		head = "sizes  " + strings.TrimSpace(envKey(steps[0].Dims)) + "\n\n"
	}
	table := align("lrrrrrrrrrr", func(row func(...string)) {
		row("step", "median ms", "faster", "of last", "peak memory", "of first", "GFLOP/s", "of peak", "threads", "streams", "tasks")
		for _, s := range steps {
			row("+ "+s.Step, fmt.Sprintf("%.4f", s.MedianMs), fmt.Sprintf("%.2f", s.Faster), ratioText(&s), sizeText(s.PeakBytes), shareText(s.Less),
				fmt.Sprintf("%.2f", s.GFlops), shareText(s.Utilisation), fmt.Sprint(s.Threads), fmt.Sprint(s.Streams), fmt.Sprint(s.Tasks))
		}
	})
	table = strings.Replace(table, "+ none", "none  ", 1)
	return head + table + "\n" + align("ll", func(row func(...string)) {
		for _, s := range steps {
			row(s.Step, s.What)
		}
	})
}

// ratioText is a ratio with its bounds; nothing for the first step.
func ratioText(s *LadderStep) string {
	switch {
	case s.Step == ladder[0].name:
		return ""
	case s.RatioLow == s.RatioHigh: // of one round
		return fmt.Sprintf("%.3f", s.Ratio)
	}
	return fmt.Sprintf("%.3f (%.3f-%.3f)", s.Ratio, s.RatioLow, s.RatioHigh)
}

func shareText(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
