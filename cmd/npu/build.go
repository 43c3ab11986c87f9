package main

import "github.com/npulang/npu"

// buildCmd is npu build.
type buildCmd struct {
	sourceFlags
	graphFlags
	memoryFlag
	Output         string `short:"o" help:"File to write, - for standard output; default: FILE with the ending .npuc." placeholder:"FILE"`
	Pack           string `help:"Hold weights packed for an instruction set too: none (default), host, portable, avx2, avx512 or neon. The file is about twice as large, and loads without packing." placeholder:"NAME"`
	weightFlags    `group:"Weights:"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
}

// Run writes a compiled program.
func (b *buildCmd) Run(std streams, c *cli) error {
	opts, err := b.options(std)
	if err != nil {
		return err
	}
	output, err := b.output(std)
	if err != nil {
		return err
	}
	std.progress.start("compiling " + b.File)
	p, err := npu.Compile(b.source(std), opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c.show(p.Warnings(), std)
	if output == "-" {
		_, err := p.WriteTo(std.out)
		return err
	}
	return p.Save(output)
}

func (b *buildCmd) options(std streams) (npu.Options, error) {
	opts := npu.Options{Root: b.Root}
	err := set(&opts, b.graphFlags.add, b.memoryFlag.add, b.weightFlags.addTo(b.File, std), b.optimiserFlags.add, b.planFlags.add)
	if err != nil {
		return opts, err
	}
	opts.Pack = npu.Packing(b.Pack)
	if err := opts.CheckPacking(); err != nil {
		return opts, flagError("--pack "+b.Pack, err)
	}
	return opts, nil
}

// output is the file to write.
func (b *buildCmd) output(std streams) (string, error) {
	if b.Output == "-" && isTerminal(std.out) {
		return "", usage("a compiled program is nothing for a terminal; write it to a file or a pipe")
	}
	return outputFile(b.Output, b.File, ".npuc")
}
