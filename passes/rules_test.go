package passes

import (
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/passes/rewrite"
)

// unchecked are the rules for which a random graph is hardly ever found, and why:
// their golden files stand for them.
var unchecked = map[string]string{
	"raise-gelu":             "asks for three constants that fit each other",
	"raise-gelu-tanh":        "asks for four constants that fit each other",
	"conv-batchnorm":         "asks for constants all around a convolution",
	"multiply-bytes":         "asks for scales of columns, and zeros of constants; TestMultiplyBytes has those",
	"raise-narrow":           "asks for casts to a wider dtype and back around an operator that rounds once",
	"raise-causal-attention": "asks for a mask that is a lower triangle",
	"raise-rope":             "asks for the two halves of one value",
	"raise-interleaved-rope": "asks for neighbours along the last axis of one value",
}

// What one rule is worth: some ten milliseconds, and more where a graph that fits
// is rare. npu rules check does more.
var (
	ownEffort  = rewrite.Effort{Cases: 1000, Enough: 150}
	rareEffort = rewrite.Effort{Cases: 6000, Enough: 30}
)

// TestRules checks every rewrite that takes no liberty against the graph as it
// was, on random graphs that fit it.
func TestRules(t *testing.T) {
	for _, row := range Rules() {
		if row.Rule.Liberty != "" {
			continue
		}
		v := rewrite.Check(row.Rule, ownEffort, 1)
		if v.Result() == rewrite.Unchecked && unchecked[row.Rule.Name] == "" {
			v = rewrite.Check(row.Rule, rareEffort, 1)
		}
		switch result := v.Result(); {
		case result == rewrite.Failed:
			t.Errorf("%s: the sides differ\n%s", row.Rule.Name, v.Counter)
		case result == rewrite.Unchecked && unchecked[row.Rule.Name] == "":
			t.Errorf("%s: no graph was found that it changes; %d were tried", row.Rule.Name, v.Cases)
		}
		t.Logf("%-26s %5d graphs, %4d matched %v, %4d compared", row.Rule.Name, v.Cases, v.Matched, v.Forms, v.Compared)
	}
}

// TestRuleNames: a switch and a trace name one rule. fold-again and merge-again do
// what fold-const and merge-equal do.
func TestRuleNames(t *testing.T) {
	names := RuleNames()
	for i, name := range names {
		if slices.Contains(names[:i], name) || name == "" {
			t.Errorf("two rules are named %q", name)
		}
	}
	for _, p := range Pipeline {
		if p.Code != nil && p.Name != "fuse" && !strings.HasSuffix(p.Name, "-again") && !slices.Contains(names, p.Name) {
			t.Errorf("pass %s has code, and no rule of its name", p.Name)
		}
	}
}

// TestUncheckedAreRules keeps the list short.
func TestUncheckedAreRules(t *testing.T) {
	names := RuleNames()
	for name := range unchecked {
		if !slices.Contains(names, name) {
			t.Errorf("there is no rule %s", name)
		}
	}
}
