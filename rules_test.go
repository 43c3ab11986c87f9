package npu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/passes/rewrite"
)

const doubled = "rewrite double {\n    x + x  =>  x * 2\n    safe\n}\n"

// A file of rules holds rules only; a script gives up its rules whatever else is
// wrong with it.
func TestParseRules(t *testing.T) {
	const script = doubled + "\ngraph main(x: f32[4]) -> f32[4] { return nothing(x) }\n"
	for _, c := range []struct {
		name string
		read func(npu.Source) ([]*npu.Rule, npu.Diagnostics, error)
		text string
		want string // the first line of the error; empty: one rule
	}{
		{"rules", npu.ParseRules, doubled, ""},
		{"script", npu.ScriptRules, script, ""},
		{"not only rules", npu.ParseRules, script, "r.npu:6:1: error: a file of rules holds rewrites and fusions only [bad-file]"},
		{"IR", npu.ParseRules, "func @f(%x: f32[2]) -> f32[2] {\n  return %x\n}\n", "r.npu: error: the file holds a program and no rules [bad-file]"},
		{"twice", npu.ParseRules, doubled + doubled, "r.npu:5:9: error: two rules are named double [duplicate-name]"},
		{"named as a mode", npu.ParseRules, "rewrite all_safe {\n    x + x  =>  x * 2\n}\n", "r.npu:1:9: error: all_safe is what switches call many rules, and cannot name one [duplicate-name]"},
		{"named as all", npu.ParseRules, "rewrite ALL {\n    x + x  =>  x * 2\n}\n", "r.npu:1:9: error: ALL is what switches call many rules, and cannot name one [duplicate-name]"},
		{"wrong", npu.ParseRules, "rewrite r {\n    x + x  =>  y\n}\n", "r.npu:2:16: error: the pattern does not bind the name y [bad-rule]"},
		{"syntax", npu.ScriptRules, "rewrite r {\n    x +\n}\n", "r.npu:3:1: error: "},
	} {
		rules, _, err := c.read(npu.Script("r.npu", c.text))
		switch {
		case c.want == "" && (err != nil || len(rules) != 1 || rules[0].Name != "double"):
			t.Errorf("%s: %v, %v", c.name, rules, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(npu.AsDiagnostic(err).Headline(), c.want)):
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

// Rules of the options and of the script are one set.
func TestRulesOfOptions(t *testing.T) {
	const script = "graph main(x: f32[4]) -> f32[4] { return x + x }\n"
	rules, _, err := npu.ParseRules(npu.Script("rules.npu", doubled))
	if err != nil {
		t.Fatal(err)
	}
	record, warnings, err := npu.Trace(npu.Script("main.npu", script), npu.Options{Rules: rules})
	if err != nil || len(warnings) > 0 || len(record.Rewrites) == 0 || record.Rewrites[0].Rule != "double" {
		t.Errorf("%+v, %v, %v", record, warnings, err)
	}
	_, err = npu.Compile(npu.Script("main.npu", doubled+script), npu.Options{Rules: rules})
	var ds npu.Diagnostics
	if !errors.As(err, &ds) || len(ds) != 1 || ds[0].Code != "duplicate-name" || len(ds[0].Witnesses) != 1 {
		t.Errorf("two rules of one name: %v", err)
	}
	bad, _, _ := npu.ParseRules(npu.Script("rules.npu", "rewrite r {\n    x - x  =>  0\n    safe\n}\n"))
	if _, err := npu.Compile(npu.Script("main.npu", script), npu.Options{Rules: bad}); err == nil || npu.AsDiagnostic(err).Code != "bad-rule" {
		t.Errorf("a rule that is not safe: %v", err)
	}
	for _, opts := range []npu.Options{{Fusion: npu.FuseNone}, {Switches: map[string]bool{"r": false}}} {
		opts.Rules = bad
		if p, err := npu.Compile(npu.Script("main.npu", script), opts); err != nil {
			t.Errorf("a rule that is switched off is checked: %v", err)
		} else {
			p.Close()
		}
	}
}

// A rule that feeds itself ends in an error, soon, however it grows.
func TestRuleWithoutEnd(t *testing.T) {
	for name, rule := range map[string]string{
		"grows":   "relu(x)  =>  relu(relu(x))",
		"turns":   "x + y  =>  y + x",
		"doubles": "x + y  =>  relu(x) + relu(y)",
	} {
		script := "rewrite r {\n    " + rule + "\n}\n" +
			"graph main(x: f32[4]) -> f32[4] {\n    y = relu(x) + x\n    for t in 0..3 carry y { y = relu(y + x) }\n    return y\n}\n"
		_, _, err := npu.Trace(npu.Script("in.npu", script), npu.Options{Fusion: npu.FuseAll})
		if d := npu.AsDiagnostic(err); err == nil || d.Code != "limit" || d.Subject != "r" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every rule is described, and its name is found.
func TestRuleSummaries(t *testing.T) {
	rules, _, _ := npu.ParseRules(npu.Script("rules.npu", doubled))
	list := npu.Rules(rules)
	seen := map[string]bool{}
	for _, r := range list {
		if r.Name == "" || r.Kind == "" || r.Pass == "" || r.Doc == "" && r.At == "" {
			t.Errorf("the summary is not complete: %+v", r)
		}
		if !seen[r.Name] {
			if got, err := npu.FindRule(r.Name, rules); err != nil || got.Doc != r.Doc {
				t.Errorf("FindRule(%s): %+v, %v", r.Name, got, err)
			}
		}
		seen[r.Name] = true
	}
	for _, name := range append(npu.RuleNames(), "double") {
		if !seen[name] {
			t.Errorf("rule %s is not listed", name)
		}
	}
	if _, err := npu.FindRule("merge-transpose", nil); err == nil || !strings.Contains(strings.Join(npu.AsDiagnostic(err).Helps, " "), "merge-transposes") {
		t.Errorf("err = %v", err)
	}
}

// What the patterns of npu's own fusions match makes a region that computes the
// same. (The rewrites are checked where they are, in package passes.)
func TestOwnFusions(t *testing.T) {
	for _, r := range npu.OwnRules() {
		if !r.Fusion() {
			continue
		}
		if v := rewrite.Check(r, rewrite.Quick, 1); v.Result() != rewrite.Passed {
			t.Errorf("%s: %s: %+v", r.Name, v.Result(), v)
		}
	}
}
