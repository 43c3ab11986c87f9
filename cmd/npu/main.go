// Npu compiles and runs tensor programs: scripts (.npu), IR text (.ir) and
// compiled programs (.npuc).
//
//	npu run examples/mlp.npu
//	npu help
//
// Exit codes: 0 fine; 1 the user's program or data is wrong, or the run was
// interrupted; 2 wrong usage; 3 a fault of npu itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/npulang/npu"
	"golang.org/x/term"
)

// cli is the command line: one field a command.
type cli struct {
	Errors string `enum:"text,json" default:"text" placeholder:"text|json" help:"How to print errors and warnings: text (default), or json, one object a line."`

	Run       runCmd       `cmd:"" help:"Compile and run a graph, print its results."`
	Bench     benchCmd     `cmd:"" help:"Measure the runs of a graph: time, rate, memory, allocations."`
	Check     checkCmd     `cmd:"" help:"Report the mistakes of a program; needs no weights."`
	Test      testCmd      `cmd:"" help:"Run the test blocks of a script."`
	Emit      emitCmd      `cmd:"" help:"Show a stage of the compiler as text; needs no weights."`
	Fusion    fusionCmd    `cmd:"" help:"Show what the fusion rules do to a graph; needs no weights."`
	Report    reportCmd    `cmd:"" help:"Write a page that shows what each pass does to a graph."`
	Bisect    bisectCmd    `cmd:"" help:"Find the rewrite that changes what a graph computes."`
	Reduce    reduceCmd    `cmd:"" help:"Make a graph that fails as small as it gets."`
	Compare   compareCmd   `cmd:"" help:"Run two programs or pipelines, print the first value that differs."`
	Calibrate calibrateCmd `cmd:"" help:"Measure the ranges that --precision int8 takes as scales."`
	Rules     rulesCmd     `cmd:"" help:"List the rewriting and fusion rules, describe one, or check them."`
	Fmt       fmtCmd       `cmd:"" help:"Print scripts in the canonical layout."`
	Build     buildCmd     `cmd:"" help:"Write a compiled program (.npuc)."`
	Devices   devicesCmd   `cmd:"" help:"List the devices to plan for, or the numbers of one."`
	Tune      tuneCmd      `cmd:"" help:"Measure which kernels are fastest for a program, or this machine."`
	Plan      planCmd      `cmd:"" help:"Lay buffers out in memory: a list with lives and sizes in, with offsets out."`
	Ops       opsCmd       `cmd:"" help:"List the operators, or describe one."`
	Doc       docCmd       `cmd:"" help:"Show the documentation of a library module or a script."`
	Explain   explainCmd   `cmd:"" help:"Explain the code of a diagnostic."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// Exit codes.
const (
	exitFine  = 0
	exitWrong = 1
	exitUsage = 2
	exitBug   = 3
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	progress *progress
}

// grace is how long a command may take to end by itself once it is
// interrupted. A run stops at its next task; the compiler does not look up.
const grace = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	std := streams{os.Stdin, os.Stdout, os.Stderr, newProgress(os.Stderr)}
	done := make(chan int, 1)
	go func() { done <- run(ctx, os.Args[1:], std) }()
	select {
	case code := <-done:
		os.Exit(code)
	case <-ctx.Done():
	}
	stop() // a second interrupt ends the process at once
	select {
	case code := <-done:
		os.Exit(code)
	case <-time.After(grace):
		std.progress.stop()
		fmt.Fprintln(std.err, "npu: interrupted")
		os.Exit(exitWrong)
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, std streams) (code int) {
	var c cli
	defer func() {
		if p := recover(); p != nil {
			code = c.report(npu.Diagnostics{{Code: "internal", Message: fmt.Sprint(p),
				Helps: []string{"this is a fault of npu, not of your program; please report it with the command and its input"}}}, std)
		}
	}()
	defer std.progress.stop()
	command, err := parse(&c, args, std)
	switch {
	case err != nil:
		return c.report(err, std)
	case command == nil: // kong has printed the help
		return exitFine
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return c.report(command.Run(std, &c), std)
}

// A usageError is a command line that makes no sense.
type usageError struct {
	error
	hint string // where to read on; may be empty
}

func usage(format string, args ...any) error { return usageError{error: fmt.Errorf(format, args...)} }

// errFailed says that a command has reported what is wrong already.
var errFailed = errors.New("failed")

// report prints an error and chooses the exit code.
func (c *cli) report(err error, std streams) int {
	std.progress.stop()
	var wrongUsage usageError
	var diagnostics npu.Diagnostics
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errFailed):
		return exitWrong
	case errors.As(err, &wrongUsage):
		fmt.Fprintf(std.err, "npu: %v\n", err)
		if wrongUsage.hint != "" {
			fmt.Fprintln(std.err, wrongUsage.hint)
		}
		return exitUsage
	case !errors.As(err, &diagnostics):
		diagnostics = npu.Diagnostics{npu.AsDiagnostic(err)}
	}
	c.show(diagnostics, std)
	for _, d := range diagnostics {
		if d.Code == "internal" {
			return exitBug
		}
	}
	return exitWrong
}

// show prints diagnostics on standard error.
func (c *cli) show(ds npu.Diagnostics, std streams) { c.write(std.err, ds, std) }

// write prints diagnostics to w: as text, unless they are wanted as JSON, which
// goes to standard error whatever w is.
func (c *cli) write(w io.Writer, ds npu.Diagnostics, std streams) {
	std.progress.stop()
	if c.Errors == "json" {
		ds.WriteJSON(std.err)
		return
	}
	ds.Render(w, colours(w))
}

// colours reports whether to colour what is written to w: on a terminal that
// can, unless NO_COLOR is set (no-color.org).
func colours(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
