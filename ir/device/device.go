package device

import (
	"math"
	"math/bits"
	"slices"
)

// A Device is one row of the device table. The JSON form has the same names in
// snake_case.
type Device struct {
	Name string `json:"name"` // as --device takes it
	Doc  string `json:"doc"`  // one line

	CubeCores   int `json:"cube_cores"`   // cores with a matrix unit
	VectorCores int `json:"vector_cores"` // cores with a vector unit
	ClockMHz    int `json:"clock_mhz"`    // of both, in MHz

	// The matrix unit multiplies a block of CubeM x CubeK by CubeK x CubeN in a
	// cycle; a tile is padded to whole blocks.
	CubeM        int `json:"cube_m"`         // rows
	CubeN        int `json:"cube_n"`         // columns
	CubeK        int `json:"cube_k"`         // depth for f16
	CubeKInt8    int `json:"cube_k_int8"`    // depth for i8
	CubeMACsF16  int `json:"cube_macs_f16"`  // multiply-adds a cycle and core in f16
	CubeMACsHF32 int `json:"cube_macs_hf32"` // the same in shortened f32; 0: has none
	CubeMACsF32  int `json:"cube_macs_f32"`  // the same in f32; 0: has none, cast to f16 or use the vector unit

	LanesF16  int `json:"lanes_f16"`  // f16 elements a cycle and vector core
	LanesF32  int `json:"lanes_f32"`  // f32 elements a cycle and vector core
	LanesSlow int `json:"lanes_slow"` // the same for exp, ln, sqrt and division

	L0A         int64 `json:"l0a_bytes"`      // left operand beside the cube, bytes a core
	L0B         int64 `json:"l0b_bytes"`      // right operand beside the cube, bytes a core
	L0C         int64 `json:"l0c_bytes"`      // accumulators, bytes a core
	L1          int64 `json:"l1_bytes"`       // staging memory of a cube core, bytes
	UB          int64 `json:"ub_bytes"`       // unified buffer of a vector core, bytes
	UBBlock     int   `json:"ub_block_bytes"` // unit of the unified buffer's access, bytes
	UBBanks     int   `json:"ub_banks"`       // banks of the unified buffer
	UBBankBytes int   `json:"ub_bank_bytes"`  // bytes of one bank
	L2          int64 `json:"l2_bytes"`       // cache shared by the cores, bytes
	Memory      int64 `json:"memory_bytes"`   // device memory, bytes; 0: what the host has

	// Bandwidths, bytes a cycle and core. 0: no such path.
	MemRead  int `json:"mem_read"`
	MemWrite int `json:"mem_write"`
	L2Read   int `json:"l2_read"`
	L2Write  int `json:"l2_write"`
	L1ToL0A  int `json:"l1_to_l0a"`
	L1ToL0B  int `json:"l1_to_l0b"`
	L0CToUB  int `json:"l0c_to_ub"` // 0: only bias, relu, cast and quantisation ride out of the cube
	UBToMem  int `json:"ub_to_mem"`
	UBToL1   int `json:"ub_to_l1"`

	Streams        int `json:"streams"`         // streams at a time
	Events         int `json:"events"`          // events at a time
	DefaultStreams int `json:"default_streams"` // streams that a plan has at most if nobody asks for more or fewer
	// Workers is how many tasks run at a time, whatever their units: those of a
	// host, where every core does all. 0: the units are what tasks wait for, and
	// a task takes all cores of its own.
	Workers int `json:"workers"`
	// SyncNs is from a task's end to the start of one on another stream that waits
	// for it, and from the start of a run to that of all streams but its first,
	// nanoseconds.
	SyncNs int `json:"sync_ns"`

	LaunchNs         int `json:"launch_ns"`          // head of one launch on all cores, nanoseconds
	AlignUB          int `json:"align_ub"`           // of addresses in unified buffer and L1, bytes
	AlignL0AB        int `json:"align_l0ab"`         // of addresses in L0A and L0B, bytes
	AlignL0C         int `json:"align_l0c"`          // of addresses in L0C, bytes
	AlignMem         int `json:"align_mem"`          // device memory's best alignment, bytes
	UnalignedPercent int `json:"unaligned_percent"`  // bandwidth that is left at 32-byte alignment, percent
	MinTransfer      int `json:"min_transfer_bytes"` // transfers from here on reach full bandwidth, bytes
	LinkGbps         int `json:"link_gbps"`          // links to other devices together, Gbit/s; 0: the host bus only

	// Sources says of numbers, by their names in JSON, where they come from. Rows of
	// the table have none here: see Source.
	Sources map[string]string `json:"sources,omitempty"`
}

