package main

import (
	"context"
	"io"

	"github.com/npulang/npu"
)

// devicesCmd is npu devices.
type devicesCmd struct {
	Device string `arg:"" name:"NAME|FILE" optional:"" help:"Device of npu, or a JSON file that describes one (FILE:NAME if several); default: list npu's own."`
	JSON   bool   `help:"Print the rows as JSON, as --device reads them."`
}

// Run lists the devices, or the numbers of one.
func (d *devicesCmd) Run(std streams) error {
	devices := npu.Devices()
	if d.Device != "" {
		one, err := npu.FindDevice(d.Device)
		if err != nil {
			return err
		}
		devices = []*npu.Device{one}
	}
	text := npu.DeviceTable(devices)
	switch {
	case d.JSON:
		return devicesJSON(std.out, devices, d.Device != "")
	case d.Device != "":
		text = npu.DescribeDevice(devices[0])
	}
	_, err := io.WriteString(std.out, text)
	return err
}

// devicesJSON prints one row, or a list of rows.
func devicesJSON(w io.Writer, devices []*npu.Device, one bool) error {
	rows := make([]*npu.Device, len(devices))
	for i, d := range devices {
		rows[i] = npu.SourcedDevice(d)
	}
	if one {
		return writeJSON(w, rows[0])
	}
	return writeJSON(w, rows)
}

// Help is the rest of npu devices --help.
func (*devicesCmd) Help() string {
	return `Fusion, mapping, streams and the estimates of listings read nothing of a machine but its row. The numbers in brackets name the sources, below.

Examples:

    npu devices
    npu devices ascend910b3
    npu devices host.json
    npu devices cpu --json`
}

// tuneCmd is npu tune.
type tuneCmd struct {
	Output string `short:"o" help:"File to write; default: standard output." placeholder:"FILE"`
}

// Run measures the machine and writes its row.
func (t *tuneCmd) Run(ctx context.Context, std streams) error {
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

// Help is the rest of npu tune --help.
func (*tuneCmd) Help() string {
	return `Measures what a program can measure of the machine that it runs on, in a second or two: the rates of the kernels, memory, the cost of a task and of an event between streams. What it writes is a device for --device; each number says where it comes from. Best on a machine that does nothing else.

Examples:

    npu tune -o host.json
    npu devices host.json
    npu emit streams mlp.npu --device host.json`
}
