package npu_test

import (
	"testing"

	"github.com/npulang/npu"
)

// A rule is listed once, whatever passes apply it.
func TestRulesAreListedOnce(t *testing.T) {
	seen := map[string]string{}
	for _, r := range npu.Rules(nil) {
		if pass, twice := seen[r.Name]; twice {
			t.Errorf("%s is listed for pass %s and for %s", r.Name, pass, r.Pass)
		}
		seen[r.Name] = r.Pass
	}
	if seen["bias-add"] != "canonicalise" {
		t.Errorf("bias-add is listed for pass %q", seen["bias-add"])
	}
}
