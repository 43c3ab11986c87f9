package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// flags are those of the command line.
type flags struct {
	networks string
	threads  string
	cache    string
	plan     plan
	side     sides
	json     bool
	list     bool
	serve    string
}

func parse() *flags {
	var f flags
	flag.StringVar(&f.networks, "networks", "", "names of networks with commas between, or all; default: "+usual)
	flag.StringVar(&f.threads, "threads", "1,2", "numbers of threads, with commas between")
	flag.StringVar(&f.cache, "cache", "", "folder for networks and onnxruntime-node; default: npu-bench in the user's cache")
	flag.IntVar(&f.plan.rounds, "rounds", 15, "how often each side has its turn")
	flag.DurationVar(&f.plan.batch, "batch", 250*time.Millisecond, "how long a turn takes about; at least one run")
	flag.Float64Var(&f.plan.quiet, "quiet", 0.1, "leave out rounds in which other processes use more than this share of a processor, if enough are left")
	flag.StringVar(&f.side.precision, "precision", "f32", "what npu computes products in: f32, bf16, f16 or int8; with int8, ONNX Runtime's products are those of bytes too")
	flag.StringVar(&f.side.against, "against", theRuntime, "what npu is measured beside: "+theRuntime+", or "+thisTree+", npu itself in f32")
	flag.BoolVar(&f.json, "json", false, "print the results as a JSON list")
	flag.BoolVar(&f.list, "list", false, "list the networks")
	flag.StringVar(&f.serve, "serve", "", "hold the network in this folder and obey standard input; what the command starts itself with")
	flag.Parse()
	return &f
}

func main() {
	if err := run(parse()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(f *flags) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%s: there are flags only; see -help", flag.Arg(0))
	case f.serve != "":
		return serve(f.serve, f.side.precision, os.Stdin, os.Stdout)
	case f.list:
		return list()
	case f.plan.rounds < 1:
		return fmt.Errorf("-rounds %d: write at least 1", f.plan.rounds)
	}
	if err := f.side.check(); err != nil {
		return err
	}
	chosen, err := choose(f.networks)
	if err != nil {
		return err
	}
	threads, err := numbers(f.threads)
	if err != nil {
		return err
	}
	if f.cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		f.cache = filepath.Join(user, "npu-bench")
	}
	results, err := measureAll(f, chosen, threads)
	if err != nil {
		return err
	}
	if f.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(results)
	}
	fmt.Printf("%s, %s/%s; %s\n", processor(), runtime.GOOS, runtime.GOARCH, f.side.title())
	return table(os.Stdout, results)
}

func list() error {
	for _, build := range networks {
		n := build()
		if _, err := fmt.Printf("%-14s %s\n", n.name, n.doc); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads the flag -threads.
func numbers(text string) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads %s: write numbers from 1 on, with commas between", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// measureAll measures each network by each number of threads.
func measureAll(f *flags, chosen []*network, threads []int) (results []*result, err error) {
	var p peer
	if f.side.against == theRuntime {
		if p, err = install(f.cache); err != nil {
			return nil, err
		}
	}
	for _, n := range chosen {
		folder, err := n.prepare(f.cache, f.side.quantized())
		if err != nil {
			return nil, err
		}
		for _, k := range threads {
			fmt.Fprintf(os.Stderr, "%s, %d threads\n", n.name, k)
			r, err := measureOne(f, n, folder, p, k)
			if err != nil {
				return nil, fmt.Errorf("network %s: %w", n.name, err)
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// measureOne starts both processes and lets them run in turns.
func measureOne(f *flags, n *network, folder string, of peer, threads int) (*result, error) {
	commands, err := f.side.commands(n, folder, of, threads)
	if err != nil {
		return nil, err
	}
	var p pair
	for i, cmd := range commands {
		if p.sessions[i], err = start(cmd); err != nil {
			return nil, err
		}
		defer p.sessions[i].end()
	}
	if err := p.measure(f.plan); err != nil {
		return nil, err
	}
	r := p.summary(n, threads, f.plan.quiet)
	r.Precision, r.Against = f.side.precision, f.side.against
	return r, p.compare(folder, r)
}
