package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// Level says how much is done to a program.
type Level uint8

const (
	Default Level = iota // O2
	O0                   // what correctness needs, and no more
	O1                   // simplification, one operator at a time
	O2                   // fusion as well
	Asked                // of a pass: it runs only if Options.Passes names it
)

var levelNames = []string{"O2", "O0", "O1", "O2", "asked"}

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

// selected lists the rows to run: those of the level, or the named ones in the
// order in which they are named, up to the last one that is asked for.
func (o *Options) selected() ([]*Pass, error) {
	var rows []*Pass
	if o.Passes == nil {
		for i := range Pipeline {
			if Pipeline[i].Level <= o.Level.resolve() {
				rows = append(rows, &Pipeline[i])
			}
		}
	}
	for _, name := range o.Passes {
		p := lookup(name)
		if p == nil {
			return nil, unknown(name)
		}
		rows = append(rows, p)
	}
	return o.until(rows)
}

// Before are the options of a run that stops before the first time a pass runs,
// without what watches or limits the run; false: the pass does not run.
func (o *Options) Before(pass string) (Options, bool) {
	rows, err := o.selected()
	if err != nil {
		return Options{}, false
	}
	names := namesOf(rows)
	at := slices.Index(names, pass)
	if at < 0 {
		return Options{}, false
	}
	return Options{Passes: names[:at], Rules: o.Rules, Enabled: o.Enabled, FastMath: o.FastMath, MaxBytes: o.MaxBytes, Precision: o.Precision}, true
}

// until cuts the rows behind the last one of the name that is asked for.
func (o *Options) until(rows []*Pass) ([]*Pass, error) {
	if o.Until == "" {
		return rows, nil
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Name == o.Until {
			return rows[:i+1], nil
		}
	}
	if lookup(o.Until) == nil {
		return nil, unknown(o.Until)
	}
	return nil, &diag.Diagnostic{
		Code: "wrong-arguments", Message: fmt.Sprintf("pass %s does not run here", o.Until),
		Notes: []string{"those that run are " + strings.Join(namesOf(rows), ", ")},
		Helps: []string{"name it with --passes, or choose another level"},
	}
}

func namesOf(rows []*Pass) []string {
	names := make([]string, len(rows))
	for i, p := range rows {
		names[i] = p.Name
	}
	return names
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
