package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/npulang/npu"
	"github.com/rogpeppe/go-internal/diff"
)

// trialFlags say how the commands that look for a fault run a program.
type trialFlags struct {
	graphFlags
	memoryFlag
	weightFlags `group:"Weights:"`
	dimFlags
	Input          []string `short:"i" help:"Value of an input, as in npu run; the others are random. May be repeated." sep:"none" placeholder:"NAME=VALUE"`
	Tolerance      *float64 `help:"Take results as equal that are off by less than T times the largest element; for f32, and for other float dtypes as many of their roundings. 0: equal bits. Default: equal bits, but for what a rule with a tolerance may change." placeholder:"T"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	pipelineFlags  `group:"Passes:"`
}

func (f *trialFlags) options(file, root string, std streams) (npu.TrialOptions, error) {
	o, err := f.inputs(file, root, std)
	if err == nil {
		err = set(&o.Options, f.graphFlags.add, f.optimiserFlags.add, f.planFlags.add, f.pipelineFlags.add)
	}
	return o, err
}

// inputs are the options that say what a program runs on, and how results are compared.
func (f *trialFlags) inputs(file, root string, std streams) (npu.TrialOptions, error) {
	o := npu.TrialOptions{Options: npu.Options{Root: root}}
	if f.Tolerance != nil {
		if !(*f.Tolerance >= 0 && *f.Tolerance <= 1) {
			return o, usage("--tolerance %v: write a number from 0 to 1", *f.Tolerance)
		}
		o.Tolerance, o.Exact = *f.Tolerance, *f.Tolerance == 0
	}
	err := set(&o.Options, f.memoryFlag.add, f.weightFlags.addTo(file, std), f.dimFlags.add)
	if err == nil {
		o.Inputs, err = splitInputs(f.Input)
	}
	return o, err
}

// bisectCmd is npu bisect.
type bisectCmd struct {
	sourceFlags
	trialFlags
}

// Run finds the rewrite that changes the numbers, and fails if there is one.
func (b *bisectCmd) Run(std streams, c *cli) error {
	opts, err := b.options(b.File, b.Root, std)
	if err != nil {
		return err
	}
	std.progress.start("searching " + b.File)
	found, err := npu.Bisect(b.source(std), opts)
	if err != nil {
		return err
	}
	c.show(found.Warnings, std)
	return tellBisection(std.out, found)
}

func tellBisection(w io.Writer, b *npu.Bisection) error {
	switch {
	case b.Number == 0 && b.Difference == "":
		_, err := fmt.Fprintf(w, "no rewrite changes the numbers (%s)\n", plural(b.Total, "rewrite"))
		return err
	case b.Number == 0:
		fmt.Fprintf(w, "the numbers differ without any rewrite: what lowers or runs the graph is at fault\n%s\n", b.Difference)
		return errFailed
	}
	r := b.Rewrite
	at := ""
	if r.Pos.Line > 0 {
		at = fmt.Sprintf(" (%s)", r.Pos)
	}
	fmt.Fprintf(w, "rewrite %d of %d changes the numbers\npass %s, rule %s, value %s%s\n%s\n\n", b.Number, b.Total, r.Pass, r.Rule, r.Value, at, b.Difference)
	_, err := w.Write(diff.Diff("before", []byte(b.Before), "after", []byte(b.After)))
	return errors.Join(err, errFailed)
}

// reduceCmd is npu reduce.
type reduceCmd struct {
	sourceFlags
	Output string `short:"o" help:"File to write the reduced graph to; default: standard output." placeholder:"FILE"`
	trialFlags
}

// Run shrinks a graph that fails.
func (r *reduceCmd) Run(ctx context.Context, std streams) error {
	opts, err := r.options(r.File, r.Root, std)
	if err != nil {
		return err
	}
	output := "-"
	if r.Output != "" {
		if output, err = outputFile(r.Output, r.File, ""); err != nil {
			return err
		}
	}
	std.progress.start("reducing " + r.File)
	small, err := npu.Shrink(ctx, r.source(std), opts)
	if err != nil {
		return err
	}
	std.progress.stop()
	fmt.Fprintf(std.err, "%s of %d left after %s\n", plural(small.After, "value"), small.Before, plural(small.Tries, "trial"))
	if output == "-" {
		_, err := io.WriteString(std.out, small.IR)
		return err
	}
	return npu.WriteFile(output, []byte(small.IR))
}

// compareCmd is npu compare.
type compareCmd struct {
	A    string `arg:"" name:"A" help:"Program."`
	B    string `arg:"" name:"B" optional:"" help:"Program to compare it with; default: A without optimisation, or as --b says. With --precision A with its products as they are written, else with --kernels or --isa A by the reference, with --bank A without a bank."`
	Root string `help:"Folder that imports may not leave; default: the folder of each program." placeholder:"DIR"`
	AOpt string `name:"a" help:"Flags of optimiser, plan, passes and kernels for A alone, in one word: --a=\"-O2 --fusion all\". --no-NAME takes back what both have." placeholder:"FLAGS"`
	BOpt string `name:"b" help:"The same for B; default, if B is left out: -O0." placeholder:"FLAGS"`
	trialFlags
	kernelFlags `group:"Kernels:"`
}

// Run compares two programs, or two pipelines, and fails if they differ.
func (k *compareCmd) Run(std streams, c *cli) error {
	opts, err := k.inputs(k.A, k.Root, std)
	if err != nil {
		return err
	}
	if k.A == "-" {
		return usage("the program is read twice: it cannot come from standard input")
	}
	plain := k.B == "" && k.BOpt == ""
	k.B = cmp.Or(k.B, k.A)
	a, err := k.side(k.A, opts.Options, k.AOpt, std)
	if err != nil {
		return err
	}
	b, err := k.side(k.B, opts.Options, k.BOpt, std)
	if err != nil {
		return err
	}
	if plain {
		b.Options = plainOf(b.Options)
	}
	std.progress.start("comparing " + k.A)
	found, err := npu.Compare(a, b, opts)
	if err != nil {
		return err
	}
	c.show(found.Warnings, std)
	return tellComparison(std.out, found, k.A, k.B)
}

// plainOf is what a program is compared with where nothing else is named: what differs
// is the first of these that the flags ask for, else all that the optimiser does.
func plainOf(opts npu.Options) npu.Options {
	switch {
	case opts.Precision != "" || opts.Scales != nil:
		opts.Precision, opts.Scales = "", nil
	case opts.Kernels != "" || opts.ISA != "":
		opts.Kernels, opts.ISA, opts.Bank = npu.KernelsReference, "", ""
	case opts.Bank != "":
		opts.Bank = npu.BankOff
	default:
		opts.Level, opts.Rules, opts.FastMath = npu.O0, nil, false
		opts.Passes, opts.After, opts.Fuel = nil, "", 0
	}
	return opts
}

// sideFlags are what may be said of one side alone.
type sideFlags struct {
	graphFlags
	optimiserFlags
	planFlags
	pipelineFlags
	kernelFlags
}

// parser makes a parser that puts flags into f.
func (f *sideFlags) parser() *kong.Kong {
	p, err := kong.New(f, kong.Name("npu compare"), kong.NoDefaultHelp())
	if err != nil {
		panic(err)
	}
	return p
}

// side is a program with flags of its own, and the common ones where it has none.
func (k *compareCmd) side(file string, opts npu.Options, words string, std streams) (npu.Side, error) {
	flags := &sideFlags{k.graphFlags, k.optimiserFlags, k.planFlags, k.pipelineFlags, k.kernelFlags}
	if list := strings.Fields(words); len(list) > 0 {
		var err error
		if flags, err = flags.with(list); err != nil {
			return npu.Side{}, usage("%q: %v", words, err)
		}
	}
	err := set(&opts, flags.graphFlags.add, flags.optimiserFlags.add, flags.planFlags.add, flags.pipelineFlags.add, flags.kernelFlags.add)
	return npu.Side{Source: sourceOf(file, std), Options: opts}, err
}

// with returns what words say, and where they say nothing the flags of both sides. A
// word --no-NAME takes back a flag that both sides have.
func (f *sideFlags) with(words []string) (*sideFlags, error) {
	own := new(sideFlags)
	parser := own.parser()
	back := map[string]bool{}
	for _, flag := range parser.Model.Flags {
		no := "--no-" + flag.Name
		back[flag.Name] = slices.Contains(words, no)
		words = slices.DeleteFunc(words, func(w string) bool { return w == no })
	}
	if _, err := parser.Parse(words); err != nil {
		return nil, err
	}
	for i, common := range f.parser().Model.Flags {
		if flag := parser.Model.Flags[i]; !flag.Set && !back[flag.Name] {
			flag.Target.Set(common.Target)
		}
	}
	return own, nil
}

func tellComparison(w io.Writer, c *npu.Comparison, a, b string) error {
	if c.Errors != nil {
		return tellErrors(w, c)
	}
	if c.Differs == nil {
		_, err := fmt.Fprintf(w, "equal: %s and %s\n", plural(c.Values, "named value"), plural(c.Results, "result"))
		return err
	}
	d := c.Differs
	what := "%" + d.Name + " is the first value that differs"
	if d.Result {
		what = "result " + d.Name + " differs; all named values before it agree"
	}
	fmt.Fprintln(w, what)
	for i, name := range []string{a, b} {
		at := d.Pos[i]
		if at == "" {
			at = name
		}
		fmt.Fprintf(w, "  %s: %s %s\n", at, d.Ops[i], d.Types[i])
	}
	fmt.Fprintln(w, d.Difference)
	return errFailed
}

// tellErrors prints how far results are off at another precision, or by other kernels.
func tellErrors(w io.Writer, c *npu.Comparison) error {
	if _, err := io.WriteString(w, c.ErrorTable()); err != nil || c.Differs == nil {
		return err
	}
	fmt.Fprintf(w, "result %s is %s\n", c.Differs.Name, c.Differs.Difference)
	return errFailed
}

// Help is the rest of npu bisect --help.
func (*bisectCmd) Help() string {
	return `Compares the machine, after so many rewrites, with the interpreter on the graph as it is written, and halves their number until the guilty one is left: its pass, rule, value and place, and what it changed. Exit code 1 when there is one. Weights that are not given are made up.

Examples:

    npu bisect net.npu --fusion all
    npu bisect net.npu --fast-math --tolerance 1e-6 --input x=x.npy`
}

// Help is the rest of npu reduce --help.
func (*reduceCmd) Help() string {
	return `Makes a graph smaller as long as it fails in the same way: it does not compile, does not run, or computes something else than the interpreter. Prints IR text, which every command takes, with the seed and the inputs that were given in a comment. Rules of the script are not in it: copy them to a file for --rules. Weights are made up, since the graphs that are tried have others than the file's.

Example:

    npu reduce net.npu --fusion all -o small.ir`
}

// Help is the rest of npu compare --help.
func (*compareCmd) Help() string {
	return `Runs two programs on the same inputs and weights, and prints the first value that differs: values of one name are compared, then the results. Exit code 1 when one differs.

At different precisions, or with different kinds of kernels or instruction sets, the results of both are measured: the largest and the mean error, the largest by the largest element, and 1 less the cosine. Exit code 1 when --tolerance is given, and the largest by the largest element is above it. Kernels are those of the reference unless a flag names others.

Examples:

    npu compare net.npu
    npu compare net.npu --a="--fast-math" --b="-O2" --tolerance 1e-6
    npu compare net.npu rewritten.npu
    npu compare net.npu --precision int8 --input x=x.npy --tolerance 0.05
    npu compare net.npu --a=--precision=bf16 --b=--precision=int8
    npu compare net.npu --kernels fast --tolerance 1e-5
    npu compare net.npu --kernels fast --a=--isa=portable --b=--isa=auto
    npu compare net.npu --kernels fast --threads 1 --b=--no-threads
    npu compare net.npu --a=--bank=morning.bank --b=--bank=evening.bank`
}
