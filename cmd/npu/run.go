package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/npulang/npu"
)

// runCmd is npu run.
type runCmd struct {
	sourceFlags
	graphFlags
	memoryFlag
	weightFlags    `group:"Weights:"`
	runFlags       `group:"Inputs and outputs:"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	kernelFlags    `group:"Kernels:"`
}

// runFlags say what goes in and where the results go.
type runFlags struct {
	dimFlags
	Input          []string `short:"i" help:"Value of an input: a literal such as [1,2] or 0.5, random, or a file (x.npy, data.npz:KEY). May be repeated." sep:"none" placeholder:"NAME=VALUE"`
	Output         string   `short:"o" help:"Write each output as NAME.npy into the folder DIR instead of printing it." placeholder:"DIR"`
	JSON           bool     `help:"Print the outputs as one JSON object: dtype, shape and data of each."`
	ExplainKernels bool     `help:"Tell of each task which kernel runs it and why, its time, and its share of the machine's limit; takes a second of further runs. With --json on standard error."`
}

// Run compiles, runs once and prints.
func (r *runCmd) Run(ctx context.Context, std streams, c *cli) error {
	opts, err := r.options(std)
	if err != nil {
		return err
	}
	given, err := splitInputs(r.Input)
	if err != nil {
		return err
	}
	std.progress.start("compiling " + r.File)
	p, err := npu.Compile(r.source(std), opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c.show(p.Warnings(), std)
	if err := prepareFolder(r.Output); err != nil {
		return err
	}
	std.progress.start("running " + r.File)
	inputs, err := p.ReadInputs(given, npu.InputOptions{Seed: r.Seed, Dims: opts.Dims})
	if err != nil {
		return err
	}
	outputs, err := p.Run(ctx, inputs)
	if err != nil {
		return err
	}
	std.progress.stop()
	if err := r.deliver(std, p, outputs); err != nil || !r.ExplainKernels {
		return err
	}
	return r.explain(ctx, std, p, inputs)
}

// explain prints the report of kernels, apart from outputs that are JSON.
func (r *runCmd) explain(ctx context.Context, std streams, p *npu.Program, inputs map[string]*npu.Tensor) error {
	report, err := p.ExplainKernels(ctx, inputs)
	if err != nil {
		return err
	}
	out := std.out
	if r.JSON {
		out = std.err
	}
	_, err = io.WriteString(out, report.Text())
	return err
}

func (r *runCmd) options(std streams) (npu.Options, error) {
	opts := npu.Options{Root: r.Root}
	err := set(&opts, r.graphFlags.add, r.memoryFlag.add, r.weightFlags.addTo(r.File, std), r.optimiserFlags.add, r.planFlags.add, r.kernelFlags.add, r.dimFlags.add)
	return opts, err
}

// splitInputs parts NAME=VALUE.
func splitInputs(list []string) (map[string]string, error) {
	given := map[string]string{}
	for _, in := range list {
		name, value, ok := strings.Cut(in, "=")
		if !ok || name == "" {
			return nil, usage("--input %s: write NAME=VALUE", in)
		}
		if _, twice := given[name]; twice {
			return nil, usage("--input %s is given twice", name)
		}
		given[name] = value
	}
	return given, nil
}

// prepareFolder makes the folder of --output and tries whether files can be
// made in it, before the work is done that would be lost.
func prepareFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".npu.*")
	if err != nil {
		return fmt.Errorf("no files can be written into %s: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// deliver writes the outputs to files, all or none of which appear under their
// names, or prints them in the order of the graph's results.
func (r *runCmd) deliver(std streams, p *npu.Program, outputs map[string]*npu.Tensor) error {
	if r.Output != "" {
		if err := npu.WriteArrays(r.Output, outputs); err != nil || !r.JSON {
			return err
		}
	}
	if r.JSON {
		return printJSON(std, p, outputs)
	}
	var b strings.Builder
	for _, port := range p.Outputs() {
		fmt.Fprintf(&b, "%s: %s\n", port.Name, npu.FormatTensor(outputs[port.Name]))
	}
	_, err := io.WriteString(std.out, b.String())
	return err
}
