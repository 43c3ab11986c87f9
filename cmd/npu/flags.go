package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/npulang/npu"
)

// sourceFlags name a program and how to read it.
type sourceFlags struct {
	File      string `arg:"" help:"Script (.npu), IR text (.ir) or compiled program (.npuc); - is standard input."`
	Graph     string `help:"Graph to take; default: main, else the only one." placeholder:"NAME"`
	Root      string `help:"Folder above which imports may not reach; default: the script's." placeholder:"DIR"`
	Opt       string `short:"O" enum:",0,2" default:"" help:"Optimisation: -O0 does only what correctness needs, -O2 (default) all." placeholder:"LEVEL"`
	MaxMemory string `help:"Most memory that compiling and running may take, as 2GiB; default: half the machine's." placeholder:"SIZE"`
}

// source opens the program that the flags name.
func (f *sourceFlags) source(std streams) npu.Source {
	if f.File == "-" {
		return npu.Reader("-", std.in)
	}
	return npu.File(f.File)
}

// options turns the flags into the compiler's options.
func (f *sourceFlags) options() (npu.Options, error) {
	opts := npu.Options{Graph: f.Graph, Root: f.Root}
	if f.Opt != "" {
		opts.Level = npu.Level("O" + f.Opt)
	}
	n, err := parseSize(f.MaxMemory)
	opts.MaxMemory = n
	return opts, err
}

// weightFlags say where a program's weights come from.
type weightFlags struct {
	Weights       string   `help:"Weights file (.safetensors or .npz); default: the script's own." placeholder:"FILE"`
	RandomWeights bool     `help:"Make random weights, for trying and measuring."`
	WeightsPrefix string   `help:"Cut this off the names in the weights file; names without it are left aside." placeholder:"PREFIX"`
	Rename        []string `help:"Replace the words OLD by NEW in the names of the weights file; may be repeated." sep:"none" placeholder:"OLD=NEW"`
	Strict        bool     `help:"Weights that nothing asks for are an error."`
	Seed          uint64   `help:"Seed of random weights and inputs." default:"0"`
}

// add puts the weights into the compiler's options.
func (f *weightFlags) add(opts *npu.Options) error {
	if f.RandomWeights && f.Weights != "" {
		return usage("--weights and --random-weights exclude each other")
	}
	if f.Weights != "" {
		opts.Weights = npu.WeightsFile(f.Weights)
	}
	opts.RandomWeights, opts.Seed = f.RandomWeights, f.Seed
	opts.WeightsPrefix, opts.Strict = f.WeightsPrefix, f.Strict
	for _, r := range f.Rename {
		from, to, ok := strings.Cut(r, "=")
		if !ok {
			return usage("--rename %s: write OLD=NEW", r)
		}
		opts.Rename = append(opts.Rename, npu.Rename{Old: from, New: to})
	}
	return nil
}

// dimFlags bind symbolic dimensions.
type dimFlags struct {
	Dim []string `help:"Size of a symbolic dimension; may be repeated." sep:"none" placeholder:"NAME=N"`
}

func (f *dimFlags) dims() (map[string]int64, error) {
	dims := map[string]int64{}
	for _, d := range f.Dim {
		name, text, ok := strings.Cut(d, "=")
		n, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || n < 0 || name == "" {
			return nil, usage("--dim %s: write NAME=N with a whole number N", d)
		}
		if _, twice := dims[name]; twice {
			return nil, usage("--dim %s: %s is given twice", d, name)
		}
		dims[name] = n
	}
	return dims, nil
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

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
