package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/npulang/npu"
)

// planCmd is npu plan.
type planCmd struct {
	File     string        `arg:"" name:"FILE" help:"List of buffers (.csv) with the columns id, lower, upper and size; - is standard input."`
	Capacity *int64        `help:"Bytes that the plan has to fit in; the search ends as soon as it does." placeholder:"N"`
	Align    *int64        `help:"Align offsets to N bytes, a power of two; sizes count rounded up. Default: 1." placeholder:"N"`
	Effort   string        `help:"Search for a lower plan than the fast methods find: none, normal (default, a million steps, some ten seconds at most), high, or a number of steps such as 200k." placeholder:"N"`
	Time     time.Duration `help:"End the search after a time such as 5s; the plan then depends on the machine." placeholder:"TIME"`
	Format   string        `help:"What to write: csv (default), or svg, a picture of time against offset." placeholder:"csv|svg"`
	Output   string        `short:"o" help:"File to write; default: standard output." placeholder:"FILE"`
}

// planSteps is the normal effort.
const planSteps = 1_000_000

// planFormats are what a plan can be written as.
var planFormats = map[string]func(*npu.BufferList, io.Writer, *npu.BufferPlan) error{
	"": (*npu.BufferList).WriteCSV, "csv": (*npu.BufferList).WriteCSV, "svg": (*npu.BufferList).Draw,
}

// Run plans a list of buffers. The plan of a search that is interrupted is written
// too.
func (p *planCmd) Run(ctx context.Context, std streams, _ *cli) error {
	effort, err := p.effort()
	if err != nil {
		return err
	}
	write, err := p.check()
	if err != nil {
		return err
	}
	list, err := p.read(std)
	if err != nil {
		return err
	}
	list.Problem.Capacity, list.Problem.Align = value(p.Capacity), value(p.Align)
	effort.Stop = ctx.Done()
	std.progress.start("planning " + p.File)
	plan, err := list.Plan(effort)
	std.progress.stop()
	if err != nil {
		return err
	}
	fmt.Fprintln(std.err, list.Report(plan))
	var out bytes.Buffer
	if err := write(list, &out, plan); err != nil {
		return err
	}
	if err := p.put(out.Bytes(), std); err != nil {
		return err
	}
	if plan.Cut {
		return ctx.Err() // nil where --time has ended it
	}
	return nil
}

func (p *planCmd) put(text []byte, std streams) error {
	if p.Output == "" || p.Output == "-" {
		_, err := std.out.Write(text)
		return err
	}
	return npu.WriteFile(p.Output, text)
}

// check looks at what is no effort, and finds what writes the plan.
func (p *planCmd) check() (write func(*npu.BufferList, io.Writer, *npu.BufferPlan) error, err error) {
	write, ok := planFormats[p.Format]
	switch a := value(p.Align); {
	case !ok:
		return nil, usage("--format %s: the formats are csv and svg", p.Format)
	case p.Capacity != nil && *p.Capacity < 1:
		return nil, usage("--capacity %d: write a number of bytes from 1 on", *p.Capacity)
	case p.Align != nil && (a < 1 || a > 1<<30 || a&(a-1) != 0):
		return nil, usage("--align %d: write a power of two from 1 to %d", a, 1<<30)
	case p.Output != "" && p.Output != "-" && p.File != "-" && sameFile(p.Output, p.File):
		return nil, usage("%s would replace the list itself; choose another --output FILE", p.Output)
	}
	return write, nil
}

func (p *planCmd) effort() (e npu.BufferEffort, err error) {
	if p.Time < 0 {
		return e, usage("--time %s: write a time such as 5s", p.Time)
	}
	e.Time, e.Steps = p.Time, planSteps
	if p.Effort == "" {
		return e, nil
	}
	n, err := npu.ParseEffort(p.Effort)
	switch {
	case err != nil:
		return e, flagError("--effort "+p.Effort, err)
	case n == npu.EffortNone:
		e.Steps = 0
	case n != npu.EffortNormal:
		e.Steps = int64(n)
	}
	return e, nil
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (p *planCmd) read(std streams) (*npu.BufferList, error) {
	if p.File == "-" {
		return npu.ReadBuffers(std.in, stdin)
	}
	f, err := os.Open(p.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return npu.ReadBuffers(f, p.File)
}
