package npu

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A KernelReport tells of each task of a program which kernel runs it, and why, and
// what it takes beside what the machine can do.
type KernelReport struct {
	Dims       map[string]int64 `json:"dims"`        // the sizes of symbolic dimensions
	Device     string           `json:"device"`      // that the tasks were planned for; they run, and are measured, on this machine
	Runs       int              `json:"runs"`        // of which the times are means
	RunMs      float64          `json:"run_ms"`      // of the wall clock, a run
	Threads    int              `json:"threads"`     // that a run may have
	PeakGFlops float64          `json:"peak_gflops"` // of them, f32, in registers, by the instruction set that kernels may use
	Tasks      []KernelTask     `json:"tasks"`
}

// A KernelTask is one task: an operator, or a fused region that one kernel runs. A
// region that none runs, a loop and a branch are followed by the tasks of their
// bodies.
type KernelTask struct {
	Name   string   `json:"task"`  // "t3"; in its body "t3.loop.t1", and what a loop carries first "t3.first0"
	Ops    []string `json:"ops"`   // the operators
	Types  string   `json:"types"` // of arguments and results
	Value  string   `json:"value"` // of the first result
	Pos    string   `json:"pos"`   // in the source, or empty
	Kernel string   `json:"kernel"`
	Kind   string   `json:"kind"` // reference, generic or fast; empty: the task has no kernel of its own
	Why    string   `json:"why"`  // what the kernels that were asked before said
	Parts  int      `json:"parts"`
	// Candidate is the kernel and its way, as npu tune names them, and Choice how it
	// was chosen: only (there is no other), estimate or bank. If a bank names a candidate
	// that there is not, Unknown has that. Rivals are the others.
	Candidate string  `json:"candidate"`
	Estimate  float64 `json:"estimate_ms"` // of one time, on one processor
	Choice    string  `json:"choice"`
	Unknown   string  `json:"unknown,omitempty"`
	Rivals    []Rival `json:"rivals,omitempty"`

	Times     float64 `json:"times"`    // how often it ran, a run
	Ms        float64 `json:"ms"`       // of the wall clock, a run, all times together
	LeastMs   float64 `json:"least_ms"` // of one time; rates and the share of the limit are by this
	RunShare  float64 `json:"run_share"`
	Flops     int64   `json:"flops"` // of one time
	Bytes     int64   `json:"bytes"` // of arguments and results of one time
	GFlops    float64 `json:"gflops"`
	GBytes    float64 `json:"gbytes"`
	Limit     string  `json:"limit"`       // what bounds it: compute or memory; empty: it did not run
	LimitRate float64 `json:"limit_rate"`  // GFLOP/s, or GB/s of reading and copying as many bytes
	Share     float64 `json:"limit_share"` // of the least time that the limit allows what the kernel does, in the least time that it took
}

// A Rival is another candidate for a task.
type Rival struct {
	Name     string  `json:"name"`
	Estimate float64 `json:"estimate_ms"` // of one time, on one processor
}

// ExplainKernels runs a program and tells of each of its tasks. The inputs are those
// of Run, and so are errors. The program should have no other run under way.
func (p *Program) ExplainKernels(ctx context.Context, inputs map[string]*Tensor) (*KernelReport, error) {
	b, err := p.Bind(inputs, nil)
	if err != nil {
		return nil, err
	}
	return p.explain(endless(ctx), b)
}

const (
	// explainRuns and explainTime are how often, and for how long about, tasks are
	// measured; at least one run is.
	explainRuns = 20
	explainTime = time.Second
)

func (p *Program) explain(ctx context.Context, b *IOBinding) (*KernelReport, error) {
	if err := b.Run(ctx); err != nil { // what comes first is warm behind it
		return nil, err
	}
	m := b.plan.machine
	m.Watch(true)
	defer m.Watch(false)
	r := &KernelReport{Dims: maps.Clone(b.plan.env), Device: "cpu", Threads: threadsOf(p.opts.Threads)}
	if p.opts.Device != nil {
		r.Device = p.opts.Device.Name
	}
	begin := time.Now()
	for r.Runs < explainRuns && (r.Runs == 0 || time.Since(begin) < explainTime) {
		if err := b.Run(ctx); err != nil {
			return nil, err
		}
		r.Runs++
	}
	r.RunMs = ms(time.Since(begin)) / float64(r.Runs)
	tasks := m.Tasks()
	limits := newLimits(p.kernels().Level, r.Threads)
	r.PeakGFlops = limits.peakOf("f32")
	for i := range tasks {
		k := r.task(&tasks[i], limits)
		k.choice(tasks[i].Task, p.kernels())
		r.Tasks = append(r.Tasks, k)
	}
	return r, nil
}

