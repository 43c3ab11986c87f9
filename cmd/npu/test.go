package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/npulang/npu"
)

// testCmd is npu test.
type testCmd struct {
	sourceFlags
	weightFlags
	Match string `name:"run" help:"Run only the tests whose name contains this text." placeholder:"TEXT"`
	V     bool   `short:"v" help:"Print every test, not only those that fail."`

	count   int     // of runs so far
	seconds float64 // that they took
}

// Run runs the test blocks, each at O0 and at O2 unless one is asked for, and
// prints like go test.
func (t *testCmd) Run(std streams, c *cli) error {
	opts, err := t.options()
	if err != nil {
		return err
	}
	if err := t.add(&opts); err != nil {
		return err
	}
	levels := []npu.Level{npu.O0, npu.O2}
	if opts.Level != "" {
		levels = []npu.Level{opts.Level}
	}
	results, warnings, err := npu.Test(t.source(std), npu.TestOptions{Options: opts, Levels: levels, Match: t.Match})
	if err != nil {
		return err
	}
	c.show(warnings, std)
	failed := 0
	for r := range results {
		if r.Failed() {
			failed++
			fmt.Fprintf(std.out, "--- FAIL: %s (%s, %.2fs)\n", r.Name, r.Level, r.Seconds)
			c.show(r.Diagnostics, std)
		} else if t.V {
			fmt.Fprintf(std.out, "--- PASS: %s (%s, %.2fs)\n", r.Name, r.Level, r.Seconds)
		}
		t.count++
		t.seconds += r.Seconds
	}
	return t.summary(std, failed)
}

// summary prints the closing line.
func (t *testCmd) summary(std streams, failed int) error {
	switch {
	case failed > 0:
		fmt.Fprintf(std.out, "FAIL\t%s\t%d of %s failed\n", t.File, failed, plural(t.count, "run"))
		return errFailed
	case t.count == 0:
		fmt.Fprintf(std.out, "?\t%s\t[no tests]\n", t.File)
	default:
		fmt.Fprintf(std.out, "ok\t%s\t%s, %.2fs\n", t.File, plural(t.count, "run"), t.seconds)
	}
	return nil
}

func withExtension(file, ext string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + ext
}
