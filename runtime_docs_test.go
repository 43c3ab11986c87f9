package npu_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var pageBlock = regexp.MustCompile("(?ms)^```(go)?\n(.*?)^```$")

// TestRuntimePage checks that the code of docs/runtime.md is that of the example,
// and that what the page shows is printed by it or by a test.
func TestRuntimePage(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	printed, err := exec.Command(tool, "run", "./examples/runtime").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	code := flat(readFile(t, "examples/runtime/main.go"))
	shown := flat(string(printed)) + flat(readFile(t, "testdata/runtime_errors.txt"))
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

// flat is a text without the space before its lines.
func flat(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], " \t")
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}
