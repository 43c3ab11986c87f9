package npu

import (
	"cmp"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/passes"
)

// TrialOptions say how Bisect, Shrink and Compare run a program. They ask what the
// compiler changes, so that Kernels is KernelsReference where it is empty.
type TrialOptions struct {
	Options
	// Inputs are values of inputs as ReadInputs takes them; those that are left
	// out have their defaults, or are random, from Options.Seed.
	Inputs map[string]string
	// Tolerance is how far results may be off, as rules state it, relative to the
	// largest element: of f32, and in other float dtypes as many of their roundings.
	// 0: not a bit, but for what rules with a tolerance of their own allow.
	Tolerance float64
	// Exact asks for equal bits: no tolerance counts, neither Tolerance nor that of a rule.
	Exact bool
}

// within is how far results may be off where the rules that were applied allow so much.
func (o *TrialOptions) within(rules ...float64) float64 {
	if o.Exact {
		return 0
	}
	return max(slices.Max(rules), o.Tolerance)
}

// A trial is one graph with weights and inputs at hand, to be compiled and run
// in several ways.
type trial struct {
	c      *compilation
	graph  *lang.Graph
	base   *Program // the graph as the front end made it, with the weights
	args   []*Tensor
	limits TrialOptions
}

// newTrial loads a program. Where there are no weights they are made up.
func newTrial(src Source, opts TrialOptions) (*trial, error) {
	c, err := load(src, opts.Options)
	if err != nil {
		return nil, err
	}
	t, err := c.trial(opts)
	if err != nil {
		c.close()
		return nil, asDiagnostics(err)
	}
	return t, nil
}

func (c *compilation) trial(opts TrialOptions) (*trial, error) {
	c.opts.Kernels = cmp.Or(c.opts.Kernels, KernelsReference)
	g, err := c.pick()
	if err == nil {
		err = checkDims(c.opts.MaxDims, g.Func)
	}
	if err != nil {
		return nil, err
	}
	if c.opts.Weights == nil && c.text.file == nil && (c.unit == nil || c.unit.Weights == "") {
		c.opts.RandomWeights = true
	}
	plain := *c
	plain.keepSources = true
	plain.opts.Passes, plain.opts.After = []string{}, "" // nothing that a pass refuses is in the way
	base, err := plain.build(g)
	if err != nil {
		return nil, err
	}
	t := &trial{c: c, graph: g, base: base, limits: opts}
	if t.args, err = t.arguments(opts); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// arguments makes the values of the inputs.
func (t *trial) arguments(opts TrialOptions) ([]*Tensor, error) {
	given := map[string]string{}
	for _, port := range t.base.Inputs() {
		if !port.Optional {
			given[port.Name] = "random"
		}
	}
	for name, value := range opts.Inputs {
		given[name] = value
	}
	inputs, err := t.base.ReadInputs(given, InputOptions{Seed: opts.Seed, Dims: opts.Dims})
	if err != nil {
		return nil, err
	}
	return t.base.arguments(inputs)
}

func (t *trial) close() { t.base.Close() }

// compile optimises the graph with the options of the trial and so many
// rewrites; fuel is that of Options.
func (t *trial) compile(fuel int) (*optimised, error) {
	c := *t.c
	c.opts.Fuel, c.opts.Verify = fuel, true
	return c.optimise(t.graph.Func)
}

// run computes an optimised graph on the machine, with the trial's weights and
// inputs.
func (t *trial) run(o *optimised) ([]*Tensor, error) {
	out, err := t.base.of(o).runOnce(t.args)
	return out, runError(err)
}

// of is a program of another function with the same weights. It holds nothing
// but its plans.
func (p *Program) of(o *optimised) *Program {
	q := &Program{held: p.held, fn: o.fn, within: o.within, record: o.record, defaults: p.defaults, read: p.read, weights: p.weights, opts: p.opts, script: p.script, bank: p.bank}
	q.plans.memory.Limit = p.opts.MaxMemory
	return q
}

// expected is what the interpreter makes of the graph as the front end made it.
// An operator that no result needs is left out there too, with its error.
func (t *trial) expected() ([]*Tensor, error) {
	f, err := t.written()
	if err != nil {
		return nil, err
	}
	if want, err := t.base.interpret(f, t.args); err == nil {
		return want, nil
	}
	return t.base.interpretLive(f, t.args)
}

// written is the graph as the front end made it, but for products that are to be
// computed in other dtypes.
func (t *trial) written() (*ir.Func, error) {
	f, _ := t.graph.Func.Clone()
	_, err := passes.Run(f, passes.Options{Passes: []string{"precision"}, Precision: t.c.precision()})
	return f, err
}

// refuses reports whether the interpreter refuses an optimised graph, too.
func (t *trial) refuses(o *optimised) bool {
	_, err := t.base.interpret(o.fn, t.args)
	return err != nil
}

// compare says which result differs from what is expected; nil: none.
func (t *trial) compare(f *ir.Func, got, want []*Tensor, within float64) error {
	return firstDifference(f, got, want, t.limits.within(within))
}
