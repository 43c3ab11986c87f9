package npu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
)

// dead warns of fusions of which simplification leaves nothing that they match.
func (c *compilation) dead(rules []*Rule) Diagnostics {
	if !slices.ContainsFunc(rules, (*Rule).Fusion) {
		return nil
	}
	o, fuser, err := c.passOptions()
	if err != nil {
		return nil // which is reported when the graph is optimised
	}
	var ds Diagnostics
	for _, s := range fuser.Status() {
		i := slices.IndexFunc(rules, func(r *Rule) bool { return r.Fusion() && r.Name == s.Rule })
		if i < 0 || !s.Enabled {
			continue
		}
		if found := fusion.Survive(rules[i], &o); found.Dead() {
			ds = append(ds, deadFusion(rules[i], found))
		}
	}
	return ds
}

// deadFusion says what becomes of the pattern, and what to write instead.
func deadFusion(r *Rule, s *Survival) *Diagnostic {
	d := ruleDiagnostic(r, "not-followed", fmt.Sprintf("fusion %s matches nothing: %s", r.Name, s.Reason()))
	d.Severity = diag.Warning
	d.Notes = []string{fmt.Sprintf("for example:\n%s\n%s", strings.TrimSpace(s.Before), strings.TrimSpace(s.After))}
	if !s.Alone {
		d.Helps = []string{"write the pattern as npu emit opt shows the expression"}
	}
	return d
}

// A Survival tells what simplification makes of a fusion before fusion looks for
// it.
type Survival = fusion.Survival

// Survive tells what simplification makes of a fusion before fusion looks for it,
// with these options. Graphs is 0 if that is not known: of a rewrite, of a rule
// with a guard in Go, or if the passes do not fuse.
func (o *Options) Survive(r *Rule) *Survival {
	c := &compilation{opts: *o, unproved: map[*Rule]bool{}}
	po, _, err := c.passOptions()
	if err != nil || !r.Fusion() {
		return &Survival{}
	}
	return fusion.Survive(r, &po)
}

// endInstances is how many graphs are rewritten to see whether that ends.
const endInstances = 16

// CheckEnd applies a user's rewrites to small graphs that one of them matches, as
// a compilation would, until none matches any more. The error, a Diagnostic, says
// that this does not come to an end: a rule matches what it makes, or two of them
// undo each other. Every compilation notices that too, once it meets such a graph.
func CheckEnd(r *Rule, rules []*Rule) error {
	rewrites := slices.DeleteFunc(slices.Clone(rules), (*Rule).Fusion)
	if r.Fusion() {
		return nil
	}
	for _, e := range r.Instances(endInstances) {
		if _, err := passes.Run(e.Func, passes.Options{Passes: []string{userPass}, Rules: rewrites}); err != nil {
			return err
		}
	}
	return nil
}
