package npu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel/bank"
)

// A Program is a compiled graph with its weights. It serves every size of its
// symbolic dimensions: a plan is made for each binding when it is first met,
// and kept. A Program is safe for concurrent use.
type Program struct {
	fn       *ir.Func // optimised
	within   float64  // how far its results may be off from the source's; 0: not a bit
	record   *Record  // of how it was optimised; nil: it was loaded compiled
	defaults []*lang.Default
	read     func(path string) ([]byte, error)
	weights  map[string]*Tensor // by parameter path
	opts     Options
	script   *diag.Source // whose lines errors of a run show; nil: there is none
	warnings Diagnostics
	compiled *bytecode.Program // of a compiled file without symbolic dimensions
	bank     *bank.Bank        // by which kernels are chosen; may be nil
	plans    planCache
	held     heldWeights
	known    lower.Known // of fn
	most     bounded

	keepSources bool      // weights stay of which others have been made
	making      sync.Once // of made and madeErr, where nobody has called makeWeights
	made        map[string]*Tensor
	madeErr     error

	mu      sync.Mutex
	release []func() error // what Close gives back, last first
}

// A Port is an input or a result of a program.
type Port struct {
	Name string
	Type Type // may be symbolic
	// Optional is set for an input that has a default.
	Optional bool
}

