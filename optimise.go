package npu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
)

// A Record tells what the compiler did to one graph.
type Record struct {
	Graph    string
	Rewrites []Rewrite       // in the order in which they were made
	Passes   []PassStat      // one for each pass that ran
	Fusions  []FusionStatus  // one for each fusion rule
	Products []ProductStatus // one for each product, in order
}

// A Rewrite is one change of a graph: pass, rule, value and place.
type Rewrite = passes.Rewrite

// A PassStat is what one pass did, and how long it took.
type PassStat = passes.Stat

// A FusionStatus tells about one fusion rule: whether it is enabled, where it
// matched, what it made, and what was refused and why.
type FusionStatus = fusion.Status

// A FusionRefusal is a candidate that was turned down.
type FusionRefusal = fusion.Refusal

// Trace optimises a graph and tells what was done. It needs no weights.
func Trace(src Source, opts Options) (*Record, Diagnostics, error) {
	c, g, err := loadGraph(src, opts)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	o, err := c.optimise(g.Func)
	if err != nil {
		return nil, nil, err
	}
	return o.record, c.warnings, nil
}

// An optimised function, with what was done to it.
type optimised struct {
	fn     *ir.Func
	within float64 // how far results may be off; 0: not a bit
	record *Record
}

// optimise runs the passes over a copy of a graph's function.
func (c *compilation) optimise(f *ir.Func) (*optimised, error) {
	f, _ = f.Clone()
	return c.optimiseInPlace(f, nil)
}

// optimiseInPlace is optimise without the copy, and with an eye on what each pass
// leaves; after may be nil.
func (c *compilation) optimiseInPlace(f *ir.Func, after func(pass string, f *ir.Func)) (*optimised, error) {
	o, fuser, err := c.passOptions()
	if err != nil {
		return nil, err
	}
	o.After = after
	report, err := passes.Run(f, o)
	if err == nil {
		err = fuser.Errors().Err()
	}
	if err == nil && slices.ContainsFunc(report.Stats, func(s PassStat) bool { return s.Pass == "precision" }) {
		err = c.checkProducts(report.Products)
	}
	if err != nil {
		return nil, excerpt(c.script(), asDiagnostics(err))
	}
	record := &Record{f.Name, report.Rewrites, report.Stats, fuser.Status(), report.Products}
	if c.opts.Recorded != nil {
		c.opts.Recorded(record)
	}
	return &optimised{f, report.Within(), record}, nil
}

// script is the source of a script; nil: the program is none.
func (c *compilation) script() *diag.Source {
	if c.unit == nil {
		return nil
	}
	return c.unit.File.Src
}

// passOptions brings the user's options into those of the passes.
func (c *compilation) passOptions() (passes.Options, *fusion.Fuser, error) {
	level, ok := passes.ParseLevel(string(c.opts.level()))
	if !ok {
		return passes.Options{}, nil, Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("unknown level %s", c.opts.Level), Helps: []string{"levels are O0, O1 and O2"}}}
	}
	fo := c.opts.fusion(c.rules())
	if err := c.checkSwitches(); err != nil {
		return passes.Options{}, nil, err
	}
	fuser, ds := fusion.New(fo)
	if err := ds.Err(); err != nil {
		return passes.Options{}, nil, err
	}
	rules := fo.Rewrites(fo.Rules)
	rules = slices.DeleteFunc(rules, func(r *Rule) bool { return c.unproved[r] })
	return passes.Options{
		Level: level, Passes: c.opts.Passes, Until: c.opts.After, Fuel: c.opts.Fuel,
		Verify: c.opts.Verify, MaxBytes: c.opts.MaxMemory, FastMath: c.opts.FastMath,
		Rules: rules, Fuse: fuser.Fuse, Precision: c.precision(),
		Enabled: func(rule string) bool { on, set := c.opts.Switches[rule]; return on || !set },
	}, fuser, nil
}

// rules are the user's: those of the script, then those of the options.
func (c *compilation) rules() []*rewrite.Rule { return append(slices.Clone(c.own), c.opts.Rules...) }

// checkSwitches refuses a mode or a rule that does not exist.
func (c *compilation) checkSwitches() error {
	if c.opts.Fusion != "" && !slices.Contains(fusion.Modes, c.opts.Fusion) {
		return Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("unknown fusion mode %q", c.opts.Fusion), Helps: []string{"modes are none, all_safe and all"}}}
	}
	names := ruleNames(c.rules())
	candidates := append(modeNames(), names...)
	var ds Diagnostics
	for _, name := range sortedKeys(c.opts.Switches) {
		if slices.Contains(names, name) {
			continue
		}
		d := &Diagnostic{Code: "unknown-name", Span: c.opts.places[name], Message: "there is no rule named " + asWord(name), Notes: []string{"npu rules lists the rules"}}
		switch {
		case slices.Contains(modeNames(), name):
			d.Helps = []string{name + " is a mode, which switches many rules and takes no sign"}
		case slices.Contains(PassNames(), name):
			d.Helps = []string{name + " is a pass: npu rules " + name + " lists its rules, and --passes (Options.Passes) chooses passes"}
		default:
			suggest(d, name, candidates)
		}
		ds = append(ds, d)
	}
	return ds.Sort().Err()
}

// asWord is a name as it stands in a message: in quotes if it is none.
func asWord(name string) string {
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	if name == "" || strings.TrimLeftFunc(name, isLetter) != "" {
		return strconv.Quote(name)
	}
	return name
}

// modeNames are the fusion modes as text.
func modeNames() []string {
	var names []string
	for _, m := range fusion.Modes {
		names = append(names, string(m))
	}
	return names
}

// ruleNames lists every rule that a switch may name.
func ruleNames(user []*rewrite.Rule) []string {
	var names []string
	for _, r := range user {
		names = append(names, r.Name)
	}
	return append(names, RuleNames()...)
}

// RuleNames lists the compiler's own rules: fusions in order of priority, then
// rewrites in the order of the passes.
func RuleNames() []string { return append(fusion.Names(), passes.RuleNames()...) }
