package npu

import (
	"fmt"
	"strings"
	"sync"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// A Verdict is what a check of a rule has found: on how many graphs the rule was
// tried, how many runs were compared and, if its sides differ, a small
// counterexample.
type Verdict = rewrite.Verdict

// CheckRule tests a rule on random graphs that its pattern fits: tensors of many
// ranks, dtypes, broadcasts and sizes, special values among them. A rewrite has to
// keep the results bit for bit, or within the tolerance that it states; of a
// fusion, its operators have to make a region. The same seed gives the same
// verdict.
func CheckRule(r *Rule, seed uint64) *Verdict { return rewrite.Check(r, rewrite.Thorough, seed) }

// believe decides which of the user's rules may run because they say safe. A
// rewrite that claims it and changes results is an error; one of which the check
// finds no case is left out, with a warning; one that does not say safe is told
// how it is switched on. Fusions outline operators, which changes nothing.
func (c *compilation) believe() error {
	rules := c.rules()
	ds := repeated(rules)
	o := c.opts.fusion(rules)
	for _, r := range rules {
		d := c.judge(r, &o)
		if d != nil {
			ds = append(ds, d)
		}
	}
	ds = ds.Sort()
	if err := ds.Err(); err != nil {
		return append(c.warnings, ds...)
	}
	c.warnings = append(append(c.warnings, ds...), c.dead(rules)...).Sort()
	return nil
}

// judge says what keeps a rule from running, if it is not the user's own switch.
func (c *compilation) judge(r *Rule, o *fusion.Options) *Diagnostic {
	on, named := o.Switches[r.Name]
	switch {
	case named && !on, o.Mode == FuseNone && !named, r.Liberty != "":
		return nil
	case !r.Safe && o.Mode != FuseAll && !named:
		return notFollowed(r, "is not applied: it does not say safe")
	case !r.Safe || r.Fusion() || r.Build != nil || r.When != nil:
		// What a rule made in Go does is for its author to check, with CheckRule.
		return nil
	}
	switch v := verdictOf(r); {
	case v.result == rewrite.Failed:
		return refuted(r, v.counter)
	case v.result == rewrite.Unchecked && o.Mode != FuseAll && !named:
		c.unproved[r] = true
		return notFollowed(r, "is not applied: no graph was found on which its safe could be checked")
	}
	return nil
}

// notFollowed warns that a rule does not run, and says how it would.
func notFollowed(r *Rule, why string) *Diagnostic {
	d := ruleDiagnostic(r, "not-followed", fmt.Sprintf("%s %s %s", r.Kind(), r.Name, why))
	d.Severity = diag.Warning
	d.Helps = []string{fmt.Sprintf("switch it on with --fusion all_safe,%s or --fusion all (in Go: Options.SetFusionMode, Options.Fusion)", r.Name)}
	if !r.Safe {
		d.Helps = append(d.Helps, "or write safe below the pattern, if it keeps every bit, or safe within 1e-5")
	}
	return d
}

// refuted reports a rewrite that claims to be safe and is not.
func refuted(r *Rule, counter string) *Diagnostic {
	promise := "the same bits"
	if r.Within > 0 {
		promise = fmt.Sprintf("results within %v", r.Within)
	}
	d := ruleDiagnostic(r, "bad-rule", fmt.Sprintf("rewrite %s says safe, but its sides differ", r.Name))
	d.Notes = []string{fmt.Sprintf("safe promises %s; here they differ:\n%s", promise, strings.TrimSpace(counter))}
	d.Helps = []string{"add a test with where that leaves such graphs out, or drop safe and switch the rule on by its name"}
	return d
}

// A belief is a verdict that is kept.
type belief struct {
	result  rewrite.Result
	counter string
}

// beliefs keeps the verdicts of the process by the texts of the rules, on which
// alone they depend: a server compiles the same script often.
var beliefs struct {
	sync.Mutex
	byText map[string]belief
}

// maxBeliefs bounds them: beyond it all are found again.
const maxBeliefs = 1024

// beliefSeed is the seed of the checks that a compilation makes.
const beliefSeed = 1

func verdictOf(r *Rule) belief {
	text := r.String()
	beliefs.Lock()
	b, known := beliefs.byText[text]
	beliefs.Unlock()
	if known {
		return b
	}
	v := rewrite.Check(r, rewrite.Quick, beliefSeed)
	b = belief{result: v.Result()}
	if v.Counter != nil {
		b.counter = v.Counter.String()
	}
	beliefs.Lock()
	defer beliefs.Unlock()
	if beliefs.byText == nil || len(beliefs.byText) == maxBeliefs {
		beliefs.byText = map[string]belief{}
	}
	beliefs.byText[text] = b
	return b
}
