package npu

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/lang/syntax"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/passes"
)

// A Stage is a form that a program has on its way, and that can be shown.
type Stage struct {
	Name string
	Doc  string
	// Formats are the languages of pictures in which the stage can be drawn; none: it
	// is text only.
	Formats []PictureFormat
	show    func(*compilation) (string, error)
}

// Stages lists what Emit can show, in the order of the road.
var Stages = []Stage{
	{"ast", "the syntax tree of a script", nil, (*compilation).showTree},
	{"ir", "the graph as the front end made it", nil, (*compilation).showIR},
	{"opt", "the graph after simplification", nil, (*compilation).showOptimised},
	{"precision", "the products of the graph, the dtype of each and why", nil, (*compilation).showPrecision},
	{"fused", "the graph after fusion", nil, (*compilation).showFused},
	{"tasks", "the tasks, their units and what each waits for", nil, showPlan((*lower.Plan).WriteTasks)},
	{"memory", "where each value lies, and when", []PictureFormat{SVG}, (*compilation).showMemory},
	{"streams", "the order of each stream, with its events", nil, showPlan((*lower.Plan).WriteStreams)},
	{"bytecode", "the program that the virtual machine runs", nil, (*compilation).showBytecode},
	{"graph", "the graph after fusion as a picture", PictureFormats, (*compilation).showPicture},
}

// StageNames lists the names of the stages.
func StageNames() []string {
	names := make([]string, len(Stages))
	for i, s := range Stages {
		names[i] = s.Name
	}
	return names
}

// PassNames lists the passes in the order in which they run.
func PassNames() []string { return passes.Names() }

// CheckStage reports an unknown stage, with what comes near.
func CheckStage(name string) error {
	_, err := findStage(name)
	return err
}

func findStage(name string) (*Stage, error) {
	for i := range Stages {
		if Stages[i].Name == name {
			return &Stages[i], nil
		}
	}
	return nil, unknown("stage", name, StageNames())
}

// Emit shows a stage of a program as text. It needs no weights. Where sizes
// need numbers, symbols are taken from Options.Dims or MaxDims, else as 64.
func Emit(src Source, stage string, opts Options) (string, Diagnostics, error) {
	s, err := findStage(stage)
	if err != nil {
		return "", nil, err
	}
	if stage == "ast" {
		text, err := emitTree(src)
		return text, nil, err
	}
	c, err := load(src, opts)
	if err != nil {
		return "", nil, err
	}
	defer c.close()
	text, err := s.show(c)
	return text, c.warnings, err
}

// emitTree needs syntax only: a script that does not check has a tree too.
func emitTree(src Source) (string, error) {
	t, err := src.open()
	if err != nil {
		return "", asDiagnostics(err)
	}
	return (&compilation{text: t}).showTree()
}

func (c *compilation) showTree() (string, error) {
	if c.text.content == "" && (c.text.file != nil || c.text.graph != nil) || c.text.isIR() {
		return "", Diagnostics{{Code: "wrong-arguments", Subject: c.text.name, Message: "only a script has a syntax tree"}}
	}
	file, ds := syntax.Parse(c.text.source())
	if err := ds.Err(); err != nil {
		return "", err
	}
	return syntax.Print(file), nil
}

// showIR prints every graph, or the one that was asked for.
func (c *compilation) showIR() (string, error) {
	return c.showFuncs(func(f *ir.Func) (*ir.Func, error) { return f, nil })
}

// showOptimised shows the graph before the pass fuse.
func (c *compilation) showOptimised() (string, error) {
	before := *c
	before.opts.Level = min(c.opts.level(), O1)
	if i := slices.Index(c.opts.Passes, "fuse"); i >= 0 {
		before.opts.Passes = c.opts.Passes[:i]
	}
	return before.showFused()
}

func (c *compilation) showFused() (string, error) {
	if err := c.checkDims(); err != nil {
		return "", err
	}
	return c.showFuncs(func(f *ir.Func) (*ir.Func, error) {
		o, err := c.optimise(f)
		if err != nil {
			return nil, err
		}
		return o.fn, nil
	})
}

func (c *compilation) showFuncs(step func(*ir.Func) (*ir.Func, error)) (string, error) {
	return c.showEach(func(w io.Writer, f *ir.Func) error {
		f, err := step(f)
		if err != nil {
			return err
		}
		return ir.Print(w, f, ir.PrintOptions{Locs: c.opts.Locations, Elide: c.opts.Elide})
	})
}

