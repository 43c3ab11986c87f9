package npu

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
)

// TestOptions choose which test blocks run, and how.
type TestOptions struct {
	Options
	Levels []Level // each test runs once at each; none: O0 and O2
	Match  string  // only tests whose name contains this text
}

// A TestResult is one run of a test block.
type TestResult struct {
	Name        string
	Level       Level
	Seconds     float64
	Diagnostics Diagnostics // what failed
}

// Failed reports whether the run failed.
func (r *TestResult) Failed() bool { return r.Diagnostics.Err() != nil }

// Test runs the test blocks of a script. The sequence yields a result when its
// run is over.
func Test(src Source, opts TestOptions) (iter.Seq[TestResult], Diagnostics, error) {
	c, err := load(src, opts.Options)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDims(c.opts.MaxDims, c.funcs()...); err != nil {
		c.close()
		return nil, nil, err
	}
	if len(opts.Levels) == 0 {
		opts.Levels = []Level{O0, O2}
	}
	return func(yield func(TestResult) bool) {
		defer c.close()
		for _, t := range c.tests(opts.Match) {
			for _, level := range opts.Levels {
				if !yield(c.test(t, level)) {
					return
				}
			}
		}
	}, c.warnings, nil
}

// tests lists the test blocks whose name contains a text.
func (c *compilation) tests(match string) []*lang.Test {
	if c.unit == nil {
		return nil
	}
	var list []*lang.Test
	for _, t := range c.unit.Tests {
		if strings.Contains(t.Name, match) {
			list = append(list, t)
		}
	}
	return list
}

func (c *compilation) test(t *lang.Test, level Level) TestResult {
	r := &testRunner{c: c, level: level, programs: map[*ir.Func]*Program{}}
	defer r.close()
	start := time.Now()
	ds := t.Run(r)
	return TestResult{t.Name, level, time.Since(start).Seconds(), ds}
}

// A testRunner compiles and runs the graphs that a test calls, each compiled
// once.
type testRunner struct {
	c        *compilation
	level    Level
	programs map[*ir.Func]*Program
}

// Run runs a function as Program.Run does.
func (r *testRunner) Run(f *ir.Func, inputs []*Tensor) ([]*Tensor, error) {
	p := r.programs[f]
	if p == nil {
		built, err := r.compile(f)
		if err != nil {
			return nil, err
		}
		p = built
		r.programs[f] = p
	}
	out, err := p.run(context.Background(), inputs)
	return out, runError(err)
}

func (r *testRunner) compile(f *ir.Func) (*Program, error) {
	c := *r.c
	c.opts.Level = r.level
	c.warnings = nil
	return c.build(&lang.Graph{Name: f.Name, Func: f})
}

func (r *testRunner) close() {
	for _, p := range r.programs {
		p.Close()
	}
}
