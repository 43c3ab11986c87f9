package npu

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
	"github.com/npulang/npu/vm"
)

// CrossCheck proves one program against itself: the IR of the chosen graph is
// verified, printed and parsed back, and run on seeded inputs twice, unoptimised
// by the reference interpreter and compiled on the virtual machine. It returns
// what differs: not a bit may, but for the tolerance of rules that state one.
// Parameters without values are made up from the seed. Where products are computed
// in other dtypes than the graph writes, the interpreter runs the optimised graph.
//
// Then it is planned anew with the planner's options of each of plans (Mapping,
// Streams, StreamStrategy, MemoryMode, Align, Keep, PlanEffort, MaxDims), and run
// once more by several workers, with memory that is not in use full of NaN: what a
// program computes depends on no plan, not even by a bit.
func CrossCheck(src Source, opts Options, seed uint64, plans ...Options) error {
	c, err := load(src, opts)
	if err != nil {
		return err
	}
	c.opts.Verify, c.keepSources = true, true
	c.opts.Kernels = KernelsReference
	g, err := c.pick()
	if err != nil {
		return err
	}
	if err := roundTrip(g.Func); err != nil {
		return err
	}
	if c.text.file == nil && opts.Weights == nil {
		c.opts.RandomWeights, c.opts.Seed = true, seed
	}
	p, err := c.program()
	if err != nil {
		return err
	}
	defer p.Close()
	args, err := p.seededArguments(opts.Dims, seed)
	if err != nil {
		return err
	}
	got, gotErr := p.run(context.Background(), args)
	f := g.Func
	if p.lowered() {
		f = p.fn
	}
	if err := p.checkResults(f, args, got, gotErr); err != nil {
		return err
	}
	if err := p.comparePlans(args, got, gotErr, plans); err != nil {
		return err
	}
	return p.checkOtherKernels(args, plans...)
}

// lowered reports whether products of the program are computed in another dtype than
// the graph writes. What is written says little about its results then.
func (p *Program) lowered() bool {
	return p.record != nil && slices.ContainsFunc(p.record.Products, func(s ProductStatus) bool { return s.From != s.To })
}

// checkOtherKernels is checkKernels for fast and for generic ones.
func (p *Program) checkOtherKernels(args []*Tensor, plans ...Options) error {
	_, err := p.of(&optimised{p.fn, p.within, p.record}).runOnce(args)
	for _, kernels := range []Kernels{KernelsFast, KernelsGeneric} {
		if err := p.checkKernels(kernels, args, err, plans); err != nil {
			return fmt.Errorf("%s kernels: %w", kernels, err)
		}
	}
	return nil
}

// checkKernels runs a program by other kernels than the reference, each of which
// is held against the operators' evaluations, and then as plans say, whose results
// are the same.
func (p *Program) checkKernels(kernels Kernels, args []*Tensor, wantErr error, plans []Options) error {
	q := p.of(&optimised{p.fn, p.within, p.record})
	q.opts.Kernels = kernels
	q.plans.check = func(d vm.Difference) error {
		if differ := d.Difference(); differ != nil {
			return d
		}
		return nil
	}
	if _, err := q.runOnce(args); (err == nil) != (wantErr == nil) {
		return fmt.Errorf("a checked run ends with %v, that of the reference with %v", err, wantErr)
	}
	r := p.of(&optimised{p.fn, p.within, p.record})
	r.opts.Kernels = kernels
	got, gotErr := r.runOnce(args)
	if (gotErr == nil) != (wantErr == nil) {
		return fmt.Errorf("the run ends with %v, that of the reference with %v", gotErr, wantErr)
	}
	return r.comparePlans(args, got, gotErr, plans)
}

// comparePlans holds what the program computes against what it does in other plans.
func (p *Program) comparePlans(args, want []*Tensor, wantErr error, plans []Options) error {
	for _, plan := range plans {
		got, err := p.replanned(&plan).runOnce(args)
		switch {
		case (err == nil) != (wantErr == nil):
			return fmt.Errorf("the plan %s ends with %v, the program's with %v", plan.planning(), err, wantErr)
		case err != nil:
			continue // both refuse
		}
		if err := firstDifference(p.fn, got, want, 0); err != nil {
			return fmt.Errorf("the plan %s computes something else: %w", plan.planning(), err)
		}
	}
	return nil
}

// replanned is the program with the planner's options of others. It holds
// nothing but its plans.
func (p *Program) replanned(o *Options) *Program {
	q := p.of(&optimised{p.fn, p.within, p.record})
	q.opts.Mapping, q.opts.Streams, q.opts.StreamStrategy = o.Mapping, o.Streams, o.StreamStrategy
	q.opts.MemoryMode, q.opts.Align, q.opts.Keep = o.MemoryMode, o.Align, o.Keep
	q.opts.PlanEffort, q.opts.MaxDims = o.PlanEffort, o.MaxDims
	q.plans.poison, q.plans.workers = true, vm.NewWorkers(checkWorkers)
	return q
}

