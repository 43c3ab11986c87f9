package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// sessionBlock is a listing of a page that begins with a command line.
var sessionBlock = regexp.MustCompile("(?ms)^```\n\\$ (npu [^\n]*)\n(.*?)^```$")

var scriptBlock = regexp.MustCompile("(?ms)^```(?:npu|csv)\n(.*?)^```$")

// counted are numbers of a check that any change of an operator's samples changes.
var counted = regexp.MustCompile(`\d+ (graphs|matched|runs)`)

// TestPagesSessions runs what pages show: each command line on the page's own
// scripts prints what stands below it, but for counts of random graphs.
func TestPagesSessions(t *testing.T) {
	for _, p := range []struct {
		page    string
		scripts []string // the names of the page's first ones
		least   int      // sessions
	}{{"debugging", []string{"net.npu"}, 5}, {"rules", []string{"mine.npu", "squares.npu"}, 3}, {"planning", []string{"net.npu", "views.npu", "list.csv"}, 6}, {"precision", []string{"net.npu"}, 3}} {
		t.Run(p.page, func(t *testing.T) { runPage(t, "../../docs/"+p.page+".md", p.scripts, p.least) })
	}
}

func runPage(t *testing.T, path string, scripts []string, least int) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for i, text := range scriptBlock.FindAllSubmatch(page, len(scripts)) {
		if err := os.WriteFile(scripts[i], text[1], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sessions := sessionBlock.FindAllSubmatch(page, -1)
	if len(sessions) < least {
		t.Errorf("%s shows %d commands only", path, len(sessions))
	}
	plain := func(text string) string { return counted.ReplaceAllString(text, "some $1") }
	for _, s := range sessions {
		if got := session(t, string(s[1])); plain(got) != plain(string(s[2])) {
			t.Errorf("%s prints\n%s\nand %s shows\n%s", s[1], got, path, s[2])
		}
	}
}

// session runs a command line, and gives what it prints: the lines of --trace
// first, as a terminal shows them, without warnings and progress, and why it fails.
func session(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), words(line)[1:], streams{strings.NewReader(""), &out, &errs, newProgress(nil)})
	if code != exitFine && out.Len() == 0 {
		return errs.String()
	}
	var trace strings.Builder
	for line := range strings.Lines(errs.String()) {
		if strings.HasPrefix(line, "canonicalise ") {
			trace.WriteString(line)
		}
	}
	return trace.String() + out.String()
}

// words parts a command line as a shell does, which knows double quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out[len(out)-1] += part
			continue
		}
		fields := strings.Fields(part)
		if i > 0 && len(fields) > 0 && !strings.HasPrefix(part, " ") {
			out[len(out)-1] += fields[0]
			fields = fields[1:]
		}
		out = append(out, fields...)
	}
	return out
}

// TestPassesOnThePage checks that docs/debugging.md tells of every pass what the
// pipeline says of it.
func TestPassesOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/debugging.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, pass := range npu.PassNames() {
		fmt.Fprintf(&rows, "| `%s` | %s |\n", pass, npu.PassDoc(pass))
	}
	if !strings.Contains(string(page), "| pass | after it |\n|---|---|\n"+rows.String()) {
		t.Errorf("the table of passes in docs/debugging.md is not\n%s", rows.String())
	}
}

// TestPagesAreLinked checks that every page of docs is named in the README.
func TestPagesAreLinked(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if name := "docs/" + filepath.Base(p); !bytes.Contains(readme, []byte("("+name)) {
			t.Errorf("README.md has no link to %s", name)
		}
	}
}
