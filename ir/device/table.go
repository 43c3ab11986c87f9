package device

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// What is not published for any of the Ascend chips, and assumed for all.
const (
	// A chip has four kinds of units, and two streams for each keep one task
	// ready while another runs; more only take events.
	defaultStreams = 8
	// An event is a flag in device memory that the next task's launch polls: about
	// a tenth of a launch's 20 microseconds.
	syncNs = 2000
)

// table holds the devices, in the order in which they are listed.
var table = []*Device{
	cpu,
	ascend910a,
	ascend910b1,
	ascend910b3,
	ascend910b4,
	ascend310p3,
}

// cpu stands for the machine that the VM runs on. Its figures are nominal, those
// of an x86-64 server with two 256-bit multiply-add units a core, of which a task
// uses one and four tasks run at a time: plans need the units' relative speed, and
// the VM takes what time it takes.
var cpu = &Device{
	Name: "cpu",
	Doc:  "the host: four cores, nominal figures",

	CubeCores: 1, VectorCores: 1, ClockMHz: 2000,
	CubeM: 4, CubeN: 16, CubeK: 1, CubeKInt8: 4, // a register block of 4 x 16 accumulators
	CubeMACsF16: 16, CubeMACsHF32: 16, CubeMACsF32: 16, // two units of 8 lanes; f16 computes as f32
	LanesF16: 8, LanesF32: 8, LanesSlow: 1,
	L0A: 32 * kib, L0B: 32 * kib, L0C: 32 * kib, // the first-level cache serves all three
	L1: mib, UB: 32 * kib, // second- and first-level cache
	UBBlock: 64, UBBanks: 1, UBBankBytes: 32 * kib, // one cache line
	L2:      32 * mib,
	MemRead: 8, MemWrite: 8, // 16 GB/s for one core
	L2Read: 32, L2Write: 32, L1ToL0A: 64, L1ToL0B: 64, L0CToUB: 64, UBToMem: 8, UBToL1: 64,
	Streams: 1024, Events: 1 << 20, // the VM's own bounds are wider: these are only not to be in the way
	DefaultStreams: 4, Workers: 4, // a nominal machine of four cores
	SyncNs:   1000, // a goroutine on another core sees the event and goes on: the goal of the VM
	LaunchNs: 100,  // one step of the VM with its kernel's call
	AlignUB:  64, AlignL0AB: 64, AlignL0C: 64, AlignMem: 64,
	UnalignedPercent: 100, MinTransfer: 4 * kib,
}

// ascend910a has cube and vector unit in the same core.
var ascend910a = &Device{
	Name: "ascend910a",
	Doc:  "Ascend 910A, 32 cores, 32 GiB",

	CubeCores: 32, VectorCores: 32, ClockMHz: 1000,
	CubeM: 16, CubeN: 16, CubeK: 16, CubeKInt8: 32,
	CubeMACsF16: 16 * 16 * 16,
	LanesF16:    128, LanesF32: 64, LanesSlow: 32,
	L0A: 64 * kib, L0B: 64 * kib, L0C: 256 * kib,
	L1: 1024 * kib, UB: 256 * kib,
	UBBlock: 32, UBBanks: 64, UBBankBytes: 4096,
	L2: 32 * mib, Memory: 32 * gib,
	MemRead: 32, MemWrite: 32, // 1.02 TB/s together: derived, no authoritative figure found
	L2Read: 110, L2Write: 86,
	L1ToL0A: 256, L1ToL0B: 128, // documentation; the ini has twice that: the smaller is taken
	L0CToUB: 256,
	UBToMem: 64, UBToL1: 128,
	Streams: 1024, Events: 1024,
	DefaultStreams: defaultStreams, SyncNs: syncNs,
	LaunchNs: 20000, // of the 910B family: none is published for this chip
	AlignUB:  32, AlignL0AB: 512, AlignL0C: 64, AlignMem: 512,
	UnalignedPercent: 70, MinTransfer: 16 * kib,
	LinkGbps: 240, // three HCCS links together, and PCIe 4.0 x16
}