// task makes the row of a task.
func (r *KernelReport) task(t *vm.Task, l *limits) KernelTask {
	k := KernelTask{Name: t.Name, Ops: t.Ops, Types: t.Types, Value: t.Value, Kernel: t.Kernel, Why: t.Why, Parts: t.Parts, Flops: t.Flops, Bytes: t.Bytes}
	if t.Loc.Line > 0 {
		k.Pos = t.Loc.String()
	}
	if t.Kernel != "" {
		k.Kind = t.Kind.String()
	}
	k.Times = float64(t.Times) / float64(r.Runs)
	k.Ms = ms(t.Took) / float64(r.Runs)
	k.RunShare = k.Ms / r.RunMs
	if t.Times == 0 || t.Flops+t.Bytes == 0 {
		return k
	}
	each := ms(t.Least)
	k.LeastMs = each
	k.GFlops, k.GBytes = rate(float64(t.Flops), each), rate(float64(t.Bytes), each)
	compute, memory := 0.0, l.memory(t.Bytes-t.Written, t.Written)
	if peak := l.peakOf(t.DType); peak > 0 {
		compute = float64(done(t)) / 1e6 / peak
	}
	k.Limit, k.LimitRate = "memory", rate(float64(t.Bytes), memory)
	if compute > memory {
		k.Limit, k.LimitRate = "compute", l.peakOf(t.DType)
	}
	k.Share = max(compute, memory) / each
	return k
}

// done is how many of a task's operations its kernel does at least.
func done(t *vm.Task) int64 {
	if t.Task == nil {
		return t.Flops
	}
	return t.Task.Done(t.Flops)
}

// The ways in which a candidate may have been chosen.
const (
	choiceOnly     = "only"
	choiceEstimate = "estimate"
	choiceBank     = "bank"
)

// choice says how the candidate of a task was chosen, among which.
func (k *KernelTask) choice(t *kernel.Prepared, o *kernel.Options) {
	if t == nil {
		return
	}
	k.Candidate, k.Choice, k.Unknown = t.Candidate(), choiceOnly, t.Unknown
	list := t.Candidates(o)
	k.Estimate = float64(list[0].Work) / 1e6
	for _, c := range list[1:] {
		k.Choice = choiceEstimate
		k.Rivals = append(k.Rivals, Rival{c.Name, float64(c.Work) / 1e6})
	}
	if t.Chosen {
		k.Choice = choiceBank
	}
}

// candidates lists all of a task in one line, its own first.
func (k *KernelTask) candidates() string {
	if len(k.Rivals) == 0 && k.Unknown == "" {
		return ""
	}
	row, _, _ := strings.Cut(k.Candidate, " ")
	text := fmt.Sprintf("%s %.3g", k.Candidate, k.Estimate)
	for _, r := range k.Rivals {
		text += fmt.Sprintf("; %s %.3g", strings.TrimPrefix(r.Name, row+" "), r.Estimate)
	}
	if k.Unknown != "" {
		text += fmt.Sprintf("; the bank names %.60q, which is none", k.Unknown)
	}
	return text
}

// limits are what the machine can do, each measured when it is first asked for.
type limits struct {
	level   isa.Level // that kernels may use
	threads int
	flops   map[string]float64 // peaks in GFLOP/s by precision
	copies  sizedRates         // in GB/s, read and written bytes together
	reads   sizedRates
}

func newLimits(level isa.Level, threads int) *limits {
	return &limits{level: level, threads: threads, flops: map[string]float64{}, copies: sizedRates{}, reads: sizedRates{}}
}

// sizedRates are rates by how many bytes lie side by side, powers of two.
type sizedRates map[int64]float64

// peakShares are the peaks of dtypes beside that of the precision that is measured for
// them: f16 is computed in f32, and f64 in registers that hold half as many.
var peakShares = map[string]struct {
	of    string
	share float64
}{
	"f32": {"f32", 1}, "f16": {"f32", 1}, "f64": {"f32", 0.5}, "bf16": {"bf16", 1}, "i8": {"int8", 1}, "u8": {"int8", 1},
}

// peakOf is the peak of a dtype; 0 if there is none to compare with.
func (l *limits) peakOf(dtype string) float64 {
	p := peakShares[dtype]
	if p.share > 0 && l.flops[p.of] == 0 {
		l.flops[p.of] = peakOf(l.level, l.threads, p.of)
	}
	return p.share * l.flops[p.of]
}

const (
	// leastMoved and mostMoved bound the sizes at which copies and reads are measured.
	leastMoved = 4 << 10
	mostMoved  = 128 << 20
)

