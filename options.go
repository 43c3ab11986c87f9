package npu

import (
	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// A Level chooses how much the compiler does. The empty Level is O2.
type Level string

const (
	O0 Level = "O0" // only what correctness needs
	O1 Level = "O1" // simplification, no fusion
	O2 Level = "O2" // everything that keeps the results
)

// Options steer a compilation. The zero Options are the defaults.
type Options struct {
	// Graph names the graph to compile: by default main, else the only one.
	Graph string
	// Level chooses the passes.
	Level Level

	// Fusion is the mode of the fusion rules; see SetFusionMode for single ones.
	Fusion FusionMode
	// Switches turn rules, fusions or rewrites, on or off by their exact names,
	// over the mode.
	Switches map[string]bool
	// Rules are further rewrites and fusions, beside those of the script.
	Rules []*Rule
	// FastMath allows rewrites that IEEE 754 does not: npu rules lists the liberty
	// that each takes.
	FastMath bool
	// Device is the machine to plan for: fused regions must fit its memory, and its
	// numbers choose units and streams; nil: the cpu.
	Device *Device
	// SaveMemory refuses fusions that would raise the peak of live bytes.
	SaveMemory bool

	// Mapping says which unit does the work that both could do.
	Mapping Mapping
	// Streams is how many streams a plan may have, 1 to 64; 0: as many as the row of
	// the device says. StreamStrategy says how tasks are shared out among them.
	Streams        int
	StreamStrategy StreamStrategy
	// MemoryMode says how memory is used again within a run. Align, a power of two
	// from 8 to 4096, is what offsets in a run's memory are multiples of; 0 means 64.
	// Keep names values that get memory of their own, as listings call them, with or
	// without %. PlanEffort bounds the search for a smaller arena.
	MemoryMode MemoryMode
	Align      int64
	Keep       []string
	PlanEffort Effort
	// MaxDims gives upper bounds to symbolic dimensions. A program in which all have
	// one is planned for them, and its memory serves every smaller size too; inputs
	// that are larger are refused. Listings, and fusions that must fit a device, take
	// a symbol that Dims does not name as its bound.
	MaxDims map[string]int64

	// Precision says in which dtype products are computed; annotations in the program
	// go before it. Scales are the ranges of their left operands, for PrecisionInt8.
	Precision Precision
	Scales    Scales

	// Kernels say which code runs the tasks. ISA names the instruction set of fast
	// ones, among those of ISAs; empty or "auto": the best.
	Kernels Kernels
	ISA     string

	// Pack says for which processors Save packs weights; empty: for none.
	Pack Packing
	// Bank names the file with what TuneKernels has measured, by which kernels are
	// chosen; empty: that of BankPath, where there is one; BankOff: none. One that is
	// damaged, or of another machine, is not used, which is a warning. Results don't
	// depend on it, not by a bit.
	Bank string

	// Threads is how many processors a run may use: the caller's goroutine and so
	// many less one workers, which all runs of the program share; 0, and what is more
	// than that, stands for GOMAXPROCS, which respects the limits of a container. All
	// programs of the process have the same workers, and help in turns.
	// Results don't depend on it, not by a bit.
	Threads int

	// Passes, if not nil, are the passes to run, in this order, instead of those
	// of the level; After is the last one to run; after Fuel rewrites, if it is not
	// 0, the rest of the graph stays as it is, and a negative Fuel allows none.
	Passes []string
	After  string
	Fuel   int

	// Recorded, if not nil, is told of each graph that is optimised.
	Recorded func(*Record)

	// Weights give the values of the program's parameters; nil takes the file
	// that the script names.
	Weights Weights
	// WeightsPrefix is cut off the names in the weights file; names without it
	// are left aside.
	WeightsPrefix string
	// Rename changes the names in the weights file, in order.
	Rename []Rename
	// Strict makes weights that nothing asks for an error.
	Strict bool
	// RandomWeights makes up all parameters from Seed.
	RandomWeights bool
	Seed          uint64

	// Root is the folder above which imports may not reach; by default the
	// script's own folder.
	Root string
	// MaxMemory bounds, in bytes, what folding may create, what weights that are
	// made up take, and what all runs of the program that are under way take
	// together: arenas, results and scratch memory of operators; 0 is half of what
	// the process may take, of the machine's memory or of its own bound, which a
	// container or ulimit -v sets. A run waits while others have what it needs,
	// until its context ends; one that needs more than all fails with code limit.
	// Weights in files, inputs and results that Run has returned do not count.
	MaxMemory int64

	// Dims gives sizes to symbolic dimensions in listings that need numbers;
	// the others are taken as their bound in MaxDims, else as 64.
	Dims map[string]int64
	// Locations shows in listings where each value comes from.
	Locations bool
	// Format is the language of the stage graph, or svg for a picture of memory.
	Format PictureFormat
	// Elide, if not 0, shortens constants of more elements in listings of the
	// IR, which then do not parse back.
	Elide int
	// Verify checks the IR after every pass. Tests set it; it costs time.
	Verify bool

	measure bool // ranges are results of the graph: see Calibrate

	places map[string]diag.Span // of the switches, where a file has them
}

// A FusionMode says which fusion rules take part.
type FusionMode = fusion.Mode

// The modes. The empty mode is FuseAllSafe.
const (
	FuseNone    = fusion.None
	FuseAllSafe = fusion.AllSafe
	FuseAll     = fusion.All
)

// A Rule is a rewrite or a fusion; ParseRules makes them from text.
type Rule = rewrite.Rule

// A Device describes a machine that npu plans for.
type Device = device.Device

// SetFusionMode switches one rule on or off by its name, whatever the mode says.
// Compile refuses a name that no rule has.
func (o *Options) SetFusionMode(name string, enable bool) {
	if o.Switches == nil {
		o.Switches = map[string]bool{}
	}
	o.Switches[name] = enable
	delete(o.places, name)
}

// FusionStatus tells of each of npu's own fusion rules, and those of Rules,
// whether the options enable it. Nothing is matched yet: Program.FusionStatus and
// Trace tell what came of a graph.
func (o *Options) FusionStatus() []FusionStatus {
	fuser, _ := fusion.New(o.fusion(o.Rules))
	return fuser.Status()
}

// fusion are the options of fusion, with these rules of a user's.
func (o *Options) fusion(rules []*Rule) fusion.Options {
	return fusion.Options{
		Mode: o.Fusion, Switches: o.Switches, Rules: rules,
		Device: o.Device, Dims: o.sizes(), SaveMemory: o.SaveMemory,
	}
}

// A Rename replaces, in the names of the weights file, the words Old by New;
// words are what stands between dots.
type Rename struct{ Old, New string }

// level is the chosen level, with the default filled in.
func (o *Options) level() Level {
	if o.Level == "" {
		return O2
	}
	return o.Level
}
