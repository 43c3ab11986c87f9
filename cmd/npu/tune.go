package main

import (
	"context"
	"io"
	"reflect"
	"time"

	"github.com/npulang/npu"
)

// tuneCmd is npu tune.
type tuneCmd struct {
	File   string `arg:"" name:"FILE" optional:"" help:"Program to find the fastest kernels for; default: measure the machine and write a device."`
	Output string `short:"o" help:"Without FILE: file to write the device to; default: standard output." placeholder:"FILE"`
	tuneFlags
}

// tuneFlags are those for a program.
type tuneFlags struct {
	Root string `help:"Folder that imports may not leave; default: the folder of FILE." placeholder:"DIR"`
	graphFlags
	memoryFlag
	weightFlags    `group:"Weights:"`
	tuneInputs     `group:"Inputs and outputs:"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	kernelFlags    `group:"Kernels:"`
}

// tuneInputs say what goes in, for how long is measured, and how it is told.
type tuneInputs struct {
	dimFlags
	Input []string       `short:"i" help:"Value of an input, as in npu run; those without a default that are left out are random. May be repeated." sep:"none" placeholder:"NAME=VALUE"`
	JSON  bool           `help:"Print the report as one JSON object."`
	Time  *time.Duration `help:"Measure for about this long, such as 20s or 5m; default: 1m." placeholder:"TIME"`
}

// Run measures a program's kernels, or the machine.
func (t *tuneCmd) Run(ctx context.Context, std streams, c *cli) error {
	switch {
	case t.File != "" && t.Output != "":
		return usage("npu tune FILE writes a bank: name its file by --bank, or leave FILE out and have a device written to --output")
	case t.File != "":
		return t.program(ctx, std, c)
	case !reflect.DeepEqual(t.tuneFlags, tuneFlags{}):
		return usage("npu tune without FILE measures the machine and takes --output only; name the program that is to be tuned")
	}
	return t.machine(ctx, std)
}

// machine writes a device.
func (t *tuneCmd) machine(ctx context.Context, std streams) error {
	std.progress.start("measuring")
	d, err := npu.Tune(ctx)
	if err != nil {
		return err
	}
	std.progress.stop()
	if t.Output == "" || t.Output == "-" {
		_, err := std.out.Write(d.JSON())
		return err
	}
	return npu.WriteFile(t.Output, d.JSON())
}

// program writes a bank.
func (t *tuneCmd) program(ctx context.Context, std streams, c *cli) error {
	opts, err := t.options(std)
	if err != nil {
		return err
	}
	std.progress.start("compiling " + t.File)
	r, err := npu.TuneKernels(ctx, sourceOf(t.File, std), opts)
	if err != nil {
		return err
	}
	std.progress.stop()
	c.show(r.Warnings, std)
	if t.JSON {
		return writeJSON(std.out, r)
	}
	_, err = io.WriteString(std.out, r.Text())
	return err
}

func (t *tuneCmd) options(std streams) (npu.TuneOptions, error) {
	opts := npu.TuneOptions{Progress: std.progress.start}
	opts.Root = t.Root
	if t.Time != nil {
		if *t.Time <= 0 {
			return opts, usage("--time %v: write a time such as 20s or 5m", *t.Time)
		}
		opts.Time = *t.Time
	}
	err := set(&opts.Options, t.graphFlags.add, t.memoryFlag.add, t.weightFlags.addTo(t.File, std), t.optimiserFlags.add, t.planFlags.add, t.kernelFlags.add, t.dimFlags.add)
	if err == nil {
		opts.Inputs, err = splitInputs(t.Input)
	}
	return opts, err
}

// Help is the rest of npu tune --help.
func (*tuneCmd) Help() string {
	return `With FILE it measures, for each different task of the program, the ways in which kernels could run it, within runs of the program. What is faster for sure goes into the bank, if the whole program is faster with it, and later runs on this machine by as many threads take it from there; see docs/tuning.md. Results don't change by a bit.

Without FILE it measures what a program can measure of the machine, in a second or two: the rates of the kernels, memory, the cost of a task and of an event between streams. What it writes is a device for --device; each number says where it comes from.

Both are best on a machine that does nothing else.

Examples:

    npu tune mlp.npu
    npu tune bert.npu --random-weights --threads 1 --dim S=128 --time 5m
    npu run bert.npu --explain-kernels
    npu tune -o host.json
    npu emit streams mlp.npu --device host.json`
}
