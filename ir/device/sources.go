package device

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Where numbers come from.
const (
	nominal    = "nominal: an x86-64 server core with two 256-bit multiply-add units"
	firstLevel = "nominal: the first-level cache of a server core, which serves all that a device has beside its units"
	published  = "published: the vendor's runtime sources (platform_config/*.ini of the CANN runtime) or its documentation"
	derived    = "derived"
)

// A source says where fields of some devices come from. Of several that fit, the
// first counts.
type source struct {
	devices string // names in blanks; empty: every one of the table but the cpu
	fields  string // in blanks; empty: every one
	text    string
}

// sources are those of the table's rows.
var sources = []source{
	{"cpu", "cube_cores vector_cores", "a task uses one core"},
	{"cpu", "clock_mhz", "nominal: a server core under load"},
	{"cpu", "cube_m cube_n cube_k cube_k_int8", "a register block of 4 x 16 accumulators"},
	{"cpu", "cube_macs_f16 cube_macs_hf32 cube_macs_f32", "nominal: two units of 8 lanes; f16 computes as f32"},
	{"cpu", "lanes_f16 lanes_f32 lanes_slow", nominal},
	{"cpu", "l0a_bytes l0b_bytes l0c_bytes ub_bytes ub_banks ub_bank_bytes", firstLevel},
	{"cpu", "ub_block_bytes align_ub align_l0ab align_l0c align_mem", "one cache line"},
	{"cpu", "l1_bytes", "nominal: the second-level cache of a server core"},
	{"cpu", "l2_bytes", "nominal: the last cache of a server"},
	{"cpu", "memory_bytes", "the host's own"},
	{"cpu", "mem_read mem_write ub_to_mem", "nominal: 16 GB/s for one core"},
	{"cpu", "l2_read l2_write l1_to_l0a l1_to_l0b l0c_to_ub ub_to_l1", "nominal: half a cache line a cycle from the last cache, one from the others"},
	{"cpu", "streams events", "more than a plan has"},
	{"cpu", "default_streams workers", "nominal: a machine of four cores"},
	{"cpu", "sync_ns", "nominal: a goroutine on another core sees an event and goes on; npu tune measures it"},
	{"cpu", "launch_ns", "nominal: one step of the virtual machine with its kernel's call; npu tune measures it"},
	{"cpu", "unaligned_percent min_transfer_bytes", "nominal: a page is enough, and alignment beyond a line makes no difference"},
	{"cpu", "link_gbps", "there is none"},

	{"ascend910a ascend310p3", "cube_macs_hf32 cube_macs_f32", "published: f32 is cast to f16, or left to the vector unit"},
	{"", "cube_macs_hf32 cube_macs_f32", "published: half and a quarter of the rate in f16"},
	{"ascend910a", "mem_read mem_write", derived + ": 1.02 TB/s together; no authoritative figure was found"},
	{"ascend310p3", "mem_read mem_write ub_to_mem", derived + ": 144 GB/s together"},
	{"ascend910b1 ascend910b3 ascend910b4", "mem_read mem_write", "published: runtime sources; the documentation says 1.6 to 1.8 TB/s together"},
	{"", "l1_to_l0a l1_to_l0b", "published: the documentation's, since the runtime's sources have twice that"},
	{"ascend910b1 ascend910b3 ascend910b4", "l0c_to_ub", "published: only bias, relu, cast and quantisation ride out of the cube"},
	{"ascend910b1 ascend910b3 ascend910b4", "ub_to_l1", "published: there is no such path"},
	{"ascend910b1 ascend910b3 ascend910b4", "streams events", "published, one number for both"},
	{"", "default_streams", "assumed: two for each of four kinds of units"},
	{"", "workers", "units are what tasks wait for"},
	{"", "sync_ns", "assumed, since none is published: a tenth of a launch"},
	{"ascend910b1 ascend910b3 ascend910b4", "launch_ns", "the time of an empty kernel on all cores of the 910B family"},
	{"", "launch_ns", "assumed: that of the 910B family, since none is published for this chip"},
	{"ascend910a", "link_gbps", "published: three HCCS links together, and PCIe 4.0 x16"},
	{"", "link_gbps", "none is published beside the host bus"},
	{"", "", published},
}

// fits reports whether the source is that of a device's field.
func (s *source) fits(device, field string) bool {
	return names(s.devices, device) && names(s.fields, field)
}

func names(list, name string) bool { return list == "" || slices.Contains(strings.Fields(list), name) }

// Source says where a number of the row comes from; empty: nobody says.
func (d *Device) Source(field string) string {
	if text, ok := d.Sources[field]; ok {
		return text
	}
	if Lookup(d.Name) != d {
		return ""
	}
	for i := range sources {
		if sources[i].fits(d.Name, field) {
			return sources[i].text
		}
	}
	return ""
}

// oneLine keeps a user's text in its row of a table.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// checkSources refuses sources of what is no number of a row.
func (d *Device) checkSources() error {
	known := Fields()
	for _, name := range slices.Sorted(maps.Keys(d.Sources)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("device %s: sources has %q, which is no number of a row", d.Name, name)
		}
	}
	return nil
}

// inherit fills in where the numbers of a user's row come from: those that it does
// not give, from its base.
func (d *Device) inherit(base *Device, given map[string]json.RawMessage) {
	said := d.Sources
	d.Sources = maps.Clone(said) // with names that are none, which Check refuses
	if d.Sources == nil {
		d.Sources = make(map[string]string, len(fields))
	}
	for _, f := range fields {
		switch text, ok := said[f.name]; {
		case ok:
			d.Sources[f.name] = oneLine(text)
		case given[f.name] != nil:
			d.Sources[f.name] = "the device file"
		case base != nil:
			d.Sources[f.name] = "as " + base.Name
		default:
			d.Sources[f.name] = "absent in the device file"
		}
	}
}

// mostNamed bounds the numbers that the line about a row names.
const mostNamed = 4

// unlike is the line about a user's row that has none: its base, whose own line
// may be wrong of it, and the numbers that differ.
func (d *Device) unlike(base *Device, given map[string]json.RawMessage) string {
	var other []string
	for _, f := range fields {
		if given[f.name] != nil {
			other = append(other, fmt.Sprintf("%s %d", f.name, f.value(d)))
		}
	}
	switch n := len(other); {
	case n == 0:
		return "as " + base.Name
	case n > mostNamed:
		return fmt.Sprintf("%s with %d numbers of its own", base.Name, n)
	}
	return base.Name + " with " + strings.Join(other, ", ")
}