// PeakF16 is the matrix units' arithmetic in f16, flops a second: a
// multiply-add counts as two.
func (d *Device) PeakF16() float64 {
	return 2 * float64(d.CubeCores) * float64(d.CubeMACsF16) * d.hertz()
}

// MemBandwidth is what all cube cores read from device memory together, bytes
// a second.
func (d *Device) MemBandwidth() float64 {
	return float64(d.CubeCores) * float64(d.MemRead) * d.hertz()
}

func (d *Device) hertz() float64 { return float64(d.ClockMHz) * 1e6 }

// Host reports whether the device is the machine that the VM runs on, whose
// memory is its own.
func (d *Device) Host() bool { return d.Memory == 0 }

// factors are the dtypes of which the cubes of devices multiply elements, by the
// names that package tensor prints. Rows have no field for bf16: the cubes that
// have f32 have it too.
var factors = []struct {
	dtype string
	has   func(*Device) bool
}{
	{"f16", func(d *Device) bool { return d.CubeMACsF16 > 0 }},
	{"bf16", func(d *Device) bool { return d.CubeMACsF32 > 0 }},
	{"f32", func(d *Device) bool { return d.CubeMACsF32 > 0 }},
	{"i8", func(d *Device) bool { return d.CubeKInt8 > 0 }},
	{"u8", func(d *Device) bool { return d.CubeKInt8 > 0 }},
}

// Multiplies reports whether the cube has products of a dtype; a host's has all.
func (d *Device) Multiplies(dtype string) bool {
	if d.Host() {
		return true
	}
	for _, f := range factors {
		if f.dtype == dtype {
			return f.has(d)
		}
	}
	return false
}

// Rides reports whether an operator behind a product is done on the product's way
// from the cube to memory, without the vector unit: where the cube has no way to
// that. Elsewhere the vector unit does all that follows.
func (d *Device) Rides(op string) bool {
	return d.L0CToUB == 0 && slices.Contains([]string{"bias_add", "relu", "cast"}, op)
}

// Padded is the work of the cube, in flops, for a product of m x k by k x n
// elements: each dimension counts as a whole number of blocks, since what a block
// lacks is multiplied as zeros.
func (d *Device) Padded(m, n, k int64, elementSize int) int64 {
	depth := d.CubeK
	if elementSize == 1 {
		depth = d.CubeKInt8
	}
	return times(times(2*blocks(m, d.CubeM), blocks(n, d.CubeN)), blocks(k, depth))
}

// times is a product that stops at the largest number.
func times(a, b int64) int64 {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt64 {
		return int64(lo)
	}
	return math.MaxInt64
}

func blocks(n int64, block int) int64 { return ceilDiv(n, int64(block)) * int64(block) }

// CubeNs is the time in nanoseconds of a task on all cube cores: the longer of
// its arithmetic (flops, elements of the given size) and its traffic.
func (d *Device) CubeNs(flops, bytes int64, elementSize int) int64 {
	macs := d.CubeMACsF16
	if elementSize >= 4 && d.CubeMACsF32 > 0 {
		macs = d.CubeMACsF32
	}
	return d.roof(flops, 2*d.CubeCores*macs, bytes, d.CubeCores*d.MemRead)
}

// VectorNs is CubeNs for the vector cores; a flop is one lane's operation.
func (d *Device) VectorNs(flops, bytes int64, elementSize int) int64 {
	lanes := d.LanesF16
	if elementSize >= 4 {
		lanes = d.LanesF32
	}
	return d.roof(flops, d.VectorCores*lanes, bytes, d.VectorCores*d.MemRead)
}

// BesideNs is the time of vector work on the cube's cores, which have a vector
// unit of their own, in nanoseconds.
func (d *Device) BesideNs(flops int64, elementSize int) int64 {
	lanes := d.LanesF16
	if elementSize >= 4 {
		lanes = d.LanesF32
	}
	return d.roof(flops, d.CubeCores*lanes, 0, 1)
}

// roof is the roofline: the slower of computing and moving, in whole
// nanoseconds, so that listings do not depend on a machine's rounding.
func (d *Device) roof(flops int64, flopsPerCycle int, bytes int64, bytesPerCycle int) int64 {
	cycles := max(ceilDiv(flops, int64(flopsPerCycle)), ceilDiv(bytes, int64(bytesPerCycle)))
	// Whole microseconds first: cycles * 1000 overflows for tasks of years.
	clock := int64(d.ClockMHz)
	return min(times(cycles/clock, 1000), longest) + ceilDiv(cycles%clock*1000, clock)
}

// longest is the most nanoseconds that anything takes, 36 years, so that a few such
// times can be added.
const longest = 1 << 60

func ceilDiv(a, b int64) int64 { return a/b + min(a%b, 1) }
