package npu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/device"
)

// Devices lists the rows of npu's own devices, which must not be changed; a Device
// tells of its numbers, and where each comes from, by Facts.
func Devices() []*Device { return device.Devices() }

// DeviceTable is one line for each device: its name, what it multiplies in f16 at
// the most, and reads from memory, by all its cores together.
func DeviceTable(devices []*Device) string {
	return align("lrrrrl", func(row func(...string)) {
		row("device", "Tflop/s f16", "GB/s", "memory", "streams", "what it is")
		for _, d := range devices {
			row(d.Name, fmt.Sprintf("%.3g", d.PeakF16()/1e12), fmt.Sprintf("%.0f", d.MemBandwidth()/1e9), memoryOf(d), fmt.Sprint(d.DefaultStreams), d.Doc)
		}
	})
}

func memoryOf(d *Device) string {
	if d.Memory == 0 {
		return "host's"
	}
	return byteSize(d.Memory)
}

// byteUnits are in order of preference.
var byteUnits = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"KiB", 1 << 10}}

// byteSize prints bytes in the largest unit that divides them.
func byteSize(n int64) string {
	for _, u := range byteUnits {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// DescribeDevice lists the numbers of a device in groups; the sources stand below,
// by the number in brackets.
func DescribeDevice(d *Device) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Name, d.Doc)
	facts := d.Facts()
	var sources []string
	numbers := align("lrll", func(row func(...string)) {
		for _, f := range facts {
			i := slices.Index(sources, f.Source)
			if i < 0 {
				i = len(sources)
				sources = append(sources, f.Source)
			}
			row("  "+f.Field, quantity(f), fmt.Sprintf("[%d]", i+1), f.Doc)
		}
	})
	group := ""
	for i, line := range slices.Collect(strings.Lines(numbers)) {
		if facts[i].Group != group {
			group = facts[i].Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		b.WriteString(line)
	}
	b.WriteString("\nsources\n")
	for i, s := range sources {
		fmt.Fprintf(&b, "  [%d] %s\n", i+1, s)
	}
	return b.String()
}

// quantity is a number with its unit.
func quantity(f device.Fact) string {
	switch f.Unit {
	case "":
		return fmt.Sprint(f.Value)
	case "B":
		return byteSize(f.Value)
	}
	return fmt.Sprintf("%d %s", f.Value, f.Unit)
}

// SourcedDevice is a copy of a row that says in Sources where each number comes
// from, as its JSON form shows it.
func SourcedDevice(d *Device) *Device {
	c := *d
	c.Sources = maps.Clone(d.Sources)
	if c.Sources == nil {
		c.Sources = map[string]string{}
	}
	for _, f := range d.Facts() {
		c.Sources[f.Field] = f.Source
	}
	return &c
}
