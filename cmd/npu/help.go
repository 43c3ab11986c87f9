package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/npulang/npu"
)

// helpWidth is the most columns that help takes.
const helpWidth = 100

// parse reads a command line. It returns nil and no error when that asked for
// help, which is printed then.
func parse(c *cli, args []string, std streams) (command *kong.Context, err error) {
	type exit struct{}
	parser := newParser(c, std, func(int) { panic(exit{}) })
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			command, err = nil, nil
		default:
			panic(p)
		}
	}()
	command, err = parser.Parse(plain(args))
	if err != nil {
		return nil, wrongUsage(err)
	}
	return command, nil
}

// newParser makes the parser of command lines; printing help ends by exit.
func newParser(c *cli, std streams, exit func(code int)) *kong.Kong {
	parser, err := kong.New(c,
		kong.Name("npu"),
		kong.Description("Compiles and runs tensor programs, and shows every step.\n\nEvery FILE may be -, standard input. "+
			"Exit codes: 0 fine, 1 the program or its data is wrong, 2 wrong usage, 3 a fault of npu."),
		kong.Vars{"stages": strings.Join(npu.StageNames(), " ")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: helpWidth}),
		kong.Writers(std.out, std.err),
		kong.Exit(exit),
	)
	if err != nil {
		panic(err)
	}
	return parser
}

// plain brings what people try first into kong's form: no arguments, npu help,
// npu help run, npu help help, npu --version.
func plain(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help" && len(args) > 1 && args[1] == "help":
		return plain(args[1:])
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// wrongUsage adds where to read on.
func wrongUsage(err error) error {
	command := "npu"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		command = parse.Context.Selected().FullPath()
	}
	return usageError{err, fmt.Sprintf("Run \"%s --help\" for what it takes.", command)}
}

// Help is the rest of npu run --help.
func (*runCmd) Help() string {
	return `FILE may also be IR text or a compiled program. The graph is main, else the only one.

Examples:

    npu run mlp.npu
    npu run mlp.npu --input x=random --dim B=8
    npu run mlp.npu --input "x=[[1, 2], [3, 4]]" --json
    npu run mlp.npu --weights other.safetensors --input x=x.npy --output results
    npu run bert.npu --weights bert.safetensors --weights-prefix bert. --rename gamma=weight

A value of --input that begins with a bracket, a digit, a sign or a quote is a literal; random is random (floats standard normal, integers 0 to 9, bools fair); all else names a file: x.npy, or data.npz:x.`
}

// Help is the rest of npu check --help.
func (*checkCmd) Help() string {
	return `Checks all graphs, functions, tests and rules of a file, also of one that has no graph. Prints nothing when nothing is wrong. Of a compiled program (.npuc) the weights' checksum is checked too. A listing of bytecode, as npu emit bytecode prints it, is read and proved.`
}

// Help is the rest of npu test --help.
func (*testCmd) Help() string {
	return `Each test block runs once unoptimised (O0) and once with everything that the compiler does (O2), unless -O chooses one. Exit code 1 when one fails.

Examples:

    npu test mlp.npu
    npu test -v --run "sums to one" mlp.npu`
}

// Help is the rest of npu emit --help: the stages.
func (*emitCmd) Help() string {
	var b strings.Builder
	b.WriteString("Stages, in the order of the compiler:\n\n")
	for _, s := range npu.Stages {
		fmt.Fprintf(&b, "    %-9s %s\n", s.Name, s.Doc)
	}
	b.WriteString(`
Where a listing needs numbers, a symbolic dimension is taken as --dim says, else as its bound in --max, else as 64. A tensor has one name in all listings.

The passes are `)
	b.WriteString(strings.Join(npu.PassNames(), ", "))
	b.WriteString(`.

Examples:

    npu emit ir mlp.npu
    npu emit memory mlp.npu --dim B=8
    npu emit memory mlp.npu --format svg > memory.svg
    npu emit streams mlp.npu --device ascend910b3 --streams 4
    npu emit opt mlp.npu --trace --stats
    npu emit --after simplify mlp.npu
    npu emit --passes canonicalise,drop-dead graph.ir`)
	return b.String()
}

// Help is the rest of npu fusion --help.
func (*fusionCmd) Help() string {
	return `A rule matches where its operators stand; its effects are the regions that came of it. Below the table stands each candidate that was turned down, with the reason and its numbers.

Examples:

    npu fusion mlp.npu
    npu fusion mlp.npu --fusion all_safe,-MatMul_BiasAdd_ReLU
    npu fusion mlp.npu --device ascend910b3 --dim B=128 --json`
}

// Help is the rest of npu plan --help.
func (*planCmd) Help() string {
	return `A buffer is alive from lower up to, and without, upper; buffers that are alive at one time do not overlap. The plan has the list's order, with a column for the offset. A line on standard error tells its height, the bound that no plan is below, the sum of all sizes, what found the plan, and the steps of the search. Without a capacity, the search goes on down to the bound. An interrupt (Ctrl-C) ends it: the lowest plan up to then is written, and the exit code is 1.

Columns may stand in any order; an offset is left aside, others are errors.

Examples:

    npu plan buffers.csv --capacity 1048576 -o plan.csv
    npu plan buffers.csv --effort high --time 10s
    npu plan buffers.csv --format svg > plan.svg`
}

// Help is the rest of npu fmt --help.
func (*fmtCmd) Help() string {
	return `Comments are kept. A file with a syntax error is reported and left as it is; the others are formatted.

Examples:

    npu fmt -w *.npu
    npu fmt -d mlp.npu`
}

// Help is the rest of npu build --help.
func (*buildCmd) Help() string {
	return `The compiled program holds one graph with its weights, and runs with npu run, or from Go with npu.File, without the compiler's front end.

Examples:

    npu build mlp.npu
    npu build mlp.npu -o - | npu run - --input x=random`
}

// Help is the rest of npu doc --help.
func (*docCmd) Help() string {
	return `Examples:

    npu doc
    npu doc nn
    npu doc nn.Linear
    npu doc ./layers.npu`
}