// checkWorkers is more than one worker even where there is one processor.
const checkWorkers = 3

// runOnce runs a program that holds nothing but its plans.
func (p *Program) runOnce(args []*Tensor) ([]*Tensor, error) {
	defer p.plans.close()
	return p.run(context.Background(), args)
}

// roundTrip checks that the text form of a function parses back to the same.
func roundTrip(f *ir.Func) error {
	if err := ir.Verify(f); err != nil {
		return err
	}
	text := f.String()
	again, ds := ir.ParseFuncs(diag.NewSource("printed", text))
	if err := ds.Err(); err != nil {
		return fmt.Errorf("the printed IR does not parse: %w", err)
	}
	if got := again[0].String(); got != text {
		return fmt.Errorf("the printed IR parses to another function:\n%s\nis read as\n%s", text, got)
	}
	return nil
}

// seededArguments makes a random value for every input, of the first sizes of those that
// are tried that make few elements.
func (p *Program) seededArguments(dims map[string]int64, seed uint64) ([]*Tensor, error) {
	size := int64(listingSize)
	for size > leastCrossSize && p.inputElements(p.crossSizes(dims, size)) > mostCrossElements {
		size /= 2
	}
	env := p.crossSizes(dims, size)
	var args []*Tensor
	for _, port := range p.Inputs() {
		t, err := p.randomInput(port, env, seed)
		if err != nil {
			return nil, err
		}
		args = append(args, t)
	}
	return args, nil
}

// A cross check computes everything a dozen times, mostly by the reference. So symbols that
// nothing binds are smaller than in listings where inputs have many of them, down to
// leastCrossSize: as long as the inputs have more than mostCrossElements together. Those
// are enough to be computed in parts.
const (
	leastCrossSize    = 8
	mostCrossElements = 1 << 14
)

// crossSizes are sizes of all symbols of the inputs: those given, and at most most for others.
func (p *Program) crossSizes(dims map[string]int64, most int64) ir.Env {
	env := ir.Env{}
	maps.Copy(env, dims)
	for _, port := range p.Inputs() {
		for _, d := range port.Type.Shape {
			d.Symbols(func(s string) {
				if _, ok := env[s]; !ok {
					env[s] = min(most, p.opts.randomSize(s))
				}
			})
		}
	}
	return env
}

// inputElements counts those of all inputs; of a type that the sizes don't fit, none.
func (p *Program) inputElements(env ir.Env) (sum int64) {
	for _, port := range p.Inputs() {
		if t, err := port.Type.Bind(env); err == nil {
			n, _ := t.Elements().Const()
			sum += n
		}
	}
	return sum
}

// compare runs f by the interpreter and p on the machine.
func (p *Program) compare(f *ir.Func, args []*Tensor) error {
	got, err := p.run(context.Background(), args)
	return p.checkResults(f, args, got, err)
}

// checkResults holds what the machine computed against the interpreter. An operator
// that no result needs may be left out, with the error that it would end in: where
// only the interpreter fails, it is asked again without such operators, and then
// about the optimised function, since a rewrite may have found that a result does
// not need them: x >= x of integers is true whatever x is.
func (p *Program) checkResults(f *ir.Func, args, got []*Tensor, gotErr error) error {
	want, wantErr := p.interpret(f, args)
	if wantErr != nil && gotErr == nil {
		if want, wantErr = p.interpretLive(f, args); wantErr != nil {
			want, wantErr = p.interpret(p.fn, args)
		}
	}
	switch {
	case (wantErr == nil) != (gotErr == nil):
		return fmt.Errorf("the interpreter ends with %v, the machine with %v", wantErr, gotErr)
	case wantErr != nil:
		return nil // both refuse
	}
	within := p.within
	if f == p.fn {
		within = 0
	}
	if err := firstDifference(f, got, want, within); err != nil {
		return fmt.Errorf("machine and interpreter differ: %w", err)
	}
	return nil
}

// firstDifference says which result of f differs from what it should be, and
// where; nil: none does.
func firstDifference(f *ir.Func, got, want []*Tensor, within float64) error {
	for i := range want {
		if err := rewrite.Differ(got[i], want[i], within); err != nil {
			return fmt.Errorf("result %s: %w", f.ResultName(i), err)
		}
	}
	return nil
}

func (p *Program) interpret(f *ir.Func, args []*Tensor) ([]*Tensor, error) {
	interp := ir.Interp{Param: func(v *ir.Value) (*Tensor, error) { return p.weight(v.Key()) }}
	return interp.Run(p.withoutMade(f), args...)
}

// interpretLive is interpret without the operators that no result needs.
func (p *Program) interpretLive(f *ir.Func, args []*Tensor) ([]*Tensor, error) {
	live, _ := f.Clone()
	if _, err := passes.Run(live, passes.Options{Passes: []string{"drop-dead"}}); err != nil {
		return nil, err
	}
	return p.interpret(live, args)
}
