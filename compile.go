package npu

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/passes/rewrite"
	"github.com/npulang/npu/stdlib"
)

// Compile turns a program into something that runs. The error of a mistake in
// the program, its weights or the options is a Diagnostics with every mistake
// that was found.
func Compile(src Source, opts Options) (*Program, error) {
	c, err := load(src, opts)
	if err != nil {
		return nil, err
	}
	return c.program()
}

// Check reports the mistakes and warnings of a program, all its graphs and
// tests; it needs no weights. It also takes a listing of bytecode, and says what is wrong
// with its text or what the verifier cannot prove of it.
func Check(src Source, opts Options) Diagnostics {
	t, err := src.open()
	if err != nil {
		return asDiagnostics(err)
	}
	if t.isListing() {
		return t.checkListing()
	}
	c, err := loadText(t, opts)
	if err != nil {
		return asDiagnostics(err)
	}
	defer c.close()
	if c.text.file != nil {
		// Opening left out what takes long.
		if err := c.text.file.Check(); err != nil {
			return asDiagnostics(inFile(c.text.name, err))
		}
	}
	if err := c.checkAll(); err != nil {
		return append(c.warnings, asDiagnostics(err)...)
	}
	return c.warnings
}

// A compilation is a program on its way through the compiler.
type compilation struct {
	opts     Options
	text     *text
	graphs   []*lang.Graph
	unit     *lang.Unit      // of a script
	own      []*rewrite.Rule // the script's rules
	unproved map[*Rule]bool  // rules that say safe and are not believed
	warnings Diagnostics
	// replanned is set for a compiled file whose plan is not the one that is wanted.
	replanned bool
	// keepSources is for those who run the graph as it was written, too: its weights
	// stay where others have been made of them.
	keepSources bool
}

// load reads a source up to the IR of its graphs. What fails holds nothing open.
func load(src Source, opts Options) (*compilation, error) {
	t, err := src.open()
	if err != nil {
		return nil, asDiagnostics(err)
	}
	return loadText(t, opts)
}

func loadText(t *text, opts Options) (*compilation, error) {
	if t.isListing() {
		return nil, t.notRun()
	}
	c := &compilation{opts: opts, text: t, unproved: map[*Rule]bool{}}
	err := c.opts.CheckPlanning()
	if err == nil {
		err = c.opts.CheckKernels()
	}
	if err == nil {
		err = c.opts.CheckPacking()
	}
	if err == nil {
		err = c.opts.CheckPrecision()
	}
	if err == nil && t.file != nil {
		if c.replanned, err = c.opts.replan(t.file); err == nil {
			err = c.opts.savedPrecision(t.file)
		}
		err = inFile(t.name, err)
	}
	if err == nil {
		err = c.read()
	}
	if err == nil && t.file == nil {
		err = c.believe()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// loadGraph is load with the choice of the graph. What fails holds nothing open.
func loadGraph(src Source, opts Options) (*compilation, *lang.Graph, error) {
	c, err := load(src, opts)
	if err != nil {
		return nil, nil, err
	}
	g, err := c.pick()
	if err == nil {
		err = c.checkDims()
	}
	if err != nil {
		c.close()
		return nil, nil, err
	}
	return c, g, nil
}

// read makes the IR of the graphs by the kind of the source.
func (c *compilation) read() error {
	switch t := c.text; {
	case t.file != nil:
		return c.parse(diag.NewSource(t.name, t.file.IR))
	case t.graph != nil:
		c.graphs = []*lang.Graph{{Name: t.name, Func: t.graph.finish()}}
		return nil
	case t.isIR():
		return c.parse(t.source())
	}
	return c.elaborate()
}

// parse reads IR text.
func (c *compilation) parse(src *diag.Source) error {
	funcs, ds := ir.ParseFuncs(src)
	c.warnings = ds
	if err := ds.Err(); err != nil {
		return err
	}
	for _, f := range funcs {
		if err := ir.Verify(f); err != nil {
			return inFile(src.Name, asDiagnostics(err))
		}
		c.graphs = append(c.graphs, &lang.Graph{Name: f.Name, Func: f})
	}
	return nil
}

// elaborate reads a script.
func (c *compilation) elaborate() error {
	root := c.opts.Root
	if root == "" {
		root = c.text.root
	}
	unit, ds := lang.Load(c.text.source(), lang.Options{Stdlib: stdlib.FS, ReadFile: c.text.read, Root: root})
	if unit != nil {
		for _, rule := range unit.Rules {
			r, found := rewrite.Compile(rule)
			c.own, ds = append(c.own, r), append(ds, found...)
		}
	}
	ds = ds.Sort()
	c.warnings = ds
	if err := ds.Err(); err != nil {
		return err
	}
	c.unit, c.graphs = unit, unit.Graphs
	return nil
}

// checkAll verifies the IR of every graph.
func (c *compilation) checkAll() error {
	for _, g := range c.graphs {
		if err := ir.Verify(g.Func); err != nil {
			return err
		}
	}
	return nil
}

// pick chooses the graph to compile.
func (c *compilation) pick() (*lang.Graph, error) {
	want := c.opts.Graph
	var names []string
	for _, g := range c.graphs {
		names = append(names, g.Name)
		if g.Name == want || want == "" && g.Name == "main" {
			return g, nil
		}
	}
	d := &Diagnostic{Code: "wrong-arguments", Loc: diag.Loc{File: c.text.name, Line: 1, Col: 1}}
	switch {
	case want != "":
		d.Code, d.Message = "unknown-name", "there is no graph "+want
		suggest(d, want, names)
	case len(names) == 1:
		return c.graphs[0], nil
	case len(names) == 0:
		d.Code, d.Message = "missing-argument", "the program has no graph"
		d.Helps = []string{"write graph main(...) { ... }"}
	default:
		d.Message = fmt.Sprintf("the program has %d graphs and none is called main", len(names))
		d.Helps = []string{"name one with --graph (Options.Graph): " + strings.Join(names, ", ")}
	}
	return nil, Diagnostics{d}
}

// close gives back what the source holds open.
func (c *compilation) close() {
	if c.text.file != nil {
		c.text.file.Close()
	}
}
