package npu

// A Level chooses how much the compiler does. The empty Level is O2.
type Level string

const (
	O0 Level = "O0" // only what correctness needs
	O2 Level = "O2" // everything that keeps the results
)

// Options steer a compilation. The zero Options are the defaults.
type Options struct {
	// Graph names the graph to compile: by default main, else the only one.
	Graph string
	// Level chooses the passes.
	Level Level

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
	// together: arenas, results and scratch memory of operators; 0 is half of the
	// machine's memory. A run waits while others have what it needs, until its
	// context ends; one that needs more than all fails with code limit. Weights in
	// files, inputs and results that Run has returned do not count.
	MaxMemory int64

	// Dims gives sizes to symbolic dimensions in listings that need numbers;
	// the others are taken as 64.
	Dims map[string]int64
	// Locations shows in listings where each value comes from.
	Locations bool
	// Elide, if not 0, shortens constants of more elements in listings of the
	// IR, which then do not parse back.
	Elide int
	// Verify checks the IR after every pass. Tests set it; it costs time.
	Verify bool
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
