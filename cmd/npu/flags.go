package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/npulang/npu"
)

// sourceFlags name a program.
type sourceFlags struct {
	File string `arg:"" name:"FILE" help:"Script (.npu), IR text (.ir) or compiled program (.npuc); - is standard input."`
	Root string `help:"Folder that imports may not leave; default: the folder of FILE." placeholder:"DIR"`
}

// stdin is how messages name standard input.
const stdin = "<stdin>"

// source opens the program that the flags name.
func (f *sourceFlags) source(std streams) npu.Source { return sourceOf(f.File, std) }

func sourceOf(file string, std streams) npu.Source {
	if file == "-" {
		return npu.Reader(stdin, std.in)
	}
	return npu.File(file)
}

// A setter puts flags into the compiler's options. The error is one of usage, or
// about a file that a flag names.
type setter = func(*npu.Options) error

// set puts all flags of a command into options, up to the first wrong one.
func set(opts *npu.Options, flags ...setter) error {
	for _, add := range flags {
		if err := add(opts); err != nil {
			return err
		}
	}
	return nil
}

// graphFlags choose a graph and how much the compiler does with it.
type graphFlags struct {
	Graph string `help:"Graph to take; default: main, else the only one." placeholder:"NAME"`
	Opt   string `short:"O" help:"Optimisation: -O0 does only what correctness needs, -O1 simplifies, -O2 (default) also fuses." placeholder:"LEVEL"`
}

// add puts graph and level into the compiler's options.
func (f *graphFlags) add(opts *npu.Options) (err error) {
	opts.Graph = f.Graph
	opts.Level, err = parseLevel(f.Opt)
	return err
}

// levels are what may stand after -O.
var levels = map[string]npu.Level{"": "", "0": npu.O0, "1": npu.O1, "2": npu.O2}

func parseLevel(text string) (npu.Level, error) {
	level, ok := levels[text]
	if !ok {
		return "", usage("-O%s: the levels are -O0, -O1 and -O2", text)
	}
	return level, nil
}

// memoryFlag bounds what a run may take.
type memoryFlag struct {
	MaxMemory string `help:"Most memory that a run may take, as 512MiB or 2G; default: half of what this process may use." placeholder:"SIZE"`
}

func (f *memoryFlag) add(opts *npu.Options) (err error) {
	opts.MaxMemory, err = parseSize(f.MaxMemory)
	return err
}

// weightFlags say where a program's weights come from.
type weightFlags struct {
	Weights       string   `help:"Weights file (.safetensors or .npz); default: the one that the script names." placeholder:"FILE"`
	RandomWeights bool     `help:"Make up all weights from --seed, for trying and measuring."`
	WeightsPrefix string   `help:"Cut PREFIX off the names in the weights file; names without it are left aside." placeholder:"PREFIX"`
	Rename        []string `help:"Read OLD as NEW in the names in the weights file; both are whole words between dots. May be repeated." sep:"none" placeholder:"OLD=NEW"`
	Strict        bool     `help:"Make weights that nothing asks for an error rather than a warning."`
	Seed          uint64   `help:"Seed of all that is random; default: 0." placeholder:"N"`
}

// addTo returns what puts the weights into the compiler's options, for the
// program of a file.
func (f *weightFlags) addTo(file string, std streams) setter {
	return func(opts *npu.Options) error { return f.add(opts, file, std) }
}

func (f *weightFlags) add(opts *npu.Options, file string, std streams) error {
	switch {
	case f.RandomWeights && f.Weights != "":
		return usage("--weights and --random-weights exclude each other")
	case f.Weights == "-" && file == "-":
		return usage("the program and its weights cannot both come from standard input")
	case f.Weights == "-":
		opts.Weights = npu.WeightsReader(stdin, std.in)
	case f.Weights != "":
		opts.Weights = npu.WeightsFile(f.Weights)
	}
	opts.RandomWeights, opts.Seed = f.RandomWeights, f.Seed
	opts.WeightsPrefix, opts.Strict = f.WeightsPrefix, f.Strict
	for _, r := range f.Rename {
		from, to, ok := strings.Cut(r, "=")
		if !ok || from == "" {
			return usage("--rename %s: write OLD=NEW", r)
		}
		opts.Rename = append(opts.Rename, npu.Rename{Old: from, New: to})
	}
	return nil
}

// dimFlags bind symbolic dimensions.
type dimFlags struct {
	Dim []string `help:"Take N as the size of the symbolic dimension NAME. May be repeated." sep:"none" placeholder:"NAME=N"`
}

// add puts the sizes into the compiler's options.
func (f *dimFlags) add(opts *npu.Options) (err error) {
	opts.Dims, err = parseSizes("--dim", f.Dim)
	return err
}

// parseSizes reads the values NAME=N of a flag.
func parseSizes(flag string, list []string) (map[string]int64, error) {
	sizes := map[string]int64{}
	for _, d := range list {
		name, text, ok := strings.Cut(d, "=")
		n, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || n < 0 || name == "" {
			return nil, usage("%s %s: write NAME=N with a whole number N", flag, d)
		}
		if _, twice := sizes[name]; twice {
			return nil, usage("%s %s: %s is given twice", flag, d, name)
		}
		sizes[name] = n
	}
	return sizes, nil
}

// sizeUnits are the suffixes of sizes.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}, {"", 1},
}

// parseSize reads 512MiB, 2G or 1000000; empty is 0.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	lower := strings.ToLower(text)
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(lower, u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f > 0) || f*float64(u.bytes) > 1<<60 {
			break
		}
		return int64(f * float64(u.bytes)), nil
	}
	return 0, usage("--max-memory %s: write a size as 512MiB or 2G", text)
}

// outputFile is the file that a command writes: the one that is given, else the
// program's with another ending. It is never the program itself.
func outputFile(given, program, ending string) (string, error) {
	switch {
	case given == "-":
		return given, nil
	case given == "" && program == "-":
		return "", usage("a program from standard input needs --output FILE")
	case given == "":
		given = strings.TrimSuffix(program, filepath.Ext(program)) + ending
	}
	if sameFile(given, program) {
		return "", usage("%s would replace the program itself; choose another --output FILE", given)
	}
	return given, nil
}

// sameFile reports whether two names are of one file: through a link, too.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
