package main

import (
	"io"

	"github.com/npulang/npu"
)

// fusionCmd is npu fusion.
type fusionCmd struct {
	sourceFlags
	graphFlags
	dimFlags
	All            bool `help:"Show rules without matches too."`
	JSON           bool `help:"Print one JSON object with all rules; docs/fusion.md has its schema."`
	optimiserFlags `group:"Optimiser:"`
}

// Run tells what the fusion rules do to a graph.
func (f *fusionCmd) Run(std streams, c *cli) error {
	opts := npu.Options{Root: f.Root}
	if err := set(&opts, f.graphFlags.add, f.dimFlags.add, f.optimiserFlags.add); err != nil {
		return err
	}
	std.progress.start("compiling " + f.File)
	record, warnings, err := npu.Trace(f.source(std), opts)
	if err != nil {
		return err
	}
	c.show(warnings, std)
	if f.JSON {
		return fusionJSON(std.out, record)
	}
	_, err = io.WriteString(std.out, record.FusionTable(f.All))
	return err
}

// A fusionReport is what --json prints.
type fusionReport struct {
	Graph string             `json:"graph"`
	Rules []npu.FusionStatus `json:"rules"` // in order of priority, those without matches too
}

func fusionJSON(w io.Writer, r *npu.Record) error {
	out := fusionReport{r.Graph, append([]npu.FusionStatus{}, r.Fusions...)}
	for i := range out.Rules {
		if out.Rules[i].Refused == nil {
			out.Rules[i].Refused = []npu.FusionRefusal{} // never null
		}
	}
	return writeJSON(w, out)
}