// memory is how many milliseconds it takes at least to read and write so many bytes: what
// is written takes as long as a copy from as much that is read, and the rest of what is
// read as long as reading.
func (l *limits) memory(read, written int64) float64 {
	all := read + written
	copied := 2 * min(read, written)
	if written > read {
		copied = all
	}
	took := float64(copied) / 1e6 / l.rate(l.copies, all, copyRate)
	if copied < all {
		took += float64(all-copied) / 1e6 / l.rate(l.reads, all, readRate)
	}
	return took
}

// rate is one of rates for so many bytes, measured if it is not known yet.
func (l *limits) rate(known sizedRates, bytes int64, measure func(bytes int64, threads int) float64) float64 {
	size := int64(leastMoved)
	for size < min(bytes, mostMoved) {
		size *= 2
	}
	if _, ok := known[size]; !ok {
		// Small ones are no work for several.
		threads := l.threads
		if size < int64(threads)*leastMoved {
			threads = 1
		}
		known[size] = measure(size, threads)
	}
	return known[size]
}

// Text prints the report as a table. What kernels said that did not take a task, and
// the candidates of tasks that have several, stand below, by the number in brackets.
func (r *KernelReport) Text() string {
	var reasons, rivals notes
	table := align("lllrrrrrlll", func(row func(...string)) {
		row("task", "operators", "kernel", "times", "ms", "run", "rate", "of limit", "limit", "choice", "why")
		for i := range r.Tasks {
			k := &r.Tasks[i]
			choice := ""
			if list := k.candidates(); list != "" {
				choice = k.Choice + " " + rivals.add("(%d)", list)
			}
			row(append(k.cells(), choice, reasons.add("[%d]", k.Why))...)
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%.4g ms a run%s, mean of %s; %s, %.4g GFLOP/s f32 at most%s\n%s", r.RunMs, withSizes(r.Dims), counted(r.Runs, "run"), counted(r.Threads, "thread"), r.PeakGFlops, r.planned(), table)
	rivals.print(&b, "candidates, the chosen one first, and their estimates on one thread in ms", "  (%d) %s\n")
	reasons.print(&b, "kernels that did not take the task", "  [%d] %s\n")
	return b.String()
}

// planned says for what the tasks were planned, if that is not what runs them.
func (r *KernelReport) planned() string {
	if r.Device == "cpu" {
		return ""
	}
	return "; planned for " + r.Device + ", measured on this processor"
}

// withSizes says for which sizes of symbolic dimensions something was measured: " with
// B=8 S=128"; nothing where there are none.
func withSizes(dims map[string]int64) string {
	if len(dims) == 0 {
		return ""
	}
	return " with " + strings.TrimSpace(envKey(dims))
}

// notes are texts that a table has the numbers of.
type notes []string

// add returns a text's number in a form; nothing for none.
func (n *notes) add(form, text string) string {
	if text == "" {
		return ""
	}
	i := slices.Index(*n, text)
	if i < 0 {
		i, *n = len(*n), append(*n, text)
	}
	return fmt.Sprintf(form, i+1)
}

func (n notes) print(b *strings.Builder, title, form string) {
	if n != nil {
		b.WriteString("\n" + title + "\n")
	}
	for i, text := range n {
		fmt.Fprintf(b, form, i+1, text)
	}
}

// cells are those of a task in the table.
func (k *KernelTask) cells() []string {
	kernel := k.Kernel
	switch {
	case k.Kind != "":
		kernel += " (" + k.Kind + ")"
	case k.Why != "":
		kernel = "by operators"
	}
	cells := []string{k.Name, k.operators(), kernel, fmt.Sprintf("%.4g", k.Times), fmt.Sprintf("%.4f", k.Ms), fmt.Sprintf("%.1f %%", 100*k.RunShare), "", "", ""}
	if k.Limit == "" {
		return cells
	}
	value, unit := k.GBytes, "GB/s"
	if k.Limit == "compute" {
		value, unit = k.GFlops, "GFLOP/s"
	}
	cells[6], cells[7] = fmt.Sprintf("%.1f %s", value, unit), fmt.Sprintf("%.0f %%", 100*k.Share)
	cells[8] = fmt.Sprintf("%s, %.0f %s", k.Limit, k.LimitRate, unit)
	return cells
}

// shownOps is how many operators of a region stand in the table.
const shownOps = 4

// operators are the names of a task's operators, equal neighbours as one.
func (k *KernelTask) operators() string {
	var words []string
	last, times := "", 0
	flush := func() {
		if times > 1 {
			last = fmt.Sprintf("%d %s", times, last)
		}
		if times > 0 {
			words = append(words, last)
		}
	}
	for _, op := range k.Ops {
		if op != last {
			flush()
			last, times = op, 0
		}
		times++
	}
	flush()
	if rest := len(words) - shownOps; rest > 0 {
		words = append(words[:shownOps], fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(words, ", ")
}
