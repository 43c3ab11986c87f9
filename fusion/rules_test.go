package fusion

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var ruleName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(_[A-Z][A-Za-z0-9]*)*$`)

// TestRules checks both tables: names in the field's own words, each once and with
// a sentence. (That each has a golden file is for package golden to see.)
func TestRules(t *testing.T) {
	names := Names()
	for i, name := range names {
		if !ruleName.MatchString(name) || slices.Contains(names[:i], name) {
			t.Errorf("%s is a bad name, or one given twice", name)
		}
	}
	for _, r := range Rules() {
		if r.Doc == "" || strings.HasSuffix(r.Doc, ".") || !r.Safe || !r.Fusion() {
			t.Errorf("%s: doc %q, safe %v", r.Name, r.Doc, r.Safe)
		}
	}
	for _, r := range growth {
		if r.doc == "" || strings.HasSuffix(r.doc, ".") || r.joins == "" {
			t.Errorf("%s: doc %q, joins %q", r.name, r.doc, r.joins)
		}
	}
}
