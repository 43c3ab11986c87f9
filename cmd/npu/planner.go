package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/npulang/npu"
)

// planFlags say how tasks are shared out and where values lie.
type planFlags struct {
	Mapping        string   `help:"Unit for work that both could do: auto (default), cube_prefer or vector_prefer." placeholder:"NAME"`
	Streams        *int     `help:"Use at most N streams, 1 to 64; default: the device's." placeholder:"N"`
	StreamStrategy string   `help:"Share tasks out by latency (the critical path first), throughput (equal loads) or balanced (default)." placeholder:"NAME"`
	Memory         string   `help:"Use memory again within a run: off, conservative, normal (default) or aggressive, which also reorders tasks." placeholder:"MODE"`
	Align          *int64   `help:"Align offsets in a run's memory to N bytes, a power of two from 8 to 4096; default: 64." placeholder:"N"`
	Keep           []string `help:"Give the value NAME, as listings call it, memory that nothing else uses. May be repeated." sep:"none" placeholder:"NAME"`
	PlanEffort     string   `help:"Search for a smaller arena: none, normal (default), high, or a number of steps such as 200k." placeholder:"N"`
	Max            []string `help:"Plan once for symbolic dimension NAME up to N; memory then serves every smaller size. May be repeated." sep:"none" placeholder:"NAME=N"`
}

// add puts the flags that are given into the compiler's options.
func (f *planFlags) add(opts *npu.Options) error {
	for _, row := range f.rows() {
		if row.text == "" {
			continue
		}
		err := row.put(opts)
		if err == nil {
			err = opts.CheckPlanning()
		}
		if err != nil {
			return flagError("--"+row.name+" "+row.text, err)
		}
	}
	return f.addMax(opts)
}

// A planFlag is one flag with what it does.
type planFlag struct {
	name, text string
	put        func(*npu.Options) error
}

func (f *planFlags) rows() []planFlag {
	return []planFlag{
		{"mapping", f.Mapping, func(o *npu.Options) error { o.Mapping = npu.Mapping(f.Mapping); return nil }},
		{"streams", number(f.Streams), func(o *npu.Options) error {
			o.Streams = *f.Streams
			return positive(*f.Streams, "write a number from 1 to 64")
		}},
		{"stream-strategy", f.StreamStrategy, func(o *npu.Options) error { o.StreamStrategy = npu.StreamStrategy(f.StreamStrategy); return nil }},
		{"memory", f.Memory, func(o *npu.Options) error { o.MemoryMode = npu.MemoryMode(f.Memory); return nil }},
		{"align", number(f.Align), func(o *npu.Options) error {
			o.Align = *f.Align
			return positive(*f.Align, "write a power of two from 8 to 4096")
		}},
		{"keep", strings.Join(f.Keep, " "), func(o *npu.Options) error { o.Keep = f.Keep; return nil }},
		{"plan-effort", f.PlanEffort, func(o *npu.Options) (err error) { o.PlanEffort, err = npu.ParseEffort(f.PlanEffort); return err }},
	}
}

// number is the text of a flag; empty: it is not given.
func number[T int | int64](n *T) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// positive refuses a number that would mean the default, with the help to write
// another.
func positive[T int | int64](n T, help string) error {
	if n < 1 {
		return errors.New(help)
	}
	return nil
}

func (f *planFlags) addMax(opts *npu.Options) error {
	if len(f.Max) == 0 {
		return nil
	}
	sizes, err := parseSizes("--max", f.Max)
	if err != nil {
		return err
	}
	opts.MaxDims = sizes
	if err := opts.CheckPlanning(); err != nil {
		return flagError("--max", err)
	}
	return nil
}
