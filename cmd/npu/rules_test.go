package main

import (
	"os"
	"regexp"
	"testing"
)

// counted are numbers of a check that any change of an operator's samples changes.
var counted = regexp.MustCompile(`\d+ (graphs|matched|runs)`)

// TestRulesPage runs what docs/rules.md shows, on the page's own rules.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.npu", scriptBlock.FindSubmatch(page)[1], 0o666); err != nil {
		t.Fatal(err)
	}
	sessions := sessionBlock.FindAllSubmatch(page, -1)
	if len(sessions) < 2 {
		t.Errorf("docs/rules.md shows %d commands only", len(sessions))
	}
	plain := func(text string) string { return counted.ReplaceAllString(text, "some $1") }
	for _, s := range sessions {
		if got := session(t, string(s[1])); plain(got) != plain(string(s[2])) {
			t.Errorf("%s prints\n%s\nand docs/rules.md shows\n%s", s[1], got, s[2])
		}
	}
}
