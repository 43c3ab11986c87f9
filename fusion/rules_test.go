package fusion

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var ruleName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(_[A-Z][A-Za-z0-9]*)*$`)

// TestRules checks the table of named fusions: names in the field's own words,
// each with a sentence and a golden file of its name, in which it fires and is
// silent.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if !ruleName.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("%s is a bad name, or one given twice", r.Name)
		}
		seen[r.Name] = true
		if r.Doc == "" || strings.HasSuffix(r.Doc, ".") || !r.Safe || !r.Fusion() {
			t.Errorf("%s: doc %q, safe %v", r.Name, r.Doc, r.Safe)
		}
		name := "../golden/fusion/" + strings.ReplaceAll(strings.ToLower(r.Name), "_", "-") + ".txtar"
		text, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s has no golden file: %v", r.Name, err)
			continue
		}
		for _, word := range []string{"fires", "silent"} {
			if !strings.Contains(string(text), "// "+word+": "+r.Name+"\n") {
				t.Errorf("%s does not show where %s is %s", name, r.Name, word)
			}
		}
	}
}
