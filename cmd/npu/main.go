// Npu compiles and runs tensor programs: scripts (.npu), IR text (.ir) and
// compiled programs (.npuc).
//
//	npu run examples/mlp.npu
//	npu help
//
// Exit codes: 0 fine; 1 the user's program or data is wrong; 2 wrong usage;
// 3 a fault of npu itself.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/npulang/npu"
	"golang.org/x/term"
)

// cli is the command line: one field a command.
type cli struct {
	Errors string `enum:"text,json" default:"text" help:"Form of diagnostics on standard error: text, or json (one object a line)."`

	Run     runCmd     `cmd:"" help:"Compile and run a graph, print its results."`
	Check   checkCmd   `cmd:"" help:"Report the mistakes of a program; needs no weights."`
	Test    testCmd    `cmd:"" help:"Run the test blocks of a script."`
	Emit    emitCmd    `cmd:"" help:"Show a stage of the compiler as text; needs no weights."`
	Fmt     fmtCmd     `cmd:"" help:"Print scripts in the canonical layout."`
	Build   buildCmd   `cmd:"" help:"Write a compiled program (.npuc)."`
	Ops     opsCmd     `cmd:"" help:"List the operators, or describe one."`
	Doc     docCmd     `cmd:"" help:"Show the documentation of a library module or a script."`
	Explain explainCmd `cmd:"" help:"Explain the code of a diagnostic."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// Exit codes.
const (
	exitFine  = 0
	exitWrong = 1
	exitUsage = 2
	exitBug   = 3
)

// streams are where a command reads and writes, so that each can be tested.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run executes one command line and returns the exit code.
func run(args []string, std streams) (code int) {
	var c cli
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(std.err, "npu: internal error: %v\nThis is a fault of npu, not of your program; please report it with the command and its input.\n", p)
			code = exitBug
		}
	}()
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("npu"),
		kong.Description("Compiles and runs tensor programs, and shows every step."),
		kong.Vars{"stages": strings.Join(npu.StageNames(), " ")},
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { exited = code; panic(exit{}) }),
	)
	if err != nil {
		panic(err)
	}
	command, err := parse(parser, args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(std.err, "npu: %v\n", err)
		return exitUsage
	}
	return c.report(command.Run(std, &c), std)
}

// exit unwinds out of kong after --help.
type exit struct{}

func parse(parser *kong.Kong, args []string) (command *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(exit); !ok {
				panic(p)
			}
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	return parser.Parse(args)
}

// A usageError is a command line that parses but makes no sense.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errFailed says that a command has reported what is wrong already.
var errFailed = errors.New("failed")

// report prints an error and chooses the exit code.
func (c *cli) report(err error, std streams) int {
	var wrongUsage usageError
	var diagnostics npu.Diagnostics
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errFailed):
		return exitWrong
	case errors.As(err, &wrongUsage):
		fmt.Fprintf(std.err, "npu: %v\n", err)
		return exitUsage
	case errors.As(err, &diagnostics):
		c.show(diagnostics, std)
	default:
		diagnostics = npu.Diagnostics{npu.AsDiagnostic(err)}
		c.show(diagnostics, std)
	}
	for _, d := range diagnostics {
		if d.Code == "internal" {
			return exitBug
		}
	}
	return exitWrong
}

// show prints diagnostics on standard error.
func (c *cli) show(ds npu.Diagnostics, std streams) {
	if c.Errors == "json" {
		ds.WriteJSON(std.err)
		return
	}
	ds.Render(std.err, colours(std.err))
}

// colours reports whether to colour what is written to w: on a terminal,
// unless NO_COLOR is set.
func colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}