// program finishes a compilation: passes, weights.
func (c *compilation) program() (*Program, error) {
	g, err := c.pick()
	if err == nil {
		err = checkDims(c.opts.MaxDims, g.Func)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	p, err := c.build(g)
	if err != nil {
		c.close()
		return nil, asDiagnostics(err)
	}
	return p, nil
}

// build makes the program of a graph. What fails holds no weights open.
func (c *compilation) build(g *lang.Graph) (*Program, error) {
	p := &Program{defaults: g.Defaults, read: c.text.read, opts: c.opts, warnings: c.warnings, keepSources: c.keepSources}
	if c.opts.MaxMemory == 0 {
		p.opts.MaxMemory = defaultMemory()
	}
	p.script = c.script()
	p.plans.memory.Limit = p.opts.MaxMemory
	err := p.bindWeights(c, g.Func)
	if err == nil {
		err = p.take(c, g.Func)
	}
	if err == nil {
		err = p.makeWeights()
	}
	if err == nil {
		_, err = p.bound()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	var unused *Diagnostic
	if p.bank, unused = p.opts.readBank(); unused != nil {
		p.warnings = append(slices.Clip(p.warnings), unused)
	}
	p.release = append(p.release, func() error { c.close(); return nil })
	return p, nil
}

// take sets the program's function: of a compiled file as it stands, with its
// bytecode and defaults, else optimised.
func (p *Program) take(c *compilation, f *ir.Func) error {
	if c.text.file == nil {
		before := c.warnings
		o, err := c.optimise(f)
		if err != nil {
			return err
		}
		p.fn, p.within, p.record = o.fn, o.within, o.record
		p.warnings = append(p.warnings, c.warnings[len(before):]...)
		return excerpt(p.script, runError(lower.Check(p.fn, p.opts.lowering())))
	}
	p.fn = f
	if !c.replanned {
		p.compiled = c.text.file.Program
	}
	p.defaults = savedDefaults(c.text.file, f)
	return nil
}

// Warnings returns what the compiler noticed and did not refuse.
func (p *Program) Warnings() Diagnostics { return p.warnings }

// Name is the name of the graph.
func (p *Program) Name() string { return p.fn.Name }

// Record tells how the graph was optimised; nil for a compiled file, whose graph
// was optimised when it was built.
func (p *Program) Record() *Record { return p.record }

// FusionStatus tells of every fusion rule whether it is enabled, and what it did;
// nil for a compiled file.
func (p *Program) FusionStatus() []FusionStatus {
	if p.record == nil {
		return nil
	}
	return p.record.Fusions
}

// Inputs lists the parameters of the graph in their order.
func (p *Program) Inputs() []Port {
	ports := make([]Port, len(p.fn.Params))
	for i, v := range p.fn.Params {
		ports[i] = Port{v.Name, v.Type, p.defaultOf(i) != nil}
	}
	return ports
}

// Outputs lists the results of the graph in their order.
func (p *Program) Outputs() []Port {
	ports := make([]Port, len(p.fn.Results))
	for i, v := range p.fn.Results {
		ports[i] = Port{Name: p.fn.ResultName(i), Type: v.Type}
	}
	return ports
}

// Run computes the graph. An input that is not given takes its default; results
// are new tensors, by name. The error is a Diagnostics, or the context's when
// that ended the run; a nil context never does.
func (p *Program) Run(ctx context.Context, inputs map[string]*Tensor) (map[string]*Tensor, error) {
	// Defaults may lie in a file that Close gives back.
	if err := p.plans.begin(); err != nil {
		return nil, err
	}
	defer p.plans.users.Done()
	args, err := p.arguments(inputs)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	results, err := p.run(endless(ctx), args)
	if err != nil {
		return nil, excerpt(p.script, runError(err))
	}
	out := make(map[string]*Tensor, len(results))
	for i, r := range results {
		out[p.fn.ResultName(i)] = r
	}
	return out, nil
}

// run computes the graph of arguments in order.
func (p *Program) run(ctx context.Context, args []*Tensor) ([]*Tensor, error) {
	e, err := p.plans.acquire(ctx, p, args)
	if err != nil {
		return nil, err
	}
	defer p.plans.leave(e)
	return e.machine.Run(ctx, args)
}

// arguments puts the inputs in order and adds defaults.
func (p *Program) arguments(inputs map[string]*Tensor) ([]*Tensor, error) {
	if err := p.checkNames(inputs); err != nil {
		return nil, err
	}
	args := make([]*Tensor, len(p.fn.Params))
	var missing []string
	for i, v := range p.fn.Params {
		t, given := inputs[v.Name]
		if given && t == nil {
			return nil, Diagnostics{{Code: "bad-input", Subject: v.Name, Message: "the tensor is nil",
				Helps: []string{"an input that is to have its default is left out of the map"}}}
		}
		if t == nil {
			var err error
			if t, err = p.defaultValue(i); err != nil {
				return nil, err
			}
		}
		if t == nil {
			missing = append(missing, v.Name+": "+v.Type.String())
			continue
		}
		if err := checkTensor(v.Name, t); err != nil {
			return nil, err
		}
		args[i] = t
	}
	if missing != nil {
		return nil, Diagnostics{{Code: "bad-input", Subject: p.fn.Name,
			Message: "no value is given for " + strings.Join(missing, ", "),
			Helps:   []string{"give each with --input NAME=VALUE (a literal, a .npy file or random), or in the map of Program.Run"}}}
	}
	return args, nil
}

// defaultOf is what input i is when none is given, or nil.
func (p *Program) defaultOf(i int) *lang.Default {
	if i < len(p.defaults) {
		return p.defaults[i]
	}
	return nil
}

// defaultValue makes the value of input i when none is given; nil if it has no
// default.
func (p *Program) defaultValue(i int) (*Tensor, error) {
	d, v := p.defaultOf(i), p.fn.Params[i]
	if d == nil {
		return nil, nil
	}
	if need, _ := d.Type.Bytes().Const(); d.Init != "" && need > p.opts.MaxMemory {
		return nil, Diagnostics{{Code: "limit", Subject: v.Name, Loc: v.Pos,
			Message: fmt.Sprintf("the default, %s, needs %d bytes, and the limit is %d", d.Type, need, p.opts.MaxMemory),
			Helps:   []string{"allow more with --max-memory, or give the input"}}}
	}
	t, err := d.Tensor(p.opts.Seed, p.read)
	if err != nil {
		return nil, Diagnostics{{Code: "bad-file", Subject: v.Name, Message: err.Error(), Loc: v.Pos}}
	}
	return t, nil
}

// checkNames refuses a name that no input has.
func (p *Program) checkNames(inputs map[string]*Tensor) error {
	known := 0
	for _, v := range p.fn.Params {
		if _, given := inputs[v.Name]; given {
			known++
		}
	}
	if known == len(inputs) {
		return nil
	}
	var names []string
	for _, v := range p.fn.Params {
		names = append(names, v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if !slices.Contains(names, name) {
			return p.unknownInput(name, names)
		}
	}
	return nil
}

func (p *Program) unknownInput(name string, names []string) error {
	d := &Diagnostic{Code: "bad-input", Subject: p.fn.Name, Message: "the graph has no input " + name}
	suggest(d, name, names)
	return Diagnostics{d}
}

// checkTensor refuses a tensor that a Go program put together wrongly.
func checkTensor(name string, t *Tensor) error {
	n, ok := tensor.Elements(t.Shape)
	if !ok || t.DType.Kind() == tensor.None || len(t.Data) != n*t.DType.Size() {
		return Diagnostics{{Code: "bad-input", Subject: name, Message: fmt.Sprintf("the tensor is damaged: dtype %v, shape %v, %d bytes", t.DType, t.Shape, len(t.Data))}}
	}
	return nil
}

// RunMemory is what the runs of a program hold at one moment, in bytes; its field
// Arenas, a MemoryInfo, tells of the pool that their arenas come from.
type RunMemory = vm.MemoryInfo

// MemoryInfo tells what the program's runs hold now: those under way, and the
// arenas that wait for the next.
func (p *Program) MemoryInfo() RunMemory { return p.plans.memory.Info() }

// Close frees what the program holds; runs that are under way end first. The
// program cannot be used afterwards.
func (p *Program) Close() error {
	p.plans.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	var first error
	for len(p.release) > 0 {
		last := len(p.release) - 1
		if err := p.release[last](); err != nil && first == nil {
			first = err
		}
		p.release = p.release[:last]
	}
	return first
}
