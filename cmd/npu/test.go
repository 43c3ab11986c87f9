package main

import (
	"fmt"

	"github.com/npulang/npu"
)

// testCmd is npu test.
type testCmd struct {
	sourceFlags
	memoryFlag
	Opt            string `short:"O" help:"Run the tests at -O0, -O1 or -O2 only; default: at -O0 and at -O2." placeholder:"LEVEL"`
	Match          string `name:"run" help:"Run only the tests whose name contains TEXT." placeholder:"TEXT"`
	Verbose        bool   `short:"v" help:"Print every test, not only those that fail."`
	weightFlags    `group:"Weights:"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	kernelFlags    `group:"Kernels:"`

	count   int     // of runs so far
	seconds float64 // that they took
}

// Run runs the test blocks, each at O0 and at O2 unless one is asked for, and
// prints like go test.
func (t *testCmd) Run(std streams, c *cli) error {
	opts, err := t.options(std)
	if err != nil {
		return err
	}
	std.progress.start("compiling " + t.File)
	results, warnings, err := npu.Test(t.source(std), opts)
	if err != nil {
		return err
	}
	c.show(warnings, std)
	std.progress.start("testing " + t.File)
	failed := 0
	for r := range results {
		std.progress.stop()
		if t.print(r, std, c) {
			failed++
		}
		t.count++
		t.seconds += r.Seconds
		std.progress.start("testing " + t.File)
	}
	std.progress.stop()
	return t.summary(std, failed)
}

func (t *testCmd) options(std streams) (npu.TestOptions, error) {
	opts := npu.TestOptions{Options: npu.Options{Root: t.Root}, Match: t.Match}
	if err := set(&opts.Options, t.memoryFlag.add, t.weightFlags.addTo(t.File, std), t.optimiserFlags.add, t.planFlags.add, t.kernelFlags.add); err != nil {
		return opts, err
	}
	level, err := parseLevel(t.Opt)
	if level != "" {
		opts.Levels = []npu.Level{level}
	}
	return opts, err
}

// print shows one result, and reports whether it is a failure.
func (t *testCmd) print(r npu.TestResult, std streams, c *cli) (failed bool) {
	failed = r.Failed()
	verdict := "PASS"
	if failed {
		verdict = "FAIL"
	}
	if failed || t.Verbose {
		fmt.Fprintf(std.out, "--- %s: %s (%s, %.2fs)\n", verdict, r.Name, r.Level, r.Seconds)
	}
	if failed {
		c.write(std.out, r.Diagnostics, std)
	}
	return failed
}

// summary prints the closing line.
func (t *testCmd) summary(std streams, failed int) error {
	switch {
	case failed > 0:
		fmt.Fprintf(std.out, "FAIL\t%s\t%d of %s failed\n", t.File, failed, plural(t.count, "run"))
		return errFailed
	case t.count == 0 && t.Match != "":
		fmt.Fprintf(std.out, "?\t%s\t[no test is named like %q]\n", t.File, t.Match)
	case t.count == 0:
		fmt.Fprintf(std.out, "?\t%s\t[no tests]\n", t.File)
	default:
		fmt.Fprintf(std.out, "ok\t%s\t%s, %.2fs\n", t.File, plural(t.count, "run"), t.seconds)
	}
	return nil
}
