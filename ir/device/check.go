package device

import (
	"fmt"
	"regexp"
)

// A field is one number of a row, and what it may be.
type field struct {
	name     string // as in JSON
	value    func(*Device) int64
	min, max int64
}

// The bounds keep sums and products of a row's numbers far from overflow, and
// refuse what no machine has.
const (
	maxCores  = 1 << 16
	maxClock  = 100_000 // MHz
	maxWide   = 1 << 20 // lanes, multiply-adds, bytes a cycle
	maxMemory = 1 << 50
	maxCount  = 1 << 30
)

// MaxStreams is the most streams that a plan may have on any device.
const MaxStreams = 64

// fields says what Check wants of a row, in the order of the struct.
var fields = []field{
	{"cube_cores", func(d *Device) int64 { return int64(d.CubeCores) }, 1, maxCores},
	{"vector_cores", func(d *Device) int64 { return int64(d.VectorCores) }, 1, maxCores},
	{"clock_mhz", func(d *Device) int64 { return int64(d.ClockMHz) }, 1, maxClock},
	{"cube_m", func(d *Device) int64 { return int64(d.CubeM) }, 1, maxWide},
	{"cube_n", func(d *Device) int64 { return int64(d.CubeN) }, 1, maxWide},
	{"cube_k", func(d *Device) int64 { return int64(d.CubeK) }, 1, maxWide},
	{"cube_k_int8", func(d *Device) int64 { return int64(d.CubeKInt8) }, 1, maxWide},
	{"cube_macs_f16", func(d *Device) int64 { return int64(d.CubeMACsF16) }, 1, maxWide},
	{"cube_macs_hf32", func(d *Device) int64 { return int64(d.CubeMACsHF32) }, 0, maxWide},
	{"cube_macs_f32", func(d *Device) int64 { return int64(d.CubeMACsF32) }, 0, maxWide},
	{"lanes_f16", func(d *Device) int64 { return int64(d.LanesF16) }, 1, maxWide},
	{"lanes_f32", func(d *Device) int64 { return int64(d.LanesF32) }, 1, maxWide},
	{"lanes_slow", func(d *Device) int64 { return int64(d.LanesSlow) }, 1, maxWide},
	{"l0a_bytes", func(d *Device) int64 { return d.L0A }, 1, maxMemory},
	{"l0b_bytes", func(d *Device) int64 { return d.L0B }, 1, maxMemory},
	{"l0c_bytes", func(d *Device) int64 { return d.L0C }, 1, maxMemory},
	{"l1_bytes", func(d *Device) int64 { return d.L1 }, 1, maxMemory},
	{"ub_bytes", func(d *Device) int64 { return d.UB }, 1, maxMemory},
	{"ub_block_bytes", func(d *Device) int64 { return int64(d.UBBlock) }, 1, maxWide},
	{"ub_banks", func(d *Device) int64 { return int64(d.UBBanks) }, 1, maxWide},
	{"ub_bank_bytes", func(d *Device) int64 { return int64(d.UBBankBytes) }, 1, maxWide},
	{"l2_bytes", func(d *Device) int64 { return d.L2 }, 0, maxMemory},
	{"memory_bytes", func(d *Device) int64 { return d.Memory }, 0, maxMemory},
	{"mem_read", func(d *Device) int64 { return int64(d.MemRead) }, 1, maxWide},
	{"mem_write", func(d *Device) int64 { return int64(d.MemWrite) }, 1, maxWide},
	{"l2_read", func(d *Device) int64 { return int64(d.L2Read) }, 0, maxWide},
	{"l2_write", func(d *Device) int64 { return int64(d.L2Write) }, 0, maxWide},
	{"l1_to_l0a", func(d *Device) int64 { return int64(d.L1ToL0A) }, 1, maxWide},
	{"l1_to_l0b", func(d *Device) int64 { return int64(d.L1ToL0B) }, 1, maxWide},
	{"l0c_to_ub", func(d *Device) int64 { return int64(d.L0CToUB) }, 0, maxWide},
	{"ub_to_mem", func(d *Device) int64 { return int64(d.UBToMem) }, 1, maxWide},
	{"ub_to_l1", func(d *Device) int64 { return int64(d.UBToL1) }, 0, maxWide},
	{"streams", func(d *Device) int64 { return int64(d.Streams) }, 1, maxCount},
	{"events", func(d *Device) int64 { return int64(d.Events) }, 1, maxCount},
	{"default_streams", func(d *Device) int64 { return int64(d.DefaultStreams) }, 1, MaxStreams},
	{"workers", func(d *Device) int64 { return int64(d.Workers) }, 0, maxCores},
	{"sync_ns", func(d *Device) int64 { return int64(d.SyncNs) }, 0, maxCount},
	{"launch_ns", func(d *Device) int64 { return int64(d.LaunchNs) }, 0, maxCount},
	{"align_ub", func(d *Device) int64 { return int64(d.AlignUB) }, 1, maxWide},
	{"align_l0ab", func(d *Device) int64 { return int64(d.AlignL0AB) }, 1, maxWide},
	{"align_l0c", func(d *Device) int64 { return int64(d.AlignL0C) }, 1, maxWide},
	{"align_mem", func(d *Device) int64 { return int64(d.AlignMem) }, 1, maxWide},
	{"unaligned_percent", func(d *Device) int64 { return int64(d.UnalignedPercent) }, 1, 100},
	{"min_transfer_bytes", func(d *Device) int64 { return int64(d.MinTransfer) }, 0, maxWide},
	{"link_gbps", func(d *Device) int64 { return int64(d.LinkGbps) }, 0, maxCount},
}

// alignments are the fields that must be powers of two: addresses are rounded
// by masks.
var alignments = []string{"align_ub", "align_l0ab", "align_l0c", "align_mem"}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// Check reports the first number of a row that no device can have.
func (d *Device) Check() error {
	if !nameForm.MatchString(d.Name) {
		return fmt.Errorf("device name %q: want a lower-case letter, then letters, digits, - and _, at most 64", d.Name)
	}
	if err := d.checkSources(); err != nil {
		return err
	}
	values := map[string]int64{}
	for _, f := range fields {
		v := f.value(d)
		if v < f.min || v > f.max {
			return fmt.Errorf("device %s: %s is %d, must be from %d to %d", d.Name, f.name, v, f.min, f.max)
		}
		values[f.name] = v
	}
	if d.DefaultStreams > d.Streams {
		return fmt.Errorf("device %s: default_streams is %d, must be at most streams, which is %d", d.Name, d.DefaultStreams, d.Streams)
	}
	for _, name := range alignments {
		if v := values[name]; v&(v-1) != 0 {
			return fmt.Errorf("device %s: %s is %d, must be a power of two", d.Name, name, v)
		}
	}
	return nil
}
