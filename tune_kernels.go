package npu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

// TuneOptions say for what TuneKernels looks for the fastest kernels, and for how long.
type TuneOptions struct {
	Options
	// Inputs are values of inputs as ReadInputs takes them; those that are left out
	// have their defaults, or are random, from Options.Seed. Their sizes are those that
	// is tuned for.
	Inputs map[string]string
	// Time is how long is measured, about; 0: one minute. A few runs always are.
	Time time.Duration
	// Progress, if not nil, is told now and then what is under way.
	Progress func(what string)
}

// tuneTime is how long is measured where nothing is said.
const tuneTime = time.Minute

// How the time is shared out: to compare all candidates, then the best of each body with
// the usual one, then the whole program with the usual whole.
const (
	searchShare = 0.4
	finalShare  = 0.3
)

const (
	// tuneMargin is how much faster a candidate must be than the usual one: by how much
	// at least, with 95 % confidence.
	tuneMargin = 0.02
	// leastPairs is how many pairs of runs decide at least: that all five fall on one
	// side by chance happens to one in thirty-two.
	leastPairs = 5
	// visitTime is for how long a machine runs when it has its turn, runs that are
	// longer once.
	visitTime = 3 * time.Millisecond
	// mostVisit bounds the runs of a turn.
	mostVisit = 64
)

// TuneKernels measures, for each different task of a program, the candidates that could
// run it, as parts of the program's runs: with the caches, the threads and the
// neighbours that the task has there. What is faster than the usual candidate by a
// margin that noise does not explain goes into the bank (see Options.Bank), if the
// whole program is faster with all of it; so a tuned program is not slower than one
// that is not. Later loads on this machine, by as many threads, take it from there.
// Results don't change, not by a bit.
//
// The error is that of Compile, ReadInputs or Run, or about the file of the bank; what
// ends the context leaves the bank as it was.
func TuneKernels(ctx context.Context, src Source, opts TuneOptions) (*TuneReport, error) {
	ctx = endless(ctx)
	if err := opts.check(); err != nil {
		return nil, err
	}
	file, err := openBank(opts.Bank)
	if err != nil {
		return nil, err
	}
	opts.Bank = BankOff // nothing is measured against what was tuned before
	p, err := Compile(src, opts.Options)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	t := &tuner{p: p, opts: opts, report: &TuneReport{Bank: file.path, Machine: file.machine, Warnings: append(p.Warnings(), file.warnings...)}}
	if err := t.run(ctx); err != nil {
		return nil, excerpt(p.script, runError(err))
	}
	return t.report, file.put(t)
}

func (o *TuneOptions) check() error {
	switch {
	case o.Time < 0:
		return planError("the time limit is %v; it can't be negative", o.Time)
	case o.Time == 0:
		o.Time = tuneTime
	}
	return nil
}

// A tuner measures one program: which candidate is best (tune_search.go), whether it is
// better than the usual one, and the program with it (tune_pairs.go).
type tuner struct {
	p      *Program
	opts   TuneOptions
	report *TuneReport
	told   time.Time // when progress was told last

	args, results []*Tensor
	code          *bytecode.Program
	calls         []*ir.Call
	kernels       kernel.Options
	usual         *machine
	bodies        []*rivalry // in the order of the plan
	byText        map[string]*rivalry
}

// A rivalry is the candidates of one body, which may be that of several tasks.
type rivalry struct {
	body    string
	tasks   int
	list    []kernel.Candidate // the usual one first
	samples [][]float64        // by candidate: nanoseconds of one time, a turn each
	asked   int                // how often a machine in the making has asked for it

	best   int       // of list
	ratios []float64 // of best to the usual one, a pair each
	won    bool
}

// A machine is the program with candidates of someone's choice.
type machine struct {
	*vm.Machine
	took time.Duration // of a run, about
}

// run measures the program and fills the report.
func (t *tuner) run(ctx context.Context) error {
	if err := t.prepare(); err != nil {
		return err
	}
	defer t.usual.Close()
	t.tell("warming up", 0)
	begin := time.Now()
	for range 2 {
		if err := t.once(ctx, t.usual); err != nil {
			return err
		}
	}
	t.find()
	r := t.report
	r.Threads, r.Level = threadsOf(t.opts.Threads), t.kernels.Level.String()
	if len(t.bodies) > 0 {
		if err := t.search(ctx, begin.Add(t.share(searchShare))); err != nil {
			return err
		}
		if err := t.final(ctx, begin.Add(t.share(searchShare+finalShare))); err != nil {
			return err
		}
		if err := t.whole(ctx, begin.Add(t.opts.Time)); err != nil {
			return err
		}
	}
	r.Seconds = time.Since(begin).Seconds()
	t.summarise()
	return nil
}

func (t *tuner) share(of float64) time.Duration { return time.Duration(of * float64(t.opts.Time)) }

// prepare binds inputs, lowers the program and loads it as usual.
func (t *tuner) prepare() error {
	inputs, err := t.p.benchInputs(BenchOptions{Options: t.opts.Options, Inputs: t.opts.Inputs})
	if err != nil {
		return err
	}
	if t.args, err = t.p.arguments(inputs); err != nil {
		return err
	}
	b := &IOBinding{p: t.p, args: t.args}
	if err := b.bindOutputs(nil); err != nil {
		return err
	}
	t.results = b.results
	env, err := ir.BindSymbols(t.p.fn, typesOf(t.args))
	if err == nil {
		err = t.p.opts.checkBounds(t.p.fn.Name, env)
	}
	if err != nil {
		return err
	}
	t.report.Dims = env
	if t.code = t.p.compiled; t.code == nil {
		if t.code, t.calls, err = t.p.emit(env); err != nil {
			return err
		}
	}
	t.kernels = *t.p.kernels()
	t.usual, err = t.load(nil)
	return err
}

// load makes a machine whose candidates are chosen by a function.
func (t *tuner) load(choose func(*kernel.Body) string) (*machine, error) {
	of := t.kernels
	of.Choose = choose
	p := t.p
	m, err := vm.Load(t.code, p.weight, vm.Options{Memory: &p.plans.memory, Workers: p.plans.helpers(p.opts.Threads), Calls: t.calls, Kernels: &of})
	if err != nil {
		return nil, err
	}
	return &machine{Machine: m}, nil
}

// once runs a machine and notes how long that took.
func (t *tuner) once(ctx context.Context, m *machine) error {
	begin := time.Now()
	err := m.RunInto(ctx, t.args, t.results)
	m.took = time.Since(begin)
	return err
}

// find lists the bodies that have several candidates.
func (t *tuner) find() {
	t.byText = map[string]*rivalry{}
	for _, task := range t.usual.Tasks() {
		if task.Task == nil || task.Task.Body() == nil {
			continue
		}
		text := task.Task.Body().String()
		b := t.byText[text]
		if b == nil {
			b = &rivalry{body: text, list: task.Task.Candidates(&t.kernels)}
			slices.SortStableFunc(b.list[1:], func(x, y kernel.Candidate) int { return cmp.Compare(x.Work, y.Work) })
			t.byText[text] = b
			if t.report.Bodies++; len(b.list) > 1 {
				b.samples = make([][]float64, len(b.list))
				t.bodies = append(t.bodies, b)
			}
		}
		b.tasks++
	}
	t.report.Rivalries = len(t.bodies)
}

// tell tells progress, no more than once a second.
func (t *tuner) tell(what string, round int) {
	if t.opts.Progress == nil || time.Since(t.told) < time.Second {
		return
	}
	t.told = time.Now()
	t.opts.Progress(fmt.Sprintf("%s, round %d", what, round+1))
}
