package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/npulang/npu"
)

// runCmd is npu run.
type runCmd struct {
	sourceFlags
	weightFlags
	dimFlags
	Input  []string `short:"i" help:"Value of an input: a literal ([[1, 2]], 0.5), random, or a file (.npy, or .npz:KEY); may be repeated." sep:"none" placeholder:"NAME=VALUE"`
	Output string   `short:"o" help:"Write each output as NAME.npy into this folder." placeholder:"DIR"`
	JSON   bool     `help:"Print the outputs as one JSON object."`
}

// Run compiles, runs once and prints.
func (r *runCmd) Run(std streams, c *cli) error {
	opts, err := r.options()
	if err != nil {
		return err
	}
	if err := r.add(&opts); err != nil {
		return err
	}
	dims, err := r.dims()
	if err != nil {
		return err
	}
	given, err := splitInputs(r.Input)
	if err != nil {
		return err
	}
	p, err := npu.Compile(r.source(std), opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c.show(p.Warnings(), std)
	inputs, err := p.ReadInputs(given, npu.InputOptions{Seed: r.Seed, Dims: dims})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	outputs, err := p.Run(ctx, inputs)
	if err != nil {
		return err
	}
	if r.Output != "" {
		return writeOutputs(r.Output, p, outputs)
	}
	return r.print(std, p, outputs)
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

// writeOutputs writes one .npy a result, all or none of which appear under
// their names.
func writeOutputs(dir string, p *npu.Program, outputs map[string]*npu.Tensor) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return npu.WriteArrays(dir, outputs)
}

// print shows the outputs in the order of the graph's results.
func (r *runCmd) print(std streams, p *npu.Program, outputs map[string]*npu.Tensor) error {
	if r.JSON {
		return printJSON(std, p, outputs)
	}
	for _, port := range p.Outputs() {
		t := outputs[port.Name]
		fmt.Fprintf(std.out, "%s: %s\n", port.Name, npu.FormatTensor(t))
	}
	return nil
}

// A jsonTensor is a tensor as --json prints it: data is nested lists; nan, inf
// and -inf are strings, since JSON has no such numbers.
type jsonTensor struct {
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Data  json.RawMessage `json:"data"`
}

func printJSON(std streams, p *npu.Program, outputs map[string]*npu.Tensor) error {
	var b strings.Builder
	b.WriteString("{")
	for i, port := range p.Outputs() {
		t := outputs[port.Name]
		name, err := json.Marshal(port.Name)
		if err != nil {
			return err
		}
		value, err := json.Marshal(jsonTensor{t.DType.String(), t.Shape, json.RawMessage(npu.TensorJSON(t))})
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%s:%s", name, value)
	}
	b.WriteString("}\n")
	_, err := fmt.Fprint(std.out, b.String())
	return err
}
