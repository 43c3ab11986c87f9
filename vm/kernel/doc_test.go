package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFamilies holds the table in doc.go against the folder: each file is of one
// family, whose task and packages are in its files.
func TestFamilies(t *testing.T) {
	family := map[string]string{}
	for _, row := range families(t) {
		var text strings.Builder
		for _, pattern := range strings.Fields(row[1]) {
			for _, file := range sources(t, pattern+".go") {
				if first, twice := family[file]; twice {
					t.Errorf("%s is of %q and of %q", file, first, row[0])
				}
				family[file] = row[0]
				text.WriteString(read(t, file))
			}
		}
		for _, task := range strings.Fields(row[2]) {
			if !strings.Contains(text.String(), "\ntype "+task+" ") {
				t.Errorf("%s: no file has the type %s", row[0], task)
			}
		}
		for _, pkg := range strings.Fields(row[3]) {
			if !strings.Contains(text.String(), `vm/kernel/`+pkg+`"`) {
				t.Errorf("%s: no file imports %s", row[0], pkg)
			}
		}
	}
	for _, file := range sources(t, "*.go") {
		if family[file] == "" && file != "doc.go" {
			t.Errorf("%s is of no family in doc.go", file)
		}
	}
}

// families are the rows of the table, without its head, by columns.
func families(t *testing.T) (rows [][4]string) {
	_, table, ok := strings.Cut(read(t, "doc.go"), "//\tfamily ")
	head, table, more := strings.Cut(table, "\n")
	table, _, end := strings.Cut(table, "//\n")
	if !ok || !more || !end {
		t.Fatal("doc.go has no table of families")
	}
	head = "family " + head
	starts := []int{0, strings.Index(head, "files"), strings.Index(head, "task"), strings.Index(head, "packages"), 1 << 10}
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "//\t"))
		var row [4]string
		for i := range row {
			row[i] = strings.TrimSpace(line[min(starts[i], len(line)):min(starts[i+1], len(line))])
		}
		rows = append(rows, row)
	}
	return rows
}

// sources are the files of the folder that a pattern names, without tests.
func sources(t *testing.T, pattern string) (files []string) {
	all, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Errorf("no file is called %s", pattern)
	}
	return files
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
