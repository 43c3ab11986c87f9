package main

import (
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
