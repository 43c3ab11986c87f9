package npu_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var pageBlock = regexp.MustCompile("(?ms)^```(go)?\n(.*?)^```$")

// TestRuntimePage checks that the code of docs/runtime.md is that of the example,
// and that what the page shows is what a test wants it to print, or wants of an
// error.
func TestRuntimePage(t *testing.T) {
	code := flat(readFile(t, "examples/runtime/main.go"))
	shown := flat(readFile(t, "examples/programs_test.go")) + flat(readFile(t, "testdata/runtime_errors.txt"))
	blocks := pageBlock.FindAllStringSubmatch(readFile(t, "docs/runtime.md"), -1)
	if len(blocks) < 10 {
		t.Errorf("the page has %d blocks only", len(blocks))
	}
	for _, b := range blocks {
		where := shown
		if b[1] == "go" {
			where = code
		}
		if text := strings.TrimSpace(flat(b[2])); !strings.Contains(where, text) {
			t.Errorf("neither the example nor a test has\n%s", text)
		}
	}
}

// flat is a text without the space before its lines, and without empty ones.
func flat(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], " \t")
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}
