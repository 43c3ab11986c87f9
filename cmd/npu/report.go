package main

import (
	"bytes"

	"github.com/npulang/npu"
	"github.com/npulang/npu/cmd/npu/page"
)

// reportCmd is npu report.
type reportCmd struct {
	sourceFlags
	graphFlags
	dimFlags
	Output         string `short:"o" help:"File to write, - for standard output; default: FILE with the ending .html." placeholder:"FILE"`
	optimiserFlags `group:"Optimiser:"`
	pipelineFlags  `group:"Passes:"`
}

// Run writes a page that shows what the passes do to a graph.
func (r *reportCmd) Run(std streams, c *cli) error {
	opts := npu.Options{Root: r.Root}
	if err := set(&opts, r.graphFlags.add, r.dimFlags.add, r.optimiserFlags.add, r.pipelineFlags.add); err != nil {
		return err
	}
	output, err := outputFile(r.Output, r.File, ".html")
	if err != nil {
		return err
	}
	std.progress.start("compiling " + r.File)
	e, warnings, err := npu.Explore(r.source(std), opts)
	if err != nil {
		return err
	}
	c.show(warnings, std)
	var b bytes.Buffer
	if err := page.Write(&b, e); err != nil {
		return err
	}
	if output == "-" {
		_, err := std.out.Write(b.Bytes())
		return err
	}
	return npu.WriteFile(output, b.Bytes())
}

// Help is the rest of npu report --help.
func (*reportCmd) Help() string {
	return `The page has a column for the script and one for each pass that changed the graph. A click on a value lights it up in all of them; below are the rewrites, the difference that a pass made, the fusion rules with what they refused, the graph before and after as a picture, and the time of each pass. It needs no weights, and nothing beside the file: docs/report.md.

Examples:

    npu report mlp.npu
    npu report mlp.npu -o mlp-O1.html -O1`
}
