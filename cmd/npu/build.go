package main

import (
	"path/filepath"
	"strings"

	"github.com/npulang/npu"
)

// buildCmd is npu build.
type buildCmd struct {
	sourceFlags
	graphFlags
	memoryFlag
	Output         string `short:"o" help:"File to write, - for standard output; default: FILE with the ending .npuc." placeholder:"FILE"`
	weightFlags    `group:"Weights:"`
	optimiserFlags `group:"Optimiser:"`
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
	for _, add := range []func(*npu.Options) error{b.graphFlags.add, b.memoryFlag.add, b.weightFlags.addTo(b.File, std), b.optimiserFlags.add} {
		if err := add(&opts); err != nil {
			return opts, err
		}
	}
	return opts, nil
}

// output is the file to write.
func (b *buildCmd) output(std streams) (string, error) {
	output := b.Output
	switch {
	case output == "" && b.File == "-":
		return "", usage("a program from standard input needs --output FILE")
	case output == "-" && isTerminal(std.out):
		return "", usage("a compiled program is nothing for a terminal; write it to a file or a pipe")
	case output == "":
		output = strings.TrimSuffix(b.File, filepath.Ext(b.File)) + ".npuc"
	}
	if filepath.Clean(output) == filepath.Clean(b.File) && output != "-" {
		return "", usage("%s would replace the program itself; choose another --output FILE", output)
	}
	return output, nil
}
