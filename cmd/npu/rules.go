package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/npulang/npu"
)

// rulesCmd is npu rules.
type rulesCmd struct {
	List  ruleListCmd  `cmd:"" default:"withargs" help:"List the rewriting and fusion rules, those of a pass, or describe one; the same as npu rules."`
	Check ruleCheckCmd `cmd:"" help:"Test rules on random graphs, npu's own or a file's."`
}

// Help is the rest of npu rules --help.
func (*rulesCmd) Help() string {
	return `A rule is a rewrite, which puts one expression in the place of another, or a fusion, whose operators run as one kernel. npu has its own; a script may have more, and so may a file that --rules names.

Examples:

    npu rules
    npu rules MatMul_BiasAdd_ReLU
    npu rules simplify
    npu rules --rules mine.npu --json
    npu rules check mine.npu`
}

// Help is the rest of npu rules check --help.
func (*ruleCheckCmd) Help() string {
	return `Each rule is applied to random graphs that its pattern fits, of many ranks, dtypes and sizes, and both sides are run on random values, special ones among them. Where they differ, a small counterexample is shown, and the exit code is 1. A rule is unchecked if no graph was found that it changes. The same seed gives the same graphs.`
}

// ruleListCmd is npu rules [NAME].
type ruleListCmd struct {
	Name  string   `arg:"" name:"NAME" optional:"" help:"Rule to describe, or pass whose rules to list; default: list all."`
	Rules []string `help:"List the rules of a script or a file of rules too. May be repeated." sep:"none" placeholder:"FILE"`
	JSON  bool     `help:"Print one JSON object; docs/rules.md has its schema."`
}

// Run lists the rules by pass, or describes one.
func (k *ruleListCmd) Run(std streams, c *cli) error {
	user, err := readRuleFiles(k.Rules, std, c)
	if err != nil {
		return err
	}
	list := npu.Rules(user)
	one := false
	if k.Name != "" {
		if list, one, err = named(k.Name, list, user); err != nil {
			return err
		}
	}
	switch {
	case k.JSON:
		return writeJSON(std.out, struct {
			Rules []npu.RuleSummary `json:"rules"`
		}{list})
	case one:
		_, err = io.WriteString(std.out, describeRule(&list[0]))
	case len(list) == 0:
		_, err = fmt.Fprintf(std.out, "pass %s: %s\n  no rules of its own\n", k.Name, npu.PassDoc(k.Name))
	default:
		_, err = io.WriteString(std.out, listRules(list))
	}
	return err
}

// named is the rule of a name, or else all rules of the pass of that name, of which
// there may be none.
func named(name string, list []npu.RuleSummary, user []*npu.Rule) (found []npu.RuleSummary, one bool, err error) {
	r, err := npu.FindRule(name, user)
	if err == nil {
		return []npu.RuleSummary{*r}, true, nil
	}
	if npu.PassDoc(name) == "" {
		return nil, false, err
	}
	found = []npu.RuleSummary{}
	for _, r := range list {
		if r.Pass == name {
			found = append(found, r)
		}
	}
	return found, false, nil
}

// readRuleFiles reads the rules of scripts and of files of rules.
func readRuleFiles(files []string, std streams, c *cli) ([]*npu.Rule, error) {
	var all []*npu.Rule
	for _, f := range files {
		rules, warnings, err := npu.ScriptRules(sourceOf(f, std))
		if err != nil {
			return nil, err
		}
		c.show(warnings, std)
		all = append(all, rules...)
	}
	return all, nil
}

// ruleCheckCmd is npu rules check.
type ruleCheckCmd struct {
	File string `arg:"" name:"FILE" optional:"" help:"Script or file of rules; default: npu's own rules."`
	Only string `help:"Check the rule NAME only." placeholder:"NAME"`
	Seed uint64 `help:"Seed of the graphs and their values; default: 1." default:"1" placeholder:"N"`
	JSON bool   `help:"Print one JSON object; docs/rules.md has its schema."`
}

// A ruleVerdict is what --json prints of one rule.
type ruleVerdict struct {
	Name     string `json:"name"`
	Result   string `json:"result"` // passed, failed, unchecked, or liberty
	Graphs   int    `json:"graphs"`
	Matched  int    `json:"matched"`
	Compared int    `json:"compared"`
	Skipped  int    `json:"skipped"`
	Seed     uint64 `json:"seed"`
	Counter  string `json:"counterexample"` // empty: there is none

	Fused *ruleFused `json:"fused"` // of a file's fusion; null: nothing is known
}

// A ruleFused tells what simplification leaves of a fusion's pattern.
type ruleFused struct {
	Graphs   int      `json:"graphs"`   // that were simplified
	Kept     int      `json:"kept"`     // of these, those that the pattern matches as it is written
	Read     int      `json:"read"`     // those that it matches in one of these
	Forms    []string `json:"forms"`    // further forms
	Lost     int      `json:"lost"`     // those that it does not match
	Rewrites []string `json:"rewrites"` // that made one of these
	Reason   string   `json:"reason"`   // empty: none is lost
}

