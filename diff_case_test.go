package npu

import (
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// A trialCase is a random graph with inputs, and options to compile it with.
type trialCase struct {
	f      *ir.Func
	inputs []*tensor.T
	opts   Options
	// tolerance is how far results may be off beyond what rules state.
	tolerance float64
}

// newTrialCase makes a case of a seed; nil: none has come about.
func newTrialCase(seed uint64, size int) *trialCase {
	r := rand.New(rand.NewPCG(seed, 9))
	opts := randomOptions(r)
	randomPlan(rand.New(rand.NewPCG(seed, 10)), &opts)
	c := &trialCase{opts: opts}
	switch r.IntN(4) {
	case 0:
		c.f, c.inputs = irtest.Func(r, size)
	case 1:
		c.f, c.inputs = irtest.FuncOf(r, size, idioms...)
	case 2:
		f, known := goldenIdiom(r), map[string]*tensor.T(nil)
		if rules := OwnRules(); r.IntN(2) == 0 {
			f, known = rules[r.IntN(len(rules))].Example(r, true)
		}
		if f != nil {
			return caseOf(nearly(r, f), known, opts, r)
		}
	default:
		f, known := idioms[r.IntN(len(idioms))](r)
		if f != nil && modest(f, nil) {
			c.f, c.inputs = f, irtest.Inputs(r, f, known)
		}
	}
	if c.f == nil {
		return nil
	}
	c.number()
	return c
}

// caseOf is a case of a function with its symbols, for some sizes; nil: they
// cannot be, or are large.
func caseOf(f *ir.Func, known map[string]*tensor.T, opts Options, r *rand.Rand) *trialCase {
	env := sizesFor(r, f)
	if !modest(f, env) {
		return nil
	}
	c := &trialCase{f: f, opts: opts}
	for _, p := range f.Params {
		t, err := p.Type.Bind(env)
		if err != nil || t.Check() != nil {
			return nil
		}
		c.inputs = append(c.inputs, irtest.Input(r, p.Name, t, known))
	}
	c.number()
	return c
}

// modest reports whether a function is soon interpreted.
func modest(f *ir.Func, env ir.Env) bool {
	for v := range f.All() {
		n, err := v.Type.Elements().Eval(env)
		if err == nil && n > 1<<14 {
			return false
		}
	}
	return true
}

// randomOptions are the defaults most of the time.
func randomOptions(r *rand.Rand) Options {
	o := Options{Level: O2, Verify: true}
	rare := func() bool { return r.IntN(8) == 0 }
	if rare() {
		o.Level = O1
	}
	if rare() {
		o.Fusion = FuseAll
	}
	if rare() {
		o.Fusion = FuseNone
	}
	if rare() {
		names := RuleNames()
		o.SetFusionMode(names[r.IntN(len(names))], false)
	}
	if rare() {
		devices := device.Devices()
		o.Device = devices[r.IntN(len(devices))]
	}
	switch {
	case rare():
		o.Passes = append([]string{"decompose"}, usualPasses()...)
	case rare():
		o.Passes = usualPasses()
		at := r.IntN(len(o.Passes))
		o.Passes = slices.Delete(o.Passes, at, at+1)
	}
	o.SaveMemory = rare()
	return o
}

// randomPlan asks for any plan: what is computed must not depend on it.
func randomPlan(r *rand.Rand, o *Options) {
	o.Mapping = Mappings[r.IntN(len(Mappings))]
	o.Streams = []int{0, 1, 4, 64}[r.IntN(4)]
	o.StreamStrategy = StreamStrategies[r.IntN(len(StreamStrategies))]
	o.MemoryMode = MemoryModes[r.IntN(len(MemoryModes))]
	o.Align = []int64{0, 32, 512}[r.IntN(3)]
}

// usualPasses are the passes of level O2.
func usualPasses() []string {
	return slices.DeleteFunc(PassNames(), func(name string) bool { return name == "decompose" })
}

// number gives every value a place of its own, that of its line: rewrites keep
// places, and tell by them what they have changed.
func (c *trialCase) number() {
	c.f, _ = c.f.Clone()
	for i, v := range c.f.Body {
		v.Pos = diag.Loc{File: "case", Line: i + 1, Col: 1}
	}
}
