package passes

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// A Pass is one row of the pipeline.
type Pass struct {
	Name  string
	Doc   string // one line: what is different afterwards
	Level Level  // the lowest level that runs it

	// Run rewrites one function. The manager calls it for the graph and for each
	// region inside, outer ones first; a pass never looks into regions itself.
	// It asks the trace before each rewrite, and leaves what the trace refuses.
	Run func(*ir.Func, *Trace)
}

// Pipeline holds every pass, in the order in which they run.
var Pipeline = []Pass{
	{"fold-const", "operators whose arguments are all constants are constants", O1, foldConst},
	{"merge-equal", "what is computed twice is computed once (cse)", O1, mergeEqual},
	{"drop-dead", "what no result needs is gone (dce)", O1, dropDead},
}

// order documents why a pass stands before another; a test checks that it does.
var order = []struct{ Before, After, Why string }{
	{"fold-const", "merge-equal", "folding makes equal constants out of unequal expressions"},
	{"fold-const", "drop-dead", "a folded operator leaves arguments that nothing reads"},
	{"merge-equal", "drop-dead", "the second of two equal values is dead once its readers are moved"},
}

// Level says how much is done to a program.
type Level uint8

const (
	Default Level = iota // O2
	O0                   // what correctness needs, and no more
	O1                   // simplification, one operator at a time
	O2                   // fusion as well
)

var levelNames = []string{"O2", "O0", "O1", "O2"}

func (l Level) String() string { return levelNames[l] }

// ParseLevel finds a level by its name.
func ParseLevel(name string) (Level, bool) {
	for l := O0; l <= O2; l++ {
		if levelNames[l] == name {
			return l, true
		}
	}
	return 0, false
}

// resolve puts the level that is meant for Default.
func (l Level) resolve() Level {
	if l == Default {
		return O2
	}
	return l
}

// Names lists the passes in the order of the pipeline.
func Names() []string {
	names := make([]string, len(Pipeline))
	for i := range Pipeline {
		names[i] = Pipeline[i].Name
	}
	return names
}

// selected lists the rows to run: those of the level, or the named ones in the
// order in which they are named.
func (o *Options) selected() ([]*Pass, error) {
	var rows []*Pass
	if o.Passes == nil {
		for i := range Pipeline {
			if Pipeline[i].Level <= o.Level.resolve() {
				rows = append(rows, &Pipeline[i])
			}
		}
		return rows, nil
	}
	for _, name := range o.Passes {
		p := lookup(name)
		if p == nil {
			return nil, unknown(name)
		}
		rows = append(rows, p)
	}
	return rows, nil
}

func lookup(name string) *Pass {
	for i := range Pipeline {
		if Pipeline[i].Name == name {
			return &Pipeline[i]
		}
	}
	return nil
}

func unknown(name string) error {
	d := &diag.Diagnostic{
		Code: "unknown-name", Message: fmt.Sprintf("there is no pass named %q", name),
		Notes: []string{"the passes are " + strings.Join(Names(), ", ")},
	}
	if near := diag.Suggest(name, Names()); near != "" {
		d.Helps = []string{"did you mean " + near + "?"}
	}
	return d
}