// Run checks the rules one by one.
func (k *ruleCheckCmd) Run(std streams, c *cli) error {
	rules, err := k.rules(std, c)
	if err != nil {
		return err
	}
	picked, err := k.picked(rules)
	if err != nil {
		return err
	}
	debug.SetGCPercent(checkGC)
	verdicts := []ruleVerdict{}
	for _, r := range picked {
		std.progress.start("checking " + r.Name)
		v := k.check(r)
		if k.File != "" {
			v.Fused = fusedAs(r, rules)
			v.endless(npu.CheckEnd(r, rules))
		}
		verdicts = append(verdicts, v)
		if !k.JSON {
			std.progress.stop()
			fmt.Fprint(std.out, v.text())
		}
	}
	std.progress.stop()
	counts := map[string]int{}
	for _, v := range verdicts {
		counts[v.Result]++
	}
	if k.JSON {
		err = writeJSON(std.out, struct {
			Rules []ruleVerdict `json:"rules"`
		}{verdicts})
	} else {
		_, err = io.WriteString(std.out, total(counts, len(picked)))
	}
	if err == nil && counts[failed] > 0 {
		return errFailed
	}
	return err
}

// checkGC lets the heap grow more than usual: a check makes a hundred thousand
// small graphs and throws them away.
const checkGC = 400

// rules are those of the file, or npu's own.
func (k *ruleCheckCmd) rules(std streams, c *cli) ([]*npu.Rule, error) {
	if k.File != "" {
		return readRuleFiles([]string{k.File}, std, c)
	}
	return npu.OwnRules(), nil
}

// picked are those of the rules that are checked.
func (k *ruleCheckCmd) picked(rules []*npu.Rule) ([]*npu.Rule, error) {
	if k.Only == "" {
		return rules, nil
	}
	for _, r := range rules {
		if r.Name == k.Only {
			return []*npu.Rule{r}, nil
		}
	}
	return nil, k.notThere(rules)
}

// notThere is the error for a rule that is none of those to check.
func (k *ruleCheckCmd) notThere(rules []*npu.Rule) error {
	if k.File == "" {
		if _, err := npu.FindRule(k.Only, nil); err != nil {
			return err
		}
		return usage("--only %s: the rule has no pattern that could be checked", k.Only)
	}
	names := []string{}
	for _, r := range rules {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return usage("--only %s: %s has no rule of that name; there is %s", k.Only, k.File, strings.Join(names, ", "))
}

// The results of checks.
const (
	failed  = "failed"
	liberty = "liberty" // the rule takes one: its sides may differ
)

func (k *ruleCheckCmd) check(r *npu.Rule) ruleVerdict {
	if r.Liberty != "" {
		return ruleVerdict{Name: r.Name, Result: liberty, Seed: k.Seed}
	}
	v := npu.CheckRule(r, k.Seed)
	out := ruleVerdict{Name: r.Name, Result: string(v.Result()), Graphs: v.Cases, Matched: v.Matched, Compared: v.Compared, Skipped: v.Skipped, Seed: k.Seed}
	if v.Counter != nil {
		out.Counter = v.Counter.String()
	}
	return out
}

// endless makes a verdict of failure of rewrites that do not come to an end.
func (v *ruleVerdict) endless(err error) {
	if err != nil && v.Result != failed {
		v.Result, v.Counter = failed, npu.AsDiagnostic(err).Error()+"\n"
	}
}

// text is a line, and below it a counterexample.
func (v *ruleVerdict) text() string {
	line := fmt.Sprintf("%-*s  %-9s", ruleWidth, v.Name, v.Result)
	switch v.Result {
	case liberty:
		line += "  its sides may differ: it runs with fast-math, or in a pass that is named"
	case failed:
		line += fmt.Sprintf("  seed %d", v.Seed)
	default:
		line += fmt.Sprintf("  %s, %d matched, %s compared", plural(v.Graphs, "graph"), v.Matched, plural(v.Compared, "run"))
	}
	line += "\n"
	for text := range strings.Lines(v.Counter) {
		line += "    " + text
	}
	return line + v.Fused.text()
}

// fusedAs finds out what simplification leaves of a fusion, the rewrites beside it
// among the rules that simplify; nil: that is not known.
func fusedAs(r *npu.Rule, rules []*npu.Rule) *ruleFused {
	s := (&npu.Options{Rules: rules}).Survive(r)
	if s.Graphs == 0 {
		return nil
	}
	f := &ruleFused{Graphs: s.Graphs, Kept: s.Kept, Read: s.Read, Lost: s.Lost, Forms: []string{}, Rewrites: append([]string{}, s.Rewrites...), Reason: s.Reason()}
	for _, p := range s.Forms {
		f.Forms = append(f.Forms, p.String())
	}
	return f
}

// text is a line if simplification changes the pattern; that it does so where a
// size is 1, or an operand constant, is not worth one.
func (f *ruleFused) text() string {
	switch {
	case f == nil || len(f.Forms) == 0 && f.Lost < f.Graphs/4:
		return ""
	case f.Lost == f.Graphs:
		return fmt.Sprintf("    never found: %s\n", f.Reason)
	}
	line := fmt.Sprintf("    once simplified, found in %d of %s", f.Kept+f.Read, plural(f.Graphs, "graph"))
	if len(f.Forms) > 0 {
		line += ", also as " + strings.Join(f.Forms, ", ")
	}
	return line + "\n"
}

// total sums the results up.
func total(counts map[string]int, rules int) string {
	line := plural(rules, "rule")
	sep := ": "
	for _, result := range []string{"passed", failed, "unchecked", liberty} {
		if n := counts[result]; n > 0 {
			line += fmt.Sprintf("%s%d %s", sep, n, result)
			sep = ", "
		}
	}
	return line + "\n"
}
