package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/npulang/npu"
)

// optimiserFlags say which rules the compiler applies, and for which device.
type optimiserFlags struct {
	Fusion       string   `help:"Fusion rules that take part: a mode (none, all_safe, all), names of rules to switch on, -NAME or !NAME to switch off, or several: all_safe,-QKV. Default: all_safe." placeholder:"SPEC"`
	FusionSwitch string   `help:"Read switches from a JSON file; an exact name in it beats ALL, and --fusion beats the file." placeholder:"FILE"`
	Rules        []string `help:"Apply the rewrites and fusions of a file of rules. May be repeated." sep:"none" placeholder:"FILE"`
	FastMath     bool     `help:"Allow rewrites that change bits; each liberty that this takes is listed by npu rules."`
	Device       string   `help:"Plan for a device of npu, or for one that a JSON file describes (FILE:NAME if several); default: cpu." placeholder:"NAME|FILE"`
	SaveMemory   bool     `help:"Refuse fusions that raise the peak of live memory."`
	Precision    string   `help:"Compute products in f32, bf16, f16 or int8; default: as they are written. @precision in the program goes before it." placeholder:"NAME"`
	Scales       string   `help:"Take the ranges that npu calibrate has written as the scales of int8, instead of measuring each row." placeholder:"FILE"`
}

// add puts the flags into the compiler's options.
func (f *optimiserFlags) add(opts *npu.Options) error {
	opts.FastMath, opts.SaveMemory = f.FastMath, f.SaveMemory
	return set(opts, f.addFusion, f.addSwitches, f.addRules, f.addDevice, f.addPrecision)
}

func (f *optimiserFlags) addPrecision(opts *npu.Options) (err error) {
	if opts.Precision, err = npu.ParsePrecision(f.Precision); err != nil {
		return flagError("--precision "+f.Precision, err)
	}
	if f.Scales != "" {
		opts.Scales, err = npu.ReadScales(f.Scales)
	}
	return err
}

func (f *optimiserFlags) addFusion(opts *npu.Options) (err error) {
	if f.Fusion == "" {
		return nil
	}
	opts.Fusion, opts.Switches, err = npu.ParseFusion(f.Fusion)
	if err != nil {
		return flagError("--fusion "+f.Fusion, err)
	}
	return nil
}

func (f *optimiserFlags) addSwitches(opts *npu.Options) error {
	if f.FusionSwitch == "" {
		return nil
	}
	file, err := os.Open(f.FusionSwitch)
	if err != nil {
		return err
	}
	defer file.Close()
	s, err := npu.ReadFusionSwitch(file, f.FusionSwitch)
	if err != nil {
		return err
	}
	s.Apply(opts)
	return nil
}

func (f *optimiserFlags) addRules(opts *npu.Options) error {
	for _, file := range f.Rules {
		rules, _, err := npu.ParseRules(npu.File(file))
		if err != nil {
			return err
		}
		opts.Rules = append(opts.Rules, rules...)
	}
	return nil
}

func (f *optimiserFlags) addDevice(opts *npu.Options) (err error) {
	if f.Device != "" {
		opts.Device, err = npu.FindDevice(f.Device)
	}
	return err
}

// flagError is what is wrong with a flag as an error of usage.
func flagError(flag string, err error) error {
	d := npu.AsDiagnostic(err)
	return usageError{errors.New(strings.Join(slices.Concat([]string{flag + ": " + d.Message}, d.Notes, d.Helps), "; ")), ""}
}

// pipelineFlags say how far the compiler goes, and what it tells of it.
type pipelineFlags struct {
	After  string  `help:"Stop after the pass PASS." placeholder:"PASS"`
	Passes *string `help:"Run just these passes, in this order, instead of those of the level." placeholder:"A,B,..."`
	Fuel   *int    `help:"Leave the graph as it is after N rewrites." placeholder:"N"`
}

// add puts the flags into the compiler's options.
func (f *pipelineFlags) add(opts *npu.Options) error {
	opts.After = f.After
	if f.Passes != nil {
		opts.Passes = []string{} // no pass at all
		for name := range strings.SplitSeq(*f.Passes, ",") {
			if name = strings.TrimSpace(name); name != "" {
				opts.Passes = append(opts.Passes, name)
			}
		}
	}
	switch {
	case f.Fuel == nil:
	case *f.Fuel < 0:
		return usage("--fuel %d: write how many rewrites are allowed, 0 for none", *f.Fuel)
	case *f.Fuel == 0:
		opts.Fuel = -1
	default:
		opts.Fuel = *f.Fuel
	}
	return nil
}

// given reports whether the flags ask for anything.
func (f *pipelineFlags) given() bool { return f.After != "" || f.Passes != nil || f.Fuel != nil }