// ascend910b1 has cube and vector cores apart: what leaves a cube for a vector
// core goes through memory.
var ascend910b1 = &Device{
	Name: "ascend910b1",
	Doc:  "Ascend 910B1, 24 cube and 48 vector cores, 64 GiB",

	CubeCores: 24, VectorCores: 48, ClockMHz: 1850,
	CubeM: 16, CubeN: 16, CubeK: 16, CubeKInt8: 32,
	CubeMACsF16: 4096, CubeMACsHF32: 4096 / 2, CubeMACsF32: 4096 / 4,
	LanesF16: 128, LanesF32: 64, LanesSlow: 32,
	L0A: 64 * kib, L0B: 64 * kib, L0C: 128 * kib,
	L1: 512 * kib, UB: 192 * kib,
	UBBlock: 32, UBBanks: 64, UBBankBytes: 4096,
	L2: 192 * mib, Memory: 64 * gib,
	MemRead: 32, MemWrite: 32, // 1.4 TB/s; the documentation says 1.6 to 1.8
	L2Read: 110, L2Write: 86,
	L1ToL0A: 256, L1ToL0B: 128,
	UBToMem: 64,
	Streams: 32768, Events: 32768, // the source gives one number for both
	DefaultStreams: defaultStreams, SyncNs: syncNs,
	LaunchNs: 20000, // measured time of an empty kernel on all cores
	AlignUB:  32, AlignL0AB: 512, AlignL0C: 64, AlignMem: 512,
	UnalignedPercent: 70, MinTransfer: 16 * kib,
}

// ascend910b3 is a 910B1 with fewer cores and a slower clock.
var ascend910b3 = ascend910b1.but(func(d *Device) {
	d.Name, d.Doc = "ascend910b3", "Ascend 910B3, 20 cube and 40 vector cores, 64 GiB"
	d.CubeCores, d.VectorCores, d.ClockMHz = 20, 40, 1800
})

// ascend910b4 is a 910B3 with half of the memory and of the L2.
var ascend910b4 = ascend910b3.but(func(d *Device) {
	d.Name, d.Doc = "ascend910b4", "Ascend 910B4, 20 cube and 40 vector cores, 32 GiB"
	d.ClockMHz = 1500
	d.L2, d.Memory = 96*mib, 32*gib
})

// ascend310p3 is an inference card; seven of its vector cores have no cube.
var ascend310p3 = &Device{
	Name: "ascend310p3",
	Doc:  "Ascend 310P3, 8 cores and 7 vector cores, 24 GB",

	CubeCores: 8, VectorCores: 8 + 7, ClockMHz: 1060,
	CubeM: 16, CubeN: 16, CubeK: 16, CubeKInt8: 32,
	CubeMACsF16: 4096,
	LanesF16:    128, LanesF32: 64, LanesSlow: 32,
	L0A: 64 * kib, L0B: 64 * kib, L0C: 256 * kib,
	L1: 1024 * kib, UB: 256 * kib,
	UBBlock: 32, UBBanks: 64, UBBankBytes: 4096,
	L2: 16 * mib, Memory: 24e9,
	MemRead: 17, MemWrite: 17, // 144 GB/s together: derived
	L2Read: 114, L2Write: 114,
	L1ToL0A: 256, L1ToL0B: 128,
	L0CToUB: 512,
	UBToMem: 17, UBToL1: 256,
	Streams: 1024, Events: 1024,
	DefaultStreams: defaultStreams, SyncNs: syncNs,
	LaunchNs: 20000, // of the 910B family: none is published for this chip
	AlignUB:  32, AlignL0AB: 512, AlignL0C: 64, AlignMem: 512,
	UnalignedPercent: 70, MinTransfer: 16 * kib,
}

// but copies a row and changes what differs.
func (d *Device) but(change func(*Device)) *Device {
	c := *d
	change(&c)
	return &c
}

// Devices lists the table. Neither the slice nor the rows may be changed.
func Devices() []*Device { return table }

// Names lists the devices' names.
func Names() []string {
	names := make([]string, len(table))
	for i, d := range table {
		names[i] = d.Name
	}
	return names
}

// Lookup finds a row by its name, or returns nil.
func Lookup(name string) *Device {
	for _, d := range table {
		if d.Name == name {
			return d
		}
	}
	return nil
}
