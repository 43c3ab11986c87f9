package syntax

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
)

var update = flag.Bool("update", false, "write what the parser does into testdata")

// sections are the parts of a case that hold what is made of its in.npu.
var sections = []struct {
	name string
	make func(f *File, errs diag.List) string
}{
	{"errors", func(f *File, errs diag.List) string { return rendered(errs) }},
	{"broken", func(f *File, errs diag.List) string { return names(f.Broken) + "\n" }},
	{"ast", func(f *File, errs diag.List) string { return Print(f) }},
	{"fmt", func(f *File, errs diag.List) string { return Format(f) }},
}

func rendered(errs diag.List) string {
	var b strings.Builder
	if err := errs.Render(&b, false); err != nil {
		panic(err)
	}
	return b.String()
}

// TestCases runs testdata/*.txtar. A case has an in.npu and, of the sections
// above, those that are of interest; errors must be there when there are some.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

// A part is a section of a txtar archive: its header line and what follows.
type part struct{ head, name, text string }

// split cuts an archive into parts, the first of which is the prose above.
func split(data string) []part {
	parts := []part{{}}
	for _, line := range strings.SplitAfter(data, "\n") {
		name, ok := strings.CutSuffix(strings.TrimPrefix(line, "-- "), " --\n")
		if ok && strings.HasPrefix(line, "-- ") {
			parts = append(parts, part{head: line, name: name})
			continue
		}
		parts[len(parts)-1].text += line
	}
	return parts
}

func runCase(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := split(string(data))
	var f *File
	var errs diag.List
	asserted := false
	for i := range parts {
		part := &parts[i]
		if part.name == "in.npu" {
			f, errs = Parse(diag.NewSource("in.npu", part.text))
			asserted = false
			if len(errs) == 0 {
				checkFormat(t, f)
			}
			continue
		}
		for _, s := range sections {
			if s.name != part.name {
				continue
			}
			asserted = asserted || s.name == "errors"
			got := s.make(f, errs)
			if *update {
				part.text = got
			} else if got != part.text {
				t.Errorf("%s of %s is\n%s\nwant\n%s", s.name, file, got, part.text)
			}
		}
		if len(errs) > 0 && !asserted {
			t.Errorf("%s has errors and no section for them:\n%s", file, rendered(errs))
		}
	}
	if *update {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(part.head + part.text)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFormat checks what Format promises: the same tree, all comments, and no
// change the second time.
func checkFormat(t *testing.T, f *File) {
	t.Helper()
	once := Format(f)
	g, errs := Parse(diag.NewSource("formatted", once))
	if len(errs) > 0 {
		t.Fatalf("of\n%s\nthe formatted text does not parse:\n%s\n%s", f.Src.Text, rendered(errs), once)
	}
	if a, b := Print(f), Print(g); a != b {
		t.Fatalf("formatting changed the tree from\n%s\nto\n%s\nwith the text\n%s", a, b, once)
	}
	if twice := Format(g); twice != once {
		t.Fatalf("formatting twice makes of\n%s\nthis:\n%s", once, twice)
	}
	if a, b := commentText(f), commentText(g); a != b {
		t.Fatalf("formatting changed the comments from\n%s\nto\n%s\nin\n%s", a, b, once)
	}
}

// commentText lists the words of all comments, sorted: formatting joins two
// comments that come to stand on one line, may move one, and then takes care
// that it does not become documentation.
func commentText(f *File) string {
	var b strings.Builder
	for _, c := range f.Comments {
		b.WriteString(" " + strings.ReplaceAll(c.Text, "/", " "))
	}
	words := strings.Fields(b.String())
	sort.Strings(words)
	return strings.Join(words, " ")
}

// TestFormatKeeps checks that what is formatted already stays as it is.
func TestFormatKeeps(t *testing.T) {
	data, err := os.ReadFile("testdata/canonical.npu")
	if err != nil {
		t.Fatal(err)
	}
	f, errs := Parse(diag.NewSource("canonical.npu", string(data)))
	if len(errs) > 0 {
		t.Fatal(rendered(errs))
	}
	if got := Format(f); got != string(data) {
		t.Errorf("formatted to\n%s", got)
	}
}

// TestLineEnds checks that a byte order mark and CR LF change nothing.
func TestLineEnds(t *testing.T) {
	for _, text := range seeds(t) {
		if strings.Contains(text, "\r") {
			continue
		}
		f, errs := Parse(diag.NewSource("in.npu", text))
		g, more := Parse(diag.NewSource("in.npu", byteOrderMark("\uFEFF")+strings.ReplaceAll(text, "\n", "\r\n")))
		if len(errs) != len(more) || Print(f) != Print(g) || len(f.Comments) != len(g.Comments) {
			t.Errorf("with CR LF, %d errors in place of %d, or another tree, for\n%s", len(more), len(errs), text)
		}
		if len(errs) == 0 && Format(f) != Format(g) {
			t.Errorf("with CR LF, another layout:\n%s", Format(g))
		}
	}
}

// TestProject formats every script of the project, those in golden files too.
func TestProject(t *testing.T) {
	count := 0
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(file)
		if ext != ".npu" && ext != ".txtar" {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, part := range append(split(string(data)), part{name: "whole" + ext, text: string(data)}) {
			if !strings.HasSuffix(part.name, ".npu") {
				continue
			}
			if f, errs := Parse(diag.NewSource(file, part.text)); len(errs) == 0 {
				checkFormat(t, f)
				count++
			}
		}
		return nil
	})
	if err != nil || count < 10 {
		t.Fatalf("%d scripts, %v", count, err)
	}
}
