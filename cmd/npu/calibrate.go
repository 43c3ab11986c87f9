package main

import (
	"context"
	"io"

	"github.com/npulang/npu"
)

// calibrateCmd is npu calibrate.
type calibrateCmd struct {
	sourceFlags
	Data   string `required:"" help:"Folder of samples: .npz files with an array for each input, or folders with a file NAME.npy for each." placeholder:"DIR"`
	Output string `short:"o" help:"File to write, - for standard output; default: FILE.scales." placeholder:"FILE"`
	graphFlags
	memoryFlag
	weightFlags    `group:"Weights:"`
	optimiserFlags `group:"Optimiser:"`
	kernelFlags    `group:"Kernels:"`
}

// Run measures and writes the scales.
func (k *calibrateCmd) Run(ctx context.Context, std streams) error {
	opts := npu.Options{Root: k.Root}
	err := set(&opts, k.graphFlags.add, k.memoryFlag.add, k.weightFlags.addTo(k.File, std), k.optimiserFlags.add, k.kernelFlags.add)
	if err != nil {
		return err
	}
	if opts.Precision != "" || opts.Scales != nil {
		return usage("npu calibrate measures products as they are written: leave out --precision and --scales")
	}
	output, err := k.output()
	if err != nil {
		return err
	}
	samples, err := npu.ReadSamples(k.Data)
	if err != nil {
		return err
	}
	std.progress.start("running " + plural(len(samples), "sample"))
	scales, err := npu.Calibrate(ctx, k.source(std), opts, samples)
	if err != nil {
		return err
	}
	std.progress.stop()
	if output == "-" {
		_, err := io.WriteString(std.out, scales.String())
		return err
	}
	return npu.WriteFile(output, []byte(scales.String()))
}

// output is the file to write.
func (k *calibrateCmd) output() (string, error) {
	if k.Output == "" && k.File != "-" {
		return k.File + ".scales", nil
	}
	return outputFile(k.Output, k.File, "")
}

// Help is the rest of npu calibrate --help.
func (*calibrateCmd) Help() string {
	return `Runs a graph over the samples in a folder, with its products as they are written, and writes one line for each product that --precision int8 computes in bytes: its weight, the least and the largest element of what is multiplied with it. With --scales FILE these are scales, and no run measures them.

Examples:

    npu calibrate net.npu --data samples
    npu run net.npu --precision int8 --scales net.npu.scales --input x=x.npy`
}