// showEach shows every graph, or the one that was asked for.
func (c *compilation) showEach(show func(io.Writer, *ir.Func) error) (string, error) {
	graphs := c.graphs
	if c.opts.Graph != "" || len(graphs) == 0 {
		g, err := c.pick()
		if err != nil {
			return "", err
		}
		graphs = []*lang.Graph{g}
	}
	var b strings.Builder
	for i, g := range graphs {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := show(&b, g.Func); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// showPlan lowers the chosen graph and prints one of the plan's listings.
func showPlan(write func(*lower.Plan, io.Writer) error) func(*compilation) (string, error) {
	return func(c *compilation) (string, error) {
		plan, err := c.plan()
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = write(plan, &b)
		return b.String(), err
	}
}

// showMemory is the listing, or a picture.
func (c *compilation) showMemory() (string, error) {
	switch c.opts.Format {
	case "":
		return showPlan((*lower.Plan).WriteMemory)(c)
	case SVG:
		return showPlan((*lower.Plan).WriteMemorySVG)(c)
	}
	return "", Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("unknown format %q of memory", c.opts.Format),
		Helps: []string{"it is drawn as svg"}}}
}

func (c *compilation) showBytecode() (string, error) {
	plan, err := c.plan()
	if err != nil {
		return "", err
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		return "", err
	}
	if err := bytecode.Verify(p); err != nil {
		return "", err
	}
	var b strings.Builder
	err = bytecode.Print(&b, p, bytecode.PrintOptions{Elide: c.opts.Elide})
	return b.String(), err
}

// plan lowers the chosen graph for the sizes of listings.
func (c *compilation) plan() (*lower.Plan, error) {
	g, err := c.pick()
	if err != nil {
		return nil, err
	}
	o, err := c.optimise(g.Func)
	if err != nil {
		return nil, err
	}
	f := o.fn
	env, err := listingEnv(f, &c.opts)
	if err != nil {
		return nil, err
	}
	most, err := c.opts.bound(f)
	if err != nil {
		return nil, err
	}
	plan, err := c.opts.lowerWithin(f, env, most, nil)
	if err != nil {
		return nil, runError(err)
	}
	return plan, nil
}

// listingSize is what a symbol is taken as where nothing binds it.
const listingSize = 64

// listingEnv binds every symbol of a graph. A name that is no symbol of it is
// an error.
func listingEnv(f *ir.Func, opts *Options) (ir.Env, error) {
	dims := opts.sizes()
	if err := checkDims(dims, f); err != nil {
		return nil, err
	}
	env := ir.Env{}
	for _, s := range symbolsOf(f) {
		env[s] = listingSize
	}
	maps.Copy(env, dims)
	return env, opts.checkBounds(f.Name, env)
}

// checkDims refuses sizes of what is no symbolic dimension of any of the graphs.
func checkDims(dims map[string]int64, graphs ...*ir.Func) error {
	if len(dims) == 0 {
		return nil
	}
	names := symbolsOf(graphs...)
	for _, name := range sortedKeys(dims) {
		if slices.Contains(names, name) {
			continue
		}
		d := &Diagnostic{Code: "unknown-name", Message: "there is no symbolic dimension " + name}
		if len(graphs) == 1 {
			d.Subject, d.Message = graphs[0].Name, "the graph has no symbolic dimension "+name
		}
		suggest(d, name, names)
		return Diagnostics{d}
	}
	return nil
}

// symbolsOf lists the symbolic dimensions of the inputs of graphs.
func symbolsOf(graphs ...*ir.Func) []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range graphs {
		for _, p := range f.Params {
			for _, d := range p.Type.Shape {
				d.Symbols(func(s string) {
					if !seen[s] {
						seen[s] = true
						names = append(names, s)
					}
				})
			}
		}
	}
	return names
}

// checkDims refuses sizes of what is a symbolic dimension of no graph of the
// program.
func (c *compilation) checkDims() error {
	return checkDims(c.opts.sizes(), c.funcs()...)
}

// funcs are the functions of the graphs.
func (c *compilation) funcs() []*ir.Func {
	funcs := make([]*ir.Func, len(c.graphs))
	for i, g := range c.graphs {
		funcs[i] = g.Func
	}
	return funcs
}
