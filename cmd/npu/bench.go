package main

import (
	"context"
	"io"
	"time"

	"github.com/npulang/npu"
)

// benchCmd is npu bench.
type benchCmd struct {
	sourceFlags
	graphFlags
	memoryFlag
	weightFlags    `group:"Weights:"`
	benchFlags     `group:"Inputs and outputs:"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	kernelFlags    `group:"Kernels:"`
}

// benchFlags say what goes in, for how long it is measured, and what is told.
type benchFlags struct {
	dimFlags
	Input          []string       `short:"i" help:"Value of an input, as in npu run; those without a default that are left out are random. May be repeated." sep:"none" placeholder:"NAME=VALUE"`
	Output         string         `short:"o" help:"Write each output of the last run as NAME.npy into the folder DIR." placeholder:"DIR"`
	JSON           bool           `help:"Print the numbers as one JSON object, with --ladder as a list of them."`
	Runs           *int           `help:"Measure N runs, with --ladder N rounds; default: until the median is stable." placeholder:"N"`
	Time           *time.Duration `help:"Measure for no longer than this, such as 500ms or 1m; default: 10s, with --ladder 1m." placeholder:"TIME"`
	Ladder         bool           `help:"Measure the program with more and more of what makes it fast: from nothing over a pool, reuse of memory and parallel scheduling to fast kernels and fusion."`
	ExplainKernels bool           `help:"Tell of each task which kernel runs it and why, its time, and its share of the machine's limit."`
}

// Run measures and prints.
func (b *benchCmd) Run(ctx context.Context, std streams, c *cli) error {
	opts, err := b.options(std)
	if err != nil {
		return err
	}
	std.progress.start("compiling " + b.File)
	if b.Ladder {
		return b.ladder(ctx, std, opts)
	}
	if err := prepareFolder(b.Output); err != nil {
		return err
	}
	r, err := npu.Bench(ctx, b.source(std), opts)
	if err != nil {
		return err
	}
	std.progress.stop()
	c.show(r.Warnings, std)
	if b.Output != "" {
		if err := npu.WriteArrays(b.Output, r.Outputs); err != nil {
			return err
		}
	}
	if b.JSON {
		return writeJSON(std.out, r)
	}
	_, err = io.WriteString(std.out, r.Text())
	return err
}

func (b *benchCmd) ladder(ctx context.Context, std streams, opts npu.BenchOptions) error {
	for flag, given := range map[string]bool{"--output": b.Output != "", "--explain-kernels": b.ExplainKernels} {
		if given {
			return usage("--ladder and %s exclude each other", flag)
		}
	}
	steps, err := npu.BenchLadder(ctx, b.source(std), opts)
	if err != nil {
		return err
	}
	std.progress.stop()
	if b.JSON {
		return writeJSON(std.out, steps)
	}
	_, err = io.WriteString(std.out, npu.LadderText(steps))
	return err
}

func (b *benchCmd) options(std streams) (npu.BenchOptions, error) {
	// What turns on a terminal would be measured, too.
	opts := npu.BenchOptions{ByTask: b.ExplainKernels, Progress: func(string) { std.progress.stop() }}
	opts.Root = b.Root
	if b.Runs != nil {
		if *b.Runs < 1 {
			return opts, usage("--runs %d: write how many runs to measure, 1 or more", *b.Runs)
		}
		opts.Runs = *b.Runs
	}
	if b.Time != nil {
		if *b.Time <= 0 {
			return opts, usage("--time %v: write a time such as 500ms or 1m", *b.Time)
		}
		opts.Time = *b.Time
	}
	err := set(&opts.Options, b.graphFlags.add, b.memoryFlag.add, b.weightFlags.addTo(b.File, std), b.optimiserFlags.add, b.planFlags.add, b.kernelFlags.add, b.dimFlags.add)
	if err == nil {
		opts.Inputs, err = splitInputs(b.Input)
	}
	return opts, err
}

// Help is the rest of npu bench --help.
func (*benchCmd) Help() string {
	return `Compiles the graph, runs it until it is warm, and measures its runs, each by itself, until the median is stable or the time is over; docs/bench.md tells what each number means. With --random-weights a network is measured without its weights.

Examples:

    npu bench mlp.npu
    npu bench bert.npu --random-weights --threads 1 --dim S=512 --json
    npu bench mlp.npu --explain-kernels
    npu bench mlp.npu --ladder --input x=random --dim B=32`
}
